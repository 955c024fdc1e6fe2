//! `init`: writes a settings file with every setting and the user's choices, and a first suite if they have a task.

mod suite;

use std::path::{Path, PathBuf};

use serde_json::json;
use skilltune_orchestrator::agent::Real;
use skilltune_orchestrator::disk::atomic::{self, Durability};
use skilltune_phases::skills::offline;

use crate::args::overrides::apply_shared_flags;
use crate::commands::args::InitArgs;
use crate::commands::init::suite::stub;
use crate::inputs::suite::SUITE_FILE;
use crate::loops::tune::questions;
use crate::loops::tune::settings::{Preset, TuneSettings};
use crate::report::outcome;
use crate::settings::Settings;
use crate::settings::common::RoleSettings;
use crate::settings::origin::Origin;
use crate::settings::values::AgentSpec;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::{Environment, SETTINGS_FILE};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};

pub fn run(args: &InitArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let folder = folder(args, env)?;
    let (path, suite) = (folder.join(SETTINGS_FILE), folder.join(SUITE_FILE));
    // Checked before any question. A dangling symlink counts as existing.
    let is_taken = |path: &Path| !args.force && path.symlink_metadata().is_ok();
    // A project that has settings may still need a suite.
    let stays = is_taken(&path);
    let wanted = if args.suite.is_some() { &suite } else { &path };
    if is_taken(wanted) {
        return Err(taken(wanted));
    }
    let person = Person::present(env).filter(|_| !args.yes);
    // The project's own file is about to be replaced, so only the user's descriptions count.
    let described = crate::loops::settings(&env.config, env)?;
    let described: Vec<String> = described.agents.into_keys().collect();
    let chosen = if stays { None } else { Some(chosen(args, &described, person)?) };
    let task = task(args, person.filter(|_| !is_taken(&suite)))?;
    if let Some(chosen) = &chosen {
        write(&path, &chosen.template(), args.force)?;
    }
    if let Some(task) = &task {
        write(&suite, &stub(task), args.force)?;
    }
    let suite = task.map(|_| suite.as_path());
    let wrote = chosen.is_some().then_some(path.as_path()).into_iter().chain(suite);
    let paths: Vec<String> = wrote.map(|path| path.display().to_string()).collect();
    let lines = [message(&path, suite, chosen.as_ref(), &described)];
    outcome::print(args.format, printer, &lines, &json!({ "outcome": "written", "paths": paths }))
}

fn folder(args: &InitArgs, env: &Environment) -> Result<PathBuf, Complaint> {
    let given = args.dir.as_ref().or(env.project.as_ref()).map(|dir| env.cwd.join(dir));
    let folder = given.unwrap_or_else(|| env.cwd.clone());
    let refused = |cause: String| {
        Complaint::input(format!("cannot use {} as a project folder", folder.display()))
            .caused_by(cause)
            .hint("pass an existing folder")
    };
    let real = folder.canonicalize().map_err(|error| refused(error.to_string()))?;
    if real.is_dir() { Ok(real) } else { Err(refused("not a directory".to_owned())) }
}

fn taken(path: &Path) -> Complaint {
    let complaint = Complaint::input(format!("{} already exists", path.display()));
    let edit = if path.ends_with(SETTINGS_FILE) {
        "edit it; `skilltune config show` lists every setting"
    } else {
        "edit it: each [[scenarios]] is a task"
    };
    complaint.hint(edit).hint("or pass --force to overwrite it")
}

/// Takes flags first, and asks for the rest if there is a person to ask.
fn chosen(
    args: &InitArgs,
    described: &[String],
    person: Option<&dyn Answers>,
) -> Result<Settings, Complaint> {
    let mut settings = crate::loops::default_settings();
    let known = [described, &[offline::NAME.to_owned()]].concat();
    let goals = ["tune.preset", "tune.threshold", "tune.max_iterations"];
    if let Some(person) = person.filter(|_| !goals.iter().any(|key| args.given.has(key))) {
        let preset = questions::preset(person, Preset::Standard)?;
        settings.of_mut::<TuneSettings>().set_preset(preset, &Origin::Answer);
    }
    apply_shared_flags(&mut settings, args.agent.as_ref(), None, &args.given);
    for (role, setting) in RoleSettings::REQUIRED.into_iter().zip(settings.roles.required_mut()) {
        if let Some(person) = person.filter(|_| setting.value.is_none())
            && let Some(name) = ask_agent(person, role, &known)?
        {
            setting.set(Some(AgentSpec { agent: name, model: None }), Origin::Answer);
        }
    }
    Ok(settings)
}

/// Asks for one of the known agents for a role, or none.
fn ask_agent(person: &dyn Answers, role: &str, known: &[String]) -> Result<Option<String>, Complaint> {
    let about = |name: &String| match name.as_str() {
        offline::NAME => format!("{name}: built in, no model, checks structure only"),
        name => name.to_owned(),
    };
    let options: Vec<String> = known.iter().map(about).chain(["none yet".to_owned()]).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let picked = person.pick(&format!("Which agent is the {role}?"), &options, 0)?;
    Ok(known.get(picked).cloned())
}

fn task(args: &InitArgs, person: Option<&dyn Answers>) -> Result<Option<String>, Complaint> {
    match (&args.suite, person) {
        (Some(task), _) => Ok(Some(task.clone())),
        (None, Some(person)) => {
            person.line("Which task should skills be tried on?", "becomes suite.toml; leave empty to skip")
        }
        (None, None) => Ok(None),
    }
}

/// Writes the file in one step. Replaces a symlink instead of writing through it.
fn write(path: &Path, text: &str, force: bool) -> Result<(), Complaint> {
    if force {
        return atomic::replace(path, text.as_bytes(), Durability::Barrier).map_err(ours);
    }
    atomic::create(path, text.as_bytes()).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => taken(path),
        _ => ours(error),
    })
}

fn message(path: &Path, suite: Option<&Path>, chosen: Option<&Settings>, described: &[String]) -> String {
    let word = if chosen.is_some() { "wrote" } else { "unchanged:" };
    let mut lines = vec![format!("{word} {}", path.display())];
    lines.extend(suite.map(|suite| format!("wrote {}", suite.display())));
    lines.extend(chosen.map(|chosen| missing(chosen, described)).unwrap_or_default());
    lines.push("to check your setup: skilltune doctor".to_owned());
    lines.extend(
        suite.map(|_| format!("to tune a skill on the task: skilltune tune SKILL --suite {SUITE_FILE}")),
    );
    lines.join("\n")
}

/// Returns the agents that are not described yet.
fn missing(chosen: &Settings, described: &[String]) -> Vec<String> {
    let named = chosen.roles.required().into_iter().filter_map(|role| role.value.as_ref());
    let mut unknown: Vec<&str> = named.map(|spec| spec.agent.as_str()).collect();
    let needs_settings = |name: &str| name != offline::NAME && Real::named(name).is_none();
    unknown.retain(|name| needs_settings(name) && !described.iter().any(|known| known == name));
    unknown.sort_unstable();
    unknown.dedup();
    if described.is_empty() && unknown.is_empty() {
        return vec!["the file has no agents yet; its end shows how to add one".to_owned()];
    }
    let line = |name| format!("agent {name} has no settings yet: add [agents.{name}] to the file");
    unknown.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests;
