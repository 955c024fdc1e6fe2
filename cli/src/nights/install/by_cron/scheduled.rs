//! The lines in the crontab, and whether a daemon reads them.

use std::path::Path;

use super::Cron;
use crate::nights::check::{About, Check};
use crate::nights::install::cron;
use crate::nights::install::reading::cron::read;
use crate::nights::install::scheduled_start::ScheduledStart;
use crate::terminal::complaint::Complaint;

/// The names of cron daemons.
const DAEMONS: [&str; 4] = ["cron", "crond", "fcron", "dcron"];

impl Cron {
    /// Returns none if the crontab has no such lines.
    pub fn scheduled(&self, name: &str) -> Result<Option<ScheduledStart>, Complaint> {
        let crontab = self.read()?;
        let Some(place) = cron::place(&crontab, name)? else { return Ok(None) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let reading = read(name, &text(&crontab[..place.start]), &text(&crontab[place]));
        let gives = "`crontab -e`, and write `NAME=value` above the lines of skilltune".to_owned();
        let mut start = ScheduledStart::new("cron", reading, gives);
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
        if let Some(zone) = start.reading.env.get("CRON_TZ") {
            let text = format!("cron: CRON_TZ is {zone:?}, which only some cron daemons use");
            let fix = "check when the last night started, or remove it from the crontab";
            start.checks.push(Check::unknown(About::Start, text, fix));
        }
        Ok(Some(start))
    }
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
