//! A Kubernetes cron job, and the volume that outlives its pods.

use crate::nights::install::github::{below_project, yaml};
use crate::nights::install::job::Job;
use crate::terminal::complaint::Complaint;

const TEMPLATE: &str = include_str!("kubernetes.yaml");

/// Kubernetes treats only 0 as success: a pod that exits with 3, 4 or 5 would count as failed, or be started again if
/// failures were ignored. So a shell starts the night, forwards SIGTERM to it, and returns 0 for these three. The
/// second `wait` handles a signal that interrupted the first one.
const SCRIPT: &str = r#"stop= night=
trap 'stop=1; [ -z "$night" ] || kill -TERM "$night"' TERM INT
"$@" &
night=$!
[ -z "$stop" ] || kill -TERM "$night"
code=0
wait "$night" || code=$?
while kill -0 "$night" 2>/dev/null; do
  code=0
  wait "$night" || code=$?
done
case "$code" in 3|4|5) exit 0 ;; esac
exit "$code"
"#;

pub fn cron_job(job: &Job) -> Result<String, Complaint> {
    let file = below_project(job)?;
    let at = format!("{} {}", job.at.minute(), job.at.hour());
    let lines = SCRIPT.lines().flat_map(|line| ["                  ", line, "\n"]);
    let script: String = lines.collect();
    let filled = TEMPLATE.replace("@NAME@", &job.name).replace("@AT@", &at).replace("@SCRIPT@\n", &script);
    // Kubernetes replaces `$(NAME)` in arguments, and reads `$$` as `$`. The file is filled in last, so that nothing in
    // its name is replaced.
    Ok(filled.replace("@FILE@", &yaml(&format!("/work/project/{file}").replace('$', "$$"))))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::nights::install::job::tests::job;

    fn started(night: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "night", "/bin/sh", "-c", night]);
        command
    }

    #[test]
    fn results_of_a_night_are_no_failures_and_failures_are() {
        let code = |night: &str| started(night).status().unwrap().code();
        for (night, expected) in
            [(0, 0), (1, 1), (2, 2), (3, 0), (4, 0), (5, 0), (6, 6), (130, 130), (143, 143)]
        {
            assert_eq!(code(&format!("exit {night}")), Some(expected), "{night}");
        }
    }

    #[test]
    fn sigterm_reaches_the_night_and_its_exit_code_comes_back() {
        // It prints when it is ready, and needs time to save.
        for (saved, expected) in [(143, 143), (5, 0)] {
            let night = format!(
                "trap 'sleep 0.2; exit {saved}' TERM; echo ready; n=0; while [ $n -lt 400 ]; do n=$((n+1)); sleep 0.05; done"
            );
            let mut child = started(&night).stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(expected));
        }
    }

    #[test]
    fn name_time_script_and_file_are_filled_in() {
        let text = cron_job(&job()).unwrap();
        assert!(text.contains("\n  name: skilltune-night-project-01234567\n"), "{text}");
        assert!(text.contains("\n  schedule: \"30 2 * * *\"\n"), "{text}");
        assert!(text.contains("\n                  night=$!\n"), "{text}");
        assert!(text.contains("\n                - \"/work/project/skilltune-night.toml\"\n"), "{text}");
        let dollar = Job { file: "/home/me/project/$(HOME).toml".to_owned(), ..job() };
        assert!(cron_job(&dollar).unwrap().contains("- \"/work/project/$$(HOME).toml\"\n"));
    }
}
