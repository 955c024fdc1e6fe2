//! The launch agent as launchd currently has it.

use super::Launchd;
use crate::nights::check::{About, Check};
use crate::nights::install::files;
use crate::nights::install::reading::launchd::read;
use crate::nights::install::scheduled_start::ScheduledStart;
use crate::terminal::complaint::Complaint;

impl Launchd {
    /// Returns none if there is no such agent.
    pub fn scheduled(&self, name: &str) -> Result<Option<ScheduledStart>, Complaint> {
        let Some(text) = files::read(&self.path(name))? else { return Ok(None) };
        let reading = read(name, &String::from_utf8_lossy(&text));
        let gives = "`launchctl setenv NAME value`".to_owned();
        let mut start = ScheduledStart::new("launchd", reading, gives);
        let is_loaded = self.launchctl.run(&["print", &self.target(name)], b"")?.is_success;
        start.checks.push(if is_loaded {
            Check::fine(About::Start, "launchd: the agent is loaded")
        } else {
            Check::broken(
                About::Start,
                "launchd: the agent is installed, but not loaded",
                "run `skilltune night install` to load it",
            )
        });
        Ok(Some(start))
    }
}
