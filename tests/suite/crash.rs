//! The crash test: aborts the real binary at durable steps, resumes it, and compares it with an uninterrupted run.
//!
//! With one job the durable steps always come in the same order, so the n-th step is the same in every scene. CI visits
//! the first, the middle and the last step of each kind, and `just crash` all of them. Outside of CI the first of each
//! kind is visited, and of a whole run that of every third kind: the other kinds of a file or a journal line are near.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::chain;
use crate::finished::copy;
use crate::outcome::{Outcome, assert_tidy, repeated};
use crate::scene::{Ran, Scene, listing};
use crate::story::Story;
use crate::tier::{Tier, sample};

/// A run that accepts a change, drops another, and promotes.
struct Tuned {
    skills: &'static [(&'static str, u32)],
    script: Value,
    tune: &'static [&'static str],
}

const ALWAYS: [&str; 6] = ["--yes", "--format", "json", "--jobs", "1", "--seed"];

impl Tuned {
    fn single() -> Self {
        Self {
            skills: &[("writer", 40)],
            script: json!({ "improve": { "writer": { "40": 60, "60": 30 } } }),
            tune: &["writer", "--max-iterations", "3"],
        }
    }

    fn chain() -> Self {
        let mut script = chain::script();
        script["improve"]["writer"] = json!({ "40": 60, "60": 20 });
        Self {
            skills: &chain::SKILLS,
            script,
            tune: &["outline,writer,editor", "--chain", "--max-iterations", "3"],
        }
    }
}

impl Story for Tuned {
    /// Adds what a careless copy gets wrong: an executable, a symlink, an empty folder.
    fn scene(&self) -> Scene {
        let scene = Scene::new(self.skills, &self.script);
        for (name, _) in self.skills {
            let folder = scene.skill(name);
            fs::write(folder.join("run.sh"), "true\n").unwrap();
            fs::set_permissions(folder.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
            symlink("references/style.md", folder.join("style")).unwrap();
            fs::create_dir(folder.join("empty")).unwrap();
        }
        scene
    }

    fn begin(&self, scene: &Scene) -> Command {
        scene.command(&[&["tune", self.tune[0], "write a page"], &self.tune[1..], &ALWAYS, &["7"]].concat())
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&["resume", "--yes", "--format", "json", "--jobs", "1"])
    }

    fn assert_telling(&self, scene: &Scene, ran: &Ran) {
        let decisions = scene.events("decided");
        for decision in ["keep", "drop", "ship"] {
            assert!(decisions.iter().any(|made| made.get(decision).is_some()), "{decision}: {ran:?}");
        }
        assert_eq!(ran.json()["outcome"], "improved", "the target is replaced: {ran:?}");
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of(scene, ran)
    }

    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_tidy(scene, story);
    }
}

/// The durable steps of a command.
pub(crate) struct Steps {
    /// The kind of each step, in order.
    kinds: Vec<String>,
    /// Outside of CI, the first step of one in so many kinds is visited.
    every: usize,
}

impl Steps {
    /// Runs the command to its end and lists its steps.
    pub(crate) fn of(scene: &Scene, mut command: Command) -> Self {
        let list = scene.path("crash-points");
        let ran = Ran::of(command.env("SKILLTUNE_CRASH_LIST", &list).output().unwrap());
        let text = fs::read_to_string(&list).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        fs::remove_file(list).unwrap();
        Self { kinds: text.lines().map(str::to_owned).collect(), every: 1 }
    }

    /// Adds the event of each line of the run's journal to the kind of its step.
    fn with_events(mut self, scene: &Scene) -> Self {
        let journal = fs::read_to_string(scene.run_folder().join("history.jsonl")).unwrap();
        // The file is created with its first line.
        let events: Vec<_> = journal.lines().skip(1).map(event_kind).collect();
        for when in ["before a journal line", "after a journal line"] {
            let lines = self.kinds.iter_mut().filter(|kind| kind.starts_with(when));
            assert_eq!(lines.count(), events.len(), "{when}");
            let lines = self.kinds.iter_mut().filter(|kind| kind.starts_with(when));
            for (kind, event) in lines.zip(&events) {
                kind.push_str(event);
            }
        }
        self
    }

    /// Returns the positions, from 1, of the steps at which a command is aborted.
    fn visited(&self) -> Vec<usize> {
        let places = 1..=self.kinds.len();
        let chosen: fn(&[usize]) -> Vec<usize> = match Tier::of_this_run() {
            Tier::First => |all| vec![all[0]],
            Tier::Ci => |all| vec![all[0], all[all.len() / 2], all[all.len() - 1]],
            Tier::All => return places.collect(),
        };
        let mut of_kind = BTreeMap::<&str, Vec<usize>>::new();
        for (kind, at) in self.kinds.iter().zip(places) {
            of_kind.entry(kind).or_default().push(at);
        }
        let mut visited: Vec<_> =
            sample(of_kind.values(), self.every).into_iter().flat_map(|all| chosen(all)).collect();
        visited.sort_unstable();
        visited.dedup();
        visited
    }

    /// Returns the positions, from 1, of the first step of this kind and the next ones, at most `most`. Outside of CI
    /// only the first step of each kind.
    pub(crate) fn visited_since(&self, kind: &str, most: usize) -> Vec<usize> {
        let mut kinds = BTreeSet::new();
        let is_visited =
            |at: &usize| Tier::of_this_run() != Tier::First || kinds.insert(self.kinds[*at - 1].as_str());
        self.since(kind).take(most).filter(is_visited).collect()
    }

    /// Returns the positions, from 1, of the first step of this kind and all later steps.
    fn since(&self, kind: &str) -> std::ops::RangeInclusive<usize> {
        let first = self.kinds.iter().position(|one| one.starts_with(kind)).expect("it was reached");
        first + 1..=self.kinds.len()
    }

    /// Returns whether a run may end before this step. The files of a `reflex` run hold times in seconds, and are
    /// rewritten only where they change: each second that passes adds a few steps.
    fn may_be_missing(&self, at: usize) -> bool {
        at > self.kinds.len() - self.kinds.len() / 20
    }

    /// Prints at how many of its steps a command was aborted. Fails unless there were more than `more_than` steps.
    pub(crate) fn report(&self, what: &str, more_than: usize) {
        let (visited, all) = (self.visited().len(), self.kinds.len());
        eprintln!("crash test: {what}: aborted at {visited} of {all} durable steps");
        assert!(all > more_than, "{what}: {all} durable steps");
    }
}

/// Returns the name of the recorded event, and that of the step or the decision in it.
fn event_kind(line: &str) -> String {
    let first = |value: &Value| match value {
        Value::String(word) => Some(word.clone()),
        Value::Object(fields) => fields.keys().next().cloned(),
        _ => None,
    };
    let line: Value = serde_json::from_str(line).expect("a line is JSON");
    let name = first(&line["event"]).expect("an event has a name");
    let inside = &line["event"][&name];
    let inside = inside.get("step").unwrap_or(inside);
    format!(" {name} {}", first(inside).unwrap_or_default())
}

/// Crashes the story at each step to visit, two scenes at a time.
pub(crate) fn crash_everywhere(story: &impl Story) -> Steps {
    let whole = story.whole();
    let scene = story.scene();
    let steps = Steps { every: 3, ..Steps::of(&scene, story.begin(&scene)).with_events(&scene) };
    let (visited, next) = (steps.visited(), AtomicUsize::new(0));
    let visit = || {
        while let Some(&at) = visited.get(next.fetch_add(1, Ordering::SeqCst)) {
            crash_at(story, at, &steps, &whole);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(visit);
        visit();
    });
    steps
}

fn crash_at(story: &impl Story, at: usize, steps: &Steps, whole: &Outcome) {
    let context = format!("crashed at point {at}");
    let scene = story.scene();
    if !crashed(story.begin(&scene), at) {
        assert!(steps.may_be_missing(at), "{context}: it has ended before");
        return;
    }
    // Some crash again while they are resumed.
    if at.is_multiple_of(5) {
        let had_begun = !scene.run_folders().is_empty();
        crashed(story.go_on(&scene), 1 + at * 7 % 41);
        assert!(!had_begun || !scene.run_folders().is_empty(), "{context}: the run is lost");
    }
    let ran = Ran::of(story.go_on(&scene).output().unwrap());
    assert!(ran.code.is_some(), "{context}: {ran:?}");
    story.outcome(&scene, &ran).assert_is(whole, &context);
    assert_eq!(repeated(&scene), 0, "{context}: an answered call was made again");
    story.assert_tidy(&scene, &context);
}

/// Runs our binary up to its `at`-th durable step. Returns false if it ended before.
pub(crate) fn crashed(mut command: Command, at: usize) -> bool {
    const ABORTED: i32 = 6;
    use std::os::unix::process::ExitStatusExt;
    let output = command.env("SKILLTUNE_CRASH_AT", at.to_string()).output().unwrap();
    let signal = output.status.signal();
    assert!(signal.is_none_or(|signal| signal == ABORTED), "{:?}", Ran::of(output));
    signal.is_some()
}

#[test]
fn a_single_run_aborted_at_any_durable_step_ends_as_if_it_had_not_been() {
    crash_everywhere(&Tuned::single()).report("a single run", 300);
}

#[test]
fn a_chain_run_aborted_at_any_durable_step_ends_as_if_it_had_not_been() {
    crash_everywhere(&Tuned::chain()).report("a chain run", 500);
}

#[test]
fn a_rollback_or_apply_aborted_at_any_durable_step_leaves_a_target_that_the_next_command_repairs() {
    let story = Tuned::single();
    let scene = story.scene();
    let skill = scene.skill("writer");
    let start = listing(&skill);
    Ran::of(story.begin(&scene).output().unwrap());
    let champion = listing(&skill);
    assert_ne!(start, champion);
    let id = scene.run_id();
    let put = |candidate, story: &str| {
        let ran = scene.run(&["apply", &id, candidate]);
        assert_eq!(ran.code, Some(0), "{story}: {ran:?}");
        assert_eq!(listing(&skill), if candidate == "start" { &start[..] } else { &champion }, "{story}");
        assert_tidy(&scene, story);
    };
    let commands: [(&[&str], _); 2] =
        [(&["rollback", &id], "champion"), (&["apply", &id, "champion"], "start")];
    for (command, before) in commands {
        put(before, "before");
        let steps = Steps::of(&scene, scene.command(command));
        for at in steps.visited() {
            let story = format!("{command:?} crashed at point {at}");
            put(before, &story);
            assert!(crashed(scene.command(command), at), "{story}: it has ended before");
            // Both versions can be applied, in whatever state the crash left the target.
            put(if at % 2 == 0 { "champion" } else { "start" }, &story);
        }
        steps.report(command[0], 15);
    }
}

/// Otherwise the edits would count as edits of the previous version.
#[test]
fn edits_made_after_an_aborted_apply_or_run_are_not_merged_with_a_guess() {
    let story = Tuned::single();
    let never = |scene: &Scene| {
        let mut command = story.begin(scene);
        command.args(["--apply", "never"]);
        Ran::of(command.output().unwrap());
        scene.command(&["apply"])
    };
    let begin: [&dyn Fn(&Scene) -> Command; 2] = [&never, &|scene| story.begin(scene)];
    for command in begin {
        let scene = story.scene();
        // The intent is deleted, and nothing records that the skill was replaced.
        let at = Steps::of(&scene, command(&scene)).since("promotion: before the intent goes").start() + 1;
        let scene = story.scene();
        assert!(crashed(command(&scene), at));
        let skill = scene.skill("writer");
        fs::write(skill.join("mine.md"), "My own words.\n").unwrap();
        let before = listing(&skill);
        let refused = scene.run(&["apply", &scene.run_id(), "start", "--merge"]);
        assert_eq!((refused.code, listing(&skill) == before), (Some(3), true), "{refused:?}");
        let why = "an earlier command was interrupted, so skilltune does not know which version you edited";
        assert!(refused.stderr.contains(why), "{refused:?}");

        fs::remove_file(skill.join("mine.md")).unwrap();
        assert_eq!(scene.run(&["apply"]).code, Some(0), "what was interrupted is noted");
        fs::write(skill.join("mine.md"), "My own words.\n").unwrap();
        let merged = scene.run(&["apply", &scene.run_id(), "start", "--merge"]);
        assert_eq!(merged.code, Some(0), "{merged:?}");
        assert_eq!((scene.quality("writer"), skill.join("mine.md").exists()), (40, true));
    }
}

/// Before the fix the edit was in the store, but no command printed its name.
#[test]
fn what_a_forced_rollback_displaced_can_be_restored_wherever_the_rollback_was_aborted() {
    let story = Tuned::single();
    let scene = story.scene();
    Ran::of(story.begin(&scene).output().unwrap());
    let (skill, id) = (scene.skill("writer"), scene.run_id());
    let start = {
        assert_eq!(scene.run(&["rollback", &id]).code, Some(0));
        listing(&skill)
    };
    // A new edit each time, which no earlier command has displaced.
    let edit = |nth: usize| {
        assert_eq!(scene.run(&["apply", &id, "champion"]).code, Some(0), "before edit {nth}");
        fs::write(skill.join("mine.md"), format!("My edit {nth}.\n")).unwrap();
        listing(&skill)
    };
    let forced = || scene.command(&["rollback", &id, "--force"]);
    edit(0);
    let steps = Steps::of(&scene, forced());
    let (mut displaced, mut retold) = (0, 0);
    for at in steps.visited() {
        let context = format!("crashed at point {at}");
        let mine = edit(at);
        assert!(crashed(forced(), at), "{context}: it has ended before");
        // The rollback repairs an incomplete change, and refuses to touch an edit.
        let next = scene.run(&["rollback", &id]);
        if listing(&skill) == mine {
            assert_eq!(next.code, Some(3), "{context}: {next:?}");
            assert_eq!(scene.run(&["rollback", &id, "--force"]).code, Some(0), "{context}");
        } else {
            assert_eq!((next.code, listing(&skill) == start), (Some(0), true), "{context}: {next:?}");
            displaced += 1;
            retold += usize::from(next.stderr.contains("the replaced version is kept as "));
        }
        let history = scene.run(&["history", &id]).stdout;
        let (_, named) =
            history.rsplit_once("the replaced version is ").unwrap_or_else(|| panic!("{context}: {history}"));
        let name = named.split_whitespace().next().unwrap();
        assert_eq!(scene.run(&["apply", &id, name]).code, Some(0), "{context}: {history}");
        assert_eq!(listing(&skill), mine, "{context}");
        fs::remove_file(skill.join("mine.md")).unwrap();
        assert_tidy(&scene, &context);
    }
    assert!(displaced > 3 && retold > 1, "displaced {displaced} times, and told {retold} times");
    steps.report("a forced rollback", 15);
}

/// Before the fix a cached answer with partly deleted trees made every later run on the same skill fail.
#[test]
fn a_clean_aborted_at_any_durable_step_leaves_a_store_that_the_next_run_can_use() {
    let story = Tuned::single();
    let scene = story.scene();
    let never = |seed: &str| {
        let tune = ["tune", "writer", "write a page", "--max-iterations", "2", "--apply", "never"];
        Ran::of(scene.command(&[&tune, &ALWAYS[..], &[seed]].concat()).output().unwrap())
    };
    let first = never("7");
    never("8");
    let folders =
        ["project", "state"].map(|folder| (scene.path(folder), scene.path(&format!("{folder}-before"))));
    for (now, before) in &folders {
        copy(now, before);
    }
    let put_back = || {
        for (now, before) in &folders {
            fs::remove_dir_all(now).unwrap();
            copy(before, now);
        }
    };
    // This deletes the older run, and with it answers and trees that the newer one does not need.
    let older = first.json()["run_id"].as_str().unwrap().to_owned();
    let clean = || scene.command(&["clean", &older, "--yes"]);
    let steps = Steps::of(&scene, clean());
    for at in steps.visited() {
        put_back();
        assert!(crashed(clean(), at), "clean has ended before point {at}");
        let again = never("7");
        let score = |ran: &Ran| (ran.code, ran.json()["final_score"].clone(), ran.json()["outcome"].clone());
        assert_eq!(score(&again), score(&first), "crashed at point {at}: {again:?}");
    }
    steps.report("clean", 10);
}
