//! A timer of the user's systemd: installed, removed, and as systemd currently has it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use crate::nights::check::{About, Check};
use crate::nights::install::files;
use crate::nights::install::job::Job;
use crate::nights::install::program::{Program, ProgramOutput};
use crate::nights::install::record::Record;
use crate::nights::install::scheduled_start::{Installed, ScheduledStart};
use crate::nights::install::systemd::{self, service_name, timer_name};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

#[derive(Debug)]
pub struct Systemd {
    systemctl: Program,
    loginctl: Option<Program>,
    /// The folder of the user's settings, which is kept.
    config: PathBuf,
}

impl Systemd {
    pub fn find(env: &Environment) -> Option<Self> {
        let config = env.config.parent().expect("the settings are in a folder").to_owned();
        let systemctl = Program::find("systemctl", env)?;
        Some(Self { systemctl, loginctl: Program::find("loginctl", env), config })
    }

    /// Returns whether this user has a running systemd.
    pub fn answers(&self) -> bool {
        self.systemctl(&["show-environment"]).is_ok()
    }

    pub fn install(&self, job: &Job) -> Result<Installed, Complaint> {
        let units = systemd::units(job)?;
        let timer = timer_name(&job.name);
        let files = units.map(|(name, text)| (self.folder().join(name), text));
        let mut before = Vec::new();
        for (path, _) in &files {
            before.push(files::read(path)?);
        }
        let is_same =
            files.iter().zip(&before).all(|((_, text), old)| old.as_deref() == Some(text.as_bytes()));
        let runs = || ["is-enabled", "is-active"].iter().all(|what| self.systemctl(&[what, &timer]).is_ok());
        let is_in_place = is_same && runs();
        if !is_in_place && let Err(complaint) = self.put(&files, &timer) {
            // Restores the old files. The first error matters more than one from this cleanup.
            for ((path, _), old) in files.iter().zip(before) {
                let _ = old.map_or_else(|| files::remove(path).map(|_| ()), |old| files::write(path, &old));
            }
            let _ = self.systemctl(&["daemon-reload"]);
            return Err(complaint);
        }
        let wrote = files.iter().filter(|_| !is_in_place).map(|(path, _)| path.display().to_string());
        Ok(Installed { by: "systemd", wrote: wrote.collect(), notes: self.lingering().into_iter().collect() })
    }

    fn put(&self, files: &[(PathBuf, String)], timer: &str) -> Result<(), Complaint> {
        for (path, text) in files {
            files::write(path, text.as_bytes())?;
        }
        self.systemctl(&["daemon-reload"])?;
        self.systemctl(&["enable", timer])?;
        // A running timer takes its new time only after a restart.
        self.systemctl(&["restart", timer]).map(drop)
    }

    pub fn uninstall(&self, name: &str) -> Result<Vec<String>, Complaint> {
        let (service, timer) = (service_name(name), timer_name(name));
        let paths = [&service, &timer].map(|unit| self.folder().join(unit));
        let link = self.folder().join("timers.target.wants").join(&timer);
        let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
        if !paths.iter().chain([&link]).any(is_there) {
            return Ok(Vec::new());
        }
        let answers = self.answers();
        if answers {
            self.systemctl(&["disable", "--now", &timer])?;
            // The time at which the timer last fired. Systemd older than 243 keeps an empty file for it.
            let _ = self.systemctl(&["clean", "--what=state", &timer]);
        }
        let mut removed = Vec::new();
        for path in &paths {
            if files::remove(path)? {
                removed.push(path.display().to_string());
            }
        }
        files::remove(&link)?;
        files::remove_empty(&self.folder().join("timers.target.wants"), &self.folder());
        files::remove_empty(&self.folder(), &self.config);
        if answers {
            self.systemctl(&["daemon-reload"])?;
            // Fails harmlessly for units that never failed.
            let _ = self.systemctl(&["reset-failed", &service, &timer]);
        }
        Ok(removed)
    }

    /// Returns none if there is no unit with that name.
    pub fn scheduled(&self, name: &str, record: &Record) -> Result<Option<ScheduledStart>, Complaint> {
        let (service, timer) = (service_name(name), timer_name(name));
        let texts = [&service, &timer].map(|unit| files::read(&self.folder().join(unit)));
        let [service_text, timer_text] = texts;
        let (Some(service_text), Some(timer_text)) = (service_text?, timer_text?) else { return Ok(None) };
        let is_installed = |job: &Job| {
            systemd::units(job).is_ok_and(|[(_, service), (_, timer)]| {
                service.as_bytes() == service_text && timer.as_bytes() == timer_text
            })
        };
        let gives = format!("`systemctl --user edit {service}` and write `Environment=NAME=value`");
        let mut start = ScheduledStart::new("systemd", record, is_installed, gives);
        let Some(manager) = self.said(&["show-environment"]) else {
            start.checks.push(Check::broken(
                About::Start,
                "systemd: the timer is installed, but your user systemd does not answer",
                "log in again, or start the user's systemd",
            ));
            return Ok(Some(start));
        };
        let manager = variables(&manager);
        start.checks.extend(self.standing(&timer));
        start.zone = manager.get("TZ").cloned();
        // Files of a person may add more to the service.
        start.env.extend(variables(&self.property(&service, "Environment")));
        start.has_more_env = !self.property(&service, "EnvironmentFiles").is_empty();
        if !start.env.is_empty() {
            start.env = manager.into_iter().chain(start.env).collect();
        }
        let is_extended = !self.property(&timer, "DropInPaths").is_empty();
        if is_extended {
            start.checks.push(Check::unknown(
                About::Start,
                format!("systemd: other files change {timer}, and perhaps its time"),
                format!("run `systemctl --user list-timers {timer}` to see its next start"),
            ));
        }
        if is_extended || start.job.is_none() {
            start.next = self.next_start(&timer);
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

    /// Returns the time at which systemd will start it; none if systemd cannot say it as JSON.
    fn next_start(&self, timer: &str) -> Option<Timestamp> {
        let timers: Value =
            serde_json::from_str(&self.said(&["list-timers", timer, "--output=json"])?).ok()?;
        Timestamp::from_microsecond(timers.get(0)?.get("next")?.as_i64()?).ok()
    }

    /// Returns a property of a unit; an empty text if it is not set.
    fn property(&self, unit: &str, name: &str) -> String {
        let said = self.said(&["show", unit, &format!("--property={name}"), "--value"]);
        said.unwrap_or_default().trim().to_owned()
    }

    fn said(&self, arguments: &[&str]) -> Option<String> {
        let said = self.systemctl(arguments).ok()?;
        Some(String::from_utf8_lossy(&said.stdout).replace('\n', " "))
    }

    /// Returns a hint for a user whose systemd ends with their last session.
    fn lingering(&self) -> Option<String> {
        let user = rustix::process::getuid().as_raw().to_string();
        let asked = ["show-user", "--property=Linger", "--value", &user];
        let said = self.loginctl.as_ref()?.run(&asked, b"").ok()?;
        (said.is_success && said.stdout.trim_ascii() == b"no").then(|| {
            "systemd stops your timers when you log out; `loginctl enable-linger` keeps them running"
                .to_owned()
        })
    }

    fn folder(&self) -> PathBuf {
        self.config.join(Path::new("systemd/user"))
    }

    fn systemctl(&self, arguments: &[&str]) -> Result<ProgramOutput, Complaint> {
        let all = [&["--user", "--no-ask-password", "--no-pager", "--quiet"], arguments].concat();
        self.systemctl.succeed(&all, b"")
    }
}

/// Returns each variable of a list that systemctl prints.
fn variables(text: &str) -> BTreeMap<String, String> {
    let words = words(text);
    let pairs = words.iter().filter_map(|word| word.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Splits words with or without quotes.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let (mut quote, mut letters) = (None, text.chars());
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (' ' | '\t', None) => words.extend(word.take()),
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', _) => word.get_or_insert_default().extend(letters.next()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_split_as_systemctl_quotes_them() {
        let text = r#"PATH=/a:/b "KEY=a \"b\" \\ \$ 100%%" no_variable EMPTY= "#;
        let expected = [("PATH", "/a:/b"), ("KEY", r#"a "b" \ $ 100%%"#), ("EMPTY", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(variables(text), BTreeMap::from(expected));
        assert!(variables("\"\\").is_empty());
    }
}
