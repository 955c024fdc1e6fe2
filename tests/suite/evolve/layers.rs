//! Layers of tasks: side by side, merged without a loss, built and tested, and taken back where a command fails.

use serde_json::{Value, json};

use super::{FILES, Project, adding, after, both, ended, list, of_task, task, tasks, words, writing};

/// Work that replaces the only line of the readme.
fn readme(line: &str) -> Value {
    writing("readme.txt", &format!("{line} says this.\n"))
}

#[test]
fn conflicts_end_the_same_at_any_number_of_jobs_and_no_side_is_chosen() {
    let tasks = [
        task("one", &["A1", "A2"], "a.txt"),
        task("two", &[], "b.txt"),
        task("three", &[], "c.txt"),
        after(task("four", &[], "d.txt"), &["two"]),
    ];
    let first =
        json!({ "writes": { "a.txt": "this meets A1\nthis meets A2\n", "readme.txt": "One says this.\n" } });
    let play = json!({ "tasks": [tasks], "works": {
        "one": [first],
        "two": [readme("Two"), adding("readme.txt", "two\n")],
        "three": [readme("Three"), adding("readme.txt", "three\n")],
        "four": [adding("d.txt", "four\n")],
    } });
    let run = |jobs: &str| {
        let project = Project::new(&play);
        let ran = project.evolve(&["--jobs", jobs]);
        let course = project.course(&ran);
        let tree = project.git.git(&["rev-parse", "skilltune/spec^{tree}"]);
        assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
        let why = of_task(&ran, "three", "why");
        assert!(words(&why).contains("readme.txt (both changed the same lines)"), "{why}");
        assert_eq!(of_task(&ran, "two", "goes"), json!(2));
        assert_eq!(project.git.git(&["show", "skilltune/spec:readme.txt"]), "One says this.\ntwo\n");
        (course, tree, ran.json()["result"].clone(), project.commits())
    };
    let alone = run("1");
    assert_eq!(
        alone.0,
        [
            "plan from T0: one two three | four",
            "do one two three",
            "one merged, two again, three again: T1",
            "do two again three again",
            "two merged, three failed: T2",
            "do four",
            "four merged: T3",
            "T3 scores 1.00",
            "end success",
        ]
    );
    assert_eq!(alone.3.as_deref().unwrap(), ["Do one", "Do two", "Do four"]);
    assert_eq!(run("4"), alone);
}

#[test]
fn tasks_that_need_a_failed_one_are_skipped_and_what_was_merged_stays() {
    let [one, two] = both();
    let plan = [
        one,
        two,
        after(task("three", &[], "c.txt"), &["one"]),
        after(task("four", &[], "d.txt"), &["three"]),
        after(task("five", &[], "e.txt"), &["two"]),
    ];
    let works = json!({ "one": [{ "fails": true }], "five": [adding("e.txt", "five\n")] });
    let files = [&FILES[..3], &[("readme.txt", "this meets A1\n")]].concat();
    let project = Project::with(&json!({ "tasks": [plan], "works": works }), &files, "");
    let ran = project.evolve(&[]);
    // The first task is tried again in two patches, each time with one retry.
    assert_eq!((ended(&ran).as_str(), project.begun("task-one")), ("3 not_reached human_escalation", 6));
    let course = project.course(&ran);
    assert_eq!(
        course[..7],
        [
            "plan from T0: one two | three five | four",
            "do one two",
            "one failed, two merged: T1",
            "do five, skip three",
            "five merged: T2",
            "skip four",
            "T2 scores 0.43",
        ]
    );
    assert_eq!(tasks(&ran), "one failed, two merged, three skipped, four skipped, five merged");
    assert_eq!(of_task(&ran, "one", "why"), json!("exit code 3: no luck today"));
    assert_eq!(project.commits().unwrap(), ["Do two", "Do five"]);
    let status = project.scene().run(&["status"]).stdout;
    assert!(status.contains(" one: exit code 3: no luck today\n"), "{status}");
    let report = project.scene().run(&["report"]).stdout;
    // The judge finds it in a file that was there before; nothing was done for it.
    for part in [
        "| **no** | readme.txt:1: this meets A1 | nothing was done for it: one failed or was skipped |",
        "| failed, begun 3 times | A1 |  |  | exit code 3: no luck today |",
        "| skipped, begun 0 times |",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn a_task_deletes_lines_of_another_one_only_if_the_plan_says_so() {
    let lines = "kept\nelse\n\n\n\nthis meets A1\nthis meets A2\n";
    let mut three = after(task("three", &[], "c.txt"), &["one"]);
    three["replaces"] = json!(["one"]);
    let plan = [task("one", &["A1", "A2"], "a.txt"), after(task("two", &[], "b.txt"), &["one"]), three];
    let works = json!({
        "one": [writing("a.txt", lines)],
        "two": [writing("a.txt", &lines.replace("kept\n", ""))],
        "three": [writing("a.txt", &lines.replace("this meets A2\n", "it is there; this meets A2\n"))],
    });
    let project = Project::new(&json!({ "tasks": [plan], "works": works }));
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(
        project.course(&ran),
        [
            "plan from T0: one | two three",
            "do one",
            "one merged: T1",
            "do two three",
            "two again, three merged: T2",
            "do two again",
            "two failed: T2",
            "T2 scores 1.00",
            "end success",
        ]
    );
    let why = of_task(&ran, "two", "why");
    let expected = "it deletes lines that other tasks added: a.txt (\"kept\" of one, three)";
    assert_eq!(words(&why), expected, "{ran:?}");
    let left = project.git.git(&["show", "skilltune/spec:a.txt"]);
    assert_eq!(left, lines.replace("this meets A2\n", "it is there; this meets A2\n"));
}

#[test]
fn a_red_layer_is_bisected_and_the_work_that_breaks_it_is_taken_back_and_done_again() {
    let id = |number: u32| format!("t{number}");
    let covers = |number: u32| if number == 1 { &["A1", "A2"][..] } else { &[] };
    let plan = [1, 2, 3, 4, 5].map(|number| task(&id(number), covers(number), &format!("{number}.txt")));
    let works = json!({
        "t2": [writing("src/b.txt", "BROKEN\n"), writing("src/b.txt", "mended\n")],
        "t4": [writing("src/d.txt", "BROKEN\n")],
    });
    let project = Project::new(&json!({ "tasks": [plan], "works": works }));
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(
        project.course(&ran),
        [
            "plan from T0: t1 t2 t3 t4 t5",
            "do t1 t2 t3 t4 t5",
            "take back t2",
            "take back t4",
            "t1 merged, t2 again, t3 merged, t4 again, t5 merged: T1",
            "do t2 again t4 again",
            "take back t4",
            "t2 merged, t4 failed: T2",
            "T2 scores 1.00",
            "end success",
        ]
    );
    let again: Vec<String> =
        project.works("t2").into_iter().filter(|text| text.contains("## Why it is done again")).collect();
    assert_eq!(again.len(), 1);
    for part in ["`make test` fails with this work:", "src/b.txt:1:BROKEN", "t5: I did t5."] {
        assert!(again[0].contains(part), "{part}: {}", again[0]);
    }
    assert!(words(&of_task(&ran, "t4", "why")).contains("src/d.txt:1:BROKEN"), "{ran:?}");
    // Only what says something about the tasks runs: build and test, and no lint between layers.
    let said = project.scene().run(&["history"]).stdout;
    assert!(said.contains("task t4 is taken back: `make test` fails with this work"), "{said}");
}

#[test]
fn what_was_done_and_what_drifts_is_in_the_prompt_of_the_next_layer() {
    let [one, two] = both();
    let drift = json!({ "task": "one", "what": "it uses the network", "evidence": "a.txt:1" });
    let stranger = json!({ "task": "none", "what": "it is elsewhere", "evidence": "b.txt:1" });
    let work = json!({ "appends": { "a.txt": "this meets A1\n", "other.txt": "more\n" }, "says": "I made it blue." });
    let project = Project::new(&json!({
        "tasks": [[one, after(two, &["one"])]], "works": { "one": [work] }, "drift": [[drift, stranger], []],
    }));
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "drift warns and stops nothing: {ran:?}");
    assert_eq!(ran.json()["drift"], json!([drift]), "an entry names a task of its layer");
    assert_eq!(list(&of_task(&ran, "one", "files")), ["a.txt", "other.txt"]);
    assert_eq!(list(&of_task(&ran, "one", "unnamed")), ["other.txt"]);
    let (first, second) = (project.works("one").remove(0), project.works("two").remove(0));
    for part in ["one: I made it blue.", "one: it uses the network (a.txt:1)"] {
        assert!(second.contains(part) && !first.contains(part), "{part}: {second}");
    }
    let report = project.scene().run(&["report"]).stdout;
    for part in ["one: it uses the network (a.txt:1)", "| a.txt, other.txt | other.txt | I made it blue. |"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn without_calls_for_drift_a_layer_costs_only_its_tasks() {
    let project = Project::with(&json!({ "tasks": [both()] }), &FILES, "[evolve]\ndrift = false\n");
    let ran = project.evolve(&["--tools", "files"]);
    assert_eq!((ended(&ran).as_str(), project.begun("drift")), ("0 reached success", 0), "{ran:?}");
    assert_eq!((&ran.json()["tools"], project.scene().answered()), (&json!("files"), 7));
    assert!(project.works("one")[0].contains("5. You can run nothing."));
}
