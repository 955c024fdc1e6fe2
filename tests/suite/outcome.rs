//! The full result of a run, in a form that can be compared: an interrupted and resumed run with an undisturbed one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::store::{self, Locks};
use skilltune_phases::loops::tune::Run;
use skilltune_phases::loops::tune::results::state_file;

use crate::scene::{Ran, Scene, listing};

type Listing = Vec<(PathBuf, u32, Vec<u8>)>;

#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    code: Option<i32>,
    result: Value,
    decisions: Vec<Value>,
    /// The bytes and modes of every skill.
    target: Listing,
    /// The pages and artifacts of the rounds, and the reports.
    pages: Listing,
    /// The number of answered calls.
    answered: usize,
}

impl Outcome {
    pub(crate) fn of(scene: &Scene, ran: &Ran) -> Self {
        let target = listing(&scene.path("project/.claude/skills"));
        let mut result = result(ran);
        result
            .as_object_mut()
            .expect("the result is an object")
            .remove("target")
            .expect("the field is there");
        let root = scene.path("");
        for note in result["notes"].as_array_mut().expect("notes are a list") {
            *note = note.as_str().expect("a note is text").replace(root.to_str().expect("plain"), "/").into();
        }
        Self::with(scene, ran, result, target, "")
    }

    /// Reads the outcome of a run of `reflex`, whose target is the original's files. The name of its task is excluded.
    pub(crate) fn of_reflex(scene: &Scene, ran: &Ran) -> Self {
        let mut result = result(ran);
        let alias = result["alias"].take();
        let alias = alias.as_str().expect("a task has a name");
        result["artifact"].as_object_mut().expect("an object").remove("path").expect("the field is there");
        result["completed_phase_seconds"].take();
        let mut target = listing(&scene.path("project/.ai-factory"));
        for (path, ..) in &mut target {
            *path = path.to_string_lossy().replace(alias, "ALIAS").into();
        }
        Self::with(scene, ran, result, shared(scene, alias, target), alias)
    }

    /// Reads the outcome of a run of `gan`, whose target is the folder that it builds into.
    pub(crate) fn of_gan(scene: &Scene, ran: &Ran) -> Self {
        let mut result = result(ran);
        for path in ["into", "result"] {
            assert!(result[path].take().is_string(), "{path}");
        }
        Self::with(scene, ran, result, listing(&scene.path("project/site")), "")
    }

    /// Reads the outcome of a review, which has neither rounds nor a target.
    pub(crate) fn of_review(scene: &Scene, ran: &Ran) -> Self {
        let pages = ["final-report.md", "report.json", "review.md", "review.sarif"];
        Self::of_pages(scene, ran, &["change", "folder", "comment", "sarif"], &pages, Listing::new())
    }

    /// Reads the outcome of a draft of an expert, whose target is the folder of the project's experts.
    pub(crate) fn of_draft(scene: &Scene, ran: &Ran) -> Self {
        let target = listing(&scene.path("project/.agents"));
        let pages = ["final-report.md", "report.json", "answer.md"];
        Self::of_pages(scene, ran, &["answer_file", "file"], &pages, target)
    }

    /// Reads the outcome of a run of `evolve`, whose target is the project, and the commits of its branch.
    pub(crate) fn of_evolve(scene: &Scene, ran: &Ran, commits: &str) -> Self {
        let mut target = listing(&scene.path("project"));
        target.retain(|(path, ..)| !path.starts_with(".git") && !path.starts_with(".skilltune"));
        let mut outcome = Self::of_pages(
            scene,
            ran,
            &["specification", "folder"],
            &["final-report.md", "plan.json"],
            target,
        );
        if let Some(receipts) = outcome.result["receipts"].as_object_mut() {
            assert!(receipts.remove("run").is_some_and(|run| run.is_string()));
        }
        // A commit has the time of its run.
        let proposal = outcome.result["proposal"].take();
        assert_eq!(proposal["branch"].is_string(), !commits.is_empty(), "{proposal}");
        outcome.pages.extend(shared(scene, "", vec![("commits".into(), 0, commits.into())]));
        outcome
    }

    /// Reads these pages of the run. The result has these paths, which differ.
    fn of_pages(scene: &Scene, ran: &Ran, paths: &[&str], pages: &[&str], target: Listing) -> Self {
        let mut result = result(ran);
        for path in paths {
            assert!(result[path].take().is_string(), "{path}");
        }
        let read = |name: &&str| {
            let bytes = fs::read(scene.run_folder().join(name));
            (PathBuf::from(name), 0, bytes.unwrap_or_else(|_| panic!("{name} is missing")))
        };
        Self {
            code: ran.code,
            result,
            decisions: scene.events("decided"),
            target,
            pages: shared(scene, "", pages.iter().map(read).collect()),
            answered: scene.answered(),
        }
    }

    fn with(scene: &Scene, ran: &Ran, result: Value, target: Listing, alias: &str) -> Self {
        Self {
            code: ran.code,
            result,
            decisions: scene.events("decided"),
            target,
            pages: shared(scene, alias, pages(scene)),
            answered: scene.answered(),
        }
    }

    pub(crate) fn has_target(&self, target: &[(PathBuf, u32, Vec<u8>)]) -> bool {
        self.target == target
    }

    /// Fails unless the decisions and the target are the same, regardless of the number of calls.
    pub(crate) fn assert_ends_as(&self, whole: &Self, story: &str) {
        assert_eq!((self.code, &self.decisions), (whole.code, &whole.decisions), "{story}");
        assert!(self.has_target(&whole.target), "{story}: another target");
    }

    /// Fails and shows only the differences.
    pub(crate) fn assert_is(&self, whole: &Self, story: &str) {
        assert_eq!((self.code, &self.result), (whole.code, &whole.result), "{story}");
        assert_eq!(self.decisions, whole.decisions, "{story}");
        for (what, ours, theirs) in
            [("target", &self.target, &whole.target), ("pages", &self.pages, &whole.pages)]
        {
            let only = |a: &Listing, b: &Listing| -> Vec<String> {
                let lacks = a.iter().filter(|entry| !b.contains(entry));
                lacks.map(|(path, mode, bytes)| entry_text(path, *mode, bytes)).collect()
            };
            assert!(
                ours == theirs,
                "{story}: {what}: {:#?} instead of {:#?}",
                only(ours, theirs),
                only(theirs, ours)
            );
        }
        assert_eq!(self.answered, whole.answered, "{story}: calls that have answered");
    }
}

fn entry_text(path: &Path, mode: u32, bytes: &[u8]) -> String {
    const SHOWN: usize = 300;
    let text: String = String::from_utf8_lossy(bytes).chars().take(SHOWN).collect();
    format!("{} {mode:o} {text}", path.display())
}

/// Returns the object on stdout without the parts that two runs never share.
fn result(ran: &Ran) -> Value {
    let mut result = ran.json();
    let fields = result.as_object_mut().expect("the result is an object");
    for own in ["run_id", "report", "page", "state"] {
        fields.remove(own).expect("the field is there");
    }
    fields["cost"].as_object_mut().expect("costs are an object").remove("seconds");
    result
}

fn pages(scene: &Scene) -> Listing {
    let folder = scene.run_folder();
    let mut pages = listing(&folder.join("iterations"));
    for name in ["final-report.md", "report.json"] {
        let bytes = fs::read(folder.join(name)).unwrap_or_else(|_| panic!("{name} is missing"));
        pages.push((name.into(), 0, bytes));
    }
    pages
}

/// Removes the parts of files that two runs never share.
fn shared(scene: &Scene, alias: &str, mut files: Listing) -> Listing {
    let (id, root) = (scene.run_id(), scene.path("").display().to_string());
    for (_, _, bytes) in &mut files {
        if let Ok(text) = str::from_utf8(bytes) {
            let text = text.replace(&id, "RUN").replace(&root, "ROOT/");
            let text = if alias.is_empty() { text } else { text.replace(alias, "ALIAS") };
            *bytes = masked(&text).into_bytes();
        }
    }
    files
}

/// Removes times and durations: words made of digits that look like either.
fn masked(text: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '-');
    let mut masked = String::new();
    let mut rest = text;
    while let Some(from) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[from..].find(|c| !word(c)).unwrap_or(rest.len() - from);
        let (found, after) = rest[from..].split_at(length);
        masked.push_str(&rest[..from]);
        let seconds = found.strip_suffix('s').is_some_and(|number| number.parse::<f64>().is_ok());
        let time = found.ends_with('Z') && found.contains('T');
        masked.push_str(if seconds || time { "TIME" } else { found });
        rest = after;
    }
    let masked = masked + rest;
    // Costs in seconds are numbers in the report, and so are durations of phases in the original's files. A call is known
    // by a hash of all that it was given, such as the path of its program.
    let own = ["\"seconds\": ", "\"completed_phase_seconds\": ", "\"call\": "];
    let lines = masked.lines().filter(|line| !own.iter().any(|key| line.trim_start().starts_with(key)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Checks what must be true of a scene after every run, whatever happened before.
pub(crate) fn assert_tidy(scene: &Scene, story: &str) {
    assert_left_nothing(scene, story);
    let folder = scene.run_folder();
    let history = store::read(&SafePath::below(&folder, "history.jsonl")).expect("the journal can be read");
    let run = Run::replay(&history.records).expect("the journal is that of a run");
    let state = fs::read_to_string(folder.join("iteration-state.json")).expect("the state is there");
    assert_eq!(state, state_file::text(&run), "{story}: the state is not the fold of the journal");
    let unshared = unshared(scene);
    assert!(unshared.is_empty(), "{story}: the next run pays again for {unshared:?}");
    let locks = Locks::at(&scene.path("state/skilltune"));
    for member in &run.plan.task.target.members {
        let path = Path::new(&member.path);
        assert_eq!(locks.holder(path).expect("the lock can be read"), None, "{story}: a lock is held");
        assert!(!locks.place(path).join("pending.json").exists(), "{story}: a promotion is pending");
    }
}

/// Returns the answered calls whose answers are not in the cache.
fn unshared(scene: &Scene) -> Vec<String> {
    let replies = fs::read_dir(scene.run_folder().join("agents")).expect("the calls are there");
    let replies = replies.filter_map(|call| fs::read_to_string(call.unwrap().path().join("reply.json")).ok());
    let replies = replies.map(|reply| serde_json::from_str::<Value>(&reply).expect("a reply is JSON"));
    let keys = replies
        .filter(|reply| reply.pointer("/outcome/failed").is_none())
        .map(|reply| reply["key"].as_str().expect("a reply has a key").to_owned());
    keys.filter(|key| !scene.path(&format!("project/.skilltune/cache/{key}.json")).exists()).collect()
}

/// Fails if a process or a workspace is left; a resumable run keeps the empty folder of its workspaces.
pub(crate) fn assert_left_nothing(scene: &Scene, story: &str) {
    assert_eq!(scene.alive(), [0; 0], "{story}: something is alive");
    let work = scene.path("cache/skilltune/work");
    let left = if work.exists() { listing(&work) } else { Vec::new() };
    let left: Vec<_> =
        left.into_iter().map(|(path, ..)| path).filter(|path| path.components().count() > 1).collect();
    assert!(left.is_empty(), "{story}: a workspace is left: {left:?}");
}

/// Returns the number of answered calls that were repeated, over all calls.
pub(crate) fn repeated(scene: &Scene) -> usize {
    scene.calls().values().map(|&(_, answered)| answered.saturating_sub(1)).sum()
}
