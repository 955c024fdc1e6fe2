//! A timer of the user's systemd.

mod scheduled;

use std::path::{Path, PathBuf};

use crate::nights::install::files;
use crate::nights::install::installed::Installed;
use crate::nights::install::job::Job;
use crate::nights::install::program::{Program, ProgramOutput};
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
