//! `expert new`: drafts of experts, and the files that they go to.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{TASK, answer, ask, file, scene, write};
use crate::background::{Background, Gate};
use crate::scene::{Ran, Scene};
use crate::terminal::{talked, terminal};

pub(super) const ABOUT: &str = "Knows Postgres.";
/// The file of the draft, below the project.
const PLACE: &str = ".agents/experts/dba.md";
/// The answer of the agent.
pub(super) const DRAFT: &str = "---\nname: dba\ndescription: Knows Postgres.\ntier: frontier\npipeline: execute\nrole: true\n\
                     domain: [SQL]\ntools: Bash\n---\n\nYou are a DBA.\n\n## Answer\n";
/// The same in our own format.
pub(super) const FILE: &str = "---\nname: \"dba\"\ndescription: \"Knows Postgres.\"\ntier: \"frontier\"\npipeline: \"execute\"\n\
     domain: [\"SQL\"]\n---\n\nYou are a DBA.\n\n## Answer\n";

fn draft(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&["expert", "new", "dba", ABOUT, "--yes", "--format", "json"], more].concat())
}

pub(super) fn written(scene: &Scene) -> Option<String> {
    fs::read_to_string(scene.path("project").join(PLACE)).ok()
}

#[test]
fn a_draft_is_shown_and_written_and_plays_after_a_person_trusts_it() {
    let fenced = format!("```markdown\n{DRAFT}```");
    let scene = scene(&[fenced.as_str(), "An index."]);
    let ran = scene.run(&["expert", "new", "dba", ABOUT, "--yes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), FILE), "{ran:?}");
    let stderr = scene.normalized(&ran.stderr);
    for part in [
        "drafting the expert dba\n",
        "the agent drafted the expert dba.",
        "saved to /project/.agents/experts/dba.md",
        "plays after `skilltune trust /project/.agents/experts/dba.md`",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(!stderr.contains("persona-writer"), "{stderr}");
    assert_eq!(written(&scene).as_deref(), Some(FILE));
    assert_eq!(scene.run(&["show", &scene.run_id(), "answer"]).stdout, FILE);
    let prompts = scene.prompts();
    assert_eq!(prompts.len(), 1);
    assert!(prompts[0].starts_with("You write the files of experts."), "{}", prompts[0]);
    assert!(prompts[0].contains("an expert named `dba`") && prompts[0].contains(ABOUT), "{}", prompts[0]);
    assert!(!prompts[0].contains("fn pump()"), "it reads no project");
    let refused = scene.run(&["expert", "dba", TASK, "--yes"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("not trusted"), "{refused:?}");
    assert_eq!(scene.run(&["trust", PLACE]).code, Some(0));
    assert_eq!(answer(&ask(&scene, "dba", &[])), json!("An index."));
}

#[test]
fn a_draft_can_be_only_printed_and_json_names_its_file() {
    let scene = scene(&[DRAFT]);
    let dry = draft(&scene, &["--dry-run"]);
    let path = scene.path("project").join(PLACE).display().to_string();
    assert_eq!((dry.code, &dry.json()["file"]), (Some(0), &json!(path)), "{dry:?}");
    assert!(scene.run_folders().is_empty() && scene.calls().is_empty());
    let printed = draft(&scene, &["--print"]);
    assert_eq!((answer(&printed), &printed.json()["file"]), (json!(FILE.trim_end()), &Value::Null));
    assert_eq!(written(&scene), None);
    let ran = draft(&scene, &[]);
    assert_eq!((answer(&ran), &ran.json()["file"]), (json!(FILE.trim_end()), &json!(path)));
    assert_eq!((written(&scene).as_deref(), scene.answered()), (Some(FILE), 1), "the answer was cached");
}

#[test]
fn outside_of_a_project_a_draft_is_only_printed_and_its_description_can_come_from_stdin() {
    let scene = scene(&[DRAFT]);
    write(&scene, "../plain/about.md", "Knows Postgres well.\n");
    let mut command = scene.command(&["expert", "new", "dba", "-", "--yes", "--format", "json"]);
    command.current_dir(scene.path("plain")).stdin(fs::File::open(scene.path("plain/about.md")).unwrap());
    let ran = Ran::of(command.output().unwrap());
    assert_eq!((answer(&ran), &ran.json()["file"]), (json!(FILE.trim_end()), &Value::Null));
    assert!(ran.json()["notes"].to_string().contains("no project here"), "{ran:?}");
    assert!(ran.json()["task"].as_str().unwrap().ends_with("Knows Postgres well."), "{ran:?}");
    assert!(!scene.path("plain/.agents").exists());
}

#[test]
fn an_answer_that_is_not_the_file_is_asked_for_once_more_with_the_reason() {
    let first = scene(&["Here is the file.", DRAFT]);
    assert_eq!(answer(&draft(&first, &[])), json!(FILE.trim_end()));
    let says_why = |prompt: &String| prompt.contains("# Once more") && prompt.contains("must be `---`");
    assert!(first.prompts().iter().any(says_why));
    let other = DRAFT.replace("name: dba", "name: dbb");
    let wrong = scene(&[other.as_str()]);
    let ran = draft(&wrong, &[]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(4), &json!("unanswered")), "{ran:?}");
    assert_eq!((written(&wrong), wrong.answered()), (None, 2));
    assert!(
        wrong.prompts().iter().any(|prompt| prompt.contains("its `name` must be \"dba\", and is \"dbb\""))
    );
    let stderr = scene(&["Sure!\nHere it is."]).run(&["expert", "new", "dba", ABOUT, "--yes"]).stderr;
    assert!(
        stderr.contains("the first line must be `---`; it begins with \"Sure!\" (gave up)\n"),
        "{stderr}"
    );
    assert!(stderr.contains("no draft of dba: the agent returned an invalid answer.\n"), "{stderr}");
}

#[test]
fn names_that_are_taken_and_files_that_exist_are_refused_before_the_call() {
    let scene = scene(&[DRAFT]);
    for (name, why) in [
        ("new", "`new` is the name of a command"),
        ("Convert", "`convert` is the name of a command"),
        ("...", "its name has no letter or digit"),
        ("readme", "readme.md is never the file of an expert"),
        ("Architect", "architect is a built-in expert"),
    ] {
        let refused = scene.refusal(&["expert", "new", name, ABOUT, "--yes"]);
        assert!(refused.contains(why) && refused.contains("hint: choose another name"), "{name}: {refused}");
    }
    let refused = scene.refusal(&["expert", "new", "dba", "--yes"]);
    assert!(refused.contains("error: no description of dba"), "{refused}");
    assert!(refused.contains("hint: pass it after the name: skilltune expert new dba \"...\""), "{refused}");
    write(&scene, PLACE, "Mine.\n");
    for more in [&["--yes"][..], &["--yes", "--dry-run"]] {
        let refused = scene.refusal(&[&["expert", "new", "dba", ABOUT], more].concat());
        assert!(refused.contains("/project/.agents/experts/dba.md: it exists already"), "{refused}");
        assert!(refused.contains("hint: remove or rename it"), "{refused}");
    }
    write(&scene, ".claude/agents/other.md", &file("dba", "You are mine."));
    let refused = scene.refusal(&["expert", "new", "dba", ABOUT, "--yes"]);
    let known = "there is already an expert named dba: /project/.claude/agents/other.md";
    assert!(refused.contains(known), "{refused}");
    assert!(scene.calls().is_empty());
}

#[test]
fn a_draft_goes_through_no_symlink_of_the_project() {
    let scene = scene(&[DRAFT]);
    symlink(scene.path("home"), scene.path("project/.agents")).unwrap();
    let refused = scene.refusal(&["expert", "new", "dba", ABOUT, "--yes"]);
    assert!(refused.contains("/project/.agents is a symlink, or not a folder"), "{refused}");
    scene.write_settings("[experts]\nfolder = \"tools/experts\"\n");
    symlink("/nowhere", scene.path("project/tools")).unwrap();
    let refused = scene.refusal(&["expert", "new", "dba", ABOUT, "--yes"]);
    assert!(refused.contains("/project/tools is a symlink, or not a folder"), "{refused}");
    fs::remove_file(scene.path("project/tools")).unwrap();
    answer(&draft(&scene, &[]));
    let file = fs::read_to_string(scene.path("project/tools/experts/dba.md")).unwrap();
    assert_eq!(file, FILE, "a setting names another folder");
}

#[test]
fn a_file_that_appears_during_the_call_stays_as_it_is() {
    let script = json!({ "expert": [DRAFT] });
    let scene = Scene::new(&[], &script);
    let gate = Gate::before("expert", &scene, script);
    let run = Background::start(&scene, &["expert", "new", "dba", ABOUT, "--yes"]);
    run.until_begun(1);
    write(&scene, PLACE, "Mine.\n");
    gate.open();
    let ran = run.wait();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), FILE), "{ran:?}");
    assert!(ran.stderr.contains("it exists already") && ran.stderr.contains("answer.md"), "{}", ran.stderr);
    assert_eq!(written(&scene).as_deref(), Some("Mine.\n"));
    fs::remove_file(scene.path("project").join(PLACE)).unwrap();
    let again = scene.run(&["resume", &scene.run_id(), "--yes"]);
    assert_eq!((again.code, written(&scene).as_deref()), (Some(0), Some(FILE)), "{again:?}");
}

#[test]
fn a_killed_draft_is_written_by_the_run_that_goes_on() {
    let script = json!({ "expert": [DRAFT] });
    let scene = Scene::new(&[], &script);
    let gate = Gate::before("expert", &scene, script);
    let line = ["expert", "new", "dba", ABOUT, "--yes", "--format", "json"];
    let run = Background::start(&scene, &line);
    run.until_begun(1);
    run.kill_and_see_off();
    assert_eq!(written(&scene), None);
    gate.remove();
    let resumed = scene.run(&["resume", "--yes", "--format", "json"]);
    assert_eq!(answer(&resumed), json!(FILE.trim_end()));
    assert_eq!(written(&scene).as_deref(), Some(FILE));
}

#[test]
fn a_person_is_asked_for_the_description() {
    let scene = scene(&[DRAFT]);
    let Ok(ends) = terminal() else { return };
    let asked = [("What does dba know, and how does it work?", "Postgres, slowly\r")];
    let output = talked(scene.command(&["expert", "new", "dba"]), ends, &asked);
    assert!(output.contains("drafted the expert dba."), "{output}");
    assert!(scene.prompts()[0].contains("Postgres, slowly"));
    assert_eq!(written(&scene).as_deref(), Some(FILE));
}
