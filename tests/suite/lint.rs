//! `lint` on every fixture: its diagnostics and fixes, and that it fixes each once and safely.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;
use skilltune_orchestrator::store::{Holder, Locks};
use skilltune_phases::skills::lint::Rule;

use crate::scene::{Scene, listing};
use crate::terminal::{terminal, typed};

/// Creates a project with copies of all fixtures below `skills`.
fn fixtures() -> Scene {
    let scene = Scene::empty();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/skills"), &scene.path("project/skills"));
    scene
}

/// Copies a folder, and keeps modes and links.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        let kind = from.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            copy(&from, &to);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&from).unwrap(), &to).unwrap();
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

fn json(scene: &Scene, arguments: &[&str]) -> Value {
    scene.run(&[&["lint", "./skills", "./skills/no-page", "--format", "json"], arguments].concat()).json()
}

/// Renders diagnostics and fixes, with one file and one rule on each line.
fn rendered(report: &Value) -> String {
    let mut text = String::new();
    for skill in report["skills"].as_array().unwrap() {
        writeln!(text, "{}", skill["name"].as_str().unwrap()).unwrap();
        for repair in skill["fixed"].as_array().unwrap() {
            let [path, rule] = ["path", "rule"].map(|key| repair[key].as_str().unwrap());
            writeln!(text, "  fixed {path} {rule} {}", repair["count"]).unwrap();
        }
        for diagnostic in skill["findings"].as_array().unwrap() {
            let [path, rule] = ["path", "rule"].map(|key| diagnostic[key].as_str().unwrap());
            let line = diagnostic["line"].as_u64().map(|line| format!(":{line}")).unwrap_or_default();
            writeln!(text, "  {path}{line} {rule}").unwrap();
        }
    }
    text
}

#[test]
fn every_fixture_shows_what_it_is_for() {
    let scene = fixtures();
    insta::assert_snapshot!(rendered(&json(&scene, &[])), @r"
    leaky
      SKILL.md:9 path-outside
      SKILL.md:10 path-absolute
      SKILL.md:13 path-absolute
      SKILL.md:14 path-absolute
      SKILL.md:15 path-other-skill
      key.pem:1 secret
      outside path-outside
    messy-text
      SKILL.md:1 front-matter
      SKILL.md:1 byte-order-mark
      SKILL.md:1 line-endings
      SKILL.md:11 paragraph-repeated
      SKILL.md:13 heading-jump
      SKILL.md:13 trailing-blanks
      SKILL.md:31 link-dangling
      SKILL.md:31 link-dangling
      notes.md:3 trailing-blanks
      pages/more.md file-orphan
    misnamed
      SKILL.md:2 name
      SKILL.md:2 name-folder
      SKILL.md:3 description-long
      SKILL.md:3 description-markup
      SKILL.md:3 description-person
      SKILL.md:4 field-portable
      SKILL.md:4 listing-cut
      SKILL.md:5 field-unknown
      SKILL.md:6 front-matter-strict
    nameless
      SKILL.md body-empty
      SKILL.md:1 name
      SKILL.md:1 description
      SKILL.md:2 field-kind
      SKILL.md:3 field-duplicate
      SKILL.md:4 front-matter-form
      SKILL.md:4 compatibility
    nearly-perfect
      SKILL.md:4 field-portable
      SKILL.md:9 trailing-blanks
    over-long
      SKILL.md:5 body-long
    small-letters
      skill.md main-file-case
    table-maker
      SKILL.md:8 link-dangling
      SKILL.md:11 link-dangling
      references/dates.md reference-nested
      references/forgotten.md file-orphan
    tidy-notes
    unclosed
      SKILL.md:1 front-matter
    word-count
      SKILL.md:12 path-missing
      scripts/count.py:1 script-mode
      scripts/count.sh:1 line-endings
    写俳句
    no-page
      SKILL.md main-file
    ");
}

#[test]
fn only_what_is_safe_is_fixed_and_once() {
    let scene = fixtures();
    insta::assert_snapshot!(fixed(&json(&scene, &["--fix"])), @r"
    fixed SKILL.md trailing-blanks 3
    fixed notes.md trailing-blanks 1
    fixed SKILL.md link-dangling 2
    fixed SKILL.md trailing-blanks 1
    fixed SKILL.md link-dangling 1
    fixed scripts/count.py script-mode 1
    ");
    nothing_is_fixed_again(&scene, "--fix");
    let asked = json(&fixtures(), &["--fix=all"]);
    assert_eq!(fixed(&asked), fixed(&json(&fixtures(), &["--fix"])), "nobody is there to be asked");
}

/// Renders only the fixes.
fn fixed(report: &Value) -> String {
    let text = rendered(report);
    text.lines().filter(|line| line.starts_with("  fixed")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_long_body_is_split_when_a_person_agrees() {
    let Ok(ends) = terminal() else { return };
    let scene = fixtures();
    typed(scene.command(&["lint", "./skills/over-long", "--fix=all"]), ends, "y\r");
    let page = fs::read_to_string(scene.path("project/skills/over-long/SKILL.md")).unwrap();
    let (_, end) = page.split_once("## Mending").unwrap();
    assert_eq!(end, "\n\nSee [Mending](references/mending.md).\n");
    let moved = fs::read_to_string(scene.path("project/skills/over-long/references/mending.md")).unwrap();
    insta::assert_snapshot!(moved.lines().take(12).collect::<Vec<_>>().join("\n"), @r"
    # Mending

    ## Contents

    - [Mending, part 1](#mending-part-1)
    - [Mending, part 2](#mending-part-2)
    - [Mending, part 3](#mending-part-3)
    - [Mending, part 4](#mending-part-4)

    ## Mending, part 1

    1. While mending, look at item 1.
    ");
}

fn nothing_is_fixed_again(scene: &Scene, fix: &str) {
    let before = listing(&scene.path("project"));
    let again = json(scene, &[fix]);
    assert!(
        again["skills"].as_array().unwrap().iter().all(|skill| skill["fixed"] == Value::Array(Vec::new()))
    );
    assert!(listing(&scene.path("project")) == before, "a second time has changed something");
}

#[test]
fn code_and_whatever_else_keeps_its_bytes_is_left_alone() {
    let scene = fixtures();
    let outside = scene.path("project/README.md");
    fs::write(&outside, "Blanks \n").unwrap();
    json(&scene, &["--fix=all"]);
    let page = fs::read_to_string(scene.path("project/skills/messy-text/SKILL.md")).unwrap();
    let page = page.replace("\r\n", "\n");
    for kept in [
        "```text\ncode with blanks   \n\tand a tab\t\n```\n",
        "    indented code \n",
        "A line that breaks  \n",
    ] {
        assert!(page.contains(kept), "{kept:?} in {page}");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "Blanks \n");
    assert!(scene.path("project/skills/leaky/outside").is_symlink());
    let bits = |path: &str| fs::metadata(scene.path(path)).unwrap().permissions().mode() & 0o111;
    assert_ne!(bits("project/skills/word-count/scripts/count.py"), 0);
    assert_eq!(bits("project/skills/word-count/scripts/words.py"), 0);
}

/// Rules that need more than a fixture should contain are triggered by generated files.
#[test]
fn the_fixtures_and_a_large_one_meet_every_rule() {
    let scene = fixtures();
    let write = |path: &str, text: &str| {
        let path = scene.path("project/skills").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let describes =
        "Describes a part of a large thing in many words. Use when the thing is looked at. ".repeat(12);
    for number in 0..10 {
        let text = format!("---\nname: part-{number}\ndescription: {describes}\n---\n\nLook at it.\n");
        write(&format!("part-{number}/SKILL.md"), &text);
    }
    let mut page = "---\nname: claude-large\ndescription: Holds a large table for the people of the house and its guests.\n---\n\n".to_owned();
    for part in 0..2000 {
        writeln!(page, "{part}. Row {part} of [the table](data/{part}.csv).").unwrap();
        write(&format!("claude-large/data/{part}.csv"), "a,b\n");
    }
    write("claude-large/SKILL.md", &page);
    let answer = "Row seven of the table is the longest of all its rows.";
    let evals = format!(r#"[{{"id": 1, "prompt": "Name the longest row", "expectations": ["{answer}"]}}]"#);
    write("claude-large/evals/evals.json", &evals);
    write("claude-large/notes.md", &format!("Name the longest row: {answer}\n"));
    write("claude-large/huge.json", &" ".repeat((1 << 20) + 1));
    let report = json(&scene, &["--rule", "contents-missing"]);
    let spec = json(&scene, &["--spec"]);
    let skills = |report: &Value| report["skills"].as_array().unwrap().clone();
    let skills = [skills(&report), skills(&spec)].concat();
    let diagnostics = skills.iter().flat_map(|skill| skill["findings"].as_array().unwrap());
    let shelf = &report["listings"][0]["finding"];
    let met: BTreeSet<&str> =
        diagnostics.chain([shelf]).map(|diagnostic| diagnostic["rule"].as_str().unwrap()).collect();
    let all: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(met, all);
}

#[test]
fn people_are_told_skill_by_skill_and_each_rule_is_explained_once() {
    let scene = fixtures();
    let ran = scene.run(&["lint", "./skills/table-maker,./skills/nearly-perfect", "./skills/tidy-notes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""));
    insta::assert_snapshot!(ran.stdout, @r"
    skills/table-maker
      SKILL.md:8: error link-dangling: broken link to `layouts.md` [--fix]
          The agent cannot find this file. Fix the path, or add the file.
      SKILL.md:11: error link-dangling: broken link to `references/gone.md`
      references/dates.md: warning reference-nested: only references/rules.md mentions this file, not SKILL.md
          Agents often skip or only skim files that `SKILL.md` does not name. Name the file in `SKILL.md`, and say when to read it.
      references/forgotten.md: warning file-orphan: the skill never mentions this file
          Agents do not open files that the skill never mentions. Mention it in `SKILL.md`, or delete it.

    skills/nearly-perfect
      SKILL.md:4: warning field-portable: the specification has no field `argument-hint`
          Only some agents support this field; others ignore it or reject the skill. Keep it if only those agents use the skill; otherwise move its content into the text.
      SKILL.md:9: note trailing-blanks: trailing spaces on 1 line [--fix]
          Trailing spaces do nothing and add noise to diffs. Remove them, except two spaces that break a line.

    3 skills: 2 errors, 3 warnings, 1 note; 2 fixable with --fix
    ");
    let mended = scene.run(&["lint", "./skills/nearly-perfect", "--fix"]);
    insta::assert_snapshot!(mended.stdout, @r"
    skills/nearly-perfect
      fixed SKILL.md: trailing-blanks, 1 place
      SKILL.md:4: warning field-portable: the specification has no field `argument-hint`
          Only some agents support this field; others ignore it or reject the skill. Keep it if only those agents use the skill; otherwise move its content into the text.

    1 skill: 1 warning; 1 problem fixed
    ");
}

#[test]
fn a_workflow_is_told_in_its_own_commands() {
    let scene = fixtures();
    fs::write(scene.path("project/skills/tidy-notes/50%, a.md"), "[x](gone%2C.md)\n").unwrap();
    let ran = scene.run(&["lint", "./skills/tidy-notes", "./skills/small-letters", "--format", "github"]);
    insta::assert_snapshot!(ran.stdout, @r"
    ::warning file=skills/tidy-notes/50%25%2C a.md,title=file-orphan::the skill never mentions this file: Mention it in `SKILL.md`, or delete it.
    ::error file=skills/tidy-notes/50%25%2C a.md,line=1,title=link-dangling::broken link to `gone%252C.md`: Fix the path, or add the file.
    ::warning file=skills/small-letters/skill.md,title=main-file-case::the file is named skill.md: Rename the file to `SKILL.md`.
    ");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), "2 skills: 1 error, 2 warnings\n"));
}

#[test]
fn the_exit_code_tells_whether_anything_fails() {
    let scene = fixtures();
    let code = |arguments: &[&str]| scene.run(&[&["lint"], arguments].concat()).code;
    assert_eq!(code(&["./skills/tidy-notes"]), Some(0));
    assert_eq!(code(&["./skills/tidy-notes", "--spec"]), Some(0));
    assert_eq!(code(&["./skills/nearly-perfect"]), Some(0), "a warning does not fail");
    assert_eq!(
        code(&["./skills/nearly-perfect", "--spec"]),
        Some(3),
        "the specification knows no `argument-hint`"
    );
    assert_eq!(code(&["./skills/no-page"]), Some(3), "what tune refuses is told what it lacks");
}

#[test]
fn what_is_not_there_is_refused() {
    let scene = fixtures();
    insta::assert_snapshot!(["./nowhere", "unheard-of"].map(|skill| scene.refusal(&["lint", skill])).join("\n"), @r#"
    error: no skill at /project/nowhere
    hint: skills found: leaky, messy-text, misnamed, nameless, nearly-perfect and 6 more
    hint: run `skilltune lint leaky`

    error: no skill named "unheard-of"
    hint: skills found: leaky, messy-text, misnamed, nameless, nearly-perfect and 6 more
    hint: run `skilltune lint leaky`
    "#);
    assert_eq!(scene.run(&["lint", "--fix"]).code, Some(2), "without a path nothing at home is changed");
    assert_eq!(scene.run(&["lint", "./skills", "--fix=some"]).code, Some(2));
}

#[test]
fn a_skill_that_somebody_works_on_is_not_fixed() {
    let scene = fixtures();
    let skill = scene.path("project/skills/nearly-perfect");
    let locks = Locks::at(&scene.path("state/skilltune"));
    let holder = Holder { pid: 1, host: "here".into(), since: Timestamp::UNIX_EPOCH, doing: "a run".into() };
    let held = locks.acquire(std::slice::from_ref(&skill), &holder).unwrap();
    let before = listing(&skill);
    let ran = scene.run(&["lint", "./skills/nearly-perfect", "--fix"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("is in use by another skilltune"), "{ran:?}");
    assert_eq!(listing(&skill), before);
    drop(held);
}

/// Ends the program at each durable step; the next one must leave the skill as if nothing had happened.
#[test]
fn a_fix_that_is_killed_is_completed_or_undone() {
    let fix = ["lint", "./skills/messy-text", "--fix=all"];
    let skill = "project/skills/messy-text";
    let scene = fixtures();
    let before = listing(&scene.path(skill));
    scene.run(&fix);
    let after = listing(&scene.path(skill));
    assert_ne!(before, after);
    let mut crashes = 0;
    loop {
        let scene = fixtures();
        let ended =
            scene.command(&fix).env("SKILLTUNE_CRASH_AT", (crashes + 1).to_string()).output().unwrap();
        if ended.status.code().is_some() {
            assert_eq!(listing(&scene.path(skill)), after);
            break;
        }
        crashes += 1;
        let ours = |name: &Path| name.as_os_str().to_string_lossy().contains(".skilltune-tmp-");
        for (path, _, bytes) in listing(&scene.path(skill)).into_iter().filter(|(path, ..)| !ours(path)) {
            let whole = |all: &[(std::path::PathBuf, u32, Vec<u8>)]| {
                all.iter().any(|(at, _, was)| *at == path && *was == bytes)
            };
            assert!(whole(&before) || whole(&after), "{} is half-written at crash {crashes}", path.display());
        }
        scene.run(&fix);
        assert_eq!(listing(&scene.path(skill)), after, "after crash {crashes}");
        assert!(
            listing(&scene.path("state")).iter().all(|(path, ..)| !path.ends_with("fix")),
            "at crash {crashes}"
        );
    }
    assert!(crashes > 10, "only {crashes} crash points were met");
}
