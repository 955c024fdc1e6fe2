//! Finds the skill of a command that was given none: the one around the current folder, or the one that the person
//! picks.

use std::path::PathBuf;

use skilltune_orchestrator::skill_folders::skill_of;

use crate::inputs::find::PAGE;
use crate::inputs::find::advice::Typed;
use crate::inputs::find::error::FindError;
use crate::inputs::find::known::known;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Answers;
use crate::text::plain::one_line;

/// Returns the skill that the current folder is or is in, within its project.
pub fn enclosing(env: &Environment) -> Option<PathBuf> {
    let skill = skill_of(&env.cwd.join(PAGE))?;
    skill.starts_with(env.project_here()).then_some(skill)
}

/// Like `enclosing`, and says which skill it is.
pub fn this_one(env: &Environment, printer: Printer) -> Option<PathBuf> {
    let skill = enclosing(env)?;
    let name = skill.file_name().unwrap_or_default().to_string_lossy();
    printer.talk(&format!("using the skill of this folder: {}", one_line(&name)));
    Some(skill)
}

/// Returns the list of skills that the user gave, or that of the one skill that is meant without it.
pub fn skill_list(
    given: Option<&str>,
    command: &str,
    person: Option<&dyn Answers>,
    env: &Environment,
    printer: Printer,
) -> Result<String, Complaint> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    if let Some(skill) = this_one(env, printer) {
        return Ok(skill.into_os_string().into_string().map_err(|path| FindError::NotUtf8(path.into()))?);
    }
    let known = known(env);
    match person.filter(|_| known.len() > 1) {
        Some(person) => {
            let options: Vec<&str> = known.iter().map(String::as_str).collect();
            Ok(known[person.pick("Which skill?", &options, 0)?].clone())
        }
        None => Err(Typed { command, list: "", env }.unnamed(&known)),
    }
}
