//! Files of a suite that trials do not get: files that contain its answers, and files of the skill itself.
//!
//! A file with answers is not placed. If the task is about that file, the scenario becomes a draft. Files of the skill
//! come from the version on trial: see `Starts::claim`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::skill_files;
use skilltune_orchestrator::snapshot::{Brought, RelPath};
use skilltune_phases::base::name::Name;
use skilltune_phases::skills::lint::{self, Files};
use skilltune_phases::suites::leak::{AnswerKeys, Held};
use skilltune_phases::suites::scenario::{Scenario, SkillFile};

use super::EVALS;
use super::document;
use super::files::{Own, Starts};
use super::note::Notes;

/// More than any written answer key has.
const LARGEST: u64 = 1 << 20;
/// The most bytes of a suite's files that are searched.
const MOST_BYTES: usize = 64 << 20;

/// Decides which files are placed. Returns the scenarios that become drafts because a file is not placed.
pub(super) fn inspect(
    scenarios: &mut Vec<Scenario>,
    drafts: &mut Vec<Scenario>,
    starts: &mut Starts,
    notes: &mut Notes,
) -> Vec<Name> {
    if starts.files.is_empty() {
        return Vec::new();
    }
    let mut search = Search::new(&starts.base, AnswerKeys::new(scenarios, ""));
    let (mut omitted, mut own) = (BTreeMap::new(), BTreeMap::new());
    let mut incomplete = Vec::new();
    for scenario in scenarios.iter() {
        let Some(gathering) = starts.gathering(&scenario.id) else { continue };
        // A file that cannot be read is reported when a run begins.
        for file in gathering.files().unwrap_or_default() {
            if let Some(of_skill) = search.of_skill(&file) {
                own.entry(scenario.id.clone()).or_insert_with(Vec::new).push(of_skill);
            } else if let Some(held) = search.answers(&file, &scenario.id) {
                let is_subject = names(&scenario.description, &file.from);
                notes.add(Some(&scenario.id), &note(&file, &held, is_subject));
                incomplete.extend(is_subject.then(|| scenario.id.clone()));
            } else if search.is_case(&file) && !names(&scenario.description, &file.from) {
                let note =
                    format!("the file {} is not placed: it is a case of a suite, with answers", file.from);
                notes.add(Some(&scenario.id), &note);
            } else {
                continue;
            }
            omitted.entry(scenario.id.clone()).or_insert_with(Vec::new).push(file.from);
        }
    }
    if (search.left as u64) < LARGEST {
        notes.add(None, &format!("only {} MiB of its files are searched for answers", MOST_BYTES >> 20));
    }
    (starts.omitted, starts.own) = (omitted, own);
    let (of_drafts, counted) = scenarios.drain(..).partition(|scenario| incomplete.contains(&scenario.id));
    *scenarios = counted;
    drafts.extend::<Vec<Scenario>>(of_drafts);
    incomplete
}

fn note(file: &Brought, held: &Held, is_subject: bool) -> String {
    let answers = answers(&held.scenarios);
    if is_subject {
        format!("the task is about {}, which holds {answers}", file.from)
    } else {
        format!("the file {} is not placed: it holds {answers}", file.from)
    }
}

/// Names the scenarios whose answers a file holds.
pub fn answers(scenarios: &[Name]) -> String {
    const NAMED: usize = 3;
    let named: Vec<&str> = scenarios.iter().take(NAMED).map(Name::as_str).collect();
    match scenarios.len() {
        1 => format!("the answer of {}", named[0]),
        many if many > NAMED => format!("the answers of {} and {} more", named.join(", "), many - NAMED),
        _ => format!("the answers of {}", named.join(", ")),
    }
}

/// Returns whether a task mentions the name of a file.
fn names(task: &str, path: &RelPath) -> bool {
    path.name().to_str().is_some_and(|name| super::placed::mentions(task, name).next().is_some())
}

/// Whether a file holds answers of the suite, or is a test case of the skill.
#[derive(Default)]
struct Inspection {
    held: Option<Held>,
    is_case: bool,
}

/// Files and skills that were already searched, because many scenarios bring the same.
struct Search<'a> {
    base: &'a Path,
    keys: AnswerKeys,
    inspected: HashMap<RelPath, Inspection>,
    skills: HashMap<PathBuf, Option<Files>>,
    left: usize,
}

impl<'a> Search<'a> {
    fn new(base: &'a Path, keys: AnswerKeys) -> Self {
        Self { base, keys, inspected: HashMap::new(), skills: HashMap::new(), left: MOST_BYTES }
    }

    /// Returns the answers in a file that the trials of a scenario must not see.
    fn answers(&mut self, file: &Brought, scenario: &Name) -> Option<Held> {
        self.inspection(&file.from).held.as_ref().filter(|held| held.is_for(scenario)).cloned()
    }

    fn is_case(&mut self, file: &Brought) -> bool {
        self.inspection(&file.from).is_case
    }

    fn inspection(&mut self, path: &RelPath) -> &Inspection {
        if !self.inspected.contains_key(path) {
            let inspected = self.text(path).map(|text| self.inspect(path, &text)).unwrap_or_default();
            self.inspected.insert(path.clone(), inspected);
        }
        &self.inspected[path]
    }

    fn inspect(&self, path: &RelPath, text: &str) -> Inspection {
        let is_test = path.as_path().parent() == Some(Path::new(EVALS));
        let has_answers = || serde_json::from_str(text).is_ok_and(|value| document::has_answers(&value));
        Inspection { held: self.keys.held(&path.to_string(), text), is_case: is_test && has_answers() }
    }

    fn text(&mut self, path: &RelPath) -> Option<String> {
        let bytes = SafePath::below(self.base, path.as_path()).read(LARGEST.min(self.left as u64)).ok()??;
        self.left -= bytes.len();
        String::from_utf8(bytes).ok()
    }

    /// Returns the file as part of the nearest skill above it, if it is one.
    fn of_skill(&mut self, file: &Brought) -> Option<Own> {
        let path = file.from.as_path();
        let is_skill = |folder: &&Path| SafePath::below(self.base, folder.join("SKILL.md")).is_file();
        let folder = path.ancestors().skip(1).find(is_skill)?;
        let (skill, below) = (self.base.join(folder), path.strip_prefix(folder).ok()?.to_str()?);
        let files = self.skills.entry(skill.clone()).or_insert_with_key(|skill| {
            let name = skill.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            skill_files::load(skill, name).ok()
        });
        is_part(files.as_ref()?, below).then(|| Own {
            from: file.from.clone(),
            skill,
            file: SkillFile { path: below.to_owned(), at: file.at.to_string() },
        })
    }
}

/// Returns whether a file is part of the skill itself and not just data in its folder.
fn is_part(skill: &Files, path: &str) -> bool {
    const MAIN: &str = "SKILL.md";
    let Some(file) = skill.get(path).filter(|_| !Path::new(path).starts_with(EVALS)) else { return false };
    let is_named = || skill.get(MAIN).and_then(lint::File::text).is_some_and(|page| page.contains(path));
    path == MAIN || lint::is_script(file) || (lint::is_markdown(path) && is_named())
}
