//! Tests that `lint --fix` keeps whatever a script, another document or an agent's choice of a skill may depend on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::scene::{Ran, SKILLTUNE, Scene, listing};
use crate::terminal::{terminal, typed};

const HEAD: &str =
    "---\nname: demo\ndescription: Shows a thing. Use when a thing is to be shown.\n---\n\n# Demo\n\n";

/// Creates a project with one skill of these files.
fn skill(files: &[(&str, &str)]) -> Scene {
    let scene = Scene::empty();
    for (path, text) in files {
        let path = scene.path("project/demo").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scene
}

fn read(scene: &Scene, path: &str) -> String {
    fs::read_to_string(scene.path("project/demo").join(path)).unwrap()
}

fn fix(scene: &Scene, flag: &str) -> Ran {
    scene.run(&["lint", "./demo", flag])
}

/// After `lint --fix` with either flag, the demo's champion still passes its own scenario.
#[test]
fn the_champion_of_the_demo_passes_after_a_fix() {
    for flag in ["--fix", "--fix=all"] {
        let scene = Scene::empty();
        let place = scene.path("place");
        fs::create_dir(&place).unwrap();
        let ours = |arguments: &[&str], folder: &Path| {
            let mut command = Command::new(SKILLTUNE);
            command.args(arguments).current_dir(folder).stdin(Stdio::null());
            command.env_clear().env("HOME", scene.path("home")).env("PATH", "/usr/bin:/bin");
            Ran::of(command.output().unwrap())
        };
        assert_eq!(ours(&["demo"], &place).code, Some(0));
        let demo = place.join("skilltune-demo");
        let before = listing(&demo.join("skills"));
        let linted = ours(&["lint", "skills/release-notes", flag], &demo);
        assert!(linted.stdout.contains("paragraph-repeated"), "{linted:?}");
        let mut notes = Command::new("sh");
        notes.arg(demo.join("skills/release-notes/scripts/notes.sh")).current_dir(&place);
        let notes = Ran::of(notes.output().unwrap());
        assert_eq!(notes.code, Some(0), "{flag}: {notes:?}");
        assert!(listing(&demo.join("skills")) == before, "{flag} changed the champion");
    }
}

#[test]
fn a_paragraph_that_a_script_reads_stays() {
    let slot = "Nothing has changed here since the last release; this line makes room for entries.";
    let page = format!("# Notes\n\nAdded.\n\n{slot}\n\nFixed.\n\n{slot}\n\nMore. \n");
    let scene = skill(&[
        ("SKILL.md", &format!("{HEAD}Run `sh scripts/fill.sh` on references/notes.md.\n")),
        ("references/notes.md", &page),
        ("scripts/fill.sh", "#!/bin/sh\nsed s/x/y/ references/notes.md\n"),
    ]);
    let ran = fix(&scene, "--fix");
    assert_eq!(read(&scene, "references/notes.md"), page, "its blanks stay as well: {ran:?}");
    for words in ["paragraph-repeated: duplicate of line 5 [suggestion]", "2 fixable with --fix=all"] {
        assert!(ran.stdout.contains(words), "{ran:?}");
    }
    let mode = fs::metadata(scene.path("project/demo/scripts/fill.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0, "it is run by sh");
}

#[test]
fn of_two_broken_links_on_a_line_the_one_that_can_be_fixed_is_marked() {
    let scene = skill(&[
        ("SKILL.md", &format!("{HEAD}Read [the guide](refs/guide.md) and [gone](references/gone.md).\n")),
        ("references/guide.md", "Text.\n"),
    ]);
    let ran = scene.run(&["lint", "./demo"]);
    for words in ["`refs/guide.md` [--fix]\n", "`references/gone.md`\n", "; 1 fixable with --fix\n"] {
        assert!(ran.stdout.contains(words), "{words}: {ran:?}");
    }
    let ran = fix(&scene, "--fix");
    assert!(ran.stdout.ends_with("1 skill: 1 error; 1 problem fixed\n"), "{ran:?}");
}

#[test]
fn a_link_is_corrected_but_not_where_it_belongs_to_another_document() {
    let link = "See [the guide](docs/guide.md).\n";
    let shown = format!(
        "{HEAD}Read [the guide](References/Guide.MD), [assets](assets/page.md), \
        [form](references/form.md).\n\n```\n{link}```\n\n## Template of the page\n\n{link}"
    );
    let scene = skill(&[
        ("SKILL.md", &shown),
        ("references/guide.md", "# Guide\n"),
        ("assets/page.md", link),
        ("references/form.md", &format!("# {{{{title}}}}\n\n{link}")),
    ]);
    let ran = fix(&scene, "--fix");
    assert_eq!(read(&scene, "SKILL.md"), shown.replace("References/Guide.MD", "references/guide.md"));
    for page in ["assets/page.md", "references/form.md"] {
        assert!(read(&scene, page).ends_with(link), "{page}: {ran:?}");
    }
    assert!(ran.stdout.contains("references/form.md:") && !ran.stdout.contains("assets/page.md"), "{ran:?}");
    assert!(ran.stdout.ends_with("; 1 problem fixed; 2 fixable with --fix=all\n"), "{ran:?}");
}

#[test]
fn a_description_keeps_when_the_skill_is_not_meant() {
    let filler = "It knows the tables of a report. ".repeat(40);
    let exclusion = "Do not use it for the charts of a report.";
    let text = format!(
        "---\nname: demo\ndescription: Formats the tables of a report. {filler}Use when asked. {exclusion}\n---\nGo.\n"
    );
    let scene = skill(&[("SKILL.md", &text)]);
    let ran = fix(&scene, "--fix=all");
    assert_eq!(read(&scene, "SKILL.md"), text);
    assert_eq!(ran.stderr, "1 suggestion not applied: --fix=all needs a terminal to ask about each one\n");
    let Ok(ends) = terminal() else { return };
    let output = typed(scene.command(&["lint", "./demo", "--fix=all"]), ends, "y\r");
    assert!(output.contains("+++ b/SKILL.md") && output.contains("Apply this change? (y/N)"), "{output}");
    let made = read(&scene, "SKILL.md");
    let description = made.lines().find(|line| line.starts_with("description:")).unwrap();
    assert!(description.len() < 1100 && description.contains(exclusion), "{made}");
}

#[test]
fn a_code_literal_stays_whole() {
    let code = "Match `one \ntwo` and <a title=\"x \ny\">it</a>. \nEnd.\n";
    let scene = skill(&[("SKILL.md", &format!("{HEAD}{code}"))]);
    fix(&scene, "--fix");
    let kept = code.replace(". \nEnd", ".\nEnd");
    assert_eq!(read(&scene, "SKILL.md"), format!("{HEAD}{kept}"));
    // The limit is inside the literal.
    let long = "It reads the words of a text, ".repeat(33);
    let literal = "`from a. b. c import d`";
    let text = format!(
        "---\nname: demo\ndescription: Use when asked. It is for the text. {long}and {literal} of the text. It ends.\n---\nGo.\n"
    );
    let scene = skill(&[("SKILL.md", &text)]);
    let Ok(ends) = terminal() else { return };
    typed(scene.command(&["lint", "./demo", "--fix=all"]), ends, "y\r");
    assert!(read(&scene, "SKILL.md").contains(literal), "{}", read(&scene, "SKILL.md"));
}

#[test]
fn no_list_of_slots_is_put_above_a_title() {
    let part = "## {{section}}\n\nText.\n\n".repeat(40);
    let (titled, several) =
        (format!("# {{{{title}}}}\n\n{part}"), format!("# One\n\n{}", part.replace("## ", "# ")));
    let scene = skill(&[
        ("SKILL.md", &format!("{HEAD}Fill in [one](references/one.md), [two](references/two.md).\n")),
        ("references/one.md", &titled),
        ("references/two.md", &several),
    ]);
    fix(&scene, "--fix");
    if let Ok(ends) = terminal() {
        typed(scene.command(&["lint", "./demo", "--fix=all"]), ends, "y\ry\ry\r");
    }
    assert_eq!([read(&scene, "references/one.md"), read(&scene, "references/two.md")], [titled, several]);
}

#[test]
fn a_suggestion_is_made_only_after_a_yes_to_its_diff() {
    let Ok(first) = terminal() else { return };
    let again = "A paragraph that is long enough to be noticed when it is said again and again.";
    let text = format!("{HEAD}{again}\n\nText.\n\n{again}\n\nMore \u{1b}[2J.\n");
    let scene = skill(&[("SKILL.md", &text)]);
    let line = ["lint", "./demo", "--fix=all"];
    let refused = typed(scene.command(&line), first, "\r");
    assert_eq!(read(&scene, "SKILL.md"), text, "enter is no: {refused}");
    assert!(refused.contains(&format!("-{again}")) && !refused.contains("\u{1b}[2J."), "{refused}");
    typed(scene.command(&line), terminal().unwrap(), "y\r");
    assert_eq!(read(&scene, "SKILL.md").matches(again).count(), 1);
}

#[test]
fn a_script_that_a_command_begins_with_becomes_executable() {
    for (command, is_run) in [
        ("`scripts/run.sh LOG`", true),
        ("```\n$ ./scripts/run.sh\n```", true),
        ("```\ncd x && {skill}/scripts/run.sh\n```", true),
        ("`python3 scripts/run.sh`", false),
        ("the script scripts/run.sh", false),
    ] {
        let scene = skill(&[
            ("SKILL.md", &format!("{HEAD}Run this:\n\n{command}\n")),
            ("scripts/run.sh", "#!/bin/sh\n"),
        ]);
        fix(&scene, "--fix");
        let mode = fs::metadata(scene.path("project/demo/scripts/run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o111 != 0, is_run, "{command}");
    }
}
