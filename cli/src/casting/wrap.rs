//! `calls.wrap`: the program that agents run in.

use std::path::Path;

use skilltune_orchestrator::agent::{Agent, Wrap};

use crate::casting::{files, found_from};
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::trust::pinned::Ground;

/// Returns the wrapper from the settings and finds its program; `None` if the settings name none. A relative path
/// starts from the settings file.
pub fn found(settings: &Settings, env: &Environment) -> Result<Option<Wrap>, Complaint> {
    let (words, origin) = (&settings.calls.wrap.value.0, &settings.calls.wrap.origin);
    let Some(name) = words.first() else { return Ok(None) };
    let base = origin.file().and_then(Path::parent).unwrap_or(&env.cwd);
    let program = found_from(base, name, env).map_err(|_| {
        Complaint::input(format!("cannot run agents in {name:?}: program not found"))
            .hint(format!("install it, or change calls.wrap ({origin})"))
    })?;
    let needs_home = words.iter().any(|word| word.contains("{home}"));
    let home = match &env.home {
        Some(home) => home.as_path(),
        None if needs_home => {
            return Err(Complaint::input("cannot fill in {home} in calls.wrap: HOME is not set")
                .hint(format!("set HOME, or write the path ({origin})")));
        }
        None => Path::new("/"),
    };
    let words = files::resolved(words, origin, &Ground::at(base, Vec::new())).map_err(|bad| {
        Complaint::input(format!("cannot run agents in {name:?}: {bad}"))
            .hint(format!("{} in calls.wrap ({origin})", files::FULL_PATH))
    })?;
    Ok(Some(Wrap::new(words, program, home)))
}

pub fn wrapped(agent: Agent, settings: &Settings, env: &Environment) -> Result<Agent, Complaint> {
    Ok(match found(settings, env)? {
        Some(wrap) => agent.wrapped(wrap),
        None => agent,
    })
}
