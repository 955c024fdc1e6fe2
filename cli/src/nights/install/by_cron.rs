//! Lines in the user's crontab: installed, removed, and whether a daemon reads them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::nights::check::{About, Check};
use crate::nights::install::cron;
use crate::nights::install::job::Job;
use crate::nights::install::program::Program;
use crate::nights::install::record::Record;
use crate::nights::install::scheduled_start::{Installed, ScheduledStart};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

#[derive(Debug)]
pub struct Cron {
    crontab: Program,
}

/// The names of cron daemons.
const DAEMONS: [&str; 4] = ["cron", "crond", "fcron", "dcron"];

/// The name of the crontab in reports.
const CRONTAB: &str = "your crontab";

impl Cron {
    pub fn find(env: &Environment) -> Option<Self> {
        Program::find("crontab", env).map(|crontab| Self { crontab })
    }

    pub fn install(&self, job: &Job) -> Result<Installed, Complaint> {
        let before = self.read()?;
        let after = cron::with(&before, job)?;
        let mut wrote = Vec::new();
        if after != before {
            self.crontab.succeed(&["-"], &after)?;
            wrote.push(CRONTAB.to_owned());
        }
        Ok(Installed { by: "cron", wrote, notes: Vec::new() })
    }

    pub fn uninstall(&self, name: &str) -> Result<Vec<String>, Complaint> {
        let Some(after) = cron::without(&self.read()?, name)? else { return Ok(Vec::new()) };
        if after.is_empty() {
            self.crontab.succeed(&["-r"], b"")?;
        } else {
            self.crontab.succeed(&["-"], &after)?;
        }
        Ok(vec![format!("the lines of {name} in {CRONTAB}")])
    }

    /// Returns none if the crontab has no such lines.
    pub fn scheduled(&self, name: &str, record: &Record) -> Result<Option<ScheduledStart>, Complaint> {
        let crontab = self.read()?;
        let Some(place) = cron::place(&crontab, name)? else { return Ok(None) };
        let above = variables(&String::from_utf8_lossy(&crontab[..place.start]));
        let lines = &crontab[place];
        let is_installed = |job: &Job| cron::block(job).is_ok_and(|block| block.as_bytes() == lines);
        let gives = "`crontab -e`, and write `NAME=value` above the lines of skilltune".to_owned();
        let mut start = ScheduledStart::new("cron", record, is_installed, gives);
        start.checks.push(match runs(Path::new("/proc")) {
            Some(true) => Check::fine(About::Start, "cron: its daemon runs"),
            Some(false) => Check::broken(
                About::Start,
                "cron: the line is installed, but no cron daemon is running",
                "start it, such as with `sudo service cron start`",
            ),
            None => Check::unknown(
                About::Start,
                "cron: cannot see whether its daemon is running",
                "look for a process `cron` or `crond` as an administrator",
            ),
        });
        if let Some(zone) = above.get("CRON_TZ") {
            let text = format!("cron: CRON_TZ is {zone:?}, which only some cron daemons use");
            let fix = "check when the last night started, or remove it from the crontab";
            start.checks.push(Check::unknown(About::Start, text, fix));
        }
        // Our line sets its own variables last. If it is not the recorded one, they are unknown.
        if start.job.is_some() {
            start.env = above.into_iter().chain(start.env).collect();
        }
        Ok(Some(start))
    }

    /// Reads the crontab; a missing one is empty. Any other failure must be an error, because the whole crontab is
    /// written back.
    fn read(&self) -> Result<Vec<u8>, Complaint> {
        let said = self.crontab.run(&["-l"], b"")?;
        let has_none =
            ["no crontab for", "No such file or directory"].iter().any(|words| said.stderr.contains(words));
        match said.is_success {
            true => Ok(said.stdout),
            false if has_none => Ok(Vec::new()),
            false => Err(self.crontab.complaint(&["-l"], &said)),
        }
    }
}

/// Returns each variable that a person has set above our lines, as `NAME = value` with or without quotes.
fn variables(crontab: &str) -> BTreeMap<String, String> {
    let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let pairs = crontab.lines().filter_map(|line| line.split_once('='));
    let pairs = pairs.map(|(name, value)| (bare(name), bare(value)));
    pairs.filter(|(name, _)| !name.is_empty() && is_name(name)).collect()
}

/// Returns whether one of the processes is a cron daemon; none if other users' processes are hidden.
#[expect(clippy::disallowed_methods, reason = "the folder is the kernel's own")]
fn runs(processes: &Path) -> Option<bool> {
    let name = |process: &Path| std::fs::read_to_string(process.join("comm")).ok();
    let all = std::fs::read_dir(processes).ok()?.filter_map(Result::ok);
    let is_daemon = |name: String| DAEMONS.contains(&name.trim_end());
    if all.filter_map(|entry| name(&entry.path())).any(is_daemon) {
        return Some(true);
    }
    name(&processes.join("1")).map(|_| false)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn variables_have_a_name_and_the_last_of_one_name_counts() {
        let crontab =
            "# A=comment=\nKEY = \"a b\"\nPATH=/elsewhere\nPATH='/bin'\n5 4 * * * FOO=bar mine\n=x\n";
        let expected =
            [("KEY", "a b"), ("PATH", "/bin")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(variables(crontab), BTreeMap::from(expected));
    }

    #[test]
    fn a_daemon_is_known_by_its_name_and_hidden_processes_tell_nothing() {
        let processes = tempfile::tempdir().unwrap();
        assert_eq!(runs(&processes.path().join("missing")), None);
        let add = |number: &str, name: &str| {
            fs::create_dir(processes.path().join(number)).unwrap();
            fs::write(processes.path().join(number).join("comm"), format!("{name}\n")).unwrap();
        };
        add("77", "sh");
        assert_eq!(runs(processes.path()), None, "the first process is hidden");
        add("1", "init");
        add("78", "crontab");
        assert_eq!(runs(processes.path()), Some(false));
        add("79", "crond");
        assert_eq!(runs(processes.path()), Some(true));
    }
}
