//! What follows from an evaluation: fixes, patches, other points of view, and a person.

use serde_json::{Value, json};

use super::{FILES, Project, adding, both, ended, meeting, of_task, saying, task, words, writing};
use crate::finished::Finished;
use crate::scene::Ran;

/// Lint fails while a file in `src` says BROKEN.
const LINTED: &str = "lint:\n\t@sh test.sh\ntest:\n\t@true\n";
const ELSEWHERE: &str = "Go at it from elsewhere.";

/// Work that meets nothing; another number makes another tree.
fn in_vain(number: u32) -> Value {
    adding("notes.txt", &format!("try {number}\n"))
}

/// Two tasks. The second one meets its criterion only after all of these.
fn short(mut works: Vec<Value>, amendments: &[Value]) -> Value {
    works.push(meeting("b.txt", &["A2"]));
    json!({ "tasks": [both()], "works": { "two": works }, "amendments": amendments })
}

/// Returns the lines of the course after the first evaluation.
fn then(project: &Project, ran: &Ran) -> Vec<String> {
    let course = project.course(ran);
    let first = course.iter().position(|line| line.contains(" scores ") || line.contains(" red "));
    course[first.unwrap()..].to_vec()
}

#[test]
fn a_red_command_is_fixed_at_most_three_times_then_the_tasks_are_done_from_another_angle() {
    let files = [&FILES[1..], &[("Makefile", LINTED)]].concat();
    let red = json!({ "writes": { "src/x.txt": "BROKEN\n", "b.txt": "this meets A2\n" } });
    let fix = |number: u32| adding("src/y.txt", &format!("try {number}\n"));
    let mended = json!({ "two": [red], "fix-1": [fix(1)], "fix-2": [writing("src/x.txt", "mended\n")] });
    let project = Project::with(&json!({ "tasks": [both()], "works": mended }), &files, "");
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(
        then(&project, &ran),
        [
            "T1 red lint",
            "fix from T1: fix-1",
            "do fix-1",
            "fix-1 merged: T2",
            "T2 red lint",
            "fix from T2: fix-2",
            "do fix-2",
            "fix-2 merged: T3",
            "T3 scores 1.00",
            "end success",
        ]
    );
    assert_eq!(project.begun("judge"), 1, "a red tree is not judged");
    let prompt = &project.works("fix-1")[0];
    assert!(prompt.contains("make `make lint` pass") && prompt.contains("src/x.txt:1:BROKEN"), "{prompt}");

    let works = json!({
        "two": [red, meeting("b.txt", &["A2"])], "fix-1": [fix(1)], "fix-2": [fix(2)], "fix-3": [fix(3)],
    });
    let play = json!({ "tasks": [both()], "works": works, "amendments": [saying(ELSEWHERE)] });
    let project = Project::with(&play, &files, "");
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let course = then(&project, &ran);
    assert_eq!(
        course[course.len() - 7..],
        [
            "fix-3 merged: T4",
            "T4 red lint",
            "multistability: one two from T0",
            "do one two",
            "one merged, two merged: T5",
            "T5 scores 1.00",
            "end success",
        ]
    );
    assert_eq!(project.commits().unwrap(), ["Do one", "Do two"], "the fixes are taken back");
    assert_eq!(of_task(&ran, "fix-3", "state"), json!("taken_back"));
    let said = project.scene().run(&["history"]).stdout;
    for part in
        ["newly red: lint", "look for another way (multistability)", "again as multistability (hard cap)"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_patch_without_changes_does_the_tasks_of_unmet_criteria_again() {
    let project = Project::new(&short(vec![in_vain(1)], &[]));
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(
        then(&project, &ran),
        ["T1 scores 0.57", "patch: two from T1", "do two", "two merged: T2", "T2 scores 1.00", "end success",]
    );
    assert_eq!((project.begun("task-one"), project.begun("task-two")), (1, 2));
    let prompts = project.works("two");
    let again: Vec<&String> = prompts.iter().filter(|text| text.contains("A2: nothing shows A2")).collect();
    assert_eq!(again.len(), 1, "the second prompt has the gaps: {prompts:?}");
}

#[test]
fn a_task_that_is_done_again_may_replace_the_lines_of_a_fix() {
    let files = [&FILES[1..], &[("Makefile", LINTED)]].concat();
    let red = writing("src/x.txt", "BROKEN\n");
    let again = json!({ "writes": { "src/x.txt": "better\n", "b.txt": "this meets A2\n" } });
    let works = json!({ "two": [red, again], "fix-1": [writing("src/x.txt", "mended\n")] });
    let project = Project::with(&json!({ "tasks": [both()], "works": works }), &files, "");
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(
        then(&project, &ran)[3..],
        [
            "fix-1 merged: T2",
            "T2 scores 0.57",
            "patch: two from T2",
            "do two",
            "two merged: T3",
            "T3 scores 1.00",
            "end success",
        ]
    );
}

#[test]
fn additions_get_tasks_and_constraints_reach_the_tasks_that_they_name() {
    let amendment = json!({
        "description": "Mind the third.", "criteria": [{ "text": "a third thing", "priority": "low" }],
        "constraints": [{ "text": "no colours", "tasks": ["one"] }], "changes": [],
    });
    let mut play = short(vec![in_vain(1)], &[amendment]);
    play["tasks"] = json!([both(), [task("extra", &["A3"], "c.txt")]]);
    let project = Project::new(&play);
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "additions need no approval: {ran:?}");
    let course = then(&project, &ran);
    assert_eq!(course[1..3], ["patch: one two extra from T1", "do one two extra"]);
    let contract = &ran.json()["contract"];
    let criteria = contract["criteria"].as_array().unwrap();
    let originals: Vec<_> = criteria.iter().map(|one| (words(&one["id"]), &one["is_original"])).collect();
    assert_eq!(originals, [("A1", &json!(true)), ("A2", &json!(true)), ("A3", &json!(false))]);
    assert_eq!(contract["series"], json!(0), "additions begin no new series of scores");
    assert_eq!(contract["constraints"].as_array().unwrap().len(), 2);
    let prompt = &project.works("extra")[0];
    for part in ["Mind the third.", "A3: a third thing", "K2: no colours"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
}

#[test]
fn an_added_criterion_is_not_lost_when_its_round_is_taken_back() {
    let amendment = json!({
        "description": "", "criteria": [{ "text": "a third thing", "priority": "high" }],
        "constraints": [], "changes": [],
    });
    let worse = writing("a.txt", "nothing of it\n");
    let mut play = short(vec![in_vain(1), worse], &[amendment, saying("")]);
    let [one, mut two] = both();
    two["replaces"] = json!(["one"]);
    play["tasks"] = json!([[one, two], [task("extra", &["A3"], "c.txt")]]);
    let project = Project::new(&play);
    let ran = project.evolve(&[]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    assert_eq!(
        then(&project, &ran),
        [
            "T1 scores 0.57",
            "patch: two extra from T1",
            "do two extra",
            "two merged, extra merged: T2",
            "T2 scores 0.00",
            "patch: two extra from T1",
            "do two extra",
            "two merged, extra merged: T3",
            "T3 scores 1.00",
            "end success",
        ]
    );
}

/// An amendment that changes what was asked for.
fn easier() -> Value {
    let change =
        json!({ "id": "A2", "text": "the second is easier", "remove": false, "why": "it cannot be met" });
    json!({ "description": "", "criteria": [], "constraints": [], "changes": [change] })
}

/// Returns a run that asks whether a criterion may change.
fn amending() -> Project {
    static HELD: Finished = Finished::new(|| {
        let project = Project::new(&short(vec![in_vain(1)], &[easier()]));
        let ran = project.attended(&[]);
        assert_eq!(ended(&ran), "3 paused -", "{ran:?}");
        project.git.scene
    });
    Project::of(HELD.scene())
}

#[test]
fn a_change_of_a_criterion_waits_for_a_person_and_is_refused_unattended() {
    let held = amending();
    let status = held.scene().run(&["status"]).stdout;
    for part in ["The run waits for you. May the criteria change?", "--answer refuse", "--answer approve"] {
        assert!(status.contains(part), "{part}: {status}");
    }
    let refused = held.resume(&["--answer", "guide", "--with", "x"]);
    assert_eq!(ended(&refused), "3 paused -", "{refused:?}");
    assert!(refused.stderr.contains("Pass --answer refuse or approve"), "{refused:?}");
    let approved = held.resume(&["--answer", "approve"]);
    assert_eq!(then(&held, &approved)[1], "patch, approved: two from T1", "{approved:?}");
    let contract = &approved.json()["contract"];
    assert_eq!(
        (&contract["criteria"][1]["text"], &contract["series"]),
        (&json!("the second is easier"), &json!(1))
    );
    assert!(held.works("two").iter().any(|text| text.contains("A2: the second is easier")));
    let report = held.scene().run(&["report"]).stdout;
    assert!(report.contains("by the evaluator; changes approved"), "{report}");
    assert!(report.contains("change: A2: the second is easier (it cannot be met)"), "{report}");

    let held = amending();
    let ran = held.resume(&["--answer", "refuse"]);
    let unattended = Project::new(&short(vec![in_vain(1)], &[easier()]));
    let alone = unattended.evolve(&[]);
    for (project, ran) in [(&held, ran), (&unattended, alone)] {
        assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
        assert_eq!(then(project, &ran)[1], "patch, refused: two from T1", "{ran:?}");
        let contract = &ran.json()["contract"];
        let kept = (&contract["criteria"][1]["text"], &contract["series"]);
        assert_eq!(kept, (&json!("the second thing is there"), &json!(0)));
    }
}

/// Five criteria of one weight, which one task meets in these steps.
fn five(steps: &[&[&str]], amendments: &[Value], settings: &str) -> Project {
    let ids = ["A1", "A2", "A3", "A4", "A5"];
    let steps: Vec<Value> = steps.iter().map(|met| meeting("a.txt", met)).collect();
    let play = json!({ "tasks": [[task("all", &ids, "a.txt")]], "works": { "all": steps }, "amendments": amendments });
    let project = Project::with(&play, &FILES, settings);
    let criteria: Vec<String> = ids.iter().map(|id| format!("- {id}: thing {id} is there\n")).collect();
    let criteria = criteria.concat();
    project.write("spec.md", &format!("## Goal\n\nIt is all there.\n\n## Acceptance criteria\n\n{criteria}"));
    project.git.commit("Ask for more");
    project
}

#[test]
fn each_pattern_of_the_scores_has_its_own_point_of_view() {
    let amendments = [saying(""), saying(""), saying(ELSEWHERE)];
    let nothing = json!({ "appends": {} });
    let (back, flat) = (vec![in_vain(1), in_vain(2), nothing], vec![in_vain(1), in_vain(2), in_vain(3)]);
    let shrinking: [&[&str]; 4] = [&["A1"], &["A2", "A3"], &["A4"], &["A5"]];
    let steady: [&[&str]; 4] = [&["A1"], &["A2"], &["A3"], &["A4", "A5"]];
    for (project, scores, pivot, pattern) in [
        (
            Project::new(&short(back, &amendments)),
            ["T1 scores 0.57", "T2 scores 0.57", "T1 scores 0.57", "T3 scores 1.00"],
            "simplicity: two from T1",
            "again as simplicity (oscillation)",
        ),
        (
            Project::new(&short(flat, &amendments)),
            ["T1 scores 0.57", "T2 scores 0.57", "T3 scores 0.57", "T4 scores 1.00"],
            "reification: two from T1",
            "again as reification (no drift)",
        ),
        (
            five(&shrinking, &amendments, "[evolve]\ngain = 0.9\n"),
            ["T1 scores 0.20", "T2 scores 0.60", "T3 scores 0.80", "T4 scores 1.00"],
            "invariance: all from T3",
            "again as invariance (diminishing returns)",
        ),
        (
            five(&steady, &amendments, "[evolve]\npatches = 2\n"),
            ["T1 scores 0.20", "T2 scores 0.40", "T3 scores 0.60", "T4 scores 1.00"],
            "multistability: all from T3",
            "again as multistability (hard cap)",
        ),
    ] {
        let ran = project.evolve(&[]);
        assert_eq!(ended(&ran), "0 reached success", "{pattern}: {ran:?}");
        let course = then(&project, &ran);
        let scored: Vec<&str> =
            course.iter().filter(|line| line.contains(" scores ")).map(String::as_str).collect();
        assert_eq!(scored, scores, "{pattern}");
        assert!(course.iter().any(|line| line == pivot), "{pattern}: {course:?}");
        let said = project.scene().run(&["history"]).stdout;
        assert!(said.contains(pattern), "{pattern}: {said}");
        assert!(project.scene().prompts().iter().any(|text| text.contains(ELSEWHERE)), "{pattern}");
    }
}

/// Returns a run that has used all four points of view, and asks a person.
fn used_up() -> Project {
    static HELD: Finished = Finished::new(|| {
        let project = Project::new(&short(vec![in_vain(1), in_vain(2), in_vain(3)], &[]));
        let ran = project.attended(&[]);
        assert_eq!(ended(&ran), "3 paused -", "{ran:?}");
        let course = then(&project, &ran);
        let nothing = ["reification", "multistability", "simplicity", "invariance"];
        assert_eq!(course[course.len() - 4..], nothing.map(|persona| format!("{persona}: nothing")));
        project.git.scene
    });
    Project::of(HELD.scene())
}

#[test]
fn after_all_points_of_view_a_person_guides_accepts_or_ends() {
    let held = used_up();
    let status = held.scene().run(&["status"]).stdout;
    for part in
        ["How should the run continue?", "--answer guide --with TEXT", "--answer accept", "--answer end"]
    {
        assert!(status.contains(part), "{part}: {status}");
    }
    let without = held.resume(&["--answer", "guide"]);
    assert!(without.code == Some(2) && without.stderr.contains("add --with TEXT"), "{without:?}");
    let ran = held.resume(&["--answer", "guide", "--with", "Use the pump."]);
    assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
    let course = then(&held, &ran);
    assert_eq!(course[course.len() - 5], "patch: two from T1", "{course:?}");
    let guided = held.scene().prompts().iter().filter(|text| text.contains("Use the pump.")).count();
    assert_eq!(guided, 2, "the evaluator and the executor get the guidance");
    for answer in ["accept", "end"] {
        let held = used_up();
        let ran = held.resume(&["--answer", answer]);
        assert_eq!(ended(&ran), "3 not_reached human_escalation", "{ran:?}");
        assert_eq!(held.commits().unwrap(), ["Do one", "Do two"], "the best state so far");
    }
}

#[test]
fn a_hold_shows_what_is_unmet_and_what_the_evaluator_suggests() {
    let project = Project::new(&short(vec![in_vain(1), in_vain(2), in_vain(3)], &[]));
    let ran = project.scene().run(&["evolve", "spec.md", "--commands", "run", "--roles", "none"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    for part in ["score 0.57 (0.85 needed)", "A2: nothing shows A2", "suggestion: Read it once more."] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}
