//! The unit files of systemd, quoted as systemd.syntax(7) and systemd.service(5) describe.

use crate::nights::install::job::Job;
use crate::terminal::complaint::Complaint;

const HEAD: &str = "# Written by `skilltune night install`; `skilltune night uninstall` removes it.";

pub fn service_name(name: &str) -> String {
    format!("{name}.service")
}

pub fn timer_name(name: &str) -> String {
    format!("{name}.timer")
}

/// Returns the service and the timer.
pub fn units(job: &Job) -> Result<[(String, String); 2], Complaint> {
    if job.program.contains(['"', '\'', '\\']) {
        return Err(Complaint::input(format!("systemd cannot start the program {}", job.program))
            .caused_by("its path has a quote or a backslash")
            .hint("move skilltune to another folder"));
    }
    Ok([(service_name(&job.name), service(job)), (timer_name(&job.name), timer(job))])
}

/// Returns the same units as `systemctl cat` shows them.
pub fn shown(job: &Job) -> Result<String, Complaint> {
    let texts = units(job)?.map(|(name, text)| format!("# {name}\n{text}"));
    Ok(texts.join("\n"))
}

/// Builds the service. A leading colon keeps systemd from replacing variables in the command. Only the night itself
/// gets the signal, so that it can end its calls and save; its remaining processes are killed a minute later. A night
/// that hangs ends before the next.
fn service(job: &Job) -> String {
    let command: Vec<_> = job.argv().into_iter().map(quoted).collect();
    let env: Vec<_> = job.env.iter().map(|(name, value)| quoted(&format!("{name}={value}"))).collect();
    format!(
        "\
{HEAD}
[Unit]
Description=The nightly jobs of skilltune, {name}

[Service]
Type=oneshot
Environment={env}
ExecStart=:{command}
# 3: something needs a person. 4: something could not run. 5: a limit is reached. Each is in the morning's report.
SuccessExitStatus=3 4 5
Nice=10
TimeoutStartSec=20h
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec=60
StandardOutput=journal
StandardError=journal
",
        name = job.name,
        env = env.join(" "),
        command = command.join(" "),
    )
}

fn timer(job: &Job) -> String {
    format!(
        "\
{HEAD}
[Unit]
Description=Every night: the jobs of skilltune, {name}

[Timer]
OnCalendar=*-*-* {at}
Persistent=true

[Install]
WantedBy=timers.target
",
        name = job.name,
        at = job.at.strftime("%H:%M:%S"),
    )
}

/// Quotes one word so that systemd reads every character literally.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nights::install::job::tests::job;
    use crate::terminal::style::Style;

    #[test]
    fn the_units_of_a_plain_job() {
        insta::assert_snapshot!(shown(&job()).unwrap(), @r#"
        # skilltune-night-project-01234567.service
        # Written by `skilltune night install`; `skilltune night uninstall` removes it.
        [Unit]
        Description=The nightly jobs of skilltune, skilltune-night-project-01234567

        [Service]
        Type=oneshot
        Environment="PATH=/usr/local/bin:/usr/bin" "HOME=/home/me"
        ExecStart=:"/usr/local/bin/skilltune" "--project" "/home/me/project" "night" "--file" "/home/me/project/skilltune-night.toml" "--scheduled"
        # 3: something needs a person. 4: something could not run. 5: a limit is reached. Each is in the morning's report.
        SuccessExitStatus=3 4 5
        Nice=10
        TimeoutStartSec=20h
        KillMode=mixed
        KillSignal=SIGTERM
        TimeoutStopSec=60
        StandardOutput=journal
        StandardError=journal

        # skilltune-night-project-01234567.timer
        # Written by `skilltune night install`; `skilltune night uninstall` removes it.
        [Unit]
        Description=Every night: the jobs of skilltune, skilltune-night-project-01234567

        [Timer]
        OnCalendar=*-*-* 02:30:00
        Persistent=true

        [Install]
        WantedBy=timers.target
        "#);
    }

    #[test]
    fn quotes_backslashes_and_percent_signs_are_escaped() {
        assert_eq!(quoted(r#"a b\%"$'"#), r#""a b\\%%\"$'""#);
    }

    #[test]
    fn a_program_that_systemd_would_refuse_is_refused() {
        let job = Job { program: "/opt/it's/skilltune".to_owned(), ..job() };
        insta::assert_snapshot!(units(&job).unwrap_err().render(Style::PLAIN, 999), @r"
        error: systemd cannot start the program /opt/it's/skilltune
        caused by: its path has a quote or a backslash
        hint: move skilltune to another folder
        ");
    }
}
