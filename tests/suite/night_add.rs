//! `night add`: several skills at once, with all that a job needs, or nothing.

use std::fs;

use crate::night::{Nights, climbs};
use crate::scene::Scene;

/// Returns a project with two skills and without a file of jobs.
fn nights() -> Nights {
    let nights = Nights::new(&[("writer", 20), ("editor", 40)], &climbs(), "");
    fs::remove_file(nights.scene.path("project/skilltune-night.toml")).unwrap();
    nights
}

fn added(scene: &Scene, arguments: &[&str]) -> String {
    let ran = scene.run(&[&["night", "add", "--suite", "suite.toml"], arguments].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    scene.normalized(&ran.stderr)
}

fn jobs(scene: &Scene) -> toml::Table {
    let text = fs::read_to_string(scene.path("project/skilltune-night.toml")).unwrap();
    text.parse().unwrap()
}

/// Returns what the next night would do.
fn listed(scene: &Scene) -> String {
    let ran = scene.run(&["night", "list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout
}

#[test]
fn several_skills_become_jobs_with_the_same_settings() {
    let scene = nights().scene;
    let of_all = ["--preset", "quick", "--priority", "3", "--apply", "never", "--agent", "executor"];
    let roles = ["--executor", "executor", "--evaluator", "evaluator", "--improver", "improver"];
    insta::assert_snapshot!(added(&scene, &[&["writer", "editor"], &of_all[..], &roles[..]].concat()), @r"
    added job writer to /project/skilltune-night.toml
    added job editor to /project/skilltune-night.toml
    `skilltune night` runs the jobs now, `skilltune night install` every night
    ");
    let expected = |name: &str| -> toml::Table {
        let text = format!(
            "skill = \".claude/skills/{name}\"\nsuite = \"suite.toml\"\npreset = \"quick\"\npriority = 3\napply = \"never\"\nagent = \"executor\"\nexecutor = \"executor\"\nevaluator = \"evaluator\"\nimprover = \"improver\"\n"
        );
        text.parse().unwrap()
    };
    let written = jobs(&scene)["jobs"].as_array().unwrap().clone();
    assert_eq!(written, ["writer", "editor"].map(|name| toml::Value::Table(expected(name))));
    assert_eq!(listed(&scene), "writer  tuning writer\neditor  tuning editor\n");
    // The file stays trusted, so a night would begin.
    let ran = scene.run(&["night", "run", "nothing"]);
    assert!(ran.stderr.contains("there is no job \"nothing\""), "{ran:?}");
}

#[test]
fn a_folder_of_skills_and_a_chain_are_jobs_too() {
    let scene = nights().scene;
    let said = added(&scene, &["editor,writer", ".claude/skills/*"]);
    let names: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("added job ")).collect();
    let of_file = |name: &str| format!("{name} to /project/skilltune-night.toml");
    assert_eq!(names, ["editor-writer", "editor", "writer"].map(of_file));
    let written = jobs(&scene);
    assert_eq!(written["jobs"][0]["skill"].as_array().map(Vec::len), Some(2), "{written:?}");
    assert_eq!(written["jobs"][1]["skill"].as_str(), Some(".claude/skills/*"), "{written:?}");
    // The next job comes below.
    scene.write_skill("reader", 50);
    let before = fs::read_to_string(scene.path("project/skilltune-night.toml")).unwrap();
    let ran = scene.run(&["night", "add", "reader", "--name", "again", "--suite", "suite.toml"]);
    assert!(ran.stderr.starts_with("added job again to "), "{ran:?}");
    let after = fs::read_to_string(scene.path("project/skilltune-night.toml")).unwrap();
    assert!(after.starts_with(before.trim_end()), "{after}");
}

#[test]
fn one_wrong_word_and_no_job_is_added() {
    let scene = nights().scene;
    fs::create_dir(scene.path("project/empty")).unwrap();
    for (arguments, why) in [
        (&["writer", "nowhere"][..], "no skill named \"nowhere\""),
        (&["writer", "writer"], "is defined twice"),
        (&["writer", "editor", "--name", "both"], "one name cannot be that of several jobs"),
        (&["empty/*"], "no skills found in empty/*"),
        (&["missing/*"], "cannot read /project/missing"),
        (&["writer", "--suite", "missing.toml"], "cannot read /project/missing.toml"),
        (&["writer", "--preset", "fast"], "invalid value 'fast' for '--preset <PRESET>'"),
        (&["writer", "--apply", "ask"], "invalid value 'ask' for '--apply <WHEN>'"),
        (&["writer", "--priority", "0"], "0 is not in"),
        (&["writer", "--improver", "claude:-x"], "a model name must not be empty or start with `-`"),
        (&[], "required arguments were not provided"),
    ] {
        let said = scene.refusal(&[&["night", "add"], arguments].concat());
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}
