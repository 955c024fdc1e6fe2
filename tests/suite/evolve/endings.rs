//! How a run ends or waits: commands that are missing or red, checks, limits, a person, and tests that would say less.

use std::fs;

use serde_json::{Value, json};

use super::{
    ATTENDED, FILES, Project, SPEC, adding, after, both, ended, meeting, of_task, task, tasks, verdict,
    words, writing,
};
use crate::background::{Background, Gate};
use crate::terminal::{talked, terminal};

#[test]
fn a_project_without_commands_gets_no_judgement() {
    let bare = Project::with(&json!({}), &FILES[2..], "");
    let ran = bare.evolve(&[]);
    assert_eq!(ended(&ran), "4 incomplete incomplete", "{ran:?}");
    let note = "the project has no command that lints, builds or tests it";
    assert_eq!(words(&ran.json()["note"]), note);
    let result = ran.json();
    assert_eq!((&result["score"], bare.begun("judge"), bare.commits()), (&Value::Null, 0, None));
    assert!(words(&result["proposal"]["patch"]).contains(".patch"), "the work is not lost: {ran:?}");
}

#[test]
fn a_run_without_a_command_that_may_run_is_refused_before_any_call() {
    let project = Project::new(&json!({}));
    let start = ["evolve", "spec.md", "--roles", "none"];
    let line = |more: &[&'static str]| [&start[..], more].concat();
    for more in [&["--yes"][..], &[], &["--commands", "skip"]] {
        let said = project.scene().refusal(&line(more));
        for part in [
            "error: cannot judge a result: no command that lints, builds or tests the project may run\n",
            "hint: set a command in [commands] of skilltune.toml, such as `test = [\"make\", \"test\"]`\n",
            "run the commands that are found: test: make test (found in Makefile)\n",
            "hint: or pass --plan-only to only make the plan\n",
        ] {
            assert!(said.contains(part), "{more:?}: {part}: {said}");
        }
    }
    if let Ok(ends) = terminal() {
        let said = talked(project.scene().command(&start), ends, &[("Run these commands?", "n\r")]);
        assert!(said.contains("cannot judge a result"), "{said}");
    }
    for (more, note) in [
        (
            &["--yes"][..],
            "commands that are found run if you agree, and without any the run does not begin: ",
        ),
        (&["--commands", "skip"], "no command may run, so the run does not begin; set [commands], "),
    ] {
        let dry = project.scene().run(&line(&[&["--dry-run"], more].concat()));
        assert!(dry.code == Some(0) && dry.stdout.contains(&format!("note: {note}")), "{dry:?}");
    }
    assert_eq!(project.scene().calls().len(), 0);
    let planned = project.scene().run(&line(&["--yes", "--plan-only", "--format", "json"]));
    assert_eq!(ended(&planned), "0 planned planned", "{planned:?}");
}

#[test]
fn a_new_project_gets_commands_that_are_found_after_its_layer() {
    let plan = [task("one", &["A1"], "Makefile"), after(task("two", &["A2"], "b.txt"), &["one"])];
    let made =
        json!({ "writes": { "Makefile": "test:\n\t@grep -q A1 a.txt\n", "a.txt": "this meets A1\n" } });
    let project = Project::with(&json!({ "tasks": [plan], "works": { "one": [made] } }), &FILES[3..], "");
    let held = project.attended(&[]);
    assert_eq!(ended(&held), "3 paused success", "a person looks at new commands: {held:?}");
    let command = &held.json()["commands"][0];
    assert_eq!((&command["argv"], &command["before"]), (&json!(["make", "test"]), &Value::Null));
    let ran = project.resume(&["--answer", "approve"]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(project.commits().unwrap(), ["Do one", "Do two"]);
    let report = project.scene().run(&["report"]).stdout;
    assert!(
        report.contains("| test | make test | no command | passed, tests not counted | passed |"),
        "{report}"
    );
}

/// A test that fails before the run, and names what fails like pytest. With `src/x.txt` another one fails.
const RED: &str = "\
echo '=== short test summary info ==='
echo 'FAILED test_a.py::test_old - assert False'
if [ -e src/x.txt ]; then echo 'FAILED test_a.py::test_new - assert False'; old=2; fi
echo \"=== ${old:-1} failed, 3 passed in 0.01s ===\"
exit 1
";

#[test]
fn a_command_that_was_red_counts_only_by_the_names_of_tests() {
    let unnamed = Project::with(&json!({}), &[FILES[0], ("test.sh", "echo no luck\nexit 1\n")], "");
    let ran = unnamed.evolve(&[]);
    assert_eq!(
        (ended(&ran).as_str(), verdict(&ran).as_str()),
        ("0 reached success", "not_looked_at"),
        "{ran:?}"
    );
    let report = unnamed.scene().run(&["report"]).stdout;
    assert!(
        report.contains(
            "| failed with exit code 2 | failed with exit code 2, tests not counted | not looked at |"
        ),
        "{report}"
    );

    let files = [FILES[0], ("test.sh", RED)];
    let named = Project::with(&json!({}), &files, "");
    let ran = named.evolve(&[]);
    assert_eq!((ended(&ran).as_str(), verdict(&ran).as_str()), ("0 reached success", "passed"), "{ran:?}");
    let before = &ran.json()["commands"][0]["before"];
    assert_eq!(before["tests"]["failing"], json!(["test_a.py::test_old"]), "{ran:?}");

    let breaking = json!({ "writes": { "src/x.txt": "x\n", "b.txt": "this meets A2\n" } });
    let works = json!({ "two": [breaking, meeting("b.txt", &["A2"])] });
    let project = Project::with(&json!({ "tasks": [both()], "works": works }), &files, "");
    let ran = project.evolve(&[]);
    assert_eq!((ended(&ran).as_str(), verdict(&ran).as_str()), ("0 reached success", "passed"), "{ran:?}");
    let course = project.course(&ran);
    assert_eq!(course[2..5], ["take back two", "one merged, two again: T1", "do two again"]);
}

#[test]
fn a_run_that_reaches_its_limit_goes_on_where_it_was() {
    let project = Project::new(&json!({ "tasks": [both()] }));
    let ran = project.evolve(&["--max-calls", "3"]);
    assert_eq!(ended(&ran), "5 paused -", "{ran:?}");
    let status = project.scene().run(&["status"]).stdout;
    for part in
        ["paused; can be resumed", "limit of 3 calls reached in planning", "--max-calls 6   (continue)"]
    {
        assert!(status.contains(part), "{part}: {status}");
    }
    let ran = project.resume(&["--max-calls", "50"]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let pages = ["split", "classify", "divide", "group", "task-one", "task-two", "judge"];
    assert_eq!(pages.map(|page| project.begun(page)), [1; 7], "nothing is done twice");
    project.course(&ran);
}

#[test]
fn a_run_that_is_stopped_goes_on_where_it_was() {
    let play = json!({ "tasks": [both()] });
    let project = Project::new(&play);
    let gate = Gate::before("judge", project.scene(), json!({ "evolve": play }));
    let run = Background::start(project.scene(), &[&ATTENDED[..], &["--yes"]].concat());
    // Four calls plan, two work, one looks for drift, and the judge waits.
    run.until_begun(8);
    assert_eq!(project.scene().run(&["stop"]).code, Some(0));
    run.until_said("press Ctrl-C to end them now");
    gate.open();
    let stopped = run.wait();
    assert_eq!(ended(&stopped), "130 paused -", "{stopped:?}");
    let ran = project.resume(&[]);
    assert_eq!((ended(&ran).as_str(), project.begun("judge")), ("0 reached success", 1), "{ran:?}");
    assert_eq!(project.commits().unwrap(), ["Do one", "Do two"]);
}

#[test]
fn a_person_ends_a_run_that_is_at_work() {
    let play = json!({ "tasks": [both()] });
    let project = Project::new(&play);
    let gate = Gate::before("judge", project.scene(), json!({ "evolve": play }));
    let run = Background::start(project.scene(), &[&ATTENDED[..], &["--yes"]].concat());
    run.until_begun(8);
    let ran = std::thread::scope(|scope| {
        let end = scope.spawn(|| project.resume(&["--answer", "end"]));
        run.until_said("press Ctrl-C to end them now");
        gate.open();
        end.join().unwrap()
    });
    assert_eq!(ended(&run.wait()), "130 paused -");
    assert_eq!(ended(&ran), "3 not_reached caller", "{ran:?}");
    assert_eq!(project.begun("judge"), 1);
}

#[test]
fn a_person_ends_a_run_at_once_with_what_it_has() {
    let [one, two] = both();
    let play = json!({ "tasks": [[one, after(two, &["one"])]] });
    let early = Project::new(&play);
    assert_eq!(early.evolve(&["--max-calls", "3"]).code, Some(5));
    let other = early.resume(&["--answer", "approve"]);
    assert!(other.code == Some(2) && other.stderr.contains("is not waiting for an answer"), "{other:?}");
    let ran = early.resume(&["--answer", "end"]);
    assert_eq!(
        (ended(&ran).as_str(), early.course(&ran)),
        ("3 not_reached caller", vec!["end caller".to_owned()])
    );
    assert_eq!((&ran.json()["proposal"], early.commits()), (&Value::Null, None));

    let late = Project::new(&play);
    assert_eq!(late.evolve(&["--max-calls", "6"]).code, Some(5));
    let ran = late.resume(&["--answer", "end"]);
    assert_eq!(ended(&ran), "3 not_reached caller", "{ran:?}");
    assert_eq!(tasks(&ran), "one merged, two pending", "a run that has ended does nothing");
    // No evaluation has shown that its commands are green: a branch would claim it.
    assert_eq!(late.commits(), None);
    let patch = late.scene().run_folder().join(words(&ran.json()["proposal"]["patch"]));
    let patch = fs::read_to_string(patch).unwrap();
    for part in ["Subject: [PATCH] Do one\n", "\n+this meets A1\n", "\nSkilltune-Verdict: caller\n"] {
        assert!(patch.contains(part), "{part}: {patch}");
    }
    let again = late.resume(&["--answer", "end"]);
    assert!(again.code == Some(2) && again.stderr.contains("is not waiting for an answer"), "{again:?}");
    assert_eq!(late.begun("task-two"), 0);
}

#[test]
fn a_result_that_touches_tests_waits_for_a_person() {
    let touching = json!({ "writes": {
        "a.txt": "this meets A1\nthis meets A2\n", "tests/test_a.py": null, ".github/workflows/ci.yml": "on: push\n",
        "lib.py": "x = 1  # noqa\n",
    } });
    let test = ("tests/test_a.py", "def test_a():\n    assert True\n");
    let files = [&FILES[..], &[test]].concat();
    let play = json!({ "tasks": [[task("all", &["A1", "A2"], "a.txt")]], "works": { "all": [touching] } });
    let places = [
        ".github/workflows/ci.yml changes the settings of the CI",
        "lib.py adds `# noqa`",
        "tests/test_a.py removes the test `test_a`",
    ];
    for (answer, end) in
        [(Some("approve"), "0 reached success"), (Some("refuse"), "3 kept success"), (None, "3 kept success")]
    {
        let project = Project::with(&play, &files, "");
        let held = if answer.is_some() { project.attended(&[]) } else { project.evolve(&[]) };
        let found = held.json()["weakened"].clone();
        let found = found.as_array().unwrap().iter();
        let found: Vec<String> =
            found.map(|one| format!("{} {}", words(&one["path"]), words(&one["what"]))).collect();
        assert_eq!(found, places, "{held:?}");
        let ran = match answer {
            Some(answer) => {
                assert_eq!(ended(&held), "3 paused success", "{held:?}");
                let status = project.scene().run(&["status"]).stdout;
                assert!(status.contains("It touches tests or their settings."), "{status}");
                project.resume(&["--answer", answer])
            }
            None => held,
        };
        assert_eq!(ended(&ran), end, "{answer:?}: {ran:?}");
        assert_eq!(project.commits().is_some(), answer == Some("approve"), "{answer:?}");
        assert!(ran.json()["result"].is_string(), "the result stays in the run: {ran:?}");
        let report = project.scene().run(&["report"]).stdout;
        assert!(report.contains("## Touched Tests") && report.contains("lib.py:1: adds"), "{report}");
    }
}

/// Prints totals like pytest, with a test for each file in `cases`.
const COUNTED: &str = "echo \"=== $(ls cases | grep -c .) passed in 0.01s ===\"\n";

#[test]
fn a_result_that_runs_fewer_tests_waits_for_a_person() {
    let work = json!({ "writes": {
        "a.txt": "this meets A1\nthis meets A2\n", "cases/2.txt": null, "cases/3.txt": null,
    } });
    let play = json!({ "tasks": [[task("all", &["A1", "A2"], "a.txt")]], "works": { "all": [work] } });
    let cases = [("cases/1.txt", "one\n"), ("cases/2.txt", "two\n"), ("cases/3.txt", "three\n")];
    let files = [&[FILES[0], ("test.sh", COUNTED)], &cases[..]].concat();
    let project = Project::with(&play, &files, "");
    let held = project.attended(&[]);
    assert_eq!(ended(&held), "3 paused success", "{held:?}");
    let what = "runs 2 tests fewer than before (1, 3 before)";
    let result = held.json();
    assert_eq!(result["weakened"], json!([{ "path": "make test", "line": null, "what": what }]), "{held:?}");
    assert_eq!(result["commands"][0]["counted"], json!("fewer"), "{held:?}");
    let ran = project.resume(&["--answer", "approve"]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let report = project.scene().run(&["report"]).stdout;
    let row =
        "| passed (3 passed, 0 failed) | passed (1 passed, 0 failed), 2 tests fewer than before | passed |";
    for part in [row, "make test: runs 2 tests fewer than before (1, 3 before)"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn checks_of_criteria_decide_if_a_person_lets_them_run() {
    let spec = SPEC.replace("is there\n- A2", "is there\n  check: [\"test\", \"-e\", \"a.txt\"]\n- A2");
    let project = || {
        let project =
            Project::with(&json!({ "tasks": [both()] }), &FILES, "[commands]\ntest = [\"make\", \"test\"]\n");
        project.write("spec.md", &spec);
        project.git.commit("Check it");
        project
    };
    let start = ["evolve", "spec.md", "--no-oracles", "--roles", "none", "--format", "json"];
    for (answer, path) in [("run", "output of test -e a.txt"), ("skip", "a.txt")] {
        let project = project();
        let held = project.scene().run(&start);
        assert_eq!(ended(&held), "3 paused -", "{held:?}");
        let status = project.scene().run(&["status"]).stdout;
        assert!(status.contains("May the checks of the specification run?"), "{status}");
        let ran = project.resume(&["--answer", answer]);
        assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
        let first = &ran.json()["evaluation"]["judgement"]["criteria"][0];
        assert_eq!(words(&first["evidence"]["path"]), path, "{answer}: {ran:?}");
    }
    let unattended = project();
    let ran = unattended.scene().run(&[&start[..], &["--yes"]].concat());
    let first = &ran.json()["evaluation"]["judgement"]["criteria"][0];
    assert_eq!(
        (ended(&ran).as_str(), words(&first["evidence"]["path"])),
        ("0 reached success", "a.txt"),
        "{ran:?}"
    );
    let report = unattended.scene().run(&["report"]).stdout;
    assert!(report.contains("2 of 2 criteria met; 1 check did not run."), "{report}");
}

#[test]
fn a_full_score_is_not_enough_while_a_constraint_breaks_or_the_goal_is_denied() {
    for against in ["breaks K1", "denies G1"] {
        let lines = format!("this meets A2; it {against}\n");
        let works = json!({ "two": [adding("b.txt", &lines), writing("b.txt", "this meets A2\n")] });
        let project = Project::new(&json!({ "tasks": [both()], "works": works }));
        let ran = project.evolve(&[]);
        assert_eq!(ended(&ran), "0 reached success", "{against}: {ran:?}");
        let course = project.course(&ran);
        let expected = [
            "T1 scores 1.00",
            "patch: one two from T1",
            "do one two",
            "one merged, two merged: T2",
            "T2 scores 1.00",
            "end success",
        ];
        assert_eq!(course[course.len() - 6..], expected, "{against}");
        assert_eq!(of_task(&ran, "two", "goes"), json!(2));
    }
}
