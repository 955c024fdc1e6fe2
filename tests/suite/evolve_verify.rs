//! `evolve verify`: the receipts of a branch are repeated in any clone, without an agent, and nothing of a branch runs
//! before a person trusts it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;
use skilltune_phases::base::id::TreeId;

use crate::proposing::repository::Repository;
use crate::scene::{Ran, Scene};

const BRANCH: &str = "skilltune/spec";
/// Red until the file has the line that it is called with.
const CHECK: &str = "if grep -qx \"$1\" list.txt\nthen echo SKILLTUNE_GREEN\nelse echo SKILLTUNE_RED: no line $1; exit 1\nfi\n";

/// Fails by its assertion, and passes without the code.
const GUESS: &str = "grep -qx two list.txt || { echo SKILLTUNE_RED; exit 1; }\necho 123456789abc\n";

/// A repository with a branch that has receipts, made by hand.
pub(crate) struct Project {
    pub(crate) git: Repository,
}

impl Project {
    pub(crate) fn new() -> Self {
        let new = Self::before(&receipts());
        new.claim();
        new
    }

    /// Commits the project before the change, and writes the change without a commit.
    fn before(receipts: &Value) -> Self {
        let scene = Scene::new(&[], &json!({}));
        // Elsewhere commands would not run at all.
        scene.write_settings(if can_confine() { "" } else { "[limits]\nconfine = false\n" });
        let project = Self { git: Repository::of(scene) };
        project.write("list.txt", "one\n");
        project.write("Makefile", "test:\n\t@grep -q one list.txt\n");
        project.git.commit("Begin");
        project.git.git(&["checkout", "--quiet", "-b", BRANCH]);
        project.write("list.txt", "one\ntwo\nthree\n");
        project.write(".evolve/spec/receipts.json", &receipts.to_string());
        for id in ["A1", "A2"] {
            project.write(&format!(".evolve/spec/oracles/{id}/check.sh"), CHECK);
        }
        project
    }

    /// Commits what was written on our branch, and goes back to the main branch.
    fn claim(&self) {
        self.git.commit("Receipts");
        self.git.git(&["checkout", "--quiet", "main"]);
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.git.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Changes a file of our branch.
    fn change(&self, path: &str, text: &str) {
        self.git.git(&["checkout", "--quiet", BRANCH]);
        self.write(path, text);
        self.claim();
    }

    fn verify(&self, more: &[&str]) -> Ran {
        let usual = ["evolve", "verify", BRANCH, "--trust", "--format", "json"];
        self.git.scene.run(&[&usual[..], more].concat())
    }

    fn refusal(&self, more: &[&str]) -> String {
        self.git.scene.refusal(&[&["evolve", "verify"], more].concat())
    }
}

fn receipt(id: &str, line: &str, word: &str) -> Value {
    json!({
        "id": id, "text": format!("the list has {line}"), "priority": "high", "word": word,
        "oracle": {
            "argv": ["sh", "check.sh", line], "is_check": false, "uses_names": false, "shows": "the line is there",
            "before": null, "after": null,
        },
    })
}

fn receipts() -> Value {
    let judged = json!({ "id": "A3", "text": "it reads well", "priority": "low", "word": "judged" });
    json!({
        "version": 1, "run": "c402-20261127-120000", "name": "spec", "goal": "The list is complete.",
        "base": TreeId::EMPTY, "tree": TreeId::EMPTY, "commits": 0,
        "criteria": [receipt("A1", "two", "verified"), receipt("A2", "three", "verified"), judged],
        "commands": [{ "stage": "test", "argv": ["make", "test"], "before": 0, "after": 0 }],
        "not_looked_at": [],
    })
}

/// Returns each criterion with its words then and now.
fn words(ran: &Ran) -> Vec<String> {
    let word = |value: &Value, key: &str| value[key].as_str().unwrap_or("-").to_owned();
    let one = |all: &Value| [word(all, "id"), word(all, "before"), word(all, "now")].join(" ");
    ran.json()["repeated"].as_array().unwrap_or_else(|| panic!("{ran:?}")).iter().map(one).collect()
}

#[test]
fn receipts_of_a_branch_are_repeated_without_an_agent() {
    let project = Project::new();
    let users = project.git.users_of("list.txt");
    let ran = project.verify(&[]);
    assert_eq!(words(&ran), ["A1 verified verified", "A2 verified verified", "A3 judged judged"], "{ran:?}");
    assert_eq!((ran.code, &ran.json()["same_tree"]), (Some(0), &json!(true)), "{ran:?}");
    assert!(project.git.scene.calls().is_empty(), "no agent is called");
    assert_eq!(project.git.users_of("list.txt"), users);
    let ran = project.git.scene.run(&["evolve", "verify", BRANCH, "--trust"]);
    let text = [&*ran.stdout, &*ran.stderr].concat();
    for line in ["A1 verified -> verified", "A3 judged (not compared; no machine tells)", "Every receipt was"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_branch_that_lost_a_line_since_is_not_what_its_receipts_say() {
    let project = Project::new();
    project.change("list.txt", "one\ntwo\n");
    let ran = project.verify(&[]);
    assert_eq!((ran.code, &ran.json()["same_tree"]), (Some(3), &json!(false)), "{ran:?}");
    assert_eq!(words(&ran), ["A1 verified verified", "A2 verified not_met", "A3 judged judged"]);
    assert!(ran.json()["notes"].to_string().contains("has changed since the receipts were made"), "{ran:?}");
}

#[test]
fn a_command_that_passed_with_the_result_has_to_pass() {
    let project = Project::new();
    project.change("list.txt", "two\nthree\n");
    let ran = project.verify(&[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(words(&ran)[0], "A1 verified verified");
    let test = &ran.json()["commands"][0];
    assert_eq!((&test["before"], &test["then"]["after"]), (&json!(0), &json!(0)));
    assert_ne!(test["after"], json!(0));
}

#[test]
fn an_oracle_that_guesses_the_code_or_fails_without_it_verifies_nothing() {
    let project = Project::before(&receipts());
    project.write(".evolve/spec/oracles/A1/check.sh", GUESS);
    // On the project before the change it fails in another way than by its assertion.
    project.write(".evolve/spec/oracles/A2/check.sh", "test -e new.txt || exit 1\necho SKILLTUNE_GREEN\n");
    project.write("new.txt", "");
    project.claim();
    let ran = project.verify(&[]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(words(&ran), ["A1 verified not_met", "A2 verified judged", "A3 judged judged"]);
}

#[test]
fn a_clone_elsewhere_repeats_the_same() {
    let project = Project::new();
    let scene = &project.git.scene;
    let (from, clone) = (project.git.path(""), scene.path("clone"));
    let git = Command::new("git").args(["clone", "--quiet"]).args([&from, &clone]).output().unwrap();
    assert!(git.status.success(), "{git:?}");
    let remote = format!("origin/{BRANCH}");
    let arguments = ["evolve", "verify", &remote, "--trust", "--format", "json"];
    let ran = Ran::of(scene.command(&arguments).current_dir(&clone).output().unwrap());
    assert_eq!((ran.code, &ran.json()["same_tree"]), (Some(0), &json!(true)), "{ran:?}");
    let elsewhere = [&arguments[..], &["--in", clone.to_str().unwrap()]].concat();
    assert_eq!(scene.run(&elsewhere).code, Some(0));
}

#[test]
fn commands_of_a_branch_need_a_persons_word() {
    let project = Project::new();
    for unattended in [&[BRANCH][..], &[BRANCH, "--yes"]] {
        let refused = project.refusal(unattended);
        assert!(refused.contains("cannot run the commands of receipts without asking"), "{refused}");
        assert!(refused.contains("skilltune/spec:.evolve/spec/receipts.json"), "{refused}");
    }
    let shown = project.git.scene.run(&["evolve", "verify", BRANCH, "--dry-run"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.stdout.contains("A1: [\"sh\",\"check.sh\",\"two\"]"), "{shown:?}");
    assert!(shown.stdout.contains("test: [\"make\",\"test\"]"), "{shown:?}");
    assert!(project.git.scene.run_folders().is_empty());
}

#[test]
fn a_revision_without_receipts_is_refused_and_our_branches_are_named() {
    let project = Project::new();
    let refused = project.refusal(&["main", "--trust"]);
    assert!(refused.contains("main has no receipts in .evolve"), "{refused}");
    assert!(refused.contains("pass a branch that skilltune made: skilltune/spec"), "{refused}");
    let refused = project.refusal(&[BRANCH, "--trust", "--name", "../spec"]);
    assert!(refused.contains("has no receipts in .evolve/../spec"), "{refused}");
    let refused = project.refusal(&["no-such-branch", "--trust"]);
    assert!(refused.contains("cannot read no-such-branch"), "{refused}");
}

#[test]
fn a_history_without_the_project_before_the_change_is_refused() {
    let mut many = receipts();
    many["commits"] = json!(2);
    let project = Project::before(&many);
    project.claim();
    let refused = project.refusal(&[BRANCH, "--trust"]);
    assert!(refused.contains("cannot find the project as it was before skilltune/spec"), "{refused}");
    assert!(refused.contains("git fetch --unshallow"), "{refused}");
    // A commit that names the run needs no count.
    project.git.git(&["checkout", "--quiet", BRANCH]);
    let message = "Receipts\n\nSkilltune-Run: c402-20261127-120000\n";
    project.git.git(&["commit", "--quiet", "--amend", "--message", message]);
    project.git.git(&["checkout", "--quiet", "main"]);
    assert_eq!(project.verify(&[]).code, Some(0));
}

#[test]
fn of_several_results_the_newest_is_verified_or_the_named_one() {
    let project = Project::new();
    let mut other = receipts();
    other["criteria"] = json!([receipt("B1", "four", "verified")]);
    project.git.git(&["checkout", "--quiet", BRANCH]);
    project.write(".evolve/other/receipts.json", &other.to_string());
    project.write(".evolve/other/oracles/B1/check.sh", CHECK);
    project.write("list.txt", "one\ntwo\nthree\nfour\n");
    project.claim();
    assert_eq!(words(&project.verify(&[])), ["B1 verified verified"]);
    assert_eq!(words(&project.verify(&["--name", "spec"])).len(), 3);
}

#[test]
fn hostile_receipts_are_refused_before_anything_runs() {
    let refused = |change: &dyn Fn(&Project, &mut Value), why: &str| {
        let mut all = receipts();
        let project = Project::before(&all);
        change(&project, &mut all);
        project.write(".evolve/spec/receipts.json", &all.to_string());
        project.claim();
        let refused = project.refusal(&[BRANCH, "--trust"]);
        assert!(refused.contains(why), "{why}: {refused}");
        assert!(project.git.scene.run_folders().is_empty());
    };
    refused(&|_, all| all["version"] = json!(9), "has version 9");
    refused(&|_, all| all["criteria"][0]["id"] = json!("../../A1"), "is not an id");
    refused(&|_, all| all["criteria"][0]["oracle"]["argv"] = json!([]), "has no program");
    refused(&|_, all| all["goal"] = json!("x".repeat(1 << 20)), "has more than 1048576 bytes");
    refused(&|_, all| *all = json!([]), "cannot read receipts.json");
    refused(
        &|project, _| symlink("/etc/passwd", project.git.path(".evolve/spec/oracles/A1/link")).unwrap(),
        "is a symlink",
    );
    refused(
        &|project, _| project.write(".evolve/spec/oracles/A1/huge", &"x".repeat(300 << 10)),
        "its files have more than 262144 bytes",
    );
    refused(
        &|project, _| {
            for nth in 0..21 {
                project.write(&format!(".evolve/spec/stub/{nth}"), "");
            }
        },
        "the stub: it has more than 20 files",
    );
}

#[test]
fn an_oracle_writes_nothing_outside_of_its_copy() {
    if !can_confine() {
        return;
    }
    let project = Project::before(&receipts());
    let outside = project.git.scene.path("outside");
    let script = format!("echo x > {}\n{CHECK}", outside.display());
    project.write(".evolve/spec/oracles/A1/check.sh", &script);
    project.claim();
    let ran = project.verify(&[]);
    assert!(!outside.exists(), "{ran:?}");
}

#[test]
fn what_is_neither_a_run_nor_a_revision_is_refused() {
    let scene = Scene::new(&[], &json!({}));
    let refused = scene.refusal(&["evolve", "verify", "", "--trust"]);
    assert!(refused.contains("is neither a run nor a revision"), "{refused}");
}
