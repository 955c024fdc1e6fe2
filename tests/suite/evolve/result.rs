//! Where the result goes: a branch, a patch, the folder, or only the run. What a person has not committed stays theirs.

use std::fs;

use serde_json::{Value, json};

use super::{ATTENDED, FILES, Project, after, both, ended, id, list, task, words, writing};
use crate::background::{Background, Gate};
use crate::scene::Ran;

/// Three tasks, the last one after the first.
fn three() -> Value {
    let [mut one, two] = both();
    one["title"] = json!("Write the first");
    let three = after(task("three", &[], "c.txt"), &["one"]);
    json!({ "tasks": [[one, two, three]], "works": { "three": [super::adding("c.txt", "more\n")] } })
}

/// Changes a committed file and adds one.
fn dirty(project: &Project) {
    project.write("readme.txt", "A readme that says little.\nMine, not committed.\n");
    project.write("mine.txt", "mine\n");
}

#[test]
fn a_branch_has_a_commit_for_each_task_and_nothing_of_what_is_not_committed() {
    let project = Project::new(&three());
    dirty(&project);
    let before = project.git.users_of("src");
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(
        project.git.users_of("src"),
        before,
        "index, status, references and settings are as they were"
    );
    assert_eq!(project.read("readme.txt").unwrap(), "A readme that says little.\nMine, not committed.\n");
    assert_eq!((project.read("mine.txt").as_deref(), project.read("a.txt")), (Some("mine\n"), None));
    assert_eq!(project.commits().unwrap(), ["Write the first", "Do two", "Do three"]);
    let files = project.git.git(&["diff", "--name-only", "main", "skilltune/spec"]);
    assert_eq!(files, "a.txt\nb.txt\nc.txt\n");
    let trailer = |revision: &str, key: &str| {
        let format = format!("--format=%(trailers:key=Skilltune-{key},valueonly)");
        project.git.git(&["log", "-1", &format, revision]).trim().to_owned()
    };
    for (revision, task, criteria) in [
        ("skilltune/spec~2", "one", "A1"),
        ("skilltune/spec~1", "two", "A2"),
        ("skilltune/spec", "three", ""),
    ] {
        let found = ["Task", "Criteria", "Verdict", "Run"].map(|key| trailer(revision, key));
        assert_eq!(found, [task, criteria, "success", &id(&ran)], "{revision}");
    }
    let message = project.git.git(&["log", "-1", "--format=%B", "skilltune/spec"]);
    assert!(message.starts_with("Do three\n\nI did three.\n\nCriteria met: A1, A2.\n"), "{message}");
    let first = project.git.git(&["log", "-1", "--format=%B", "skilltune/spec~2"]);
    assert!(
        first.contains("I did one.\n\nOther commits follow; only the result of all tasks was judged.\n"),
        "{first}"
    );
    // The branch is evaluated once more, without what is not committed.
    assert_eq!(project.begun("judge"), 2);
    project.course(&ran);
}

#[test]
fn the_commands_of_a_run_show_what_it_did() {
    let project = Project::new(&three());
    let ran = project.evolve(&[]);
    let (scene, id) = (project.scene(), id(&ran));
    let status = scene.run(&["status"]).stdout;
    for part in
        ["The specification is met: 2 of 2 criteria met.", "3 merged of 3", "git merge skilltune/spec"]
    {
        assert!(status.contains(part), "{part}: {status}");
    }
    let history = scene.run(&["history"]).stdout;
    for part in [
        "split the goal into statements: 1 statement",
        "plan: 3 tasks in 2 layers, for 2 criteria",
        "layer 1: one, two",
        "task one: work: done: I did one.",
        "merge 2 tasks: 2 of 2 tasks merged",
        "test on the merged tree: passed",
        "compare the changes with the specification: no drift",
        "2 of 2 criteria met; score 1.00 (0.85 needed), alignment 1.00 (0.80 needed): the specification is met",
        "look for changes that weaken tests: none",
        "make a branch of the result: made a commit on branch skilltune/spec",
    ] {
        assert!(history.contains(part), "{part}: {history}");
    }
    let row = scene.run(&["list"]).stdout;
    assert!(row.contains("evolve  completed  3 merged of 3  2 of 2 met"), "{row}");
    let diff = scene.run(&["diff"]).stdout;
    for part in ["added a.txt\n", "+this meets A1\n", "added c.txt\n"] {
        assert!(diff.contains(part), "{part}: {diff}");
    }
    for (version, files) in [("champion", 3), ("one", 1), ("start", 0)] {
        let to = format!("../{version}");
        assert_eq!(scene.run(&["export", &id, version, &to]).code, Some(0), "{version}");
        let has = |name: &&str| scene.path(version).join(name).exists();
        assert_eq!(["a.txt", "b.txt", "c.txt"].iter().filter(|name| has(name)).count(), files, "{version}");
    }
    let unknown = scene.refusal(&["show", &id, "nothing"]);
    assert!(unknown.contains("its parts are `plan`, `spec` and `oracles`"), "{unknown}");
    let report = scene.run(&["report"]).stdout;
    for part in [
        "| `A1`: the first thing is there | critical | yes | a.txt:1: this meets A1 |  |",
        "| `K1`: no network | yes |  |  |",
        "| `three`: Do three | merged, begun 1 time |  | c.txt |  | I did three. |",
        "| 1 | score 1.00, alignment 1.00 |  |",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn the_report_as_data_has_verdicts_with_evidence_and_the_course() {
    let project = Project::new(&three());
    let ran = project.evolve(&[]);
    let text = fs::read_to_string(project.scene().run_folder().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let result = ran.json();
    for key in
        ["outcome", "ending", "score", "contract", "evaluation", "tasks", "graph", "commands", "proposal"]
    {
        assert_eq!(report[key], result[key], "{key}");
    }
    let judgement = &result["evaluation"]["judgement"];
    let evidence = json!({ "path": "b.txt", "line": 1, "quote": "this meets A2" });
    assert_eq!(judgement["criteria"][1], json!({ "id": "A2", "is_met": true, "evidence": evidence }));
    let numbers = ["score", "score_of_all", "alignment"].map(|key| &result["evaluation"][key]);
    assert_eq!(numbers, [&json!(1.0); 3]);
    let command = json!({ "exit": 0, "said": "exit code 0" });
    let gate = json!({
        "stage": "test", "argv": ["make", "test"], "before": command, "after": command, "verdict": "passed",
        "counted": "not_counted",
    });
    assert_eq!(result["commands"], json!([gate]));
    let counts = ["rounds", "amendments", "guidance"].map(|key| report[key].as_array().unwrap().len());
    assert_eq!((counts, list(&report["plan"]["tasks"][2]["after"])), ([1, 0, 0], vec!["one"]));
    let branch = &result["proposal"];
    assert_eq!(words(&branch["branch"]), "skilltune/spec");
    assert_eq!(words(&branch["commit"]), project.git.git(&["rev-parse", "skilltune/spec"]).trim());
}

#[test]
fn a_result_that_needs_what_is_not_committed_is_a_patch_and_no_branch() {
    let test = ("test.sh", "test ! -e a.txt || test -e mine.txt\n");
    let project = Project::with(&three(), &[FILES[0], test, FILES[2], FILES[3]], "");
    dirty(&project);
    let before = project.git.users_of("src");
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!((project.git.users_of("src"), project.commits()), (before, None));
    let patch = project.scene().run_folder().join(words(&ran.json()["proposal"]["patch"]));
    let patch = fs::read_to_string(patch).unwrap();
    for part in ["[PATCH 1/3] Write the first\n", "[PATCH 3/3] Do three\n", "\nSkilltune-Task: two\n"] {
        assert!(patch.contains(part), "{part}: {patch}");
    }
    assert!(!patch.contains("mine"), "{patch}");
}

#[test]
fn changes_on_the_same_lines_as_uncommitted_ones_are_never_mixed() {
    let work = json!({ "writes": {
        "a.txt": "this meets A1\nthis meets A2\n", "readme.txt": "A readme that says more.\nMine, not committed.\n",
    } });
    let play = json!({ "tasks": [[task("all", &["A1", "A2"], "a.txt")]], "works": { "all": [work] } });
    let project = Project::new(&play);
    project.write("readme.txt", "A readme that says enough.\nMine, not committed.\n");
    let before = project.git.users_of("src");
    let ran = project.evolve(&[]);
    assert_eq!((project.git.users_of("src"), project.commits()), (before, None), "{ran:?}");
    let mine = "A readme that says enough.\nMine, not committed.\n";
    assert_eq!(project.read("readme.txt").unwrap(), mine);
    assert_eq!(project.scene().run(&["export", &id(&ran), "champion", "../out"]).code, Some(0));
    let result = fs::read_to_string(project.scene().path("out/readme.txt")).unwrap();
    assert_eq!(result, "A readme that says more.\nMine, not committed.\n");
}

#[test]
fn a_result_goes_where_it_was_asked_to_go() {
    for (apply, status, has_patch) in
        [("patch", "", true), ("never", "", false), ("tree", "?? a.txt\n", false)]
    {
        let project = Project::new(&three());
        dirty(&project);
        let ran = project.evolve(&["--apply", apply]);
        assert_eq!(ended(&ran), "0 reached success", "{apply}: {ran:?}");
        let result = ran.json();
        assert_eq!((&result["apply"], project.commits()), (&json!(apply), None));
        assert_eq!(result["proposal"]["patch"].is_string(), has_patch, "{apply}");
        assert_eq!(result["promoted"], json!(apply == "tree"));
        let all = project.git.git(&["status", "--porcelain"]);
        assert!(all.contains(" M readme.txt\n") && all.contains(status), "{apply}: {all}");
        assert_eq!(project.read("a.txt").is_some(), apply == "tree");
        assert_eq!(project.read("mine.txt").unwrap(), "mine\n");
        assert_eq!(
            project.scene().run(&["export", &id(&ran), "champion", "../out"]).code,
            Some(0),
            "{apply}"
        );
        assert!(project.scene().path("out/c.txt").exists(), "{apply}");
    }
}

#[test]
fn a_folder_that_was_written_is_not_called_a_copy() {
    for (apply, part) in [
        ("tree", "it wrote its result into the project; `skilltune rollback RUN` undoes that"),
        ("never", "it changed a copy of a project; `skilltune export RUN champion DIR` copies it"),
    ] {
        let project = Project::new(&json!({ "tasks": [both()] }));
        let id = id(&project.evolve(&["--apply", apply]));
        let said = project.scene().refusal(&["apply", &id]);
        assert!(said.contains(part), "{apply}: {said}");
        if apply == "never" {
            let said = project.scene().refusal(&["rollback", &id]);
            assert!(said.contains("put nothing into a folder"), "{said}");
        }
    }
}

#[test]
fn a_rollback_restores_the_project_and_overwrites_an_edit_only_if_a_person_says_so() {
    let project = Project::new(&three());
    dirty(&project);
    let id = id(&project.evolve(&["--apply", "tree"]));
    let scene = project.scene();
    let status = scene.run(&["status"]).stdout;
    assert!(status.contains(&format!("skilltune rollback {id}   (undo it)")), "{status}");
    project.write("a.txt", "edited\n");
    let ran = scene.run(&["rollback"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    insta::assert_snapshot!(scene.normalized(&ran.stderr), @r"
    error: /project changed since run RUN
    caused by: nothing was replaced; the edited version is kept as HASH
    hint: to replace it anyway, run `skilltune rollback RUN --force`
    hint: to look at the version before the run, run `skilltune export RUN start DIR`
    ");
    assert_eq!((project.read("a.txt").as_deref(), project.read("b.txt").is_some()), (Some("edited\n"), true));
    let said = scene.run(&["rollback", "--force"]).stderr;
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(|path| project.read(path)), [None, None, None], "{said}");
    assert_eq!(project.read("readme.txt").unwrap(), "A readme that says little.\nMine, not committed.\n");
    assert_eq!(project.read("mine.txt").unwrap(), "mine\n");
    let command = said.split("skilltune ").nth(1).unwrap().replace("DIR", "../edited").replace('`', " ");
    let words: Vec<&str> = command.split_whitespace().take(4).collect();
    assert_eq!(scene.run(&words).code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(scene.path("edited/a.txt")).unwrap(), "edited\n");
    let status = scene.run(&["status", "--format", "json"]).json();
    assert_eq!((&status["promoted"], &status["rolled_back"]), (&json!(true), &json!(true)));
    let again = scene.run(&["rollback", &id]).stderr;
    assert!(again.contains(&format!("is already in its state before run {id}")), "{again}");
}

#[test]
fn a_folder_that_is_no_repository_can_be_changed_too() {
    for apply in ["never", "tree"] {
        let project = Project::new(&three());
        fs::remove_dir_all(project.git.path(".git")).unwrap();
        let ran = project.evolve(&["--apply", apply]);
        assert_eq!(ended(&ran), "0 reached success", "{apply}: {ran:?}");
        assert_eq!(project.read("a.txt").is_some(), apply == "tree");
    }
}

const NOTES: &str = "top\n\n\n\n\nend\n";

/// Writes into the folder, while a person changes the notes before the result is judged.
fn edited_meanwhile(theirs: &str, mine: &str) -> (Project, Ran) {
    let work = json!({ "writes": { "a.txt": "this meets A1\nthis meets A2\n", "notes.txt": theirs } });
    let play = json!({ "tasks": [[task("all", &["A1", "A2"], "a.txt")]], "works": { "all": [work] } });
    let project = Project::with(&play, &[&FILES[..], &[("notes.txt", NOTES)]].concat(), "");
    let gate = Gate::before("judge", project.scene(), json!({ "evolve": play }));
    let arguments = [&ATTENDED[..], &["--yes", "--apply", "tree"]].concat();
    let run = Background::start(project.scene(), &arguments);
    // Four calls plan, one works, one looks for drift, and the judge waits.
    run.until_begun(7);
    project.write("notes.txt", mine);
    gate.open();
    let ran = run.wait();
    (project, ran)
}

#[test]
fn an_edit_during_the_run_is_merged_and_one_on_the_same_lines_is_never_overwritten() {
    let mine = NOTES.replace("top", "top of mine");
    let (project, ran) = edited_meanwhile(&NOTES.replace("end", "end of theirs"), &mine);
    assert_eq!(
        (ended(&ran).as_str(), &ran.json()["promoted"]),
        ("0 reached success", &json!(true)),
        "{ran:?}"
    );
    let merged = mine.replace("end", "end of theirs");
    assert_eq!((project.read("notes.txt").unwrap(), project.read("a.txt").is_some()), (merged, true));
    let back = project.scene().run(&["rollback"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert_eq!((project.read("notes.txt").unwrap(), project.read("a.txt")), (mine.clone(), None));

    let (project, ran) = edited_meanwhile(&NOTES.replace("top", "top of theirs"), &mine);
    assert_eq!((ended(&ran).as_str(), &ran.json()["conflict"]), ("3 kept success", &json!(true)), "{ran:?}");
    assert_eq!((project.read("notes.txt").unwrap(), project.read("a.txt")), (mine, None));
    let status = project.scene().run(&["status"]).stdout;
    assert!(status.contains("changed during the run, so skilltune did not write to it"), "{status}");
}

#[test]
fn a_specification_of_another_folder_changes_that_folder_alone() {
    let project = Project::new(
        &json!({ "tasks": [both()], "works": { "one": [writing("a.txt", "this meets A1\n")] } }),
    );
    project.write("service/Makefile", "test:\n\t@true\n");
    project.write("skilltune.toml", "[commands]\nsetup = [\"false\"]\n");
    project.git.commit("Add a service");
    let ran = project.evolve(&["--in", "service"]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let notes = ran.json()["notes"].to_string();
    assert!(notes.contains("commands.setup does not run: it is a command of "), "{notes}");
    let files = project.git.git(&["diff", "--name-only", "main", "skilltune/spec"]);
    assert_eq!(files, "service/a.txt\nservice/b.txt\n");
}
