//! Lists the skills that a bare name finds, for a person who has not named one. It reads the names of files only.

use std::path::Path;

use skilltune_orchestrator::disk;
use skilltune_phases::base::spelling::{distance, reach};

use crate::inputs::find::{PAGE, hits, is_path, shelved, shelves};
use crate::terminal::environment::Environment;

/// More skills than this are counted, not named.
const NAMED: usize = 5;
/// As many guesses as a person reads at a glance.
const GUESSED: usize = 3;

/// Returns what to type for each skill: its name, or its path where several skills have the name. The skills of the
/// nearest folder come first.
pub fn known(env: &Environment) -> Vec<String> {
    let folders = shelved(env);
    let mut names: Vec<String> = Vec::new();
    for shelf in shelves(&folders).chain([env.cwd.clone()]) {
        let new = names_in(&shelf).filter(|name| is_typable(name) && is_page_in(&shelf.join(name)));
        let new: Vec<String> = new.filter(|name| !names.contains(name)).collect();
        names.extend(new);
    }
    let typed = |name: String| {
        let hits = hits(&name, &folders, env);
        let is_only = hits.len() == 1;
        let skills = hits.into_iter().filter(|hit| is_page_in(hit));
        skills.map(move |hit| if is_only { name.clone() } else { display_path(&hit, env) })
    };
    names.into_iter().flat_map(typed).collect()
}

/// Returns what to type for each skill that is directly in a folder.
pub fn inside(folder: &Path, env: &Environment) -> Vec<String> {
    let skills = names_in(folder).filter(|name| is_typable(name)).map(|name| folder.join(name));
    skills.filter(|skill| is_page_in(skill)).map(|skill| display_path(&skill, env)).collect()
}

/// Returns the skills whose names are nearest to a misspelt one, the nearest first.
pub fn near(name: &str, skills: &[String]) -> Vec<String> {
    let own = |skill: &String| Path::new(skill).file_name().map(|own| own.to_string_lossy().into_owned());
    let ranked = skills.iter().filter_map(|skill| Some((distance(name, &own(skill)?), skill)));
    let mut near: Vec<(usize, &String)> = ranked.filter(|(distance, _)| *distance <= reach(name)).collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(GUESSED).map(|(_, skill)| skill.clone()).collect()
}

/// Names the first few skills and counts the others.
pub fn few(skills: &[String]) -> String {
    let named = skills.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match skills.len().saturating_sub(NAMED) {
        0 => named,
        others => format!("{named} and {others} more"),
    }
}

/// Returns the shortest path from the current folder that is not taken for a name.
pub fn display_path(path: &Path, env: &Environment) -> String {
    match path.strip_prefix(&env.cwd) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) if is_path(&below.to_string_lossy()) => below.display().to_string(),
        Ok(below) => format!("./{}", below.display()),
        Err(_) => path.display().to_string(),
    }
}

fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    disk::names(folder).unwrap_or_default().into_iter().filter_map(|name| name.into_string().ok())
}

fn is_page_in(folder: &Path) -> bool {
    folder.join(PAGE).is_file()
}

/// Returns true for a name that means itself on a command line, and in a message.
fn is_typable(name: &str) -> bool {
    !is_path(name) && !name.starts_with('-') && !name.contains(',') && !name.contains(char::is_control)
}
