//! `skilltune trust`: a person has read a project's settings and agrees that its agents be run.

use std::path::PathBuf;

use crate::args::TrustArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::{SETTINGS_FILE, Surroundings};
use crate::printer::Printer;
use crate::settings::{Origin, Settings, SettingsFile};
use crate::trust::TrustStore;

pub fn run(args: &TrustArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    printer.talk(&record(args, around)?);
    Ok(Exit::Reached)
}

const WHAT: &str = "give a project's skilltune.toml, or the folder that it stands in";

fn record(args: &TrustArgs, around: &Surroundings) -> Result<String, Complaint> {
    let given: PathBuf = around.cwd.join(&args.path).components().collect();
    let path = if given.is_dir() { given.join(SETTINGS_FILE) } else { given };
    if !path.ends_with(SETTINGS_FILE) {
        let what = if path.exists() {
            format!("{} is not a {SETTINGS_FILE}", path.display())
        } else {
            format!("there is no {}", path.display())
        };
        return Err(Complaint::input(what).hint(WHAT));
    }
    let Some(file) = SettingsFile::read(&path)? else {
        return Err(Complaint::input(format!("there is no {}", path.display())).hint(WHAT));
    };
    // Parsed first, so that nothing unreadable is ever trusted.
    let mut settings = Settings::default();
    file.lay_upon(&mut settings, &Origin::Project(file.path.clone()))?;
    TrustStore::new(around).record(&file)?;
    Ok(trusted(&file, &settings))
}

fn trusted(file: &SettingsFile, settings: &Settings) -> String {
    let agents = settings.agents.iter().map(|(name, agent)| {
        let words: Vec<String> = agent.settings.command.iter().map(|word| format!("{word:?}")).collect();
        format!("\n  agent {name}: {}", words.join(" "))
    });
    let agents: String = agents.collect();
    let agents = if agents.is_empty() { "\n  it describes no agents".to_owned() } else { agents };
    format!("trusted as it is now: {}{agents}", file.path.display())
}

#[cfg(test)]
mod tests;
