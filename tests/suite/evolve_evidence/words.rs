//! The word of each criterion, what leads to it, and what the branch keeps of it.

use std::fs;

use serde_json::{Value, json};

use super::{
    DISPUTED, DIVIDE, ESCALATED, GREETS, JUDGE, ORACLE, RIGHT, SHORT, SPEC, WORK, alone, attended, play,
    project, prompts, receipt, with_second, word,
};
use crate::evolve::{BRANCH, Project, ended, list, meeting, words, writing};
use crate::scene::Ran;

const SETTINGS: &str = "[commands]\ntest = [\"make\", \"test\"]\n";
/// Is red, whatever the project does.
const WRONG: &str = "if :; then echo SKILLTUNE_RED; exit 1; fi\necho SKILLTUNE_GREEN\n";
/// Cannot run.
const BROKEN: &str = "frobnicate || exit 3\necho SKILLTUNE_RED\necho SKILLTUNE_GREEN\n";

/// Returns right work that a judge finds right too.
fn right() -> Value {
    writing("greet.sh", &format!("{RIGHT}# this meets A1\n"))
}

/// Runs one task that does the right thing, with these oracles for the first criterion, and a right one for the second.
fn done(oracles: &Value) -> (Project, Ran) {
    let play = play(&["A1", "A2"], &[right()], &json!({ "A1": oracles, "A2": [GREETS] }));
    let spec = with_second("it greets Bob too");
    let project = project(&play, &[("spec.md", &spec)], SHORT);
    let ran = alone(&project, &[]);
    assert_eq!(word(&ran, "A2"), ["verified", ""], "{ran:?}");
    (project, ran)
}

/// Returns the text of a file of the branch.
fn shown(project: &Project, path: &str) -> String {
    project.git.git(&["show", &format!("{BRANCH}:{path}")])
}

#[test]
fn an_oracle_that_goes_from_red_to_green_verifies_and_the_last_commit_has_it() {
    let first =
        json!({ "writes": { "greet.sh": "echo hi\n" }, "appends": { "readme.txt": "this meets A2\n" } });
    let play = play(&["A1", "A2"], &[first, writing("greet.sh", RIGHT)], &json!({ "A1": [GREETS] }));
    let spec = with_second("the readme is friendly");
    let project = project(&play, &[("spec.md", &spec)], "");
    let ran = alone(&project, &[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let end = |light: &str, exit: u32, said: &str| json!({ "light": light, "exit": exit, "said": said });
    let expected = json!({
        "id": "A1", "text": "`sh greet.sh NAME` prints hello and the name", "priority": "critical",
        "word": "verified",
        "evidence": { "path": "output of sh oracle-A1.sh", "quote": "SKILLTUNE_GREEN exit code 0" },
        "oracle": {
            "argv": ["sh", "oracle-A1.sh"], "is_check": false, "uses_names": false, "shows": "it shows A1",
            "before": end("red", 1, "SKILLTUNE_RED: nothing\nexit code 1"),
            "after": end("green", 0, "SKILLTUNE_GREEN\nexit code 0"),
        },
    });
    assert_eq!((receipt(&ran, "A1"), word(&ran, "A2")), (expected, ["judged", "taste"].map(str::to_owned)));
    let receipts = ran.json()["receipts"].clone();
    let facts = ["version", "name", "goal", "commits", "commands"].map(|key| receipts[key].clone());
    let command = json!({ "stage": "test", "argv": ["make", "test"], "before": 0, "after": 0 });
    assert_eq!(json!(facts), json!([1, "spec", "The program greets.", 2, [command]]));

    assert_eq!(project.commits().unwrap(), ["Do all", "Do all (again)", "Add the receipts of spec"]);
    let names = |from: &str, to: &str| project.git.git(&["diff", "--name-only", from, to]);
    let own = ["oracles/A1/oracle-A1.sh", "receipts.json", "spec.md"];
    let own = own.map(|path| format!(".evolve/spec/{path}\n")).concat();
    assert_eq!(names(&format!("{BRANCH}~1"), BRANCH), own);
    assert_eq!(names("main", &format!("{BRANCH}~1")), "greet.sh\nreadme.txt\n");
    assert_eq!(shown(&project, ".evolve/spec/oracles/A1/oracle-A1.sh"), GREETS);
    assert!(shown(&project, ".evolve/spec/spec.md").contains("prints hello and the name"));
    let kept: Value = serde_json::from_str(&shown(&project, ".evolve/spec/receipts.json")).unwrap();
    assert_eq!(kept, receipts);
    let message = project.git.git(&["log", "-1", "--format=%B", BRANCH]);
    let head = "Add the receipts of spec\n\n- A1: verified\n- A2: judged\n";
    assert!(message.starts_with(head), "{message}");

    // Neither the planner nor an executor learns of an oracle, also after it has failed.
    let [planner, executors] = [DIVIDE, WORK].map(|heading| prompts(&project, heading));
    assert_eq!((planner.len(), executors.len(), project.begun("oracle-A1")), (1, 2, 1));
    for prompt in planner.iter().chain(&executors) {
        assert!(!prompt.contains("SKILLTUNE_") && !prompt.contains("oracle-A1"), "{prompt}");
    }
    let judged = prompts(&project, JUDGE);
    let failing = judged.iter().filter(|prompt| prompt.contains("SKILLTUNE_RED: hi"));
    assert_eq!((judged.len(), failing.count()), (2, 1), "the judge sees an oracle that fails");
}

#[test]
fn a_stub_lets_an_oracle_fail_by_an_assertion_and_is_in_no_work() {
    let sourced = "\
. ./lib.sh
for name in Ada Bob; do
  said=$(greet $name)
  if [ \"$said\" != \"hello $name\" ]; then echo \"SKILLTUNE_RED: $said\"; exit 1; fi
done
echo SKILLTUNE_GREEN
";
    let oracle = json!({
        "argv": ["sh", "oracle.sh"], "files": [{ "path": "oracle.sh", "text": sourced }], "uses_names": true,
        "shows": "it greets by a function", "why_not": "",
    });
    let (note, stub) = ("lib.sh: greet NAME", "greet() { echo; }\n");
    let lib = "greet() { echo \"hello $1\"; }\n";
    let mut play = play(&["A1"], &[writing("lib.sh", lib)], &json!({ "A1": [oracle] }));
    play["names"] = json!({ "note": note, "stub": [{ "path": "lib.sh", "text": stub }] });
    let project = project(&play, &[], SHORT);
    let ran = alone(&project, &[]);
    assert_eq!(
        (ended(&ran).as_str(), word(&ran, "A1")),
        ("0 reached success", ["verified", ""].map(str::to_owned))
    );
    let before = json!({ "light": "red", "exit": 1, "said": "SKILLTUNE_RED:\nexit code 1" });
    assert_eq!(receipt(&ran, "A1")["oracle"]["before"], before, "{ran:?}");
    assert_eq!(ran.json()["receipts"]["names"], json!(note));
    assert_eq!(
        (shown(&project, "lib.sh").as_str(), shown(&project, ".evolve/spec/stub/lib.sh").as_str()),
        (lib, stub)
    );
    let works = project.git.git(&["log", "-p", &format!("main..{BRANCH}~1")]);
    assert!(works.contains("hello $1") && !works.contains("{ echo; }"), "{works}");
    for heading in [DIVIDE, WORK, ORACLE] {
        let all = prompts(&project, heading);
        assert!(
            all.len() == 1 && all[0].contains(note) && !all[0].contains("{ echo; }"),
            "{heading}: {all:?}"
        );
    }
}

#[test]
fn a_criterion_that_the_project_meets_already_is_no_work_of_the_run() {
    let play = play(&["A1", "A2"], &[meeting("readme.txt", &["A2"])], &json!({ "A1": [GREETS] }));
    let spec = with_second("the readme is friendly");
    let project = project(&play, &[("spec.md", &spec), ("greet.sh", RIGHT)], SHORT);
    let ran = alone(&project, &[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!([word(&ran, "A1"), word(&ran, "A2")], [["already_met", ""], ["judged", "taste"]]);
    let oracle = &receipt(&ran, "A1")["oracle"];
    assert_eq!([&oracle["before"]["light"], &oracle["after"]["light"]], [&json!("green"); 2]);
    let divided = prompts(&project, DIVIDE).remove(0);
    let (_, met) = divided.split_once("## What the project meets already\n").expect("the planner knows it");
    assert!(met.split("\n## ").next().unwrap().contains("A1: `sh greet.sh NAME`"), "{divided}");
}

#[test]
fn an_oracle_that_cannot_run_is_mended_once_and_else_a_judge_decides() {
    let (project, ran) = done(&json!([BROKEN, GREETS]));
    assert_eq!(
        (ended(&ran).as_str(), word(&ran, "A1")),
        ("0 reached success", ["verified", ""].map(str::to_owned))
    );
    let asked = prompts(&project, ORACLE);
    let again = asked.iter().filter(|prompt| prompt.contains("## Your earlier command"));
    let again: Vec<&String> = again.collect();
    assert_eq!((asked.len(), again.len()), (3, 1));
    for part in ["frobnicate || exit 3", "not found", "exit code 3"] {
        assert!(again[0].contains(part), "{part}: {}", again[0]);
    }
    assert_eq!(shown(&project, ".evolve/spec/oracles/A1/oracle-A1.sh"), GREETS);

    let (project, ran) = done(&json!([BROKEN]));
    assert_eq!((ended(&ran).as_str(), project.begun("oracle-A1")), ("0 reached success", 2), "{ran:?}");
    let [is, why] = word(&ran, "A1");
    let reason = "its oracle failed without an assertion of its own: ";
    assert!(is == "judged" && why.starts_with(reason) && why.contains("frobnicate"), "{is}: {why}");

    let (project, ran) = done(&json!([]));
    assert_eq!((ended(&ran).as_str(), project.begun("oracle-A1")), ("0 reached success", 1), "{ran:?}");
    assert_eq!(word(&ran, "A1"), ["judged", "taste"]);
}

#[test]
fn a_person_decides_where_an_oracle_and_the_evaluator_differ() {
    for (answer, end, expected) in [
        ("holds", "0 reached success", ["judged", "its oracle fails, and a person finds it met"]),
        ("leave", ESCALATED, ["disputed", DISPUTED]),
        ("fails", ESCALATED, ["not_met", "its oracle fails, and a person agrees with the oracle"]),
    ] {
        let project = project(&play(&["A1"], &[right()], &json!({ "A1": [WRONG] })), &[], SHORT);
        let held = attended(&project);
        assert_eq!(ended(&held), "3 paused -", "{held:?}");
        let status = project.scene().run(&["status"]).stdout;
        let question = "The oracle of A1 fails, and the evaluator finds it met. Is it met?";
        assert!(status.contains(question), "{status}");
        let shown = project.scene().run(&["show"]).stdout;
        assert!(shown.contains("# this meets A1"), "{shown}");
        let mut ran = project.resume(&["--answer", answer]);
        if answer == "fails" {
            assert_eq!(ended(&ran), "3 paused -", "each point of view was tried: {ran:?}");
            ran = project.resume(&["--answer", "end"]);
        }
        assert_eq!((ended(&ran).as_str(), word(&ran, "A1")), (end, expected.map(str::to_owned)), "{answer}");
        assert_eq!((project.begun("task-all"), project.begun("judge")), (1, 1), "{answer}");
        let judged = prompts(&project, JUDGE).remove(0);
        assert!(judged.contains("## Commands that fail") && judged.contains("if :; then echo"), "{judged}");
    }
}

#[test]
fn an_unattended_run_leaves_a_wrong_oracle_to_a_person_and_does_no_more_work() {
    let (project, ran) = done(&json!([WRONG]));
    assert_eq!(
        (ended(&ran).as_str(), word(&ran, "A1")),
        (ESCALATED, ["disputed", DISPUTED].map(str::to_owned))
    );
    let why = "a person has to decide on A1: the oracle fails, and the evaluator finds it met";
    assert_eq!(ran.json()["note"], json!(why));
    assert_eq!(["task-all", "judge", "amend"].map(|page| project.begun(page)), [1, 1, 0]);
}

#[test]
fn in_an_empty_project_an_oracle_is_red_until_all_is_there() {
    let work = json!({ "writes": { "greet.sh": RIGHT, "Makefile": "test:\n\t@sh greet.sh\n" } });
    let play = play(&["A1"], &[work], &json!({ "A1": [GREETS.replace(" || exit 9", "")] }));
    let project = Project::with(&play, &[("spec.md", SPEC)], SHORT);
    let held = attended(&project);
    assert_eq!(ended(&held), "3 paused success", "a person looks at new commands: {held:?}");
    let ran = project.resume(&["--answer", "approve"]);
    assert_eq!(
        (ended(&ran).as_str(), word(&ran, "A1")),
        ("0 reached success", ["verified", ""].map(str::to_owned))
    );
    assert_eq!(receipt(&ran, "A1")["oracle"]["before"]["light"], json!("red"));
}

#[test]
fn a_check_of_the_specification_verifies_unless_the_change_wrote_it() {
    let check = "test \"$(sh greet.sh Ada)\" = 'hello Ada'\n";
    for (path, is_new, expected) in [
        ("tools/hello.sh", false, ["verified", ""]),
        ("tools/hello.sh", true, ["judged", "its check runs tools/hello.sh, which the change wrote"]),
    ] {
        let spec = SPEC.replace("the name\n", &format!("the name\n  check: [\"sh\", {path:?}]\n"));
        let mut work = writing("greet.sh", RIGHT);
        let mut files = vec![("spec.md", spec.as_str())];
        if is_new {
            work["writes"][path] = json!(check);
        } else {
            files.push((path, check));
        }
        let project = project(&play(&["A1"], &[work], &json!({ "A1": [WRONG] })), &files, SHORT);
        let ran = alone(&project, &[]);
        assert_eq!((ended(&ran).as_str(), project.begun("oracle-A1")), ("0 reached success", 0), "{ran:?}");
        assert_eq!(word(&ran, "A1"), expected);
        let receipt = receipt(&ran, "A1");
        let oracle = ["is_check", "argv"].map(|key| receipt["oracle"][key].clone());
        assert_eq!(oracle, [json!(true), json!(["sh", path])]);
        let lights = ["before", "after"].map(|when| words(&receipt["oracle"][when]["light"]));
        assert_eq!(lights, ["red", "green"]);
    }
}

#[test]
fn the_words_are_about_the_branch_and_not_about_what_is_not_committed() {
    let there = "if [ ! -e mine.txt ]; then echo SKILLTUNE_RED; exit 1; fi\necho SKILLTUNE_GREEN\n";
    let play = play(&["A1", "A2"], &[writing("greet.sh", RIGHT)], &json!({ "A1": [GREETS], "A2": [there] }));
    let spec = with_second("a note is there");
    let project = project(&play, &[("spec.md", &spec)], "[evolve]\nscore = 0.5\n");
    project.write("mine.txt", "mine\n");
    let ran = alone(&project, &[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!([word(&ran, "A1"), word(&ran, "A2")], [["verified", ""], ["not_met", "nothing shows A2"]]);
    let result = ran.json();
    assert_eq!(result["evaluation"]["score"], json!(1.0), "with it, both are met");
    assert_ne!(result["receipts"]["tree"], result["result"]);
    let receipt = receipt(&ran, "A2");
    let lights = ["before", "after"].map(|when| words(&receipt["oracle"][when]["light"]));
    assert_eq!(lights, ["green", "red"]);
    assert!(!project.git.git(&["ls-tree", "-r", "--name-only", BRANCH]).contains("mine.txt"));
}

#[test]
fn without_leave_to_run_no_oracle_is_asked_for() {
    let start = ["evolve", "spec.md", "--roles", "none", "--format", "json", "--yes"];
    for more in [&["--commands", "skip"][..], &[], &["--no-oracles", "--commands", "run"]] {
        let mut play = play(&["A1"], &[right()], &json!({ "A1": [GREETS] }));
        play["names"] = json!({ "note": "output: hello NAME, in a line", "stub": [] });
        let project = project(&play, &[], &[SHORT, SETTINGS].concat());
        let ran = project.scene().run(&[&start[..], more].concat());
        assert_eq!(ended(&ran), "0 reached success", "{more:?}: {ran:?}");
        assert_eq!(["names", "oracle-A1"].map(|page| project.begun(page)), [0; 2], "{more:?}");
        let found = &ran.json()["evaluation"]["judgement"]["criteria"][0];
        assert_eq!(words(&found["evidence"]["path"]), "greet.sh", "{more:?}: a judge finds it");
        let has_receipts = !ran.json()["receipts"].is_null();
        assert_eq!(
            (has_receipts, project.commits().unwrap()),
            (false, vec!["Do all".to_owned()]),
            "{more:?}"
        );
        assert!(!prompts(&project, WORK)[0].contains("output: hello NAME, in a line"), "{more:?}");
    }
}

#[test]
fn oracles_run_once_a_person_has_agreed() {
    let start = ["evolve", "spec.md", "--roles", "none", "--format", "json"];
    for answer in ["run", "skip"] {
        let mut play = play(&["A1"], &[right()], &json!({ "A1": [GREETS] }));
        play["names"] = json!({ "note": "output: hello NAME, in a line", "stub": [] });
        let project = project(&play, &[], &[SHORT, SETTINGS].concat());
        let held = project.scene().run(&start);
        assert_eq!((ended(&held).as_str(), project.begun("oracle-A1")), ("3 paused -", 1), "{held:?}");
        assert_eq!(["divide", "task-all"].map(|page| project.begun(page)), [0; 2], "a person is asked first");
        let shown = project.scene().run(&["show"]).stdout;
        assert!(shown.contains("A1: [\"sh\",\"oracle-A1.sh\"] (1 file; shows: "), "{shown}");
        let ran = project.resume(&["--answer", answer]);
        assert_eq!(ended(&ran), "0 reached success", "{answer}: {ran:?}");
        if answer == "run" {
            assert_eq!(word(&ran, "A1"), ["verified", ""]);
        } else {
            assert_eq!((&ran.json()["receipts"], project.begun("judge")), (&Value::Null, 1), "{ran:?}");
        }
        // Without oracles that run, work needs no names for them.
        assert_eq!(
            prompts(&project, WORK)[0].contains("output: hello NAME, in a line"),
            answer == "run",
            "{answer}"
        );
    }
}

#[test]
fn the_report_has_the_words_and_as_data_the_receipts() {
    let (project, ran) = done(&json!([GREETS]));
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let text = fs::read_to_string(project.scene().run_folder().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["receipts"], ran.json()["receipts"]);
    assert!(
        list(&report["receipts"]["not_looked_at"]).contains(&"the project has no command to lint it"),
        "{text}"
    );
    assert!(project.scene().run(&["report"]).stdout.contains("verified"), "{ran:?}");
}
