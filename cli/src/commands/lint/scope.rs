//! Finds the skills that lint checks: those in the folders that the user names, those that the named files belong to,
//! or all that `tune` finds by name.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use skilltune_orchestrator::skill_folders::{FoundSkill, SearchError, skill_of, skills_in};

use crate::commands::lint::deleted::deleted;
use crate::inputs::find::{self, Typed};
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::environment::{Environment, nearest_marked};
use crate::terminal::printer::Printer;

#[derive(Debug, Default)]
pub struct Scope {
    pub groups: Vec<Group>,
    /// Named folders without a skill.
    pub empty: Vec<PathBuf>,
    /// Broken symlinks that should lead to skills.
    pub broken: BTreeSet<PathBuf>,
    /// Named files that belong to no skill.
    pub strangers: Vec<PathBuf>,
    /// Named paths that belong to no skill and do not exist.
    missing: Vec<PathBuf>,
}

/// The skills on one shelf, or one skill that the user named.
#[derive(Debug)]
pub struct Group {
    pub shelf: Option<PathBuf>,
    /// Whether the user named the shelf, and not a folder around it.
    pub is_named: bool,
    pub skills: Vec<Entry>,
}

#[derive(Debug)]
pub struct Entry {
    /// The real path.
    pub path: PathBuf,
    /// Whether a symlink leads there out of the project. The author of a repository chose that target, so lint does not
    /// write there.
    pub is_outside: bool,
}

impl Scope {
    /// Returns the skills of named folders and files.
    pub fn named(given: &[String], env: &Environment) -> Result<Self, Complaint> {
        let mut scope = Self::default();
        let mut owners = HashMap::new();
        for list in given {
            let typed = Typed { command: "lint", list, env };
            for path in find::paths(list, env).map_err(|error| typed.complaint(&error))? {
                if path.is_dir() {
                    let folder = find::real(&path)?.path;
                    if !scope.add_folder(&folder)? {
                        scope.empty.push(folder);
                    }
                } else {
                    scope.add_file(path, &mut owners);
                }
            }
        }
        let deleted = deleted(&scope.missing, env)?;
        for path in std::mem::take(&mut scope.missing) {
            if !deleted.contains(&path) {
                // Fails with the reason: there is no such path.
                let typed = Typed { command: "lint", list: "", env };
                find::real(&path).map_err(|error| typed.complaint(&error))?;
            }
            scope.strangers.push(path);
        }
        Ok(scope)
    }

    /// Returns the skill of the current folder with all that are in it, or else all skills where `tune` looks for a
    /// name.
    pub fn everywhere(env: &Environment, printer: Printer) -> Result<Self, Complaint> {
        let mut scope = Self::default();
        if let Some(skill) = find::this_one(env, printer) {
            scope.add_folder(&skill)?;
            return Ok(scope);
        }
        for shelf in find::places(env).into_iter().filter_map(|shelf| find::real(&shelf).ok()) {
            scope.add_folder(&shelf.path)?;
        }
        if scope.groups.is_empty() && scope.broken.is_empty() {
            let known = find::known(env);
            let what =
                if known.is_empty() { "no skills found" } else { "no folder of skills here or at home" };
            let hints = Typed { command: "lint", list: "", env }.offer(&known);
            return Err(hints.into_iter().fold(Complaint::input(what), Complaint::hint));
        }
        printer.talk(&find::looked_in(env));
        Ok(scope)
    }

    /// Returns the paths of all skills.
    pub fn skills(&self) -> BTreeSet<PathBuf> {
        self.groups.iter().flat_map(|group| &group.skills).map(|skill| skill.path.clone()).collect()
    }

    /// Adds the skills in a folder, and the broken symlinks to skills. Returns false if there are neither.
    fn add_folder(&mut self, folder: &Path) -> Result<bool, Complaint> {
        let project = nearest_marked(folder);
        let found = skills_in(folder, project.as_deref()).map_err(|error| unsearchable(&error))?;
        let is_outside = |path: &Path| project.as_ref().is_some_and(|project| !path.starts_with(project));
        let entry = |one: &FoundSkill| Entry { path: one.path.clone(), is_outside: is_outside(&one.path) };
        let is_empty = found.skills.is_empty() && found.broken.is_empty();
        self.broken.extend(found.broken);
        for skills in found.skills.chunk_by(|one, next| one.shelf == next.shelf) {
            let above = &skills[0].shelf;
            let is_named = above.as_deref() == Some(folder);
            let entries = skills.iter().map(entry).collect();
            self.groups.push(Group { shelf: above.clone(), is_named, skills: entries });
        }
        Ok(!is_empty)
    }

    /// Adds the skill that a file belongs to. A deleted file belongs to one too: links to it are broken now.
    fn add_file(&mut self, path: PathBuf, owners: &mut HashMap<PathBuf, Option<PathBuf>>) {
        let folder = path.parent().unwrap_or(&path).to_owned();
        match owners.entry(folder).or_insert_with(|| skill_of(&path)) {
            Some(skill) => self.add_skill(skill.clone()),
            None if path.exists() => self.strangers.push(path),
            None => self.missing.push(path),
        }
    }

    fn add_skill(&mut self, path: PathBuf) {
        let skills = vec![Entry { path, is_outside: false }];
        self.groups.push(Group { shelf: None, is_named: false, skills });
    }
}

fn unsearchable(error: &SearchError) -> Complaint {
    let complaint = Complaint::of(ErrorKind::Input, error);
    match error {
        SearchError::TooMany(_) => complaint.hint("pass the folders of the skills, such as ./skills"),
        SearchError::Rules(_) => complaint,
    }
}
