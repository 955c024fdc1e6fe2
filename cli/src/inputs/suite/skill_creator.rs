//! `evals.json` as skill-creator writes it, in all forms that its authors use.

mod assertion;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::{Brought, RelPath};
use skilltune_phases::suites::checks::Check;

use super::case::{Case, PROMPTS, Reading, first_text, text, texts};
use super::files::{inside, is_there};
use super::placed::place;
use super::triggers::should_trigger;

const READ: [&str; 20] = [
    "id",
    "prompt",
    "input",
    "query",
    "expected_output",
    "expected_outputs",
    "expected_behavior",
    "expectations",
    "assertions",
    "anti_expectations",
    "must_include",
    "required_regex",
    "files",
    "tags",
    "category",
    "should_trigger",
    "shouldTrigger",
    "name",
    "eval_name",
    "title",
];

/// Keys that belong to a task but have no fixed meaning: a trial without them would test something else.
const CONTENT: [&str; 8] =
    ["context", "conversation", "fixtures", "history", "messages", "setup", "system_prompt", "turns"];

pub(super) fn read(top: &Value, entries: &[&Map<String, Value>], path: &Path) -> Reading {
    let places = Places::around(path);
    let skill = top.as_object().and_then(|top| first_text(top, &["skill_name", "skill"]));
    let cases = entries.iter().map(|entry| case(entry, skill.as_deref(), &places)).collect();
    let mut notes = Vec::new();
    let named = top.as_object().into_iter().flat_map(Map::keys);
    let known = [
        "evals",
        "cases",
        "evaluations",
        "test_cases",
        "skill_name",
        "skill",
        "version",
        "description",
        "name",
    ];
    notes
        .extend(named.filter(|key| !known.contains(&key.as_str())).map(|key| format!("`{key}` is not read")));
    let folder = places.skill.file_name().and_then(|name| name.to_str());
    if let Some((skill, folder)) = skill.zip(folder).filter(|(skill, folder)| skill != folder) {
        notes.push(format!("it is for the skill `{skill}`, but the folder is called `{folder}`"));
    }
    Reading { base: places.base, cases, notes }
}

fn case(entry: &Map<String, Value>, skill: Option<&str>, places: &Places) -> Case {
    let mut case = Case::new(first_text(entry, &PROMPTS).unwrap_or_default());
    case.id = entry.get("id").and_then(text);
    case.title = first_text(entry, &["name", "eval_name", "title"]);
    if case.id.is_some() && case.title.is_some() {
        case.note("its name is not used: reports call a scenario by its id");
    }
    case.scenario.expected = goal(entry);
    for key in ["tags", "category"] {
        entry.get(key).into_iter().for_each(|tags| case.tag(tags));
    }
    demands(entry, skill, &mut case);
    files(entry, places, &mut case);
    for key in CONTENT.iter().filter(|key| entry.get(**key).is_some_and(|value| !value.is_null())) {
        case.lose(format!("`{key}` is part of the task, but is not read"));
    }
    case.note_unread(entry, &[&READ[..], &CONTENT].concat());
    case
}

/// Returns the description of a good result: a text, or a list of what it does.
fn goal(entry: &Map<String, Value>) -> Option<Box<str>> {
    let parts = ["expected_output", "expected_outputs", "expected_behavior"].iter();
    let parts = parts.filter_map(|key| match entry.get(*key)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => {
            Some(lines.iter().filter_map(text).map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"))
        }
        other => text(other),
    });
    let parts: Vec<String> = parts.filter(|part| !part.trim().is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n").into())
}

fn demands(entry: &Map<String, Value>, skill: Option<&str>, case: &mut Case) {
    for key in ["expectations", "assertions"] {
        let list = match entry.get(key) {
            Some(Value::Array(list)) => list.as_slice(),
            Some(Value::Null) | None => &[],
            Some(one) => std::slice::from_ref(one),
        };
        for one in list {
            match assertion::ask(one) {
                Ok((ask, notes)) => {
                    case.demands.push(ask);
                    case.notes.extend(notes);
                }
                Err(why) => case.note(why),
            }
        }
    }
    for not in entry.get("anti_expectations").map(texts).unwrap_or_default() {
        case.expect(format!("This is not so: {not}"));
    }
    for word in entry.get("must_include").map(texts).unwrap_or_default() {
        case.expect(format!("The result includes {word:?}."));
    }
    for pattern in entry.get("required_regex").map(texts).unwrap_or_default() {
        case.expect(format!("A part of the result matches the regular expression {pattern:?}."));
    }
    if let Some(used) = should_trigger(entry, skill) {
        case.check(Check::Skill { used });
    }
}

/// The places where a case's files may be, in this order.
struct Places {
    /// The folder that contains all others.
    base: PathBuf,
    skill: PathBuf,
    repository: Option<PathBuf>,
    folder: PathBuf,
}

impl Places {
    /// Returns the places around a file with this real path.
    fn around(path: &Path) -> Self {
        let folder = path.parent().expect("a file is in a folder").to_owned();
        let above = folder.parent().filter(|above| {
            folder.ends_with("evals") || folder.ends_with("eval") || above.join("SKILL.md").is_file()
        });
        let skill = above.unwrap_or(&folder).to_owned();
        let repository = skill.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned);
        let base = repository.clone().unwrap_or_else(|| skill.clone());
        Self { base, skill, repository, folder }
    }

    /// Finds the file and returns its path from the base.
    fn find(&self, name: &str) -> Option<RelPath> {
        let path = inside(name)?;
        let is_hidden = path.as_path().iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
        // The rest of a repository is not the skill's, so its hidden files are not handed over.
        let repository = self.repository.as_deref().filter(|_| !is_hidden);
        let places = [Some(self.skill.as_path()), repository, Some(self.folder.as_path())];
        places.into_iter().flatten().find_map(|place| {
            let below = place.strip_prefix(&self.base).expect("all of them are in the base");
            let path = inside(below.join(path.as_path()).to_str()?)?;
            is_there(&self.base, &path).then_some(path)
        })
    }
}

fn files(entry: &Map<String, Value>, places: &Places, case: &mut Case) {
    let list = match entry.get("files") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(Value::Null) | None => &[],
        Some(one) => std::slice::from_ref(one),
    };
    for file in list {
        let name = file.as_str().or_else(|| file.get("path")?.as_str());
        let Some(name) = name else {
            case.note("an entry of `files` has no path");
            continue;
        };
        let Some(from) = places.find(name) else {
            case.note(format!("the file {name:?} is missing"));
            continue;
        };
        let is_folder = SafePath::below(&places.base, from.as_path()).is_folder();
        match place(&case.scenario.description, name, is_folder) {
            Some(at) => case.files.push(Brought { from, at }),
            None => {
                case.lose(format!("the file {name:?} is skipped: agents and shells load it automatically"));
            }
        }
    }
}
