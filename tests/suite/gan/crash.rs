//! The crash test and the random kills, on a run that agrees on a contract, loses a criterion, continues from the best
//! version, and passes; and a crash at each step of a proposal.

use std::process::Command;

use serde_json::{Value, json};
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::store::{self, Locks};
use skilltune_phases::loops::gan::{Run, projection};

use super::{ALL, BUILD, CLEAR, PRICES, SHORT, WORKS, lay, version};
use crate::crash::{Steps, crash_everywhere, crashed};
use crate::kill::{kill_again_and_again, kills, slowed};
use crate::outcome::{Outcome, assert_left_nothing};
use crate::proposing::repository::Repository;
use crate::scene::{Ran, Scene};
use crate::story::Story;

struct Built {
    slow: bool,
    jobs: &'static str,
}

impl Built {
    fn script(&self) -> Value {
        let polite = json!({
            "id": "form.polite", "dimension": "form", "criterion": "It is polite.", "verification": "Read.",
            "must_pass": false, "weight": 1,
        });
        let drop = json!({ "change": "drop", "id": "form.polite", "why": "nobody asked for it" });
        let all = [&ALL[..], &["form.polite"]].concat();
        let script = json!({ "gan": {
            "builds": [[WORKS, CLEAR], [WORKS, PRICES, SHORT], all],
            "drafted": [polite], "proposed": [[drop]], "ruled": [[[false, "show prices"]]],
        } });
        if self.slow { slowed(script) } else { script }
    }
}

impl Story for Built {
    fn scene(&self) -> Scene {
        lay(Scene::new(&[], &self.script()))
    }

    fn begin(&self, scene: &Scene) -> Command {
        scene.command(&[&BUILD[..], &["--yes", "--seed", "7", "--contract", "--jobs", self.jobs]].concat())
    }

    fn resume(&self, scene: &Scene) -> Command {
        scene.command(&["resume", "--yes", "--format", "json", "--jobs", self.jobs])
    }

    fn assert_telling(&self, scene: &Scene, ran: &Ran) {
        assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(3)), "{ran:?}");
        assert_eq!(version(scene), Some(3));
    }

    fn outcome(&self, scene: &Scene, ran: &Ran) -> Outcome {
        Outcome::of_gan(scene, ran)
    }

    /// Fails unless the state file matches the journal and no lock is held.
    fn assert_tidy(&self, scene: &Scene, story: &str) {
        assert_left_nothing(scene, story);
        let folder = scene.run_folder();
        let history =
            store::read(&SafePath::below(&folder, "history.jsonl")).expect("the journal can be read");
        let run = Run::replay(&history.records).expect("the journal is that of a run");
        assert!(run.closed_at.is_some(), "{story}: the run is not over");
        let state = std::fs::read_to_string(folder.join("iteration-state.json")).expect("there is a state");
        assert_eq!(state, projection::state(&run), "{story}: the state");
        let locks = Locks::at(&scene.path("state/skilltune"));
        let holder = locks.holder(&scene.path("project/site")).expect("the lock can be read");
        assert_eq!(holder, None, "{story}: the lock is held");
    }
}

#[test]
fn a_run_aborted_at_any_durable_step_ends_as_if_it_had_not_been() {
    crash_everywhere(&Built { slow: false, jobs: "1" }).report("a gan run", 100);
}

#[test]
fn a_run_killed_again_and_again_ends_as_if_it_had_not_been() {
    // The user's folder is empty, or has all of what passed.
    let assert_whole = |scene: &Scene, _: &Outcome| assert!(matches!(version(scene), None | Some(3)));
    let story = Built { slow: true, jobs: "2" };
    let figures = kill_again_and_again(&story, &story.whole(), kills() / 3, assert_whole);
    eprintln!("random kills: {figures:?} of gan, 0 runs lost");
}

#[test]
fn a_run_killed_while_it_proposes_is_resumed_and_the_commit_is_made_once() {
    for form in ["branch", "patch"] {
        let new = || {
            let script = json!({ "gan": { "builds": [ALL] } });
            let repository = Repository::of(lay(Scene::new(&[], &script)));
            repository.commit("Begin");
            repository
        };
        let command = |repository: &Repository| {
            let more = ["--yes", "--seed", "7", "--jobs", "1", "--apply", form];
            repository.scene.command(&[&BUILD[..], &more].concat())
        };
        let whole = new();
        let steps = Steps::of(&whole.scene, command(&whole));
        let mut visited = 0;
        // The steps after these ten are the same as at the end of any run.
        for at in steps.visited_since("proposal: before", 10) {
            let repository = new();
            let before = repository.users_of("site");
            assert!(crashed(command(&repository), at), "{form}: point {at} is not reached");
            let made = repository.git(&["for-each-ref", "--format=%(objectname)", "refs/heads/skilltune"]);
            let ran = repository.scene.run(&["resume", "--yes", "--format", "json"]);
            let summary = ran.json();
            assert_eq!((ran.code, &summary["outcome"]), (Some(0), &json!("passed")), "{at}: {ran:?}");
            assert_eq!(repository.users_of("site"), before, "{form}: resumed after point {at}");
            if form == "branch" {
                let commits = repository.git(&["rev-list", "HEAD..skilltune/site"]);
                assert_eq!(json!(commits.trim()), summary["proposal"]["commit"], "{at}");
                assert!(made.is_empty() || made == commits, "{at}: it is the same commit");
            } else {
                let patch = repository.patch().expect("the run has it");
                repository.git(&["apply", "--check", patch.to_str().unwrap()]);
            }
            assert_left_nothing(&repository.scene, form);
            visited += 1;
        }
        eprintln!("crash test: a proposed {form} of gan: aborted at {visited} durable steps");
        assert!(visited > 5, "{form}: {visited}");
    }
}
