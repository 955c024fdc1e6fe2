//! Lines in the user's crontab.

mod scheduled;

use crate::nights::install::cron;
use crate::nights::install::installed::Installed;
use crate::nights::install::job::Job;
use crate::nights::install::program::Program;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

#[derive(Debug)]
pub struct Cron {
    crontab: Program,
}

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
