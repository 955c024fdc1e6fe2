//! The part of the scripted agent in a run of `evolve`: planner, executor and judge.
//!
//! Without a script each task writes the lines `meets ID` for the criteria that it covers into the first file that it
//! names, and the judge finds a criterion met where such a line is. So what follows from a tree depends on the tree alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::script::Script;

/// The script of a run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Play {
    /// The statements of the goal; without any, the goal itself.
    pub(crate) statements: Vec<String>,
    /// The class and the priority of criteria; without them essential and high.
    pub(crate) classes: BTreeMap<String, [String; 2]>,
    /// The tasks of each call for tasks, in the order of the calls; the last one repeats.
    pub(crate) tasks: Vec<Value>,
    /// By the id of a task, what its executor does each time; the last one repeats.
    pub(crate) works: BTreeMap<String, Vec<Work>>,
    /// The entries of each call for drift.
    pub(crate) drift: Vec<Value>,
    /// The amendments of each call for one; the last one repeats.
    pub(crate) amendments: Vec<Value>,
    /// The experts that are relevant to tasks.
    pub(crate) relevant: Vec<Value>,
    /// By words of its description of itself, what an expert says and how sure it is. Others give no usable answer.
    pub(crate) perspectives: BTreeMap<String, (String, f64)>,
    /// What follows from several perspectives.
    pub(crate) consensus: Value,
    /// The names that the work has to provide, with their stub; without them, none.
    pub(crate) names: Value,
    /// By the id of a criterion, its oracle each time; the last one repeats. A text is a script for `sh`. Without one, no
    /// machine can tell.
    pub(crate) oracles: BTreeMap<String, Vec<Value>>,
    /// By the id of a criterion, wrong versions of the result.
    pub(crate) versions: BTreeMap<String, Value>,
    /// Texts instead of an answer, by the word of the page.
    pub(crate) instead: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Work {
    /// Files and their new content; null deletes.
    pub(crate) writes: BTreeMap<String, Option<String>>,
    /// Text that is added at the end of files.
    pub(crate) appends: BTreeMap<String, String>,
    /// The folders in which it looks for oracles, besides the one of its call. It writes into `found.txt` what it found.
    pub(crate) hunts: Vec<PathBuf>,
    pub(crate) says: String,
    pub(crate) fails: bool,
}

/// Whose turn a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Split,
    Classify,
    Names,
    Oracle,
    Spoil,
    Divide,
    Group,
    Match,
    Advise,
    Agree,
    Work,
    Drift,
    Judge,
    Amend,
}

/// What follows the description of an expert.
const ADVISE: &str = "\n# What you are asked\n\nAn agent will do one task of a larger change.";

const PAGES: [(Page, &str, &str); 14] = [
    (Page::Split, "split", "# Split a goal into statements\n"),
    (Page::Classify, "classify", "# Classify the criteria of a specification\n"),
    (Page::Names, "names", "# Name what a change has to provide\n"),
    (Page::Oracle, "oracle", "# Say how a machine tells that a criterion is met\n"),
    (Page::Spoil, "spoil", "# Write wrong versions of a change\n"),
    (Page::Divide, "divide", "# Divide work into tasks\n"),
    (Page::Group, "group", "# Group tasks by what they are about\n"),
    (Page::Match, "match", "# Choose experts for tasks\n"),
    (Page::Advise, "advise", ADVISE),
    (Page::Agree, "agree", "# Make one advice of several\n"),
    (Page::Work, "work", "# Do one task of a larger change\n"),
    (Page::Drift, "drift", "# Look for drift from a specification\n"),
    (Page::Judge, "judge", "# Judge whether a project meets its specification\n"),
    (Page::Amend, "amend", "# Decide how a change goes on\n"),
];

impl Page {
    pub(crate) fn of(prompt: &str) -> Option<Self> {
        let headed = PAGES.iter().find(|(_, _, heading)| prompt.starts_with(heading)).map(|(page, ..)| *page);
        headed.or_else(|| prompt.contains(ADVISE).then_some(Self::Advise))
    }

    /// Returns the name of a call; that of a task or about one criterion has its id.
    pub(crate) fn name(self, prompt: &str) -> String {
        let own = PAGES.iter().find(|(page, ..)| *page == self).map_or("", |(_, name, _)| name);
        match self {
            Self::Work => format!("task-{}", task_id(prompt)),
            Self::Oracle | Self::Spoil => format!("{own}-{}", criterion_id(prompt)),
            _ => own.to_owned(),
        }
    }
}

/// Returns the answer, or none if the agent fails.
pub(crate) fn answer(script: &Script, page: Page, prompt: &str, call: &str) -> Option<String> {
    let play = &script.evolve;
    let code = prompt.rsplit_once("\"answer_to\": \"").and_then(|(_, rest)| rest.split_once('"'));
    let code = code.map_or("", |(code, _)| code);
    let name = page.name(prompt);
    if let Some(text) = play.instead.get(&name) {
        return Some(text.replace("CODE", code));
    }
    // A retry has another prompt, so it is the next call of its page.
    let nth = script.nth(&name, call);
    let of = |all: &[Value]| all.get(nth).or(all.last()).cloned();
    let mut answer = match page {
        Page::Split => {
            let goal = fenced(prompt, "the goal").trim().to_owned();
            let statements = if play.statements.is_empty() { vec![goal] } else { play.statements.clone() };
            json!({ "statements": statements })
        }
        Page::Classify => {
            let spec = fenced(prompt, "the specification");
            let one = |id: &String| {
                let given = ["critical", "high", "medium", "low"].into_iter().find(|word| {
                    let marked = |mark: &str| spec.contains(&format!("- {mark}{id}{mark} ({word})"));
                    marked("") || marked("**")
                });
                let usual = ["essential".to_owned(), given.unwrap_or("high").to_owned()];
                let [class, priority] = play.classes.get(id).unwrap_or(&usual);
                json!({ "id": id, "class": class, "priority": priority, "why": "it is asked for" })
            };
            json!({ "criteria": criteria(spec).iter().map(one).collect::<Vec<_>>() })
        }
        Page::Names if play.names.is_null() => json!({ "note": "", "stub": [] }),
        Page::Names => play.names.clone(),
        Page::Oracle => {
            let id = criterion_id(prompt);
            oracle(id, play.oracles.get(id).and_then(|all| of(all)))
        }
        Page::Spoil => json!({ "versions": play.versions.get(criterion_id(prompt)).unwrap_or(&json!([])) }),
        Page::Divide => {
            let covered: Vec<String> = fenced(prompt, "the criteria to cover")
                .lines()
                .filter_map(|line| line.split([' ', ':']).next())
                .map(str::to_owned)
                .collect();
            let usual = json!([{
                "id": format!("all-{}", covered.join("-").to_lowercase()), "title": "Do all of it",
                "description": "Do it.", "covers": covered, "after": [], "touches": ["result.txt"], "replaces": [],
            }]);
            json!({ "tasks": of(&play.tasks).unwrap_or(usual) })
        }
        Page::Group => {
            let ids: Vec<&str> = task_ids(fenced(prompt, "tasks"));
            json!({ "groups": [{ "name": "all", "domain": "code", "tasks": ids }] })
        }
        Page::Match => json!({ "relevant": play.relevant }),
        Page::Advise => {
            let (persona, _) = prompt.split_once(ADVISE)?;
            let mut all = play.perspectives.iter();
            let Some((_, (text, confidence))) = all.find(|(words, _)| persona.contains(words.as_str()))
            else {
                return Some("I would rather not say.".to_owned());
            };
            json!({ "perspective": text, "confidence": confidence })
        }
        Page::Agree => play.consensus.clone(),
        Page::Work => return work(play, nth, prompt),
        Page::Drift => json!({ "drift": of(&play.drift).unwrap_or_else(|| json!([])) }),
        Page::Judge => judge(prompt),
        Page::Amend => of(&play.amendments).unwrap_or_else(
            || json!({ "description": "", "criteria": [], "constraints": [], "changes": [] }),
        ),
    };
    answer.as_object_mut().expect("an object").insert("answer_to".to_owned(), code.into());
    Some(answer.to_string())
}

/// Returns the text in the fence of this name.
fn fenced<'t>(prompt: &'t str, name: &str) -> &'t str {
    let rest = prompt.split_once(&format!(" {name}>>>\n")).map_or("", |(_, rest)| rest);
    rest.split_once("<<<END").map_or(rest, |(text, _)| text)
}

/// Returns the ids of the criteria of a specification in Markdown.
fn criteria(spec: &str) -> Vec<String> {
    let part = spec.split_once("criteria\n").map_or("", |(_, rest)| rest);
    let part = part.split_once("\n## ").map_or(part, |(part, _)| part);
    let items = part.lines().filter_map(|line| line.strip_prefix("- "));
    let id = |item: &str| {
        item.trim_start_matches('*').split([':', ' ', '*']).next().unwrap_or_default().to_owned()
    };
    items.map(id).collect()
}

/// Returns the ids of tasks in a list of tasks.
fn task_ids(list: &str) -> Vec<&str> {
    let heads = list.split("\n\n").filter_map(|task| task.trim().split_once(": "));
    heads.map(|(id, _)| id).filter(|id| !id.contains(['\n', ' '])).collect()
}

/// Returns the id of the task that an executor has to do.
fn task_id(prompt: &str) -> &str {
    fenced(prompt, "the task").split_once(": ").map_or("", |(id, _)| id.trim())
}

/// Returns the id of the criterion that a call is about.
fn criterion_id(prompt: &str) -> &str {
    fenced(prompt, "the criterion").split_once(": ").map_or("", |(id, _)| id.trim())
}

/// Returns the answer about the oracle of a criterion.
fn oracle(id: &str, scripted: Option<Value>) -> Value {
    match scripted {
        None => {
            json!({ "argv": [], "files": [], "uses_names": false, "shows": "", "why_not": "taste" })
        }
        Some(Value::String(text)) => {
            let path = format!("oracle-{id}.sh");
            json!({
                "argv": ["sh", path], "files": [{ "path": path, "text": text }], "uses_names": false,
                "shows": format!("it shows {id}"), "why_not": "",
            })
        }
        Some(whole) => whole,
    }
}

fn work(play: &Play, nth: usize, prompt: &str) -> Option<String> {
    let (task, id) = (fenced(prompt, "the task"), task_id(prompt));
    let field = |name: &str| {
        let line = task.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_default().split(", ").filter(|part| !part.is_empty()).collect::<Vec<&str>>()
    };
    let project = Path::new("project");
    let Some(works) = play.works.get(id) else {
        let to = field("touches").first().map_or("result.txt", |path| path.trim_end_matches('/'));
        let lines: String = field("covers").iter().flat_map(|id| ["this meets ", id, "\n"]).collect();
        append(&project.join(to), &lines);
        return Some(format!("I did {id}."));
    };
    let work = works.get(nth).or(works.last()).expect("an executor does something");
    if work.fails {
        return None;
    }
    for (path, content) in &work.writes {
        let path = project.join(path);
        match content {
            Some(content) => {
                fs::create_dir_all(path.parent().expect("a folder")).expect("the copy can be changed");
                fs::write(path, content).expect("the copy can be changed");
            }
            None => fs::remove_file(path).expect("there is such a file"),
        }
    }
    for (path, text) in &work.appends {
        append(&project.join(path), text);
    }
    if !work.hunts.is_empty() {
        fs::write(project.join("found.txt"), hunted(&work.hunts)).expect("the copy can be changed");
    }
    Some(if work.says.is_empty() { format!("I did {id}.") } else { work.says.clone() })
}

/// Looks for oracles in these folders and in those of other calls, and returns the paths of the files that have one.
fn hunted(places: &[PathBuf]) -> String {
    const WORD: &[u8] = b"SKILLTUNE_RED";
    let others = PathBuf::from("../..");
    let files = places.iter().chain([&others]).flat_map(walkdir::WalkDir::new).filter_map(Result::ok);
    let has_word =
        |path: &Path| fs::read(path).is_ok_and(|bytes| bytes.windows(WORD.len()).any(|part| part == WORD));
    let found = files.filter(|entry| entry.file_type().is_file() && has_word(entry.path()));
    let found: Vec<String> = found.map(|entry| entry.path().display().to_string()).collect();
    if found.is_empty() { "nothing\n".to_owned() } else { found.join("\n") + "\n" }
}

fn append(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("the copy can be changed");
    let before = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, before + text).expect("the copy can be changed");
}

/// Judges by the lines of the project: `meets ID` and `claims ID`, `breaks ID` for a constraint, `denies ID` for a statement. A statement
/// holds without any.
fn judge(prompt: &str) -> Value {
    let lines = lines(Path::new("project"));
    let find = |word: &str, id: &str| {
        let wanted = format!("{word} {id}");
        lines.iter().find(|(_, _, line)| line.split("; ").any(|part| part.ends_with(&wanted)))
    };
    let verdict = |id: &str, holds: &str, at: Option<&(PathBuf, usize, String)>| {
        let (path, line, quote) = at.map_or((String::new(), 0, String::new()), |(path, line, text)| {
            (path.display().to_string(), *line, text.clone())
        });
        let gaps = if holds == "yes" { json!([]) } else { json!([format!("nothing shows {id}")]) };
        json!({ "id": id, "holds": holds, "path": path, "line": line, "quote": quote, "gaps": gaps })
    };
    let ids = |name: &str| -> Vec<String> {
        let list = fenced(prompt, name).lines();
        let items = list.filter_map(|line| line.split_once(". ").and_then(|(_, rest)| rest.split_once(": ")));
        items.map(|(id, _)| id.to_owned()).filter(|id| !id.contains(' ')).collect()
    };
    let criteria =
        ids("criteria").into_iter().map(|id| match find("meets", &id).or_else(|| find("claims", &id)) {
            Some(at) => verdict(&id, "yes", Some(at)),
            None => verdict(&id, "not_shown", None),
        });
    let constraints = ids("constraints").into_iter().map(|id| match find("breaks", &id) {
        Some(at) => verdict(&id, "no", Some(at)),
        None => verdict(&id, "yes", None),
    });
    let any = lines.iter().find(|(_, _, line)| line.len() >= 8);
    let statements = ids("what the goal says").into_iter().map(|id| match find("denies", &id) {
        Some(at) => verdict(&id, "no", Some(at)),
        None => verdict(&id, "yes", any),
    });
    json!({
        "criteria": criteria.collect::<Vec<_>>(),
        "constraints": constraints.collect::<Vec<_>>(),
        "statements": statements.collect::<Vec<_>>(),
        "recommendations": ["Read it once more."],
    })
}

/// Returns all lines of the text files below a folder, with their paths in it.
fn lines(root: &Path) -> Vec<(PathBuf, usize, String)> {
    let (mut folders, mut lines) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let below = path.strip_prefix(root).expect("it is below").to_owned();
                lines.extend(
                    (1..)
                        .zip(text.lines())
                        .map(|(number, line)| (below.clone(), number, line.trim().to_owned())),
                );
            }
        }
    }
    lines
}
