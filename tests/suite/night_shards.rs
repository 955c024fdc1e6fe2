//! Parts of a night: the jobs that changed, and shards that are put together again.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::night::{Nights, suite};

/// A job a skill, each with a suite of its own.
fn jobs(skills: &[String]) -> String {
    let one = |skill: &String| {
        format!(
            "[[jobs]]\nskill = \".claude/skills/{skill}\"\nsuite = \"suites/{skill}.toml\"\nruns = 32\napply = \"auto\"\n"
        )
    };
    skills.iter().map(one).collect()
}

/// That many skills, each with room for a better version.
fn nights(count: u32) -> (Nights, Vec<String>) {
    let skills: Vec<String> = (1..=count).map(|nth| format!("skill-{nth:02}")).collect();
    let written: Vec<(&str, u32)> = skills.iter().map(|skill| (skill.as_str(), 20)).collect();
    let better: serde_json::Map<String, Value> =
        skills.iter().map(|skill| (skill.clone(), json!({ "20": 60, "60": 80 }))).collect();
    let nights = Nights::new(&written, &json!({ "improve": better }), &jobs(&skills));
    fs::create_dir_all(nights.scene.path("project/suites/data")).unwrap();
    for skill in &skills {
        fs::write(nights.scene.path(&format!("project/suites/{skill}.toml")), suite(12)).unwrap();
    }
    (nights, skills)
}

fn git(nights: &Nights, arguments: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=A Person", "-c", "user.email=person@example.org"])
        .args(arguments)
        .current_dir(nights.scene.path("project"))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", nights.scene.path("home"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// The names of the jobs in a list of the morning.
fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|one| one["job"].as_str().unwrap()).collect()
}

#[test]
fn a_night_since_a_revision_takes_only_the_jobs_whose_skill_or_suite_changed() {
    let (nights, skills) = nights(20);
    let project = |path: &str| nights.scene.path(&format!("project/{path}"));
    fs::write(project("suites/data/notes.txt"), "notes\n").unwrap();
    let brings = suite(12).replace("description", "files = [\"data/notes.txt\"]\ndescription");
    fs::write(project("suites/skill-07.toml"), brings).unwrap();
    fs::write(project(".gitignore"), ".skilltune/\n*.log\n").unwrap();
    let ran = nights.night("2026-11-01", &["--changed-since", "HEAD"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("is in no git repository"), "{ran:?}");
    fs::remove_dir_all(project(".git")).unwrap();
    git(&nights, &["init", "--quiet"]);
    git(&nights, &["add", "--all"]);
    git(&nights, &["commit", "--quiet", "--message", "skills"]);
    for revision in ["nowhere", "--output=x", "HEAD..HEAD", ""] {
        let ran = nights.night("2026-11-01", &[&format!("--changed-since={revision}")]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("has no revision") && ran.stderr.contains("hint:"), "{ran:?}");
    }
    assert!(!project("x").exists());
    // One was edited and committed, one has a file that git does not know yet, and of one the suite brings another file.
    fs::write(nights.scene.skill("skill-03").join("references/style.md"), "Be short.\n").unwrap();
    git(&nights, &["commit", "--quiet", "--all", "--message", "style"]);
    fs::write(nights.scene.skill("skill-05").join("references/new.md"), "New.\n").unwrap();
    fs::write(project("suites/data/notes.txt"), "other notes\n").unwrap();
    // What git ignores is no part of a skill.
    fs::write(nights.scene.skill("skill-09").join("run.log"), "x").unwrap();
    let ran = nights.night("2026-11-02", &["--changed-since", "HEAD~1"]);
    assert_eq!(ran.code, Some(0), "what is unchanged needs nobody and is not put off: {ran:?}");
    let morning = nights.morning();
    assert_eq!(names(&morning["done"]), BTreeSet::from(["skill-03", "skill-05", "skill-07"]));
    let all: BTreeSet<&str> = skills.iter().map(String::as_str).collect();
    assert_eq!(&names(&morning["left"]) | &names(&morning["done"]), all);
    assert_eq!(morning["left"][0]["why"], "not begun: nothing of it changed");
}
