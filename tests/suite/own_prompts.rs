//! A person's own prompts: a project's prompts are used once they are trusted, and a run keeps those it began with.

use std::fs;

use serde_json::{Value, json};

use crate::blocked;
use crate::scene::{Ran, Scene};

const JUDGE: &str = include_str!("../../phases/prompts/evaluate.md");
/// A text that our own page does not contain.
const OWN: &str = "Judge as the house does.\n\n";

/// Creates a project whose own page for the judge adds one sentence to ours.
fn scene() -> Scene {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    add_page(&scene);
    scene
}

fn add_page(scene: &Scene) {
    fs::create_dir(scene.path("project/prompts")).unwrap();
    fs::write(scene.path("project/skilltune.toml"), "[prompts]\nevaluate = \"prompts/judge.md\"\n").unwrap();
    write_page(scene, &format!("{OWN}{JUDGE}"));
}

fn write_page(scene: &Scene, text: &str) {
    fs::write(scene.path("project/prompts/judge.md"), text).unwrap();
}

fn tune(scene: &Scene, more: &[&str]) -> Ran {
    scene.tune("writer", &[&["--max-iterations", "1"], more].concat())
}

fn own_note(summary: &Value) -> bool {
    summary["notes"].to_string().contains("this run uses your own prompts (evaluate)")
}

#[test]
fn a_projects_page_is_refused_until_it_is_trusted_and_then_it_is_what_the_judge_is_told() {
    let scene = scene();
    let line = ["tune", "writer", "write a page", "--yes"];
    insta::assert_snapshot!(scene.refusal(&line), @r"
    error: the prompts of /project/skilltune.toml are not trusted: evaluate
    hint: read the file and its prompts, then run `skilltune trust /project/skilltune.toml`
    hint: or pass --trust to trust them for this run
    ");
    let once = tune(&scene, &["--trust"]);
    assert!(own_note(&once.json()), "{once:?}");
    let prompts = scene.prompts();
    assert!(prompts.iter().any(|prompt| prompt.starts_with(OWN)), "{prompts:?}");
    assert!(prompts.iter().any(|prompt| prompt.starts_with("# Carry out an agent skill")), "{prompts:?}");
    let report = fs::read_to_string(scene.run_folder().join("final-report.md")).unwrap();
    assert!(report.contains("this run uses your own prompts"), "{report}");
    assert_eq!(tune(&scene, &[]).code, Some(2), "once is not remembered");
    let trusted = scene.run(&["trust", "."]);
    insta::assert_snapshot!(scene.normalized(&trusted.stderr), @r"
    trusted: /project/skilltune.toml
      no agents
      prompt evaluate: /project/prompts/judge.md
    ");
    assert_ne!(tune(&scene, &[]).code, Some(2));
    write_page(&scene, JUDGE);
    assert_eq!(tune(&scene, &[]).code, Some(2), "another text, another page");
}

#[test]
fn a_page_that_cannot_do_its_work_is_refused_with_its_line() {
    let scene = scene();
    let line = ["tune", "writer", "write a page", "--yes", "--trust"];
    write_page(&scene, &format!("{{{{ round }}}}\n{JUDGE}"));
    insta::assert_snapshot!(scene.refusal(&line), @r"
    error: /project/prompts/judge.md:1: unknown variable `round`; known: activity, artifacts, dimensions, entries, is_chain, nonce, of_effect, reading, retry_error, scenario, skills, start, unused
    hint: see docs/prompts.md for what the prompt `evaluate` must contain
    ");
    write_page(&scene, &JUDGE.replace("{{ nonce }}", "the code"));
    insta::assert_snapshot!(scene.refusal(&line), @r"
    error: /project/prompts/judge.md: it does not always contain `nonce`; it must contain reading, scenario, skills[].files, artifacts[].files, dimensions[].questions[].id, dimensions[].questions[].text, nonce
    hint: see docs/prompts.md for what the prompt `evaluate` must contain
    ");
    fs::remove_file(scene.path("project/prompts/judge.md")).unwrap();
    insta::assert_snapshot!(scene.refusal(&line), @"
    error: cannot read the prompt /project/prompts/judge.md
    caused by: No such file or directory (os error 2)
    hint: /project/skilltune.toml names it as prompts.evaluate
    ");
}

#[test]
fn a_projects_page_is_not_rendered_before_it_is_trusted_nor_does_it_fill_the_memory_then() {
    let scene = scene();
    // The engine evaluates constants while it compiles.
    let large = vec!["'x' * 100000000"; 60].join(" ~ ");
    write_page(&scene, &format!("{JUDGE}\n{{{{ {large} }}}}\n"));
    let limited = |line: &[&str]| scene.run_limited("ulimit -v 4000000", line);
    let line = ["tune", "writer", "write a page", "--yes"];
    let shown = limited(&[&line[..], &["--dry-run"]].concat());
    let note = "note: the run would be refused: the prompts of /project/skilltune.toml are not trusted: evaluate; \
                read the file and its prompts, then run `skilltune trust /project/skilltune.toml`";
    assert!(scene.normalized(&shown.stderr).contains(note), "{shown:?}");
    for shown in [&[&line[..], &["--dry-run"]].concat()[..], &["trust", "."]] {
        let ran = limited(shown);
        assert_eq!(ran.code, Some(0), "{shown:?}: {ran:?}");
    }
    let refused = limited(&line);
    insta::assert_snapshot!(scene.normalized(&refused.stderr), @r#"
    error: /project/prompts/judge.md:125: cannot use `*`; a prompt has variables, comparisons, if, elif, else, endif, for, endfor, and the filters length, first, last, lower, upper, trim
    hint: see docs/prompts.md for what the prompt `evaluate` must contain
    "#);
    assert_eq!((refused.code, scene.answered()), (Some(2), 0));
}

#[test]
fn another_page_is_another_question() {
    let scene = scene();
    let first = tune(&scene, &["--trust"]);
    let answered = scene.answered();
    tune(&scene, &["--trust"]);
    assert_eq!(scene.answered(), answered, "the same page finds its answers: {first:?}");
    write_page(&scene, &format!("Be strict.\n\n{JUDGE}"));
    tune(&scene, &["--trust"]);
    assert!(scene.answered() > answered);
}

#[test]
fn a_run_that_is_taken_up_goes_on_with_the_page_that_it_began_with() {
    let scene = blocked::with_claude();
    add_page(&scene);
    let stopped = blocked::run(&scene, &[&blocked::ONCE[..], &["--trust"]].concat());
    assert_eq!((stopped.code, scene.answered()), (Some(4), 0), "{stopped:?}");
    write_page(&scene, "{{ nonsense }}");
    fs::write(scene.path("login"), "").unwrap();
    let ended = blocked::run(&scene, &["resume", "--format", "json"]);
    assert!(ended.json()["initial_score"].is_number() && own_note(&ended.json()), "{ended:?}");
    let prompts = scene.prompts();
    assert!(prompts.iter().any(|prompt| prompt.starts_with(OWN)), "{prompts:?}");
}
