//! `rollback` and related commands in unusual situations: they restore the skill to its state before the run, refuse
//! before they touch anything, and report what they did.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skilltune_phases::base::id::Digest;

use crate::background::Background;
use crate::commands::{data, talk};
use crate::finished::{held, unapplied, won};
use crate::scene::{Ran, Scene, listing};
use crate::stopping::{TUNE, gated};

/// Returns the ids of the candidates in the order of their creation.
fn drafts(scene: &Scene) -> Vec<String> {
    let decided = scene.events("decided");
    decided.iter().filter_map(|made| Some(made.get("draft")?["id"].as_str()?.to_owned())).collect()
}

#[test]
fn rollback_leads_to_what_the_run_found_whatever_was_applied_since_and_twice_is_once() {
    let scene = unapplied();
    let start = listing(&scene.skill("writer"));
    let id = scene.run_id();
    let drafts = drafts(&scene);
    assert_eq!(drafts.len(), 2);
    for (draft, quality) in drafts.iter().zip([60, 90]) {
        talk(&scene, &scene.run(&["apply", &id, draft]));
        assert_eq!(scene.quality("writer"), quality);
    }
    insta::assert_snapshot!(talk(&scene, &scene.run(&["rollback"])), @"writer restored; `skilltune apply RUN` undoes this");
    assert_eq!(listing(&scene.skill("writer")), start);
    let settled = listing(&scene.path("project"));
    insta::assert_snapshot!(talk(&scene, &scene.run(&["rollback"])), @"writer is already in its state before run RUN");
    assert_eq!(listing(&scene.path("project")), settled, "the second has written nothing");
}

#[test]
fn a_rollback_that_finds_nothing_to_restore_names_the_run_before_it() {
    let scene = won();
    let first = scene.run_id();
    scene.tune("writer", &["--apply", "never", "--fresh"]);
    let said = scene.run(&["rollback"]).stderr;
    assert!(said.contains(&format!("`skilltune rollback {first}` undoes the run before it")), "{said}");
}

#[test]
fn status_offers_what_helps_after_a_person_has_placed_something() {
    let scene = unapplied();
    talk(&scene, &scene.run(&["apply"]));
    let applied = data(&scene, &["status"]);
    assert!(applied.contains("next     skilltune rollback RUN   (restore the skill)"), "{applied}");
    assert!(!applied.contains("skilltune apply"), "it is there already: {applied}");

    let (waiting, _) = held();
    talk(&waiting, &waiting.run(&["apply"]));
    talk(&waiting, &waiting.run(&["rollback"]));
    let status = data(&waiting, &["status"]);
    assert!(status.contains("skilltune resume RUN --answer keep"), "its question is still open: {status}");
}

/// Returns the commands of the report's last section.
fn commands_of_the_report(scene: &Scene) -> Vec<String> {
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    let section = report.split("## Restore Original").nth(1).expect("the section is there");
    let commands = section.split("`skilltune ").skip(1).map(|rest| rest.split('`').next().unwrap());
    commands.map(str::to_owned).collect()
}

/// Runs each of these commands in order, and returns their verbs.
fn assert_they_work(scene: &Scene, story: &str) -> Vec<String> {
    let commands = commands_of_the_report(scene);
    for (nth, command) in commands.iter().enumerate() {
        let command = command.replace("DIR", &format!("out-{nth}"));
        let ran = scene.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, Some(0), "{story}: {command}: {ran:?}");
    }
    commands.iter().map(|command| command.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn the_commands_of_the_report_work_as_they_are_printed() {
    assert_eq!(assert_they_work(&won(), "won"), ["rollback", "diff", "apply", "export", "export"]);

    let lost = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 10, "10": 5 } } }));
    assert_eq!(lost.tune("writer", &["--max-iterations", "2"]).code, Some(3));
    assert_eq!(assert_they_work(&lost, "lost"), ["export", "export"]);

    let (conflict, gate) = gated();
    let run = Background::start(&conflict, &TUNE);
    run.until_begun(1);
    fs::write(conflict.skill("writer").join("mine.md"), "My own words.\n").unwrap();
    gate.open();
    assert_eq!(run.wait().code, Some(3));
    assert_eq!(assert_they_work(&conflict, "conflict"), ["diff", "apply", "export", "export"]);
    // The target is the champion now, and the page was rewritten.
    let again = commands_of_the_report(&conflict);
    assert!(
        again[0].starts_with("rollback ") && !again.iter().any(|one| one.contains("--force")),
        "{again:?}"
    );
    assert_eq!(conflict.run(&again[0].split(' ').collect::<Vec<_>>()).code, Some(0));
}

/// Gives the run a future format, with a matching checksum.
fn from_the_future(journal: &Path) {
    let text = fs::read_to_string(journal).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let body = first.split_once(",\"sum\":\"").unwrap().0.replacen("\"format\":1", "\"format\":2", 1);
    let sum = Digest::of(body.as_bytes()).hex();
    fs::write(journal, format!("{body},\"sum\":\"{}\"}}\n{rest}", &sum[..16])).unwrap();
}

#[test]
fn a_run_of_a_newer_format_is_refused_by_every_command_before_anything_is_touched() {
    let (left, gate) = gated();
    let run = Background::start(&left, &TUNE);
    run.until_begun(1);
    run.kill();
    gate.remove();
    for (scene, commands) in [
        (won(), &["rollback", "apply", "show", "status", "report", "history", "diff"][..]),
        (left, &["resume", "status", "show"]),
    ] {
        from_the_future(&scene.run_folder().join("history.jsonl"));
        for command in commands {
            assert_eq!(
                scene.refusal(&[command]),
                "error: /project/.skilltune/runs/RUN was written by a newer skilltune\n\
                 caused by: it has format 2; this version reads up to 1\n\
                 hint: update skilltune\n",
                "{command}"
            );
        }
    }
}

#[test]
fn an_error_after_the_target_was_changed_says_so_and_the_same_command_makes_up_for_it() {
    let scene = won();
    let journal = scene.run_folder().join("history.jsonl");
    let limited = |more: u64| {
        let most = fs::metadata(&journal).unwrap().len() + more;
        scene.run_limited(&format!("trap '' XFSZ; prlimit --pid $$ --fsize={most}"), &["rollback"])
    };
    let ran = limited(0);
    assert_eq!(
        (ran.code, scene.quality("writer")),
        (Some(1), 90),
        "nothing is replaced without a note: {ran:?}"
    );
    assert_eq!(scene.events("noted").len(), 0);
    // There is room for the line before the replacement, but not for the one after it.
    let ran = limited(500);
    assert_eq!((ran.code, scene.quality("writer")), (Some(1), 40), "{ran:?}");
    insta::assert_snapshot!(scene.normalized(&ran.stderr), @r"
    error: the skill was replaced, but the run's journal does not record it
    caused by: could not write /project/.skilltune/runs/RUN/history.jsonl
    caused by: File too large (os error 27)
    hint: fix the cause, then run `skilltune rollback RUN` to finish
    ");
    let noted = || -> Vec<String> {
        let first = |noted: &Value| noted.as_object().unwrap().keys().next().unwrap().clone();
        scene.events("noted").iter().map(first).collect()
    };
    assert_eq!(noted(), ["placing"]);
    assert_eq!(scene.run(&["rollback"]).code, Some(0));
    assert_eq!(noted(), ["placing", "placed"]);

    let page = scene.run_folder().join("final-report.md");
    fs::remove_file(&page).unwrap();
    fs::create_dir_all(page.join("in the way")).unwrap();
    let ran = scene.run(&["apply"]);
    assert_eq!((ran.code, scene.quality("writer")), (Some(1), 90), "{ran:?}");
    insta::assert_snapshot!(scene.normalized(&ran.stderr), @r"
    error: the skill was replaced, but the run's pages do not show it
    caused by: could not write /project/.skilltune/runs/RUN/final-report.md
    caused by: Is a directory (os error 21)
    hint: fix the cause, then run `skilltune apply RUN HASH` to finish
    ");
    fs::remove_dir_all(&page).unwrap();
    assert_eq!(scene.run(&["apply"]).code, Some(0));
    assert!(page.is_file(), "the page is made up for");
}

/// Removes the object that holds these bytes.
fn lose(scene: &Scene, bytes: &[u8]) {
    let hex = Digest::of(bytes).hex();
    fs::remove_file(scene.path("project/.skilltune/objects").join(&hex[..2]).join(&hex[2..])).unwrap();
}

#[test]
fn what_the_store_has_lost_is_told_before_anything_is_done() {
    let scene = won();
    let page = fs::read_to_string(scene.skill("writer").join("SKILL.md")).unwrap();
    let page = page.replace("Quality: 90", "Quality: 40").into_bytes();
    lose(&scene, &page);
    let id = scene.run_id();
    let skill = listing(&scene.skill("writer"));
    let mut messages = Vec::new();
    for command in [&["diff"][..], &["export", &id, "start", "out"], &["rollback"], &["rollback", "--force"]]
    {
        let ran = scene.run(command);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{command:?}: {ran:?}");
        messages.push(scene.normalized(&ran.stderr).replace(&Digest::of(&page).hex(), "OBJECT"));
    }
    assert_eq!(listing(&scene.skill("writer")), skill);
    assert!(!scene.path("project/out").exists(), "no half of an export is left");
    messages.dedup();
    insta::assert_snapshot!(messages.join("\n"), @r"
    error: object OBJECT is not in the store
    hint: nothing was changed; the store is /project/.skilltune/objects
    hint: restore the store from a backup, or start a new run
    ");
}

/// Returns the words of the command in a hint.
fn hinted(ran: &Ran) -> Vec<&str> {
    let command = ran.stderr.split("skilltune ").last().expect("a command is named");
    command.split('`').next().unwrap_or_default().split_whitespace().collect()
}

#[test]
fn a_target_that_is_gone_is_told_with_the_command_that_brings_it_back() {
    for (command, quality) in [("rollback", 40), ("apply", 90)] {
        let scene = won();
        let skill = scene.skill("writer");
        fs::remove_dir_all(&skill).unwrap();
        let ran = scene.run(&[command]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        let message = scene.normalized(&ran.stderr);
        assert!(
            message
                .starts_with("error: the skill is missing: /project/.claude/skills/writer does not exist\n"),
            "{message}"
        );
        assert_eq!(scene.run(&[command, "--force"]).code, Some(2), "forced as well");
        fs::write(&skill, "a file of that name").unwrap();
        let in_the_way = scene.run(&[command]);
        assert_eq!(in_the_way.code, Some(2), "{in_the_way:?}");
        assert!(in_the_way.stderr.contains("is not a folder\nhint: move the file away"), "{in_the_way:?}");
        fs::remove_file(&skill).unwrap();
        assert_eq!(scene.run(&hinted(&ran)).code, Some(0), "{ran:?}");
        assert_eq!(scene.quality("writer"), quality, "{command}");
        assert_eq!(scene.run(&[command]).code, Some(0), "and then it is there already");
    }
}
