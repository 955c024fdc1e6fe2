//! Tests how a person applies and undoes changes to a skill: `apply`, `rollback`, `export`, and the run's own question.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::chain::SKILLS;
use crate::commands::{data, talk};
use crate::finished::{held, unapplied, won};
use crate::scene::{Ran, Scene, listing};

#[test]
fn rollback_restores_byte_for_byte_and_apply_brings_back() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let folder = scene.skill("writer");
    fs::create_dir(folder.join("empty")).unwrap();
    symlink("references/style.md", folder.join("style")).unwrap();
    let before = listing(&folder);
    scene.tune("writer", &[]);
    let after = listing(&folder);
    assert_ne!(after, before);
    insta::assert_snapshot!(talk(&scene, &scene.run(&["rollback"])), @"writer restored; `skilltune apply RUN` undoes this");
    assert_eq!(listing(&folder), before);
    insta::assert_snapshot!(data(&scene, &["status"]), @r"
    run      RUN  tune of writer
    status   The champion scored higher than the start, and the run applied it.
    search   round 3 of 5
    verdict  the candidate scored higher than the start
    score    89.6, goal 80  (candidate HASH)
    updated  MOMENT
    since    rolled back: the skill is as it was before the run
    next     skilltune diff RUN   (see the champion's changes)
    next     skilltune apply RUN   (apply it)
    ");
    insta::assert_snapshot!(talk(&scene, &scene.run(&["apply"])), @"candidate HASH applied to writer; `skilltune rollback RUN` undoes this");
    assert_eq!(listing(&folder), after);
    insta::assert_snapshot!(talk(&scene, &scene.run(&["apply"])), @"writer already has this content of run RUN");
    let id = scene.run_id();
    talk(&scene, &scene.run(&["apply", &id, "start"]));
    assert_eq!(listing(&folder), before);
}

#[test]
fn an_edit_of_a_person_is_never_replaced_unless_they_say_so() {
    let scene = won();
    let page = scene.skill("writer").join("SKILL.md");
    let mine = fs::read_to_string(&page).unwrap() + "My own line.\n";
    fs::write(&page, &mine).unwrap();
    let refused = scene.run(&["rollback"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""));
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
    error: /project/.claude/skills/writer changed since run RUN
    caused by: nothing was replaced; the edited version is kept as HASH
    hint: to replace it anyway, run `skilltune rollback RUN --force`
    hint: to look at it first, run `skilltune export RUN start DIR`
    ");
    assert_eq!(fs::read_to_string(&page).unwrap(), mine);
    let edited = listing(&scene.skill("writer"));
    let forced = scene.run(&["rollback", "--force"]);
    insta::assert_snapshot!(talk(&scene, &forced), @r"
    writer restored; `skilltune apply RUN HASH` undoes this
    the replaced version is kept as HASH; `skilltune export RUN HASH DIR` copies it
    ");
    assert_eq!(scene.quality("writer"), 40);
    let [undo, export] = [0, 1].map(|line| named_command(&forced, line));
    assert_eq!(scene.run(&words(&export)).code, Some(0));
    assert_eq!(listing(&scene.path("project/DIR")), edited, "their edit is kept");
    assert_eq!(scene.run(&words(&undo)).code, Some(0), "a rollback can be undone");
    assert_eq!(listing(&scene.skill("writer")), edited, "and their edit is back");
}

/// Returns the command that a line of stderr names.
fn named_command(ran: &Ran, line: usize) -> String {
    let line = ran.stderr.lines().nth(line).expect("that much is said");
    line.split('`').nth(1).expect("a command is named").to_owned()
}

/// Returns the arguments of a command, without the program name.
fn words(command: &str) -> Vec<&str> {
    command.split_whitespace().skip(1).collect()
}

#[test]
fn a_candidate_is_written_into_a_new_folder() {
    let scene = won();
    let id = scene.run_id();
    insta::assert_snapshot!(talk(&scene, &scene.run(&["export", &id, "champion", "out/there"])), @"copied candidate HASH to /project/out/there");
    assert_eq!(listing(&scene.path("project/out/there")), listing(&scene.skill("writer")));
    let chain = Scene::new(&SKILLS, &crate::chain::script());
    chain.tune("outline,writer,editor", &["--chain", "--apply", "never"]);
    talk(&chain, &chain.run(&["export", &chain.run_id(), "start", "out"]));
    for (name, _) in SKILLS {
        assert_eq!(listing(&chain.path("project/out").join(name)), listing(&chain.skill(name)), "{name}");
    }
}

#[test]
fn a_question_without_a_terminal_holds_the_run_until_it_is_answered() {
    let (scene, before) = held();
    insta::assert_snapshot!(data(&scene, &["status"]), @r"
    run      RUN  tune of writer
    status   waits for your answer: apply the champion?
    search   round 3 of 5
    verdict  the candidate scored higher than the start
    score    89.6, goal 80  (candidate HASH)
    updated  MOMENT
    next     skilltune resume RUN --answer apply   (apply the champion)
    next     skilltune resume RUN --answer keep   (leave the skill unchanged)
    ");
    let again = scene.run(&["resume", "--format", "json"]);
    assert_eq!((again.code, &again.json()["outcome"]), (Some(3), &json!("held")), "still nobody is there");
    let answered = scene.answered();
    let ran = scene.run(&["resume", "--answer", "apply", "--format", "json"]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("improved")), "{ran:?}");
    assert_eq!(scene.answered(), answered, "no call is made for it");
    assert_ne!(listing(&scene.skill("writer")), before);
}

#[test]
fn an_answer_may_be_to_keep_and_without_one_the_declared_default_is_taken() {
    let (scene, before) = held();
    let kept = scene.run(&["resume", "--answer", "keep", "--format", "json"]);
    assert_eq!((kept.code, &kept.json()["outcome"]), (Some(0), &json!("kept")), "{kept:?}");
    assert_eq!(listing(&scene.skill("writer")), before);
    let (scene, _) = held();
    let applied = scene.run(&["resume", "--yes", "--format", "json"]);
    // One task is too little evidence to apply without asking.
    assert_eq!((applied.code, &applied.json()["outcome"]), (Some(0), &json!("kept")), "{applied:?}");
    assert_eq!(scene.quality("writer"), 40);
}

#[test]
fn never_applying_keeps_the_champion_for_later() {
    let scene = unapplied();
    assert_eq!(scene.quality("writer"), 40);
    insta::assert_snapshot!(talk(&scene, &scene.run(&["rollback"])), @"writer is already in its state before run RUN");
    talk(&scene, &scene.run(&["apply"]));
    assert_eq!(scene.quality("writer"), 90);
}

#[test]
fn a_candidate_and_the_edits_of_a_person_are_merged_when_they_say_so() {
    let scene = unapplied();
    let mine = scene.skill("writer").join("mine.md");
    fs::write(&mine, "My own words.\n").unwrap();
    let refused = scene.run(&["apply"]);
    assert_eq!((refused.code, scene.quality("writer")), (Some(3), 40));
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
    error: /project/.claude/skills/writer changed since run RUN
    caused by: nothing was replaced; the edited version is kept as HASH
    hint: to merge your edits with it, run `skilltune apply RUN HASH --merge`
    hint: to replace it anyway, run `skilltune apply RUN HASH --force`
    hint: to look at it first, run `skilltune export RUN HASH DIR`
    ");
    let merged = scene.run(&["apply", "--merge"]);
    insta::assert_snapshot!(talk(&scene, &merged), @r"
    candidate HASH merged with your edits; `skilltune apply RUN HASH` undoes this
    the replaced version is kept as HASH; `skilltune export RUN HASH DIR` copies it
    ");
    assert_eq!(
        (scene.quality("writer"), fs::read_to_string(&mine).unwrap()),
        (90, "My own words.\n".to_owned())
    );
    let undo = named_command(&merged, 0);
    assert_eq!(scene.run(&words(&undo)).code, Some(0), "a merge can be undone");
    assert_eq!((scene.quality("writer"), mine.exists()), (40, true));
    assert_eq!(scene.run(&["apply", "--merge", "--force"]).code, Some(2));
}

#[test]
fn edits_that_conflict_are_listed_and_nothing_is_changed() {
    let scene = unapplied();
    let page = scene.skill("writer").join("SKILL.md");
    fs::write(&page, fs::read_to_string(&page).unwrap().replace("40", "41")).unwrap();
    fs::write(scene.skill("writer").join("mine.md"), "My own words.\n").unwrap();
    let before = listing(&scene.skill("writer"));
    let refused = scene.run(&["apply", "--merge"]);
    assert_eq!(refused.code, Some(3));
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
    error: candidate HASH and your edits of /project/.claude/skills/writer conflict
    caused by: SKILL.md: both changed the same lines
    caused by: nothing was replaced; the edited version is kept as HASH
    hint: to replace it anyway, run `skilltune apply RUN HASH --force`
    hint: to look at it first, run `skilltune export RUN HASH DIR`
    ");
    assert_eq!(listing(&scene.skill("writer")), before);
}

#[test]
fn a_version_that_no_candidate_led_to_is_not_merged_again() {
    let scene = unapplied();
    let mine = scene.skill("writer").join("mine.md");
    fs::write(&mine, "My own words.\n").unwrap();
    talk(&scene, &scene.run(&["apply", "--merge"]));
    fs::write(&mine, "Better words.\n").unwrap();
    let before = listing(&scene.skill("writer"));
    let refused = scene.run(&["apply", "--merge"]);
    assert_eq!(refused.code, Some(3));
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r"
    error: cannot merge into /project/.claude/skills/writer
    caused by: the last version that skilltune wrote there is not a candidate of this run
    hint: to replace it anyway, run `skilltune apply RUN HASH --force`
    hint: to look at it first, run `skilltune export RUN HASH DIR`
    ");
    assert_eq!(listing(&scene.skill("writer")), before);
}
