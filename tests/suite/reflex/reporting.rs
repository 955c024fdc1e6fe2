//! Reports of a run for people and scripts: progress, each iteration's plan and fixes, and comparable hashes.

use super::*;

#[test]
fn each_iteration_tells_its_plan_the_place_of_its_text_and_the_fix_of_each_rule() {
    let scene = scene(&rising());
    let ran = scene.run(&NEW);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let file = place(&scene).join("artifact.md");
    let said = |line: &str| ran.stderr.lines().filter(|other| other.starts_with(line)).count();
    assert_eq!(said("  plan      write the section on a.correctness.accuracy; write"), 3, "{ran:?}");
    let missed = [CLARITY, STRUCTURE, REFERENCES, CONSISTENCY, AUDIENCE];
    for rule in missed {
        assert_eq!(said(&format!("  fix       {rule}: add a section")), 1, "{rule}: {ran:?}");
    }
    assert_eq!(ran.stderr.matches(file.to_str().unwrap()).count(), 3, "{ran:?}");
    // The same appears for one iteration, and in the report.
    let shown = scene.run(&["show", ALIAS, "1"]).stdout;
    assert!(
        shown.contains("  plan      write") && shown.contains(&format!("  fix       {CLARITY}: add")),
        "{shown}"
    );
    let report = scene.run(&["report", ALIAS]).stdout;
    assert!(report.contains("## Plan\n") && report.contains(&format!("| 1 | B | `{CLARITY}` |")), "{report}");
    let report = scene.run(&["report", ALIAS, "--format", "json"]).json();
    let first = &report["evaluations"][1];
    assert_eq!(first["issues"].as_array().unwrap().len(), missed.len(), "{first}");
    assert_eq!(first["plan"][0]["rule"], ACCURACY, "{first}");
}

#[test]
fn a_hash_that_somebody_may_compare_is_whole() {
    let scene = written();
    let summary = summary(&scene);
    let whole = hash(&artifact(&scene));
    assert_eq!((whole.len(), &summary["artifact"]["hash"]), (64, &json!(whole)));
    let report = scene.run(&["report", ALIAS]).stdout;
    assert!(report.contains(&format!("| SHA-256 | `{whole}` |")), "{report}");
    // A hash that the original compares has the original's length.
    assert_eq!(run_json(&scene)["evaluation"]["artifact_hash"], short(&whole));
    let of = |event: &str, key: &str| {
        let story = story(&scene);
        story.iter().find(|line| line["event"] == event).unwrap()["payload"][key].clone()
    };
    let first = of("artifact_created", "artifact_hash");
    assert_eq!(
        (first.as_str().unwrap().len(), &first),
        (64, &of("refinement_done", "previous_artifact_hash"))
    );
}

#[test]
fn list_and_status_tell_the_iteration_and_the_time_with_their_limits() {
    let scene = scene(&rising());
    new(&scene, &["--max-seconds", "600"]);
    let (listed, status) = (scene.run(&["list"]).stdout, scene.run(&["status"]).stdout);
    assert!(listed.contains("iteration 2 of 4, ") && listed.contains("s of 10m 00s  "), "{listed}");
    assert!(
        status.contains("iteration 2 of 4, level B") && status.contains("s of 10m 00s (completed phases)"),
        "{status}"
    );
    for object in [
        scene.run(&["list", "--format", "json"]).json()[0].clone(),
        scene.run(&["status", "--format", "json"]).json(),
    ] {
        assert_eq!((&object["iterations"], &object["max_iterations"]), (&json!(2), &json!(4)), "{object}");
        assert_eq!(object["max_completed_phase_seconds"], 600, "{object}");
        assert!(object["completed_phase_seconds"].is_u64() && object["updated_at"].is_string(), "{object}");
    }
}
