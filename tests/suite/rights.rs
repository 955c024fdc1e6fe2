//! Tests which files agents may change: confined by the system where possible, and checked afterwards in any case.

use std::fs;
use std::io::{self, Write};

use serde_json::{Value, json};
use skilltune_orchestrator::process::can_confine;

use crate::scene::{Ran, Scene, listing};

const ROUND: [&str; 2] = ["--max-iterations", "1"];

/// Creates a world in which the agent of a role also writes into these files.
fn scribbling(skills: &[(&str, u32)], role: &str, paths: &[String]) -> Scene {
    let scene = Scene::new(skills, &json!({}));
    let script = json!({
        "improve": { "writer": { "40": 90 }, "editor": { "40": 90 } },
        "overwrite": { role: paths },
        "overwritten": scene.path("overwritten.log"),
    });
    scene.write_script(&script);
    scene
}

/// Turns confinement on for the agents of a scene, and lets them write the logs of the test.
fn confined(scene: &Scene) {
    let settings = scene.path("config/skilltune/skilltune.toml");
    let writes = ["calls.log", "overwritten.log"].map(|name| {
        let log = scene.path(name);
        fs::write(&log, "").unwrap();
        format!("{:?}", log.display().to_string())
    });
    let text = fs::read_to_string(&settings).unwrap();
    let writes = format!("\nwrites = [{}]\n\n", writes.join(", "));
    fs::write(&settings, text.replace("]\n\n[agents", &format!("]{writes}[agents")) + &writes).unwrap();
}

/// Returns whether this system can confine, and says if it cannot.
fn is_possible() -> bool {
    let possible = can_confine();
    if !possible {
        // Bypasses the test harness, which hides the output of a passing test.
        let _ = writeln!(io::stderr(), "SKIPPED: this kernel has no Landlock that holds every write");
    }
    possible
}

/// Returns the result of each attempt to write, without its path.
fn tries(scene: &Scene) -> Vec<String> {
    let log = fs::read_to_string(scene.path("overwritten.log")).unwrap_or_default();
    log.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

fn failures(scene: &Scene) -> Vec<(String, String)> {
    let done = scene.events("done").into_iter().filter_map(|done| done["outcome"].get("failed").cloned());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    done.map(|failed| (text(&failed["kind"]), text(&failed["why"]))).collect()
}

fn assert_breach(scene: &Scene, ran: &Ran, why: &str) {
    let breach = ("breach".to_owned(), why.to_owned());
    assert_eq!(failures(scene), [breach.clone(), breach], "{ran:?}");
    let prompts = fs::read_dir(scene.run_folder().join("agents")).unwrap();
    let prompts = prompts.map(|call| fs::read_to_string(call.unwrap().path().join("prompt.md")).unwrap());
    assert_eq!(prompts.filter(|prompt| prompt.contains(why)).count(), 1, "the second try is told");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("changed files that it must not change"), "{report}");
}

#[test]
fn a_judge_that_changes_what_it_judges_has_not_judged_it() {
    let paths = ["skill/writer/SKILL.md", "artifacts/writer/out.md"].map(str::to_owned);
    let scene = scribbling(&[("writer", 40)], "evaluator", &paths);
    let ran = scene.tune("writer", &ROUND);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(4), &json!("unjudged")), "{ran:?}");
    assert_breach(&scene, &ran, "changed skill/writer/SKILL.md, changed artifacts/writer/out.md");
}

#[test]
fn an_executor_that_changes_its_skill_has_not_carried_it_out() {
    let paths = ["skill/writer/SKILL.md", "skill/writer/learned.md"].map(str::to_owned);
    let scene = scribbling(&[("writer", 40)], "executor", &paths);
    let ran = scene.tune("writer", &ROUND);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(4), &json!("unjudged")), "{ran:?}");
    assert_breach(&scene, &ran, "changed skill/writer/SKILL.md, added skill/writer/learned.md");
}

#[test]
fn an_improver_changes_its_copy_and_neither_its_neighbours_nor_what_passes_between_them() {
    // Whichever member it works on, the other one is the neighbour.
    let paths = ["writer", "editor"].map(|name| format!("neighbours/{name}/SKILL.md"));
    let scene = scribbling(&[("writer", 40), ("editor", 40)], "improver", &paths);
    let ran = scene.tune("writer,editor", &["--chain", "--max-iterations", "2"]);
    let failures = failures(&scene);
    assert!(!failures.is_empty(), "{ran:?}");
    for (kind, why) in failures {
        assert!(kind == "breach" && why.contains("neighbours/"), "{kind}: {why}");
    }
    assert_eq!((scene.quality("writer"), scene.quality("editor")), (40, 40));
}

#[test]
fn what_is_new_beside_what_was_given_is_no_breach() {
    let scene = scribbling(&[("writer", 40)], "evaluator", &["notes.md".to_owned()]);
    let ran = scene.tune("writer", &[]);
    assert_eq!((ran.code, failures(&scene)), (Some(0), Vec::new()), "{ran:?}");
    assert!(tries(&scene).iter().all(|tried| tried == "written"));
}

#[test]
fn a_confined_agent_can_write_nowhere_but_where_its_role_may() {
    if !is_possible() {
        return;
    }
    for role in ["executor", "evaluator", "improver"] {
        let scene = Scene::new(&[("writer", 40)], &json!({}));
        let outside = ["home/pwned", "project/pwned", "project/.skilltune/pwned", "cache/skilltune/pwned"];
        let mut paths: Vec<String> = outside.map(|place| scene.path(place).display().to_string()).to_vec();
        paths.push(scene.skill("writer").join("SKILL.md").display().to_string());
        if role != "executor" {
            paths.extend(["notes.md", "skill/notes.md"].map(str::to_owned));
        }
        if role == "evaluator" {
            paths.extend(["skill/writer/SKILL.md", "artifacts/writer/out.md"].map(str::to_owned));
        }
        let script = json!({
            "improve": { "writer": { "40": 90 } },
            "overwrite": { role: paths },
            "overwritten": scene.path("overwritten.log"),
        });
        scene.write_script(&script);
        confined(&scene);
        let ran = scene.tune("writer", &[]);
        assert_eq!((ran.code, failures(&scene)), (Some(0), Vec::new()), "{role}: {ran:?}");
        let tries = tries(&scene);
        assert!(
            tries.len() >= paths.len() && tries.iter().all(|tried| tried == "denied"),
            "{role}: {tries:?}"
        );
        assert_eq!(scene.quality("writer"), 90, "{role}: the work itself was let");
        let pwned = listing(&scene.path("")).into_iter().filter(|(path, ..)| path.ends_with("pwned"));
        assert_eq!(pwned.count(), 0, "{role}");
        assert_eq!(
            ran.json()["rights"],
            json!({ "executor": "system", "evaluator": "system", "improver": "system" })
        );
        let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
        assert!(report.contains("| Rights of Roles | enforced by the system, in all roles |"), "{report}");
    }
}

#[test]
fn an_agent_that_nothing_holds_is_said_to_be_so() {
    let scene = Scene::new(&[("writer", 90)], &json!({}));
    let ran = scene.tune("writer", &[]);
    let nobody =
        json!({ "executor": "not enforced", "evaluator": "not enforced", "improver": "not enforced" });
    assert_eq!(ran.json()["rights"], nobody);
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("| Rights of Roles | not enforced, in all roles |"), "{report}");
    confined(&scene);
    let settings = scene.path("config/skilltune/skilltune.toml");
    let off =
        fs::read_to_string(&settings).unwrap().replace("[roles]", "[limits]\nconfine = false\n\n[roles]");
    fs::write(&settings, off).unwrap();
    assert_eq!(scene.tune("writer", &["--fresh"]).json()["rights"], nobody, "it is turned off");
}

#[test]
fn doctor_says_who_holds_each_agent_to_its_role() {
    let scene = Scene::new(&[("writer", 90)], &json!({}));
    let report = || scene.run(&["doctor", "--format", "json"]).json();
    let agents = |report: &Value, name: &str| {
        let agents = report["agents"].as_array().unwrap().iter();
        let agent = { agents }.find(|agent| agent["name"] == name).unwrap();
        agent["rights"]["evaluator"].as_str().unwrap().to_owned()
    };
    let free = report();
    assert_eq!(free["confinement"], if can_confine() { "enforces" } else { "cannot" });
    assert_eq!(agents(&free, "evaluator"), "not enforced");
    assert_eq!(agents(&free, "offline"), if can_confine() { "system + agent" } else { "agent" });
    confined(&scene);
    assert_eq!(agents(&report(), "evaluator"), if can_confine() { "system" } else { "not enforced" });
    let settings = scene.path("config/skilltune/skilltune.toml");
    let off =
        fs::read_to_string(&settings).unwrap().replace("[roles]", "[limits]\nconfine = false\n\n[roles]");
    fs::write(&settings, off).unwrap();
    assert_eq!(
        (report()["confinement"].clone(), agents(&report(), "evaluator")),
        (json!("turned_off"), "not enforced".into())
    );
    let output = scene.run(&["doctor"]).stdout;
    assert!(output.contains("rights: not enforced by the kernel, because limits.confine is"), "{output}");
}
