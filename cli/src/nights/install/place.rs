//! Installs and removes a nightly start, with the first scheduler that this machine has.

use crate::nights::install::by_cron::Cron;
use crate::nights::install::by_launchd::Launchd;
use crate::nights::install::by_systemd::Systemd;
use crate::nights::install::job::Job;
use crate::nights::install::record::{self, Record};
use crate::nights::install::scheduled_start::{Installed, ScheduledStart};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// Installs the start, and records it only then: no record names a start that is not installed.
pub fn install(job: &Job, env: &Environment) -> Result<Installed, Complaint> {
    let installed = schedule(job, env)?;
    record::write(job, env)?;
    Ok(installed)
}

fn schedule(job: &Job, env: &Environment) -> Result<Installed, Complaint> {
    if let Some(systemd) = Systemd::find(env).filter(Systemd::answers) {
        return systemd.install(job);
    }
    if let Some(launchd) = Launchd::find(env) {
        return launchd.install(job);
    }
    if let Some(cron) = Cron::find(env) {
        return cron.install(job);
    }
    Err(Complaint::input(
        "no scheduler found: your user systemd does not answer, and crontab and launchctl are missing",
    )
    .hint("install cron, or start `skilltune night --scheduled` from a scheduler of your own")
    .hint("other schedulers: use `skilltune night install --print kubernetes` or `--print github`"))
}

/// Returns the start in each scheduler, or why a scheduler could not be read.
pub fn scheduled(name: &str, env: &Environment) -> Vec<Result<ScheduledStart, Complaint>> {
    let record = Record::read(name, env);
    let all = [
        Systemd::find(env).map(|systemd| systemd.scheduled(name, &record)),
        Launchd::find(env).map(|launchd| launchd.scheduled(name, &record)),
        Cron::find(env).map(|cron| cron.scheduled(name, &record)),
    ];
    all.into_iter().flatten().filter_map(Result::transpose).collect()
}

/// Removes the start from every scheduler and then its record, and returns what was removed.
pub fn uninstall(name: &str, env: &Environment) -> Result<Vec<String>, Complaint> {
    let mut removed: Vec<String> = Vec::new();
    if let Some(systemd) = Systemd::find(env) {
        removed.extend(systemd.uninstall(name)?);
    }
    if let Some(launchd) = Launchd::find(env) {
        removed.extend(launchd.uninstall(name)?);
    }
    if let Some(cron) = Cron::find(env) {
        removed.extend(cron.uninstall(name)?);
    }
    if Record::read(name, env) == Record::Missing {
        for what in &mut removed {
            what.push_str(", installed by an older skilltune");
        }
    }
    record::remove(name, env)?;
    Ok(removed)
}
