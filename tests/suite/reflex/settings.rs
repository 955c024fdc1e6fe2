//! Every number of `[reflex]` that is cheap to test changes the result of a run.

use serde_json::json;

use super::*;

/// Runs a play with these settings. The result has the reason, score, iterations and calls.
fn with(settings: &str, play: &Value) -> (Scene, Value) {
    let scene = scene(play);
    scene.write_settings(&format!("[reflex]\n{settings}\n"));
    let ran = new(&scene, &[]);
    assert!(ran.code == Some(0) || ran.code == Some(3), "{settings}: {ran:?}");
    let result = ran.json();
    (scene, result)
}

fn reason(settings: &str, play: &Value) -> Value {
    with(settings, play).1["reason"].clone()
}

#[test]
fn thresholds_decide_when_a_level_is_passed() {
    let play = json!({ "produced": { "1": PASSES_A } });
    assert_eq!(with("docs_threshold_b = 50", &play).1["iterations"], 1);
    assert_eq!(with("docs_threshold_b = 51", &play).1["iterations"], 2);
    let first = |settings| decided(&with(settings, &play).0, "evaluated")[0]["passed"].clone();
    assert_eq!((first("docs_threshold_a = 83"), first("docs_threshold_a = 84")), (json!(true), json!(false)));
    let other = with("threshold_a = 100\nthreshold_b = 100", &play).1;
    assert_eq!(other["threshold"], 85.0, "those are for the other templates");
}

#[test]
fn the_number_of_iterations_and_the_rules_for_standing_still_decide_when_it_is_enough() {
    let still = json!([ACCURACY]);
    let play =
        json!({ "produced": { "1": still }, "refined": { "1": still, "2": still, "3": still, "4": still } });
    assert_eq!(reason("", &play), "stagnation");
    assert_eq!(reason("max_iterations = 2", &play), "iteration_limit");
    assert_eq!(reason("stall_window = 5", &play), "iteration_limit");
    assert_eq!(reason("stall_gain = 0", &play), "iteration_limit");
    let (_, result) = with("stall_window = 1", &play);
    assert_eq!((&result["reason"], &result["iterations"]), (&json!("stagnation"), &json!(2)));
}

#[test]
fn settle_is_how_often_the_threshold_has_its_chance() {
    let one_more = [&PASSES_A[..], &[CLARITY]].concat();
    let play = json!({ "produced": { "1": PASSES_A }, "refined": { "1": one_more } });
    let iterations = |settings| with(settings, &play).1["iterations"].clone();
    assert_eq!(
        (iterations("settle = 0"), iterations("settle = 1"), iterations("settle = 2")),
        (1.into(), 2.into(), 3.into())
    );
}

#[test]
fn retries_is_how_often_an_answer_is_asked_for_again() {
    let mut play = rising();
    play["odd"] = json!({ "plan": "rubbish" });
    for (retries, calls) in [(0, 1), (3, 4)] {
        let scene = scene(&play);
        scene.write_settings(&format!("[reflex]\nretries = {retries}\n"));
        assert_eq!(new(&scene, &[]).code, Some(4));
        assert_eq!(begun(&scene, "plan"), calls);
    }
}

#[test]
fn what_is_asked_for_in_numbers_is_asked_for_as_set() {
    let (scene, _) = with("plan_least = 5\nissues = 2", &rising());
    assert_eq!(decided(&scene, "planned")[0].as_array().unwrap().len(), 5);
    assert_eq!(decided(&scene, "criticised")[0].as_array().unwrap().len(), 2);
    let (scene, _) = with("plan_least = 1\nplan_most = 1", &rising());
    assert_eq!(decided(&scene, "planned")[0].as_array().unwrap().len(), 1);
}

#[test]
fn a_plan_or_a_check_beyond_what_is_set_is_off_the_contract() {
    let question = json!({ "type": "judge", "question": "Is it right?" });
    let mut play = rising();
    play["checks"] = json!({ ACCURACY: [question, question] });
    assert_eq!(reason("", &play), "threshold_reached");
    let scene = scene(&play);
    scene.write_settings("[reflex]\nchecks_per_rule = 1\n");
    let ran = new(&scene, &[]);
    assert_eq!((ran.code, &ran.json()["reason"]), (Some(4), &json!("phase_error")), "{ran:?}");
}

#[test]
fn weights_decide_what_a_rule_counts_for() {
    let play = json!({ "produced": { "1": [ACCURACY, EXAMPLES] } });
    let first = |settings| decided(&with(settings, &play).0, "evaluated")[0]["score"].clone();
    assert_eq!(first(""), 50.0);
    assert_eq!(first("weight_warn = 4"), 50.0);
    assert_eq!(first("weight_fail = 9\nweight_warn = 0"), 50.0);
    let uneven = json!({ "produced": { "1": [ACCURACY, SECTIONS] } });
    let first = |settings| decided(&with(settings, &uneven).0, "evaluated")[0]["score"].clone();
    assert_eq!(
        (first("weight_warn = 2"), first("weight_fail = 8\nweight_warn = 2")),
        (json!(50.0), json!(80.0))
    );
}

#[test]
fn the_originals_files_stand_where_they_are_wanted() {
    let scene = scene(&rising());
    scene.write_settings("[reflex]\nevolution = \"notes/loop\"\n");
    let ran = new(&scene, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(scene.path("project/notes/loop").join(ALIAS).join("run.json").exists());
    assert!(!scene.path("project/.ai-factory").exists());
}

#[test]
fn the_planner_is_told_as_many_events_as_are_set() {
    let play = json!({ "produced": { "1": [ACCURACY, EXAMPLES], "3": ALL }, "refined": { "1": [EXAMPLES] } });
    let has_history = |settings: &str| {
        let (scene, _) = with(settings, &play);
        let prompts = fs::read_dir(scene.run_folder().join("agents")).unwrap();
        let prompts = prompts
            .map(|call| fs::read_to_string(call.unwrap().path().join("prompt.md")).unwrap_or_default());
        let second = prompts.into_iter().find(|prompt| {
            prompt.starts_with("Phase PLAN") && prompt.lines().next().unwrap().contains("iteration 3")
        });
        second.expect("it was planned anew").contains("What happened last")
    };
    assert_eq!((has_history("events = 0"), has_history("events = 3")), (false, true));
}
