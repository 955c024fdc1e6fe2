//! The timer as systemd currently has it.

use std::path::Path;

use skilltune_orchestrator::disk::SafePath;

use super::Systemd;
use crate::nights::check::{About, Check};
use crate::nights::install::files;
use crate::nights::install::reading::systemd::{read, words};
use crate::nights::install::scheduled_start::ScheduledStart;
use crate::nights::install::systemd::{service_name, timer_name};
use crate::terminal::complaint::{Complaint, ours};

/// The most additional files that are read.
const MOST: usize = 100;

impl Systemd {
    /// Returns none if there is no unit with that name.
    pub fn scheduled(&self, name: &str) -> Result<Option<ScheduledStart>, Complaint> {
        let (service, timer) = (service_name(name), timer_name(name));
        let texts = [&service, &timer].map(|unit| files::read(&self.folder().join(unit)));
        let [service_text, timer_text] = texts;
        let (Some(service_text), Some(timer_text)) = (service_text?, timer_text?) else { return Ok(None) };
        let more = self.more(&service)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut reading = read(name, &text(&service_text), &text(&timer_text), &more);
        let said = self.said(&["show-environment"]);
        let manager = words(&said.clone().unwrap_or_default());
        let mut zone = None;
        for (name, value) in manager.iter().filter_map(|word| word.split_once('=')) {
            if name == "TZ" {
                zone = Some(value.to_owned());
            }
            reading.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        let gives = format!("`systemctl --user edit {service}` and write `Environment=NAME=value`");
        let mut start = ScheduledStart { zone, ..ScheduledStart::new("systemd", reading, gives) };
        if said.is_none() {
            start.checks.push(Check::broken(
                About::Start,
                "systemd: the timer is installed, but your user systemd does not answer",
                "log in again, or start the user's systemd",
            ));
        } else {
            start.checks.extend(self.standing(&timer));
        }
        if !self.more(&timer)?.is_empty() {
            start.checks.push(Check::unknown(
                About::Start,
                format!("systemd: other files change {timer}, and perhaps its time"),
                format!("run `systemctl --user list-timers {timer}` to see its next start"),
            ));
        }
        Ok(Some(start))
    }

    fn standing(&self, timer: &str) -> Vec<Check> {
        let install = "run `skilltune night install` to enable and start it";
        let is = |what: &str| self.said(&[what, timer]).is_some();
        let mut checks = match (is("is-enabled"), is("is-active")) {
            (true, true) => vec![Check::fine(About::Start, "systemd: the timer is enabled and active")],
            (_, false) => vec![Check::broken(About::Start, "systemd: the timer is not active", install)],
            (false, true) => vec![Check::unknown(
                About::Start,
                "systemd: the timer is active, but not enabled: it will not start after a reboot",
                install,
            )],
        };
        checks.extend(self.lingering().map(|_| {
            Check::unknown(
                About::Start,
                "systemd: the timer stops when you log out",
                "`loginctl enable-linger` keeps it running",
            )
        }));
        checks
    }

    /// Returns the texts of files that extend a unit.
    fn more(&self, unit: &str) -> Result<Vec<String>, Complaint> {
        let folder = SafePath::from(self.folder().join(format!("{unit}.d")));
        let mut names = folder.names().map_err(ours)?;
        names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "conf"));
        let texts = names.iter().take(MOST).map(|name| files::read(folder.join(name).path()));
        let texts = texts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
        Ok(texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect())
    }

    fn said(&self, arguments: &[&str]) -> Option<String> {
        let said = self.systemctl(arguments).ok()?;
        Some(String::from_utf8_lossy(&said.stdout).replace('\n', " "))
    }
}
