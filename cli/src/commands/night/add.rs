//! `night add`: adds jobs to the file.

use std::path::{Path, PathBuf};

use serde_json::json;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;

use crate::args::night::NightAddArgs;
use crate::inputs::find;
use crate::nights::file::NightPlan;
use crate::nights::jobs::{self, Job};
use crate::nights::morning;
use crate::report::outcome;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::plain::shell_path;
use crate::trust::TrustStore;
use crate::trust::file::TextFile;

const HEAD: &str = "# Jobs that `skilltune night` runs. docs/nights.md explains every key.\n";

pub fn run(args: &NightAddArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    if args.name.is_some() && args.skills.len() > 1 {
        return Err(Complaint::input("one name cannot be that of several jobs")
            .hint("omit --name, or add the skills one at a time"));
    }
    let path = NightPlan::path(args.view.file.file.as_deref(), env);
    let folder = folder(&path)?;
    let entries = args.skills.iter().map(|skill| entry(skill, args, &folder, env));
    let entries = entries.collect::<Result<Vec<String>, Complaint>>()?;
    let old = TextFile::read(&path)?;
    let store = TrustStore::new(env);
    let (was_trusted, known) = match &old {
        Some(old) => (store.trusts(old, &[])?, jobs::all(&NightPlan::of(old.clone())?)?),
        None => (true, Vec::new()),
    };
    require_new_names(&known, &path, &entries)?;
    let before = old.as_ref().map_or(HEAD, TextFile::text);
    let new = TextFile::drafted(&path, format!("{}\n\n{}", before.trim_end(), entries.join("\n")));
    // A file that the night would refuse is not written.
    let plan = NightPlan::of(new.clone())?;
    let added: Vec<Job> = jobs::all(&plan)?.into_iter().skip(known.len()).collect();
    if added.is_empty() {
        return Err(Complaint::input(format!("no skills found in {}", args.skills.join(", ")))
            .hint("pass a folder that contains folders with SKILL.md"));
    }
    SafePath::below(&folder, path.file_name().unwrap_or_default())
        .replace(new.text().as_bytes(), Durability::Order)
        .map_err(ours)?;
    let written = TextFile::read(&path)?.unwrap_or(new);
    if was_trusted {
        store.record(&written, &[])?;
    }
    let jobs: Vec<_> = added.iter().map(|job| &job.name).collect();
    let object = json!({
        "outcome": "added", "paths": [path.display().to_string()], "jobs": jobs, "trusted": was_trusted,
    });
    let exit = outcome::print(args.view.format, printer, &[message(&added, &path, was_trusted)], &object)?;
    for job in &added {
        if let Err(left) = job.ready(&plan, None, env) {
            printer.warn(&format!("{}: it cannot run yet: {}", job.name, morning::why(&left)));
        }
    }
    Ok(exit)
}

fn message(added: &[Job], path: &Path, was_trusted: bool) -> String {
    let added = added.iter().map(|job| format!("added job {} to {}\n", job.name, path.display()));
    let hint = if was_trusted {
        "`skilltune night` runs the jobs now, `skilltune night install` every night".to_owned()
    } else {
        format!("the file was not trusted: read it, then run `skilltune trust {}`", shell_path(path))
    };
    added.chain([hint]).collect()
}

/// Fails if the file already has a job with the name of a new one.
fn require_new_names(known: &[Job], path: &Path, entries: &[String]) -> Result<(), Complaint> {
    let alone = NightPlan::of(TextFile::drafted(path, format!("{HEAD}\n{}", entries.join("\n"))))?;
    let new = jobs::all(&alone)?;
    match new.iter().find(|job| known.iter().any(|known| known.name == job.name)) {
        None => Ok(()),
        Some(Job { name, .. }) => {
            Err(Complaint::input(format!("{} has a job {name} already", path.display()))
                .hint("pass --name NAME for another job of the same skill"))
        }
    }
}

/// Returns the real folder of the file.
fn folder(path: &Path) -> Result<PathBuf, Complaint> {
    let folder = path.parent().filter(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| Complaint::input(format!("{}: folder not found", path.display())))?;
    folder.canonicalize().map_err(ours)
}

/// Returns the text of one job.
fn entry(given: &str, args: &NightAddArgs, folder: &Path, env: &Environment) -> Result<String, Complaint> {
    let suite = args.suite.as_ref().map(|suite| near(&real(suite, env)?, folder)).transpose()?;
    let agents = [
        ("agent", &args.agent),
        ("executor", &args.executor),
        ("evaluator", &args.evaluator),
        ("improver", &args.improver),
    ];
    let mut job = toml::Table::new();
    let mut put = |key: &str, value: Option<toml::Value>| {
        if let Some(value) = value {
            job.insert(key.to_owned(), value);
        }
    };
    put("name", args.name.clone().map(Into::into));
    put("skill", Some(skills(given, folder, env)?));
    put("suite", suite.map(Into::into));
    put("preset", args.preset.clone().map(Into::into));
    put("runs", args.runs.map(|runs| i64::from(runs).into()));
    put("apply", args.apply.clone().map(Into::into));
    put("priority", args.priority.map(|priority| i64::from(priority).into()));
    for (key, agent) in agents {
        put(key, agent.as_ref().map(|agent| agent.to_string().into()));
    }
    Ok(format!("[[jobs]]\n{}", toml::to_string(&job).map_err(ours)?))
}

/// Returns the skills of a job as the file names them. A skill that is not found now would not be found at night
/// either.
fn skills(given: &str, folder: &Path, env: &Environment) -> Result<toml::Value, Complaint> {
    if let Some(shelf) = given.strip_suffix("/*").filter(|shelf| !shelf.is_empty()) {
        return Ok(format!("{}/*", near(&real(Path::new(shelf), env)?, folder)?).into());
    }
    let skills = find::skills_for("night add", given, env)?.into_iter().map(|skill| {
        let path = near(&skill.path, folder)?;
        // A path without a slash would be read as a name.
        Ok(if path.contains('/') { path } else { format!("./{path}") })
    });
    let skills = skills.collect::<Result<Vec<String>, Complaint>>()?;
    Ok(if let [one] = skills.as_slice() { one.clone().into() } else { skills.into() })
}

fn real(path: &Path, env: &Environment) -> Result<PathBuf, Complaint> {
    let path = env.cwd.join(path);
    path.canonicalize()
        .map_err(|error| Complaint::input(format!("cannot read {}", path.display())).caused_by(error))
}

/// Returns a path as the file names it: relative if it is in the file's folder.
fn near(path: &Path, folder: &Path) -> Result<String, Complaint> {
    let below = path.strip_prefix(folder).unwrap_or(path);
    let text = below.to_str().ok_or_else(|| Complaint::input("a path of the job is not valid UTF-8"))?;
    Ok(if text.is_empty() { ".".to_owned() } else { text.to_owned() })
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, ValueEnum};

    use super::*;
    use crate::loops::tune::settings::{ApplyWhen, Preset};
    use crate::settings::values::word;

    fn taken(flag: &str) -> Vec<String> {
        let command = NightAddArgs::augment_args(Command::new("add"));
        let flag = command.get_arguments().find(|argument| argument.get_id() == flag).unwrap();
        flag.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
    }

    #[test]
    fn the_flags_take_what_the_file_takes() {
        assert_eq!(taken("preset"), Preset::value_variants().iter().map(word).collect::<Vec<_>>());
        let mut unattended: Vec<String> = ApplyWhen::value_variants().iter().map(word).collect();
        unattended.retain(|when| when != "ask");
        unattended.sort();
        let mut apply = taken("apply");
        apply.sort();
        assert_eq!(apply, unattended);
    }
}
