//! Tests the scope of `lint`: the skills here and at home, the enabled rules, and the specification.

use std::fs;

use crate::scene::Scene;

fn skill(scene: &Scene, path: &str, front: &str) {
    let folder = scene.path(path);
    fs::create_dir_all(&folder).unwrap();
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let description = "Shows a thing. Use when a thing is to be shown.";
    fs::write(
        folder.join("SKILL.md"),
        format!("---\nname: {name}\ndescription: {description}\n{front}---\n\nGo.\n"),
    )
    .unwrap();
}

#[test]
fn without_a_path_the_skills_here_and_at_home_are_looked_at() {
    let scene = Scene::empty();
    let none = scene.run(&["lint"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(2), ""), "{none:?}");
    insta::assert_snapshot!(scene.refusal(&["lint"]), @r"
    error: no skills found
    hint: looked in skills, .claude/skills, .agents/skills, .gemini/skills, .codex/skills, .opencode/skills below /project, /home
    hint: for a skill elsewhere, pass its path, such as ./my-skill
    ");
    skill(&scene, "project/skills/one", "");
    skill(&scene, "project/.claude/skills/two", "colour: red\n");
    skill(&scene, "project/.opencode/skills/three", "");
    skill(&scene, "home/.gemini/skills/four", "");
    skill(&scene, "project/docs/skills/five", "");
    let ran = scene.run(&["lint", "--format", "json"]);
    let report = ran.json();
    let names: Vec<_> =
        report["skills"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "two", "three", "four"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.starts_with("looked in skills, .claude/skills, "), "{ran:?}");
    fs::write(scene.path("project/SKILL.md"), "no front matter\n").unwrap();
    let ran = scene.run(&["lint", "--format", "json"]);
    assert_eq!((ran.json()["skills"][0]["path"].as_str(), ran.code), (Some("."), Some(3)), "the folder here");
}

#[test]
fn a_table_of_contents_is_asked_for_only_on_request_and_once_a_skill() {
    let scene = Scene::empty();
    skill(&scene, "project/demo", "");
    let long = "A line of the page.\n".repeat(120);
    for name in ["a.md", "b.md"] {
        fs::write(scene.path("project/demo").join(name), &long).unwrap();
    }
    let count = |arguments: &[&str]| {
        let ran = scene.run(&[&["lint", "./demo"], arguments].concat());
        ran.stdout.matches("contents-missing").count()
    };
    assert_eq!(count(&[]), 0);
    assert_eq!(count(&["--rule", "contents-missing"]), 1);
    assert_eq!(scene.run(&["lint", "./demo", "--rule", "link-dangling"]).code, Some(2));
    let offered = scene.run(&["lint", "./demo", "--fix=all"]);
    assert!(!offered.stderr.contains("suggestion"), "{offered:?}");
}

#[test]
fn with_spec_lint_says_what_the_reference_validator_says_and_nothing_else() {
    let scene = Scene::empty();
    skill(&scene, "project/demo", "");
    let page = scene.path("project/demo/SKILL.md");
    let sound = fs::read_to_string(&page).unwrap() + "[gone](gone.md)\n";
    fs::write(&page, &sound).unwrap();
    assert_eq!(scene.run(&["lint", "./demo"]).code, Some(3));
    assert_eq!(scene.run(&["lint", "./demo", "--spec"]).code, Some(0), "the validator reads no links");
    for field in ["argument-hint: x", "version: 1.0.0", "model: x"] {
        fs::write(&page, sound.replacen("\n---\n\n", &format!("\n{field}\n---\n\n"), 1)).unwrap();
        let ran = scene.run(&["lint", "./demo", "--spec"]);
        let key = field.split(':').next().unwrap();
        let line = format!("SKILL.md:4: error spec: unknown field \"{key}\"");
        assert!(ran.code == Some(3) && ran.stdout.contains(&line), "{ran:?}");
        assert_eq!(ran.stdout.matches("SKILL.md:").count(), 1, "{ran:?}");
    }
    assert_eq!(scene.run(&["lint", "./demo", "--spec", "--fix"]).code, Some(2));
}
