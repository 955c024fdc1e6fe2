//! What to type instead, for a command that takes skills.

use std::path::Path;

use skilltune_orchestrator::skill_folders::skill_of;

use crate::inputs::find::error::{FindError, looked_in};
use crate::inputs::find::known::{display_path, few, inside, known, near};
use crate::inputs::find::{PAGE, shelved};
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::environment::Environment;
use crate::text::plain::shell_path;

/// A command, such as `tune`, and the list of skills that the user gave it.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a> {
    pub command: &'a str,
    pub list: &'a str,
    pub env: &'a Environment,
}

impl Typed<'_> {
    /// Returns the complaint about an error, with hints that are commands.
    pub fn complaint(self, error: &FindError) -> Complaint {
        self.hints(error).into_iter().fold(Complaint::of(ErrorKind::Input, error), Complaint::hint)
    }

    /// Returns the complaint of a command that was given no skill.
    pub fn unnamed(self, known: &[String]) -> Complaint {
        let where_from = if known.is_empty() { "none was found" } else { "the current folder is not in one" };
        let what = format!("`{}` needs a skill, and {where_from}", self.command);
        let complaint = self.offer(known).into_iter().fold(Complaint::input(what), Complaint::hint);
        if known.is_empty() { complaint.hint("`skilltune demo` tunes example skills") } else { complaint }
    }

    /// Names the skills that were found, and the command for the first one.
    pub fn offer(self, skills: &[String]) -> Vec<String> {
        if let Some(first) = skills.first() {
            vec![format!("skills found: {}", few(skills)), format!("run {}", self.line(first))]
        } else {
            let elsewhere = self.line("./my-skill");
            let hint = format!("for a skill elsewhere, pass its folder, such as {elsewhere}");
            vec![looked_in(&shelved(self.env)), hint]
        }
    }

    fn hints(self, error: &FindError) -> Vec<String> {
        let env = self.env;
        match error {
            FindError::Nowhere { name, .. } => {
                let near = near(name, &known(env));
                let inside = inside(&env.cwd.join(name), env);
                match (near.is_empty(), inside.is_empty()) {
                    (false, _) => self.guess(near.iter().map(|near| self.corrected(name, near))),
                    (true, false) => self.offer(&inside),
                    (true, true) => self.as_task(name).unwrap_or_else(|| self.offer(&known(env))),
                }
            }
            FindError::Missing(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let beside = path.parent().map(|folder| inside(folder, env)).unwrap_or_default();
                let near = [near(&name, &beside), near(&name, &known(env))].concat();
                if near.is_empty() { self.offer(&known(env)) } else { self.guess(near.into_iter().take(1)) }
            }
            FindError::Ambiguous { hits, .. } => {
                hits.iter().map(|hit| format!("run {}", self.line(&display_path(hit, env)))).collect()
            }
            FindError::NotAFolder { path } => match skill_of(path) {
                Some(skill) => {
                    vec![format!("it belongs to a skill: run {}", self.line(&display_path(&skill, env)))]
                }
                None => self.offer(&known(env)),
            },
            FindError::NoSkillMd { path, otherwise: None } => {
                let inside = inside(path, env);
                if inside.is_empty() { self.offer(&known(env)) } else { self.offer(&inside) }
            }
            FindError::Broken { path, .. } => {
                let skill = path.parent().unwrap_or(path);
                let lint = format!(
                    "`skilltune lint {}` lists what to fix",
                    shell_path(Path::new(&display_path(skill, env)))
                );
                error.hints().into_iter().chain([lint]).collect()
            }
            FindError::EmptyName(_)
            | FindError::NoHome(_)
            | FindError::Dangling { .. }
            | FindError::Root
            | FindError::NotUtf8(_)
            | FindError::Unreadable { .. }
            | FindError::NoSkillMd { .. }
            | FindError::Twice(_)
            | FindError::Inside { .. } => error.hints(),
        }
    }

    /// Returns the line for a task that was given without its skill, in the folder of the skill.
    fn as_task(self, name: &str) -> Option<Vec<String>> {
        let skill =
            skill_of(&self.env.cwd.join(PAGE)).filter(|_| self.command == "tune" && self.list == name)?;
        let (skill, task) = (display_path(&skill, self.env), shell_path(Path::new(name)));
        let line = format!("skilltune tune {} {task}", shell_path(Path::new(&skill)));
        Some(vec![format!("if it is a task for the skill of this folder, run `{line}`")])
    }

    fn guess(self, lists: impl Iterator<Item = String>) -> Vec<String> {
        let lines: Vec<String> = lists.map(|list| self.line(&list)).collect();
        vec![format!("did you mean {}?", lines.join(" or "))]
    }

    /// Returns the list with another name in it.
    fn corrected(self, name: &str, by: &str) -> String {
        let parts = self.list.split(',').map(str::trim);
        parts.map(|part| if part == name { by } else { part }).collect::<Vec<_>>().join(",")
    }

    fn line(self, list: &str) -> String {
        format!("`skilltune {} {}`", self.command, shell_path(Path::new(list)))
    }
}
