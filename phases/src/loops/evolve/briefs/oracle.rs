//! Oracles: the names that they may use, one oracle for each criterion, how they are run, and wrong versions that they
//! have to reject.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{goal, spec};
use crate::asking::prompt::{fence, files};
use crate::base::answer::{Object, OffSchema, capped, coded, entries, shape};
use crate::base::material::Folders;
use crate::loops::evolve::evaluation::Agreed;
use crate::loops::evolve::oracle::{GREEN, LARGEST, LONGEST_NAME, MOST_FILES, MOST_WORDS, RED};
use crate::loops::evolve::plan::is_plain_path;
use crate::loops::evolve::spec::Criterion;
use crate::loops::evolve::{AgentRequest, Run};
use crate::loops::shared::form;
use crate::loops::shared::looking::only_looks;
use crate::loops::shared::request::off_schema;
use crate::runs::event::Outcome;
use crate::suites::checks::shell_fault;

/// The folder of the workspace with the files of an oracle.
pub(in crate::loops::evolve) const ORACLE: &str = "oracle";
/// The number of wrong versions of a result, for each criterion.
const WRONG: usize = 3;

const MOST_EDITS: usize = 20;
const LONGEST: usize = 600;
const LONGEST_NOTE: usize = 8_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OracleBrief {
    criterion: Criterion,
    /// The names that it may use.
    names: Option<String>,
    /// The command that has to be mended, and how it ended.
    broken: Option<(Vec<String>, String)>,
}

/// One run of an oracle on a tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProbeBrief {
    /// The codes that it prints if it fails and if it passes. A check of the specification knows none.
    pub codes: Option<[String; 2]>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpoilBrief {
    criterion: Agreed,
}

/// A file of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct File {
    pub path: String,
    pub text: String,
}

/// The answer about names.
#[derive(Clone, Debug, PartialEq)]
pub struct RawInterface {
    pub note: Box<str>,
    pub stub: Vec<File>,
}

/// The answer about a criterion.
#[derive(Clone, Debug, PartialEq)]
pub enum RawOracle {
    Oracle { argv: Vec<String>, files: Vec<File>, uses_names: bool, shows: Box<str> },
    Judge { why: Box<str> },
}

/// A wrong version, as edits of the result.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Edits {
    pub what: String,
    pub edits: Vec<Edit>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Edit {
    pub path: String,
    /// A text that the file has once.
    pub old: String,
    pub new: String,
}

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    files: Vec<File>,
    #[serde(default)]
    uses_names: bool,
    #[serde(default)]
    shows: String,
    #[serde(default)]
    why_not: String,
}

impl OracleBrief {
    pub(crate) fn of(run: &Run, criterion: &str, go: u32) -> Option<Self> {
        let criterion = run.plan.task.spec.criteria.iter().find(|one| *one.id == *criterion)?.clone();
        let earlier = go.checked_sub(1).and_then(|go| Some((go, run.oracle(&criterion.id, go)?)));
        let broken = earlier.map(|(go, oracle)| {
            let end = run.probed(&criterion.id, go, run.base());
            let said = end.map_or("it did not run to its end", |end| &*end.said);
            (oracle.argv.clone(), said.to_owned())
        });
        Some(Self { criterion, names: run.names().map(str::to_owned), broken })
    }

    pub(super) fn quoted(&self) -> impl serde::Serialize + '_ {
        (&self.names, &self.broken)
    }

    pub(super) fn values(&self, request: &AgentRequest, folders: &Folders) -> Value {
        let seed = request.code.as_str();
        let criterion = format!("{}: {}", self.criterion.id, self.criterion.text);
        let broken = self.broken.as_ref().map(|(argv, said)| {
            let own = folders.find(ORACLE).map(|folder| files(seed, folder));
            let ended = fence(seed, "how it ended", &format!("$ {}\n{said}", argv.join(" ")));
            json!({ "files": own, "ended": ended })
        });
        json!({
            "spec": spec(request),
            "criterion": fence(seed, "the criterion", &criterion),
            "names": self.names.as_ref().map(|names| fence(seed, "the names", names)),
            "broken": broken,
            "red": RED,
            "green": GREEN,
        })
    }

    pub(super) fn form() -> Value {
        let own = form::object(&json!({ "path": form::text(), "text": form::text() }));
        form::object(&json!({
            "answer_to": form::text(),
            "argv": form::list(&(0..=MOST_WORDS), &form::text()),
            "files": form::list(&(0..=MOST_FILES), &own),
            "uses_names": { "type": "boolean" },
            "shows": form::text(),
            "why_not": form::text(),
        }))
    }

    fn read(&self, object: Object) -> Result<RawOracle, OffSchema> {
        let written: Written =
            serde_json::from_value(Value::Object(object)).map_err(|error| shape(&error.to_string()))?;
        if written.argv.is_empty() {
            let why = capped(written.why_not.trim(), LONGEST);
            let why = if why.is_empty() { "no machine can tell".to_owned() } else { why };
            return Ok(RawOracle::Judge { why: why.into() });
        }
        let Written { argv, files, uses_names, shows, .. } = written;
        super::sound(self.fault(&argv, &files, uses_names))?;
        let shows = capped(shows.trim(), LONGEST).into();
        Ok(RawOracle::Oracle { argv, files, uses_names, shows })
    }

    /// Returns why an oracle would show nothing.
    fn fault(&self, argv: &[String], files: &[File], uses_names: bool) -> Option<String> {
        let is_own = |word: &String| files.iter().any(|file| file.path == *word);
        // A script of its own is no text in an argument.
        let is_script =
            argv.first().is_some_and(|program| program == "sh") && argv.get(1).is_some_and(is_own);
        let has = |code: &str| {
            let texts = files.iter().map(|file| &file.text).chain(argv);
            let mut texts = texts.filter(|text| text.contains(code));
            texts.next().is_some()
        };
        let missing = [RED, GREEN].into_iter().find(|code| !has(code));
        files_fault(files, MOST_FILES)
            .or_else(|| shell_fault(argv).filter(|_| !is_script))
            .or_else(|| only_looks(argv))
            .or_else(|| (argv.len() > MOST_WORDS).then(|| format!("it has more than {MOST_WORDS} arguments")))
            .or_else(|| {
                missing.map(|code| format!("neither its files nor its arguments have the word {code}"))
            })
            .or_else(|| {
                let is_without = uses_names && self.names.is_none();
                is_without.then(|| "there are no agreed names, so it cannot use any".to_owned())
            })
    }
}

impl SpoilBrief {
    pub(crate) fn of(run: &Run, criterion: &str) -> Option<Self> {
        Some(Self { criterion: run.state.contract.as_ref()?.criterion(criterion)?.clone() })
    }

    pub(super) fn values(&self, request: &AgentRequest) -> Value {
        let seed = request.code.as_str();
        let criterion = format!("{}: {}", self.criterion.id, self.criterion.text);
        json!({
            "goal": goal(request),
            "criterion": fence(seed, "the criterion", &criterion),
            "wrong": WRONG,
        })
    }

    pub(super) fn form() -> Value {
        let edit = json!({ "path": form::text(), "old": form::text(), "new": form::text() });
        let edits = form::list(&(1..=MOST_EDITS), &form::object(&edit));
        let one = form::object(&json!({ "what": form::text(), "edits": edits }));
        form::bound("versions", &form::list(&(1..=WRONG), &one))
    }
}

pub(super) fn interface_form() -> Value {
    let own = form::object(&json!({ "path": form::text(), "text": form::text() }));
    form::object(&json!({
        "answer_to": form::text(),
        "note": form::text(),
        "stub": form::list(&(0..=MOST_FILES), &own),
    }))
}

/// Returns the first fault of the files of an answer.
fn files_fault(files: &[File], most: usize) -> Option<String> {
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    let is_long = |path: &str| path.split('/').any(|part| part.len() > LONGEST_NAME);
    let is_odd = |path: &str| path.is_empty() || path.ends_with('/') || !is_plain_path(path) || is_long(path);
    let twice = |at: usize, file: &File| files[..at].iter().any(|other| other.path == file.path);
    let is_folder = |path: &str| {
        let below = |other: &File| other.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        files.iter().any(below)
    };
    if files.len() > most {
        return Some(format!("it has more than {most} files"));
    }
    if bytes > LARGEST {
        return Some(format!("its files have more than {LARGEST} bytes"));
    }
    files.iter().enumerate().find_map(|(at, file)| {
        if is_odd(&file.path) {
            Some(format!("{:?} is no plain relative path of a file", file.path))
        } else if twice(at, file) {
            Some(format!("the file {:?} is there twice", file.path))
        } else if is_folder(&file.path) {
            Some(format!("{:?} is both a file and a folder", file.path))
        } else {
            None
        }
    })
}

fn read_interface(mut object: Object) -> Result<RawInterface, OffSchema> {
    let stub: Vec<File> = entries(&mut object, "stub")?;
    super::sound(files_fault(&stub, MOST_FILES))?;
    let note = object.get("note").and_then(Value::as_str).unwrap_or_default().trim();
    let note: Box<str> = capped(note, LONGEST_NOTE).into();
    super::sound(
        (note.is_empty() && !stub.is_empty())
            .then(|| "`stub` has files, and `note` names nothing".to_owned()),
    )?;
    Ok(RawInterface { note, stub })
}

fn read_versions(mut object: Object) -> Result<Vec<Edits>, OffSchema> {
    let mut versions: Vec<Edits> = entries(&mut object, "versions")?;
    versions.truncate(WRONG);
    let is_empty = |one: &Edits| one.edits.is_empty() || one.edits.len() > MOST_EDITS;
    super::sound(
        versions.iter().any(is_empty).then(|| format!("each version needs 1 to {MOST_EDITS} edits")),
    )?;
    for one in &mut versions {
        one.what = capped(one.what.trim(), LONGEST);
    }
    Ok(versions)
}

impl AgentRequest {
    /// Reads the names that work has to provide.
    pub fn raw_interface(&self, answer: &str) -> Outcome<RawInterface> {
        coded(answer, &self.code, "note", read_interface).map_err(|why| off_schema(&why))
    }

    /// Reads the oracle of a criterion.
    pub fn raw_oracle(&self, brief: &OracleBrief, answer: &str) -> Outcome<RawOracle> {
        coded(answer, &self.code, "argv", |object| brief.read(object)).map_err(|why| off_schema(&why))
    }

    /// Reads wrong versions of a result.
    pub fn raw_versions(&self, answer: &str) -> Outcome<Vec<Edits>> {
        coded(answer, &self.code, "versions", read_versions).map_err(|why| off_schema(&why))
    }
}
