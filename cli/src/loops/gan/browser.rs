//! The browser that looks at the built artifact, if one is installed, and axe-core beside it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use skilltune_orchestrator::browser::{LOOK, NAMES};

use crate::casting;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// The path below the folders of global npm packages.
const AXE: &str = "axe-core/axe.min.js";

/// The browser that looks at an artifact, and its axe-core.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    pub program: PathBuf,
    pub axe: Option<PathBuf>,
}

/// Returns the first supported browser in the PATH.
pub fn found(env: &Environment) -> Option<Found> {
    // Neither may come from the project: a repository does not decide how it is judged.
    let find = |name: &str| casting::on_path(name, env).ok();
    let program = NAMES.into_iter().find_map(find)?;
    let beside = find("npm").and_then(|npm| Some(npm.parent()?.parent()?.join("lib/node_modules")));
    let own = env.vars.get("HOME").map(|home| Path::new(home).join(".local/lib/node_modules"));
    let systems = ["/usr/local/lib/node_modules", "/usr/lib/node_modules"].map(PathBuf::from);
    let places = beside.into_iter().chain(own).chain(systems);
    let axe = places.map(|place| place.join(AXE)).find(|file| file.is_file());
    Some(Found { program, axe })
}

/// Returns the command that starts our own program to look, for at most this long.
pub fn argv(found: &Found, seconds: u64) -> Result<Vec<String>, Complaint> {
    let ours = std::env::current_exe()
        .map_err(|error| Complaint::ours("cannot find the skilltune program").caused_by(error))?;
    // It times out by itself before it is killed, and says why.
    let seconds = seconds.saturating_sub(5).max(1);
    let words = [ours, LOOK.into(), found.program.clone(), seconds.to_string().into()];
    let words = words.into_iter().chain(found.axe.clone());
    Ok(words.map(|word| word.to_string_lossy().into_owned()).collect())
}
