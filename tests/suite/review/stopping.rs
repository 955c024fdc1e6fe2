//! Reviews that stop at a limit, are asked again, or wait for a person; and what a person has suppressed.

use serde_json::{Value, json};

use super::{BROKEN, PUMP, Project, confirmed, ended, entry, exits, reporting, shown, table};

const PROVED: [&str; 1] = ["proved high: Division by zero | pump:8 | security"];
const CONFIRMED: [&str; 1] = ["confirmed high: Division by zero | pump:8 | security"];

#[test]
fn a_review_that_paused_at_a_limit_is_resumed_and_a_second_one_asks_no_agent() {
    let project = Project::broken(&reporting(&confirmed()));
    let scene = project.scene();
    let paused = project.review(&["--max-calls", "2"]);
    assert_eq!(ended(&paused), (Some(5), json!("paused")), "{paused:?}");
    assert_eq!(scene.answered(), 2);
    let resumed = scene.run(&["resume", "--yes", "--format", "json", "--max-calls", "9"]);
    assert_eq!(ended(&resumed), (Some(3), json!("found")), "{resumed:?}");
    assert_eq!(table(&resumed), CONFIRMED);
    assert_eq!(scene.answered(), 4);
    let again = project.review(&[]);
    assert_eq!(table(&again), CONFIRMED);
    assert_eq!(again.json()["cost"]["cached"], json!(4), "{again:?}");
    assert_eq!(scene.answered(), 4, "the cache has all answers");
    project.write("pump", &BROKEN.replace("0 + ", "1 + "));
    project.review(&[]);
    assert_eq!(scene.answered(), 7, "another change is another question");
}

#[test]
fn proposed_commands_wait_for_a_person_and_are_left_out_without_one() {
    let project = Project::broken(&reporting(&shown()));
    for how in ["ask", "skip"] {
        let ran = project.review(&["--commands", how]);
        assert_eq!(table(&ran), CONFIRMED, "{how}: {ran:?}");
        assert_eq!(exits(&entry(&ran, "Division")), [Value::Null, Value::Null, Value::Null], "{how}");
    }
    let prompts = project.prompts();
    let verify: Vec<&String> = prompts
        .iter()
        .filter(|prompt| prompt.contains("\nA reviewer reports a fault in a change."))
        .collect();
    let asks = verify.iter().filter(|prompt| prompt.contains("propose it as `proof`")).count();
    assert_eq!((asks, verify.len()), (1, 2), "a verifier is asked for a command only where one may run");
    let scene = project.scene();
    let held = scene.run(&["review", "--format", "json", "--seed", "3"]);
    assert_eq!(ended(&held), (Some(3), json!("paused")), "{held:?}");
    let skipped = scene.run(&["resume", "--answer", "skip", "--format", "json"]);
    assert_eq!(table(&skipped), CONFIRMED, "{skipped:?}");
    let held = scene.run(&["review", "--format", "json", "--seed", "4"]);
    assert_eq!(ended(&held), (Some(3), json!("paused")), "{held:?}");
    let allowed = scene.run(&["resume", "--answer", "run", "--format", "json"]);
    assert_eq!(ended(&allowed), (Some(3), json!("found")), "{allowed:?}");
    assert_eq!(table(&allowed), PROVED);
}

#[test]
fn a_suppression_counts_from_the_base_alone() {
    let project = Project::broken(&reporting(&confirmed()));
    let found = project.review(&[]);
    let fingerprint = entry(&found, "Division")["fingerprint"].as_str().unwrap().to_owned();
    let page = format!("[[suppress]]\nfingerprint = \"{fingerprint}\"\nreason = \"a test pump\"\n");
    project.write("skilltune-review.toml", &page);
    let ran = project.review(&[]);
    assert_eq!(ended(&ran), (Some(3), json!("found")), "{ran:?}");
    let lines = table(&ran);
    assert!(lines[0].starts_with("machine high: the change alters what decides"), "{lines:?}");
    assert_eq!(lines[1..], CONFIRMED);

    project.write("pump", PUMP);
    project.git.commit("Accept the division");
    project.write("pump", BROKEN);
    let ran = project.review(&[]);
    assert_eq!(ended(&ran), (Some(0), json!("clean")), "{ran:?}");
    assert_eq!(ran.json()["counts"]["suppressed"], json!(1), "{ran:?}");
    assert_eq!(entry(&ran, "Division")["suppressed"], json!("a test pump"));

    project.write("skilltune-review.toml", "[[suppress]]\nfingerprint = 1\n");
    let ran = project.review(&[]);
    assert_eq!(ran.json()["counts"]["suppressed"], json!(1), "the broken file is not the one that counts");
    project.git.commit("Break the file");
    project.write("pump", &BROKEN.replace("0 + ", "1 + "));
    let refused = project.review(&[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("cannot read skilltune-review.toml"), "{refused:?}");
}
