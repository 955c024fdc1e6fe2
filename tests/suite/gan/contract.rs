//! Tests how builder and evaluator agree on a contract, and how it is reported.

use std::fs;

use serde_json::{Value, json};
use skilltune_phases::suites::checks::accepts;

use super::{ALL, PRICES, PROFILE, SHORT, WORKS, build, building, folder, json_file, passed, playing};
use crate::scene::Scene;

#[test]
fn what_two_sides_cannot_agree_on_the_evaluator_settles_by_the_brief() {
    let polite = json!({
        "id": "form.polite", "dimension": "form", "criterion": "It is polite.", "verification": "Read.",
        "must_pass": true, "weight": 2,
    });
    let drop = json!({ "change": "drop", "id": "form.polite", "why": "nobody asked for it" });
    let soften = json!({ "change": "must_pass", "id": "form.polite", "must_pass": false, "why": "too hard" });
    let met = [&ALL[..], &["form.polite"]].concat();
    let play = json!({
        "builds": [met], "drafted": [polite], "proposed": [[drop], [soften]],
        "ruled": [[[false, "Say how it runs"]], [[true, "show prices"]]],
    });
    let scene = playing(&play);
    let ran = build(&scene, &["--yes", "--contract"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("passed")), "{}", ran.stderr);
    let sprint = json_file(&scene, "sprints/sprint-1.json");
    let history = sprint["negotiation_history"].as_array().unwrap();
    assert_eq!(history.len(), 5, "a draft, and two rounds of a word each: {history:?}");
    let checklist = sprint["acceptance_checklist"].as_array().unwrap();
    let polite = checklist.iter().find(|one| one["id"] == "form.polite").expect("it was not dropped");
    assert_eq!((&polite["must_pass"], &polite["status"]), (&json!(false), &json!("passed")));
    for key in
        ["sprint_id", "iteration", "priority_dimension", "test_scenarios", "pass_conditions", "created_at"]
    {
        assert!(sprint.get(key).is_some(), "{key}");
    }
}

#[test]
fn a_level_that_the_evaluator_drafted_keeps_a_round_from_passing_and_the_builder_may_argue() {
    let polite = json!({
        "id": "form.polite", "dimension": "form", "criterion": "It is polite.", "verification": "Read.",
        "must_pass": false, "weight": 1,
    });
    let conditions = ["substance", "form"].map(|id| json!({ "dimension": id, "minimum": 1.0 }));
    let soften =
        json!({ "change": "pass_condition", "dimension": "substance", "minimum": 0.5, "why": "too hard" });
    // Of form, four fifths of the weight: level 75.
    let nearly = [WORKS, PRICES, SHORT, "form.polite"];
    let all = [&ALL[..], &["form.polite"]].concat();
    let scene = playing(&json!({
        "builds": [&nearly[..], &all], "drafted": [polite], "conditions": conditions,
        "proposed": [[soften]], "ruled": [[[true, "show prices"]]],
    }));
    let ran = build(&scene, &["--yes", "--contract"]);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(2)), "{}", ran.stderr);
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    assert_eq!(report["overall"], json!(0.875), "enough for the score");
    assert_eq!(report["kept_from_passing_by"], json!(["form is at 75, but must reach 100"]));
    let sprint = json_file(&scene, "sprints/sprint-1.json");
    assert_eq!(sprint["pass_conditions"], json!({ "form": 1.0, "substance": 0.5 }));
    assert_eq!(sprint["negotiation_history"][0]["drafted"]["pass_conditions"]["substance"], json!(100.0));
    let schema = serde_json::from_str(include_str!("../../../docs/schemas/sprint.schema.json")).unwrap();
    assert!(accepts(&schema, &sprint));
    let prompts = scene.prompts();
    let shows = |title: &str| {
        let mut pages = prompts.iter().filter(|page| page.starts_with(title));
        pages.all(|page| page.contains("form must reach 1.00"))
    };
    assert!(shows("# Build") && shows("# Decide") && !shows("# Judge"), "{prompts:?}");
}

#[test]
fn without_a_contract_asked_for_nobody_talks() {
    let scene = passed();
    let calls = scene.prompts();
    assert_eq!(calls.len(), 2, "one builds, one judges");
    assert_eq!(json_file(&scene, "sprints/sprint-1.json")["negotiation_history"], json!([]));
    assert!(fs::metadata(folder(&scene).join("iterations/iteration-1/changes.diff")).is_ok());
}

#[test]
fn what_is_written_of_each_round_keeps_the_published_schemas() {
    let schema = |text: &str| serde_json::from_str::<Value>(text).expect("a schema is JSON");
    let sprint = schema(include_str!("../../../docs/schemas/sprint.schema.json"));
    let report = schema(include_str!("../../../docs/schemas/evaluation-report.schema.json"));
    let wanted = json!([{ "id": "form.colour", "text": "It has colour.", "verification": "Look." }]);
    let play = json!({ "builds": [["substance.works", "shows: form.padding"], ALL], "wanted": wanted });
    let scene = playing(&play);
    assert_eq!(build(&scene, &["--yes"]).code, Some(0));
    let scores = [0.25, 1.0];
    for number in 1..=2 {
        let written = json_file(&scene, &format!("sprints/sprint-{number}.json"));
        assert!(accepts(&sprint, &written), "{written:#}");
        assert_eq!((&written["iteration"], &written["score"]), (&json!(number), &json!(scores[number - 1])));
        let evaluation =
            json_file(&scene, &format!("iterations/iteration-{number}/evaluation-report-{number}.json"));
        assert!(accepts(&report, &evaluation), "{evaluation:#}");
        let mut other = evaluation.clone();
        other["verdict"] = json!("perhaps");
        assert!(!accepts(&report, &other));
    }
    let extra = &json_file(&scene, "sprints/sprint-2.json")["extra_checklist"][0];
    assert_eq!(
        (&extra["id"], &extra["status"]),
        (&json!("form.colour"), &json!("failed")),
        "shown, and not scored"
    );
}

#[test]
fn the_originals_settings_are_a_profile_and_flags_go_over_them() {
    let scene = building(&[&ALL]);
    let file = "design:\n  gan_loop:\n    max_iterations: 4\n    pass_threshold: 0.85\n    escalation_after: 2\n    improvement_threshold: 0.1\n    strict_mode: true\n";
    fs::write(scene.path("project/design.yaml"), file).unwrap();
    let sketch = |more: &[&str]| {
        let line = ["gan", "brief.md", "--profile", "design.yaml", "--dry-run", "--format", "json"];
        let ran = scene.run(&[&line[..], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.json()
    };
    let sketched = sketch(&[]);
    let rules = &sketched["rules"];
    assert_eq!((&sketched["profile"], &rules["max_rounds"]), (&json!("design"), &json!(4)));
    assert_eq!((&rules["threshold"], &rules["strict"]), (&json!(85.0), &json!(true)));
    assert_eq!((&rules["escalate_after"], &rules["gain"]), (&json!(2), &json!(10.0)));
    assert_eq!(sketch(&["--max-rounds", "3"])["rules"]["max_rounds"], 3);
}

/// Creates a scene whose contract adds one criterion, decided by a command: the page of that version has a word.
fn with_command(builds: &[&[&str]]) -> Scene {
    let says = json!({
        "id": "form.says", "dimension": "form", "criterion": "It says it.", "verification": "Search.",
        "must_pass": true, "weight": 1,
    });
    let test = json!({
        "id": "says", "criterion": "form.says", "description": "The page says it.", "tool": "command",
        "steps": [], "argv": ["grep", "-q", "note: here it is", "index.html"],
    });
    playing(&json!({ "builds": builds, "drafted": [says], "tests": [test] }))
}

/// The last judge would pass it, because the page claims that it is met.
const CLAIMS: &str = "form.says";
const SAYS: &str = "note: here it is";

#[test]
fn a_command_of_a_test_scenario_decides_its_criterion_on_a_copy_of_what_was_built() {
    let scene = with_command(&[&[&ALL[..], &[CLAIMS]].concat(), &[&ALL[..], &[SAYS]].concat()]);
    let ran = build(&scene, &["--yes", "--contract", "--commands", "run"]);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(2)), "{} {}", ran.stdout, ran.stderr);
    for (round, status) in [(1, "failed"), (2, "passed")] {
        let report =
            json_file(&scene, &format!("iterations/iteration-{round}/evaluation-report-{round}.json"));
        let found =
            report["criteria"].as_array().unwrap().iter().find(|one| one["id"] == "form.says").unwrap();
        assert_eq!((&found["status"], &found["by"]), (&json!(status), &json!("machine")), "{found}");
        assert!(found["evidence"].as_str().unwrap().starts_with("says: exit code"), "{found}");
        let sprint = json_file(&scene, &format!("sprints/sprint-{round}.json"));
        let test = sprint["test_scenarios"].as_array().unwrap().iter().find(|one| one["name"] == "says");
        assert_eq!(test.unwrap()["status"], status);
        assert!(accepts(
            &serde_json::from_str(include_str!("../../../docs/schemas/sprint.schema.json")).unwrap(),
            &sprint
        ));
    }
    let prompts =
        scene.prompts().into_iter().filter(|prompt| prompt.starts_with("# Judge")).collect::<Vec<_>>();
    assert!(prompts.iter().all(|prompt| !prompt.contains("form.says (form")), "a machine has told");
}

#[test]
fn a_command_waits_for_a_person_and_does_not_run_where_nobody_is() {
    let met: &[&str] = &[&ALL[..], &[CLAIMS]].concat();
    let scene = with_command(&[met]);
    let ran = build(&scene, &["--contract"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(3), &json!("held")), "{}", ran.stderr);
    let status = scene.run(&["status"]).stdout;
    assert!(status.contains("may it run the commands") && status.contains("--answer skip"), "{status}");
    let wrong = scene.run(&["resume", "--answer", "force", "--format", "json"]);
    assert!(wrong.stderr.contains("--answer run or --answer skip"), "{}", wrong.stderr);
    let ran = scene.run(&["resume", "--answer", "skip", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("passed")), "{}", ran.stderr);
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    let found = report["criteria"].as_array().unwrap().iter().find(|one| one["id"] == "form.says").unwrap();
    assert_eq!(found["by"], "judge");
    let unattended = with_command(&[met]);
    assert_eq!(
        build(&unattended, &["--contract", "--yes"]).code,
        Some(0),
        "nobody allows it: the judge decides"
    );
}

#[test]
fn a_project_does_not_decide_that_commands_of_a_model_run() {
    let scene = with_command(&[&ALL]);
    fs::write(scene.path("project/skilltune.toml"), "[gan]\ncommands = \"run\"\n").unwrap();
    let ran = build(&scene, &["--contract", "--yes"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("only your own settings may set `gan.commands"), "{}", ran.stderr);
}

#[test]
fn a_profile_of_a_person_may_have_test_scenarios() {
    let test = "test_scenarios:\n  - {id: says, criterion: substance.works, description: It says it., run: {command: [grep, -q, 'note: here it is', index.html]}}\n";
    let scene = building(&[&ALL, &[&ALL[..], &[SAYS]].concat()]);
    fs::write(scene.path("project/plain.yaml"), format!("{PROFILE}{test}")).unwrap();
    let dry = scene.run(&["gan", "brief.md", "--profile", "plain.yaml", "--dry-run"]);
    for part in [
        "browser: ",
        "\ntest scenarios:\n  says: It says it. (grep -q note: here it is index.html)\n",
        "before their commands run; --yes skips them",
    ] {
        assert!(dry.stdout.contains(part), "{part}: {dry:?}");
    }
    let ran = build(&scene, &["--yes", "--commands", "run"]);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(2)), "{}", ran.stderr);
    for (wrong, why) in [
        ("run: {command: [sh, -c, 'true']}", "is a shell"),
        ("run: {browser: [{act: click, on: Order}]}", "no step says what to"),
        ("run: {browser: []}", "1 to 12 steps"),
    ] {
        let test =
            format!("test_scenarios:\n  - {{id: t, criterion: form.short, description: x, {wrong}}}\n");
        fs::write(scene.path("project/plain.yaml"), format!("{PROFILE}{test}")).unwrap();
        let ran = build(&scene, &["--yes"]);
        assert!(ran.code == Some(2) && ran.stderr.contains(why), "{wrong}: {}", ran.stderr);
    }
}
