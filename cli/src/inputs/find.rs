//! Resolves what a user calls a skill to its real folder, checked before anything is written.

mod advice;
mod check;
mod error;
mod here;
mod known;

pub use crate::inputs::find::advice::Typed;
pub use crate::inputs::find::error::FindError;
pub use crate::inputs::find::here::{enclosing, skill_list, this_one};
pub use crate::inputs::find::known::{few, known, near};

use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk;
use skilltune_phases::base::spelling::nearest;

use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// The file that makes a folder a skill.
const PAGE: &str = "SKILL.md";
/// The folders of skills below a project or a home.
const SHELVES: [&str; 6] =
    ["skills", ".claude/skills", ".agents/skills", ".gemini/skills", ".codex/skills", ".opencode/skills"];

/// A skill that was found and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// The folder's own name, made unique within a chain.
    pub name: String,
    /// The real path.
    pub path: PathBuf,
}

/// Finds and checks a comma-separated list of skills.
pub fn skills(list: &str, env: &Environment) -> Result<Vec<Skill>, FindError> {
    let found = split(list, env)?.into_iter().map(|given| skill(given, env));
    let found = found.collect::<Result<Vec<Skill>, FindError>>()?;
    check::require_separate(&found)?;
    Ok(found)
}

/// Like `skills`, for a command that the user typed, such as `tune`: an error says what to type instead.
pub fn skills_for(command: &str, list: &str, env: &Environment) -> Result<Vec<Skill>, Complaint> {
    skills(list, env).map_err(|error| Typed { command, list, env }.complaint(&error))
}

/// Finds a comma-separated list of folders and files, skills or not. A bare name also means a folder or a file in the
/// current folder.
pub fn paths(list: &str, env: &Environment) -> Result<Vec<PathBuf>, FindError> {
    if let Some(path) = path_here(list, env) {
        return Ok(vec![path]);
    }
    let path = |given| path_here(given, env).map_or_else(|| located(given, env), Ok);
    split(list, env)?.into_iter().map(path).collect()
}

/// Returns the folder or file with this bare name in the current folder, unless a skill has the name.
fn path_here(given: &str, env: &Environment) -> Option<PathBuf> {
    let path = env.cwd.join(given);
    let is_skill = || shelves(&shelved(env)).any(|shelf| shelf.join(given).is_dir());
    (!given.is_empty() && !is_path(given) && path.exists() && !is_skill()).then_some(path)
}

/// Returns a folder by its real path, valid or not.
pub fn real(folder: &Path) -> Result<Skill, FindError> {
    check::named(folder)
}

/// Splits the list at its commas. A list that exists as a whole is one path: folder names may contain commas.
fn split<'l>(list: &'l str, env: &Environment) -> Result<Vec<&'l str>, FindError> {
    if is_path(list) && expanded(list, env)?.symlink_metadata().is_ok() {
        return Ok(vec![list]);
    }
    let parts: Vec<&str> = list.split(',').map(str::trim).collect();
    if parts.contains(&"") {
        return Err(FindError::EmptyName(list.to_owned()));
    }
    Ok(parts)
}

/// Finds a skill by its name or folder, or by the page in it.
fn skill(given: &str, env: &Environment) -> Result<Skill, FindError> {
    let file = path_here(given, env).filter(|path| path.is_file());
    let path = file.map_or_else(|| located(given, env), Ok)?;
    let is_page = path.file_name().is_some_and(|name| name == PAGE) && path.is_file();
    check::folder(path.parent().filter(|_| is_page).unwrap_or(&path))
}

fn located(given: &str, env: &Environment) -> Result<PathBuf, FindError> {
    if is_path(given) { expanded(given, env) } else { by_name(given, env) }
}

/// Returns whether this is anything but a bare name.
fn is_path(given: &str) -> bool {
    given.contains('/') || given.starts_with(['.', '~'])
}

fn expanded(given: &str, env: &Environment) -> Result<PathBuf, FindError> {
    // Rebuilt from its components, so that the display_path path has no `.` in the middle.
    let here = || env.cwd.join(given).components().collect();
    let Some(rest) = given.strip_prefix('~') else { return Ok(here()) };
    match (&env.home, rest.strip_prefix('/')) {
        (Some(home), Some(below)) => Ok(home.join(below)),
        (Some(home), None) if rest.is_empty() => Ok(home.clone()),
        (None, _) => Err(FindError::NoHome(given.to_owned())),
        // Another user's home, or a folder whose name begins with a tilde.
        (Some(_), None) => Ok(here()),
    }
}

fn by_name(name: &str, env: &Environment) -> Result<PathBuf, FindError> {
    let folders = shelved(env);
    let hits = hits(name, &folders, env);
    match hits.as_slice() {
        [hit] => Ok(hit.clone()),
        [] => Err(nowhere(name, folders, env)),
        _ => Err(FindError::Ambiguous { name: name.to_owned(), hits }),
    }
}

/// Returns the different folders that a bare name means.
fn hits(name: &str, folders: &[PathBuf], env: &Environment) -> Vec<PathBuf> {
    let mut hits: Vec<(PathBuf, PathBuf)> = Vec::new();
    for hit in shelves(folders).map(|shelf| shelf.join(name)).filter(|path| path.symlink_metadata().is_ok()) {
        // A dangling symlink counts as a hit: to skip it silently might tune another skill than intended.
        let real = hit.canonicalize().unwrap_or_else(|_| hit.clone());
        if hits.iter().all(|(_, known)| *known != real) {
            hits.push((hit, real));
        }
    }
    // A skill in the current folder is used if no skill elsewhere has the name.
    if hits.is_empty() && env.cwd.join(name).join(PAGE).exists() {
        return vec![env.cwd.join(name)];
    }
    hits.into_iter().map(|(hit, _)| hit).collect()
}

/// Returns the folders to search for bare names: from the current folder up to its project's root, then the home.
fn shelved(env: &Environment) -> Vec<PathBuf> {
    let root = env.project_here();
    let here = env.cwd.ancestors().take_while(|folder| folder.starts_with(&root)).map(Path::to_owned);
    let mut folders: Vec<PathBuf> = here.collect();
    for folder in std::iter::once(root).chain(env.home.clone()) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

fn shelves(folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    folders.iter().flat_map(|folder| SHELVES.map(|shelf| folder.join(shelf)))
}

/// Returns the existing folders of skills that are searched for a bare name.
pub fn places(env: &Environment) -> Vec<PathBuf> {
    shelves(&shelved(env)).filter(|shelf| shelf.is_dir()).collect()
}

/// Lists in one sentence where bare names are searched.
pub fn looked_in(env: &Environment) -> String {
    error::looked_in(&shelved(env))
}

fn nowhere(name: &str, folders: Vec<PathBuf>, env: &Environment) -> FindError {
    let names = shelves(&folders).filter_map(|shelf| disk::names(&shelf).ok()).flatten();
    let names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    FindError::Nowhere {
        name: name.to_owned(),
        near: nearest(name, names.iter().map(String::as_str)).map(str::to_owned),
        is_here: env.cwd.join(name).exists(),
        looked_below: folders,
    }
}

/// Renames repeated skills to `x`, `x-2`, `x-3`: the name of a chain's member is also a folder's name.
pub fn make_unique(skills: &mut [Skill]) {
    for at in 1..skills.len() {
        let (before, rest) = skills.split_at_mut(at);
        let taken = |name: &str| before.iter().any(|skill| skill.name == name);
        let own = rest[0].name.clone();
        let names = std::iter::once(own.clone()).chain((2..).map(|count| format!("{own}-{count}")));
        rest[0].name = names.into_iter().find(|name| !taken(name)).expect("there is no last number");
    }
}

#[cfg(test)]
mod tests;
