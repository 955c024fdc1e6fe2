//! The browser that looks at what was built, where one is installed, and axe-core beside it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use skilltune_orchestrator::browser::{LOOK, NAMES};

use crate::agents;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// Below the folders of global npm packages.
const AXE: &str = "axe-core/axe.min.js";

/// What looks at an artifact.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    pub program: PathBuf,
    pub axe: Option<PathBuf>,
}

/// The first browser of the PATH that we can speak to.
pub fn found(env: &Environment) -> Option<Found> {
    // Neither is the project's own: a repository does not say how it is judged.
    let find = |name: &str| agents::on_path(name, env).ok();
    let program = NAMES.into_iter().find_map(find)?;
    let beside = find("npm").and_then(|npm| Some(npm.parent()?.parent()?.join("lib/node_modules")));
    let own = env.vars.get("HOME").map(|home| Path::new(home).join(".local/lib/node_modules"));
    let systems = ["/usr/local/lib/node_modules", "/usr/lib/node_modules"].map(PathBuf::from);
    let places = beside.into_iter().chain(own).chain(systems);
    let axe = places.map(|place| place.join(AXE)).find(|file| file.is_file());
    Some(Found { program, axe })
}

/// How our own program is started to look, this long at most.
pub fn argv(found: &Found, seconds: u64) -> Result<Vec<String>, Complaint> {
    let ours = std::env::current_exe()
        .map_err(|error| Complaint::ours("cannot find the skilltune program").caused_by(error))?;
    // It gives up by itself before it is ended, and says why.
    let seconds = seconds.saturating_sub(5).max(1);
    let words = [ours, LOOK.into(), found.program.clone(), seconds.to_string().into()];
    let words = words.into_iter().chain(found.axe.clone());
    Ok(words.map(|word| word.to_string_lossy().into_owned()).collect())
}
