//! Tests the scope of `lint`: folders, files, plugins, the skills here and at home, the enabled rules, and the
//! specification.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use crate::scene::{Ran, Scene, listing};

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
    hint: for a skill elsewhere, pass its folder, such as `skilltune lint ./my-skill`
    ");
    skill(&scene, "project/here", "");
    insta::assert_snapshot!(scene.refusal(&["lint"]), @r"
    error: no folder of skills here or at home
    hint: skills found: here
    hint: run `skilltune lint here`
    ");
    fs::remove_dir_all(scene.path("project/here")).unwrap();
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

/// Returns the paths of the skills that a report is about.
fn checked(ran: &Ran) -> Vec<String> {
    let report = ran.json();
    let skills = report["skills"].as_array().unwrap().iter();
    skills.map(|skill| skill["path"].as_str().unwrap().to_owned()).collect()
}

/// Returns the rules that a report names, each with its severity.
fn rules(ran: &Ran) -> Vec<String> {
    let report = ran.json();
    let skills = report["skills"].as_array().unwrap().iter();
    let found = skills.flat_map(|skill| skill["findings"].as_array().unwrap());
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    found.map(|one| [text(one, "severity"), text(one, "rule")].join(" ")).collect()
}

fn write(scene: &Scene, path: &str, text: &str) {
    let path = scene.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Appends text to the page of a skill.
fn say(scene: &Scene, path: &str, text: &str) {
    let page = scene.path(path).join("SKILL.md");
    let before = fs::read_to_string(&page).unwrap();
    fs::write(page, before + text).unwrap();
}

#[test]
fn all_skills_below_a_folder_are_checked_but_ignored_ones_and_those_of_tools() {
    let scene = Scene::empty();
    // The least that git accepts as a repository.
    for folder in ["objects", "refs"] {
        fs::create_dir_all(scene.path("project/.git").join(folder)).unwrap();
    }
    write(&scene, "project/.git/HEAD", "ref: refs/heads/main\n");
    write(&scene, "project/.gitignore", ".agents/\n");
    write(&scene, "project/.skilltuneignore", "fixtures/\n");
    for path in [
        "plugins/p/skills/one",
        "plugins/q/skills/two",
        ".claude/skills/three",
        "skills/four",
        "skills/four/parts/five",
        "skills/four/assets/six",
        "web/node_modules/x/skills/seven",
        ".agents/skills/eight",
        "tests/fixtures/nine",
    ] {
        skill(&scene, &format!("project/{path}"), "");
    }
    say(&scene, "project/skills/four", "\nRead parts/ and assets/.\n");
    say(&scene, "project/skills/four/parts/five", "\n[gone](gone.md)\n");
    let ran = scene.run(&["lint", ".", "--format", "json"]);
    let mut all = checked(&ran);
    all.sort();
    let wanted = [
        ".claude/skills/three",
        "plugins/p/skills/one",
        "plugins/q/skills/two",
        "skills/four",
        "skills/four/parts/five",
    ];
    assert_eq!(all, wanted, "{ran:?}");
    assert_eq!(rules(&ran), ["error link-dangling"], "a file belongs to the nearest skill: {ran:?}");
    let ran = scene.run(&["lint", "./.agents/skills"]);
    insta::assert_snapshot!(ran.stdout, @r"
    .agents/skills
      descriptions of 1 skill: 47 of the 8,000 characters that an agent reads at start

    1 skill: no problems found
    ");
    let ran = scene.run(&["lint", "./plugins"]);
    assert_eq!(ran.stdout, "2 skills: no problems found\n", "no agent lists two plugins at once");
}

#[test]
fn the_files_of_an_inner_skill_count_for_the_next_one_around_it() {
    let scene = Scene::empty();
    for path in ["one", "one/two", "one/two/three"] {
        skill(&scene, &format!("project/{path}"), "");
    }
    for file in ["one/a.md", "one/b.md", "one/two/three/c.md"] {
        write(&scene, &format!("project/{file}"), "Text.\n");
    }
    say(&scene, "project/one", "\nRead two/ and [c](two/three/c.md).\n");
    say(&scene, "project/one/two", "\nRead a.md.\n");
    say(&scene, "project/one/two/three", "\nRead b.md and c.md.\n");
    let ran = scene.run(&["lint", "./one", "--format", "json"]);
    assert_eq!(checked(&ran), ["one", "one/two", "one/two/three"]);
    assert_eq!(rules(&ran), ["warning reference-nested", "warning file-orphan"], "{ran:?}");
    assert_eq!(ran.json()["skills"][0]["findings"][1]["path"], "b.md");
}

#[test]
fn the_files_of_a_commit_stand_for_their_skills() {
    let scene = Scene::empty();
    for name in ["one", "two", "three"] {
        skill(&scene, &format!("project/plugins/p/skills/{name}"), "");
    }
    write(&scene, "project/README.md", "Text. \n");
    write(&scene, "project/docs/notes.md", "Text. \n");
    write(&scene, "project/plugins/p/skills/two/scripts/x.py", "print()\n");
    let [one, two] = ["one", "two"].map(|name| format!("plugins/p/skills/{name}"));
    let files = ["SKILL.md", "references/gone.md"].map(|file| format!("{one}/{file}"));
    let script = format!("{two}/scripts/x.py");
    let files = [files[0].as_str(), files[1].as_str(), script.as_str()];
    let ran = scene.run(&[&["lint", "--format", "json", "README.md"][..], &files].concat());
    assert_eq!((checked(&ran), ran.code), (vec![one.clone(), two.clone()], Some(0)), "{ran:?}");
    assert_eq!(ran.stderr, "", "files of no skill are no news for a hook");
    let before = listing(&scene.path("project"));
    let ran = scene.run(&["lint", "--fix", "README.md", "plugins/p/gone.md"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "one is not there: {ran:?}");
    let ran = scene.run(&["lint", "--fix", "README.md", "docs/notes.md"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "0 skills: nothing checked\n"), "{ran:?}");
    assert_eq!(ran.stderr, "README.md and 1 other file belong to no skill\n");
    assert!(listing(&scene.path("project")) == before);
}

#[test]
fn a_deleted_file_of_no_skill_is_skipped_and_a_wrong_path_is_an_error() {
    let scene = Scene::empty();
    for name in ["one", "two"] {
        skill(&scene, &format!("project/skills/{name}"), "");
    }
    write(&scene, "project/docs/notes.md", "Text.\n");
    fs::remove_dir_all(scene.path("project/.git")).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=A", "-c", "user.email=a@b.c"]).args(arguments);
        git.current_dir(scene.path("project")).env("HOME", scene.path("home"));
        let ran = git.env("GIT_CONFIG_NOSYSTEM", "1").output().expect("git is here");
        assert!(ran.status.success(), "{ran:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "All"]);
    git(&["rm", "--quiet", "-r", "docs", "skills/two"]);
    let files = ["docs/notes.md", "skills/two/SKILL.md", "skills/one/SKILL.md"];
    let ran = scene.run(&[&["lint", "--format", "json"][..], &files].concat());
    assert_eq!((checked(&ran), ran.code), (vec!["skills/one".to_owned()], Some(0)), "{ran:?}");
    assert_eq!(scene.run(&["lint", "docs/notes.md"]).code, Some(0));
    for wrong in ["docs/other.md", "skills/two", "skills/twoo/SKILL.md"] {
        let ran = scene.run(&["lint", files[0], wrong, files[2]]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(&format!("no skill at {}", scene.path("project").join(wrong).display())));
    }
}

#[test]
fn a_folder_without_a_skill_is_said_to_have_none_and_is_not_fixed() {
    let scene = Scene::empty();
    write(&scene, "project/tools/run.sh", "#!/bin/sh\n");
    write(&scene, "project/tools/README.md", "Run `./run.sh --all`. \n");
    let before = listing(&scene.path("project"));
    for flag in ["--fix", "--fix=all", "--spec"] {
        let ran = scene.run(&["lint", "./tools", flag]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""), "{ran:?}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(ran.stdout, @r"
            tools
              SKILL.md: error main-file: no SKILL.md in this folder or below it (ignored files do not count)
                  Agents look for a text file named `SKILL.md` in the skill's folder. Write a `SKILL.md` in UTF-8, with front matter and instructions.

            0 skills: 1 error
            ");
        }
        assert!(listing(&scene.path("project")) == before, "{flag} changed something");
    }
}

#[test]
fn linked_skills_and_libraries_count_and_are_listed() {
    let scene = Scene::empty();
    skill(&scene, "project/.agents/skills/one", "");
    skill(&scene, "home/library/skills/two", "");
    fs::create_dir_all(scene.path("project/.claude/skills")).unwrap();
    symlink("../../.agents/skills/one", scene.path("project/.claude/skills/one")).unwrap();
    symlink("../../../home/library", scene.path("project/.claude/skills/library")).unwrap();
    for arguments in [&["lint"][..], &["lint", "."], &["lint", "./.agents,./.claude"]] {
        let ran = scene.run(&[arguments, &["--format", "json"]].concat());
        let report = ran.json();
        let mut names: Vec<_> =
            report["skills"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["one", "two"], "{arguments:?}: {ran:?}");
        let listed = |shelf: &str| {
            let listings = report["listings"].as_array().unwrap();
            let one = listings.iter().find(|one| one["path"] == shelf).unwrap();
            one["skills"].as_u64().unwrap()
        };
        assert_eq!([listed(".agents/skills"), listed(".claude/skills")], [1, 1], "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_broken_symlink_to_a_skill_is_one_error() {
    let scene = Scene::empty();
    fs::create_dir(scene.path("project/skills")).unwrap();
    symlink("../../lost", scene.path("project/skills/two")).unwrap();
    let ran = scene.run(&["lint"]);
    assert_eq!(ran.code, Some(3), "it is all there is: {ran:?}");
    assert!(ran.stdout.ends_with("\n0 skills: 1 error\n"), "{ran:?}");
    skill(&scene, "project/skills/one", "");
    let ran = scene.run(&["lint", ".", "./skills", "--fix"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    insta::assert_snapshot!(ran.stdout, @r"
    skills/two
      SKILL.md: error link-dangling: the folder is a broken symlink to ../../lost
          The agent cannot find this file. Fix the path, or add the file.

    skills
      descriptions of 1 skill: 47 of the 8,000 characters that an agent reads at start

    1 skill: 1 error; 0 problems fixed
    ");
    for path in ["skills/two", "skills/two/SKILL.md"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(scene.refusal(&["lint", path]), @r"
            error: /project/skills/two is a broken symlink to ../../lost
            hint: fix the symlink, or remove it
            ");
        }
    }
}

#[test]
fn a_path_to_another_skill_of_the_plugin_is_no_error() {
    let scene = Scene::empty();
    for name in ["one", "two"] {
        skill(&scene, &format!("project/plug/skills/{name}"), "");
    }
    write(&scene, "project/plug/skills/two/notes.md", "Text.\n");
    write(&scene, "project/plug/shared/rules.md", "Text.\n");
    say(&scene, "project/plug/skills/two", "\nRead notes.md.\n");
    say(&scene, "project/plug/skills/one", "\n[a](../two/notes.md) [b](../../shared/rules.md)\n");
    let lint = || scene.run(&["lint", "./plug", "--format", "json"]);
    assert_eq!(rules(&lint()), ["error path-outside", "error path-outside"]);
    write(&scene, "project/plug/.claude-plugin/plugin.json", "{}");
    let ran = lint();
    assert_eq!((rules(&ran), ran.code), (vec!["warning path-other-skill".to_owned()], Some(0)), "{ran:?}");
    fs::remove_file(scene.path("project/plug/shared/rules.md")).unwrap();
    assert_eq!(rules(&lint()), ["error link-dangling", "warning path-other-skill"]);
}

#[test]
fn a_field_of_claude_code_is_no_news_in_a_plugin_for_it_alone() {
    let scene = Scene::empty();
    skill(&scene, "project/plug/skills/one", "argument-hint: x\n");
    let lint = || rules(&scene.run(&["lint", "./plug", "--format", "json"]));
    assert_eq!(lint(), ["warning field-portable"]);
    write(&scene, "project/plug/.claude-plugin/plugin.json", "{}");
    assert_eq!(lint(), [""; 0]);
    write(&scene, "project/plug/.codex-plugin/plugin.json", "{}");
    assert_eq!(lint(), ["warning field-portable"]);
}

#[test]
fn carriage_returns_of_a_skill_are_one_line() {
    let scene = Scene::empty();
    skill(&scene, "project/demo", "");
    say(&scene, "project/demo", "\nRead a.md and b.md.\r\n");
    for name in ["a.md", "b.md"] {
        write(&scene, &format!("project/demo/{name}"), "Text.\r\n");
    }
    let ran = scene.run(&["lint", "./demo"]);
    assert_eq!(ran.stdout.matches("line-endings").count(), 1, "{ran:?}");
    let line = "SKILL.md:1: warning line-endings: 3 files end lines with CR or CRLF; also a.md, b.md";
    assert!(ran.stdout.contains(line), "{ran:?}");
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
