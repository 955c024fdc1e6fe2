//! What work, oracles and stubs may not reach: oracles of this run and of earlier ones, the receipts, and files of the
//! project that an oracle would put out of the way.

use std::path::PathBuf;

use serde_json::json;

use super::{GREETS, JUDGE, ORACLE, RIGHT, SHORT, SPEC, alone, play, project, prompts, word};
use crate::evolve::{BRANCH, ended, of_task, words, writing};

const NAMES: &str = "# Name what a change has to provide\n";

#[test]
fn no_test_that_work_has_changed_finds_an_oracle() {
    let project = project(&json!({}), &[], SHORT);
    let scene = project.scene();
    let places = ["project/.skilltune", "cache"].map(|below| scene.path(below).display().to_string());
    let test = format!(
        "found=$(grep -rl SKILLTUNE_GREEN {} 2>/dev/null | grep -v \"^$PWD\" | wc -l)\necho \"found: $found.\"\n",
        places.join(" ")
    );
    let work = json!({ "writes": { "greet.sh": RIGHT, "test.sh": test }, "appends": { "notes.txt": "this meets A1\n" } });
    scene.write_script(&json!({ "evolve": play(&["A1"], &[work], &json!({ "A1": [GREETS] })) }));
    let ran = alone(&project, &[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let judged = prompts(&project, JUDGE).remove(0);
    let has_namespaces = scene.command_without_namespaces(&["--version"]).is_some();
    assert_eq!(judged.contains("found: 0."), has_namespaces, "{judged}");
}

#[test]
fn oracles_and_receipts_of_earlier_runs_are_in_no_copy_and_stay_in_the_project() {
    let old = (".evolve/other/oracles/A1/old.sh", "echo SKILLTUNE_RED\n");
    let work = json!({ "writes": { "greet.sh": RIGHT }, "hunts": [PathBuf::from("project")] });
    let project = project(&play(&["A1"], &[work], &json!({ "A1": [GREETS] })), &[old], SHORT);
    let ran = alone(&project, &[]);
    assert_eq!(
        (ended(&ran).as_str(), word(&ran, "A1")),
        ("0 reached success", ["verified", ""].map(str::to_owned))
    );
    assert_eq!(project.git.git(&["show", &format!("{BRANCH}:found.txt")]), "nothing\n");
    assert_eq!(project.git.git(&["show", &format!("{BRANCH}:{}", old.0)]), old.1);
}

#[test]
fn no_task_writes_receipts() {
    let work = json!({ "writes": { "greet.sh": RIGHT, ".Evolve/other/receipts.json": "{}\n" } });
    let project = project(&play(&["A1"], &[work], &json!({ "A1": [GREETS] })), &[], SHORT);
    let ran = alone(&project, &[]);
    assert_eq!(of_task(&ran, "all", "state"), json!("failed"), "{ran:?}");
    let why = of_task(&ran, "all", "why");
    assert!(words(&why).contains("belongs to skilltune; leave it alone"), "{why}");
}

#[test]
fn a_check_that_names_no_file_is_doubted_if_the_change_says_what_it_runs() {
    let spec = SPEC.replace("the name\n", "the name\n  check: [\"make\", \"area\"]\n");
    let makefile = "test:\n\t@sh test.sh\narea:\n\t@true\n";
    let files = [("spec.md", spec.as_str())];
    let project = project(&play(&["A1"], &[writing("Makefile", makefile)], &json!({})), &files, SHORT);
    let ran = alone(&project, &[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(word(&ran, "A1"), ["judged", "its check runs Makefile, which the change wrote"]);
}

#[test]
fn an_evaluator_puts_no_file_of_the_project_out_of_the_way() {
    let mut stubbed = play(&["A1"], &[writing("greet.sh", RIGHT)], &json!({ "A1": [GREETS] }));
    let stub = json!([{ "path": "greet.sh", "text": "echo other\n" }]);
    stubbed["names"] = json!({ "note": "greet.sh NAME prints a line", "stub": stub });
    let below = json!({
        "argv": ["sh", "Makefile/x.sh"], "files": [{ "path": "Makefile/x.sh", "text": GREETS }],
        "uses_names": false, "shows": "it greets", "why_not": "",
    });
    let oracled = play(
        &["A1"],
        &[writing("greet.sh", &format!("{RIGHT}# this meets A1\n"))],
        &json!({ "A1": [below] }),
    );
    for (play, page, why) in [
        (stubbed, NAMES, "the stub drops lines of greet.sh"),
        (oracled, ORACLE, "the project has Makefile/x.sh already, or a file above it"),
    ] {
        let project = project(&play, &[], SHORT);
        let ran = alone(&project, &[]);
        assert_eq!(ended(&ran), "0 reached success", "{why}: {ran:?}");
        let asked = prompts(&project, page);
        assert!(asked.len() == 2 && asked.iter().any(|prompt| prompt.contains(why)), "{why}: {asked:?}");
    }
}
