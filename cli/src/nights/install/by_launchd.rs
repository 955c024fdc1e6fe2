//! A launch agent of macOS: installed, removed, and as launchd currently has it.

use std::path::PathBuf;

use crate::nights::check::{About, Check};
use crate::nights::install::files;
use crate::nights::install::job::Job;
use crate::nights::install::launchd::{log, plist};
use crate::nights::install::program::Program;
use crate::nights::install::record::Record;
use crate::nights::install::scheduled_start::{Installed, ScheduledStart};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

#[derive(Debug)]
pub struct Launchd {
    launchctl: Program,
    home: PathBuf,
    folder: PathBuf,
    /// launchd's name for the user's session.
    domain: String,
}

impl Launchd {
    pub fn find(env: &Environment) -> Option<Self> {
        let launchctl = Program::find("launchctl", env)?;
        let home = env.home.clone()?;
        let folder = home.join("Library/LaunchAgents");
        Some(Self { launchctl, home, folder, domain: format!("gui/{}", rustix::process::getuid().as_raw()) })
    }

    pub fn install(&self, job: &Job) -> Result<Installed, Complaint> {
        let (path, text) = (self.path(&job.name), plist(job));
        let before = files::read(&path)?;
        let target = self.target(&job.name);
        let is_loaded = self.launchctl.run(&["print", &target], b"")?.is_success;
        let mut wrote = Vec::new();
        if !is_loaded || before.as_deref() != Some(text.as_bytes()) {
            files::write(&path, text.as_bytes())?;
            self.unload(&job.name)?;
            let file = path.to_str().ok_or_else(|| Complaint::input("your home folder is not UTF-8"))?;
            self.launchctl.succeed(&["bootstrap", &self.domain, file], b"")?;
            wrote.push(path.display().to_string());
        }
        Ok(Installed { by: "launchd", wrote, notes: Vec::new() })
    }

    pub fn uninstall(&self, name: &str) -> Result<Vec<String>, Complaint> {
        let path = self.path(name);
        if path.symlink_metadata().is_err() {
            return Ok(Vec::new());
        }
        self.unload(name)?;
        files::remove(&path)?;
        files::remove_empty(&self.folder, &self.home);
        let mut removed = vec![path.display().to_string()];
        let log = self.home.join(log(name));
        if files::remove(&log)? {
            removed.push(log.display().to_string());
        }
        Ok(removed)
    }

    /// Returns none if there is no such agent.
    pub fn scheduled(&self, name: &str, record: &Record) -> Result<Option<ScheduledStart>, Complaint> {
        let Some(text) = files::read(&self.path(name))? else { return Ok(None) };
        let gives = "`launchctl setenv NAME value`".to_owned();
        let is_installed = |job: &Job| plist(job).as_bytes() == text;
        let mut start = ScheduledStart::new("launchd", record, is_installed, gives);
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

    fn unload(&self, name: &str) -> Result<(), Complaint> {
        let target = self.target(name);
        if self.launchctl.run(&["print", &target], b"")?.is_success {
            self.launchctl.succeed(&["bootout", &target], b"")?;
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.plist"))
    }

    fn target(&self, name: &str) -> String {
        format!("{}/{name}", self.domain)
    }
}
