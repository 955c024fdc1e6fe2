//! Experts end to end: rows 1 to 7 of what has to work, and files of other people.

mod crash;
mod new;

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::background::{Background, Gate};
use crate::scene::{Ran, Scene};
use crate::terminal::{talked, terminal};

const ROLES: [&str; 9] = [
    "architect",
    "backend-developer",
    "frontend-developer",
    "designer",
    "qa-engineer",
    "devops-engineer",
    "product-planner",
    "researcher",
    "technical-writer",
];
const REVIEWERS: [&str; 3] = ["security-reviewer", "performance-reviewer", "quality-reviewer"];
const TASK: &str = "Should the pump have a queue?";

fn scene(answers: &[&str]) -> Scene {
    let scene = Scene::new(&[], &json!({ "expert": answers }));
    write(&scene, "src/pump.rs", "fn pump() {}\n");
    scene
}

/// Writes a file of the project.
fn write(scene: &Scene, path: &str, text: &str) {
    write_at(&scene.path("project").join(path), text);
}

fn write_at(path: &std::path::Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn file(name: &str, persona: &str) -> String {
    format!("---\nname: {name}\ndescription: Knows {name}.\ntools: Bash\n---\n\n{persona}\n")
}

fn ask(scene: &Scene, name: &str, more: &[&str]) -> Ran {
    scene.run(&[&["expert", name, TASK, "--yes", "--format", "json"], more].concat())
}

fn answer(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.json()["answer"].clone()
}

/// Row 1.
#[test]
fn each_of_the_twelve_answers_as_its_own_persona() {
    for name in ROLES.iter().chain(&REVIEWERS) {
        let scene = scene(&["No queue."]);
        let ran = ask(&scene, name, &[]);
        assert_eq!(answer(&ran), json!("No queue."));
        assert_eq!((&ran.json()["expert"], &ran.json()["origin"]), (&json!(name), &json!("built-in")));
        let prompts = scene.prompts();
        assert_eq!(prompts.len(), 1);
        let head = prompts[0].split('\n').next().unwrap();
        assert!(head.starts_with("You are ") || prompts[0].starts_with("You are a"), "{name}: {head}");
        assert!(prompts[0].contains(TASK) && prompts[0].contains("fn pump()"), "{}", prompts[0]);
    }
}

/// Row 2.
#[test]
fn the_list_has_two_groups_and_ends_with_examples() {
    let scene = scene(&[]);
    for line in [&["expert"][..], &["agent"], &["expert", "list"]] {
        let ran = scene.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line:?}");
        let (roles, reviewers) = ran.stdout.split_once("\n\nReviewers\n\n").unwrap();
        assert!(roles.starts_with("Role Experts\n\n"), "{roles}");
        assert!(ROLES.iter().all(|name| roles.contains(&format!("  {name} (built-in)\n"))), "{roles}");
        assert!(REVIEWERS.iter().all(|name| reviewers.contains(&format!("  {name} (built-in)\n"))));
        assert!(roles.contains("Domains: system design, scalability, design patterns"), "{roles}");
        let (_, examples) = reviewers.split_once("\n\nExamples:\n").unwrap();
        assert_eq!(examples.lines().filter(|line| line.starts_with("  skilltune expert ")).count(), 4);
    }
    let listed = scene.run(&["expert", "--format", "json"]).json();
    assert_eq!(listed["experts"].as_array().unwrap().len(), 12);
    assert_eq!(listed["experts"][11]["kind"], json!("reviewer"));
}

/// Row 3.
#[test]
fn stdout_is_the_answer_alone_and_the_run_is_journaled_cached_and_shown_again() {
    let scene = scene(&["# Finding\n\n- **Severity**: high"]);
    let ran = scene.run(&["agent", "architect", TASK, "--yes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "# Finding\n\n- **Severity**: high\n"), "{ran:?}");
    assert!(ran.stderr.contains("architect answered."), "{}", ran.stderr);
    let run = scene.run_id();
    let kept = fs::read_to_string(scene.run_folder().join("answer.md")).unwrap();
    assert_eq!(kept, ran.stdout);
    assert_eq!(scene.run(&["show", &run, "answer"]).stdout, ran.stdout);
    assert!(scene.run_folder().join("final-report.md").is_file());
    let again = ask(&scene, "architect", &[]);
    assert_eq!(answer(&again), json!("# Finding\n\n- **Severity**: high"));
    assert_eq!(scene.answered(), 1, "the second run finds the answer in the cache");
    write(&scene, "src/pump.rs", "fn pump(queue: Queue) {}\n");
    answer(&ask(&scene, "architect", &[]));
    assert_eq!(scene.answered(), 2, "the files are part of the question");
}

#[test]
fn an_empty_answer_is_asked_for_once_more_and_two_are_a_failure() {
    let first = scene(&["", "Now."]);
    assert_eq!(answer(&ask(&first, "designer", &[])), json!("Now."));
    assert!(first.prompts().iter().any(|prompt| prompt.contains("# Once more")));
    let mute = scene(&[" "]);
    let ran = ask(&mute, "designer", &[]);
    assert_eq!((ran.code, &ran.json()["outcome"]), (Some(4), &json!("unanswered")), "{ran:?}");
    assert_eq!(mute.answered(), 2);
}

#[test]
fn a_killed_run_goes_on_and_a_dry_run_starts_nothing() {
    let script = json!({ "expert": ["Late."] });
    let scene = Scene::new(&[], &script);
    let dry = ask(&scene, "architect", &["--dry-run"]);
    assert_eq!(
        (&dry.json()["expert"], &dry.json()["most_calls"]["expert"]),
        (&json!("architect"), &json!(2))
    );
    assert!(scene.run_folders().is_empty() && scene.calls().is_empty());
    let gate = Gate::before("expert", &scene, script);
    let run = Background::start(&scene, &["expert", "architect", TASK, "--yes", "--format", "json"]);
    run.until_begun(1);
    run.kill_and_see_off();
    gate.remove();
    let resumed = scene.run(&["resume", "--yes", "--format", "json"]);
    assert_eq!(answer(&resumed), json!("Late."));
}

#[test]
fn an_expert_writes_nothing_and_gets_no_file_that_instructs_agents() {
    let scene = scene(&[]);
    // The least that git accepts as a repository.
    write(&scene, ".git/HEAD", "ref: refs/heads/main\n");
    for name in ["objects", "refs"] {
        fs::create_dir(scene.path("project/.git").join(name)).unwrap();
    }
    write(&scene, "AGENTS.md", "Obey.\n");
    write(&scene, ".env", "KEY=1\n");
    write(&scene, ".claude/settings.json", "{}\n");
    write(&scene, ".gitignore", "target\n");
    write(&scene, "target/out", "x\n");
    symlink("/etc/passwd", scene.path("project/passwd")).unwrap();
    let ran = ask(&scene, "researcher", &[]);
    assert_eq!(answer(&ran), json!("I read: project/.gitignore, project/src/pump.rs"));
    let notes = ran.json()["notes"].to_string();
    assert!(notes.contains("AGENTS.md") && notes.contains("passwd"), "{notes}");
    let alone = ask(&scene, "researcher", &["--no-folder"]);
    assert_eq!(answer(&alone), json!("I read:"));
    let part = ask(&scene, "researcher", &["--folder", "src"]);
    assert_eq!(answer(&part), json!("I read: project/pump.rs"));
    let home = scene.path("home").display().to_string();
    let refused = scene.refusal(&["expert", "researcher", TASK, "--folder", &home]);
    assert!(refused.contains("it holds all of your files"), "{refused}");
}

/// Row 4.
#[test]
fn an_unknown_name_lists_all() {
    let scene = scene(&["Ok."]);
    let refused = scene.refusal(&["expert", "astronaut", TASK, "--yes"]);
    assert!(refused.contains("Role Experts") && refused.contains("Reviewers"), "{refused}");
    assert!(refused.contains("error: there is no expert named \"astronaut\""), "{refused}");
    assert!(!refused.contains("hint:"), "{refused}");
    let (Ok(first), Ok(second)) = (terminal(), terminal()) else { return };
    let line = ["expert", "astronaut", TASK];
    let output = talked(scene.command(&line), first, &[("enter to select", "\r")]);
    assert!(
        output.contains("Which expert do you mean?") && output.contains("no expert was chosen"),
        "{output}"
    );
    assert!(scene.calls().is_empty(), "Enter starts no call");
    let output = talked(scene.command(&line), second, &[("enter to select", "\x1b[B\r")]);
    assert!(output.contains(" answered."), "{output}");
}

#[test]
fn a_name_whose_file_is_skipped_says_why_and_other_experts_only_count_it() {
    let scene = scene(&["Ok."]);
    write(&scene, ".claude/agents/Data Base.md", "You are a DBA.\n");
    let refused = scene.refusal(&["expert", "data-base", TASK, "--yes"]);
    assert!(!refused.contains("Role Experts"), "{refused}");
    assert!(refused.contains("/.claude/agents/Data Base.md: front matter is missing"), "{refused}");
    let ran = scene.run(&["expert", "architect", TASK, "--yes"]);
    let note = "note: skipped 1 agent file; `skilltune expert` says why\n";
    assert!(ran.stderr.contains(note) && !ran.stderr.contains("front matter"), "{}", ran.stderr);
    assert!(scene.run(&["expert"]).stderr.contains("Data Base.md: front matter is missing"));
}

/// Row 5.
#[test]
fn a_partial_or_misspelt_name_is_confirmed_by_a_person_and_never_taken_unasked() {
    let scene = scene(&["Ok."]);
    for name in ["security", "securty-reviewer"] {
        let refused = scene.refusal(&["expert", name, TASK, "--yes"]);
        assert!(refused.contains("hint: the nearest names: security-reviewer"), "{refused}");
    }
    let line = ["expert", "security", TASK];
    let (Ok(first), Ok(second)) = (terminal(), terminal()) else { return };
    let question = "Do you mean the expert security-reviewer?";
    let declined = talked(scene.command(&line), first, &[(question, "n\r")]);
    assert!(declined.contains("no expert was chosen"), "{declined}");
    assert!(scene.calls().is_empty());
    let agreed = talked(scene.command(&line), second, &[(question, "y\r")]);
    assert!(agreed.contains("security-reviewer answered."), "{agreed}");
}

/// Row 6.
#[test]
fn a_name_without_a_task_shows_what_it_can_do_and_asks() {
    let scene = scene(&["Ok."]);
    let refused = scene.refusal(&["expert", "qa-engineer", "--yes"]);
    for part in
        ["qa-engineer (built-in, tier standard)", "Domains: testing, edge cases, quality", "Ask it for"]
    {
        assert!(refused.contains(part), "{refused}");
    }
    assert!(refused.contains("error: no task for qa-engineer"), "{refused}");
    let Ok(ends) = terminal() else { return };
    let asked = [("What should qa-engineer do?", "test the pump\r")];
    let output = talked(scene.command(&["expert", "qa-engineer"]), ends, &asked);
    assert!(output.contains("qa-engineer answered."), "{output}");
    assert!(scene.prompts()[0].contains("test the pump"));
}

/// Row 7.
#[test]
fn trigger_phrases_are_no_names() {
    let scene = scene(&[]);
    assert!(scene.refusal(&["expert", "use agent architect", TASK, "--yes"]).contains("there is no expert"));
    let differences = include_str!("../../docs/experts.md");
    assert!(differences.contains("Trigger phrases"), "the table of differences names them");
}

#[test]
fn a_projects_expert_plays_only_while_a_person_trusts_its_bytes() {
    let scene = scene(&["Ok."]);
    write(&scene, ".agents/experts/dba.md", &file("dba", "You are a DBA."));
    let listed = scene.run(&["expert"]).stdout;
    assert!(listed.contains("  dba (project)\n    Knows dba.\n"), "{listed}");
    let refused = scene.refusal(&["expert", "dba", TASK, "--yes"]);
    assert!(
        refused.contains("not trusted") && refused.contains("`skilltune trust /project/.agents"),
        "{refused}"
    );
    let trusted = scene.run(&["trust", ".agents/experts/dba.md"]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    assert!(trusted.stderr.contains("expert dba: Knows dba. (1 line of instructions)"), "{}", trusted.stderr);
    let ran = ask(&scene, "dba", &[]);
    assert_eq!((answer(&ran), &ran.json()["origin"]), (json!("Ok."), &json!("project")));
    let notes = ran.json()["notes"].to_string();
    let ignored = "dba asks for tools, which skilltune does not apply: an expert only reads, and [experts] sets its model";
    assert!(notes.contains(ignored), "{notes}");
    assert!(scene.prompts()[0].starts_with("You are a DBA.\n"));
    write(&scene, ".agents/experts/dba.md", &file("dba", "You are another."));
    let changed = ask(&scene, "dba", &[]);
    assert!(
        changed.code == Some(2) && changed.stderr.contains("changed since you trusted it"),
        "{changed:?}"
    );
    answer(&ask(&scene, "dba", &["--trust"]));
}

#[test]
fn files_of_five_formats_are_found_and_the_users_own_wins() {
    let scene = scene(&["Ok."]);
    write(&scene, ".claude/agents/one.md", &file("one", "C"));
    write(&scene, ".gemini/agents/two.md", &format!("---\nkind: local\n{}", &file("two", "G")[4..]));
    write(&scene, ".opencode/agents/three.md", "---\ndescription: d\nmode: subagent\n---\nO\n");
    write(&scene, ".opencode/agent/seven.md", "---\ndescription: d\n---\nS\n");
    let codex = "name = \"four\"\ndescription = \"d\"\ndeveloper_instructions = \"X\"\n";
    write(&scene, ".codex/agents/x.toml", codex);
    let gestalt = "---\nname: five\ndescription: d\ntier: frugal\npipeline: review\ndomain: [a]\n---\nT\n";
    write(&scene, ".agents/experts/five/AGENT.md", gestalt);
    write(&scene, ".agents/experts/architect.md", &file("architect", "P"));
    write(&scene, ".claude/agents/a/b/c/eight.md", &file("eight", "E"));
    write(&scene, ".claude/agents/a/b/c/d/deep.md", &file("deep", "D"));
    write(&scene, ".gemini/agents/_draft.md", "Gemini CLI does not read this.\n");
    write_at(&scene.path("home/.claude/agents/one.md"), &file("one", "You are mine."));
    write_at(&scene.path("config/skilltune/experts/six.md"), &file("six", "Y"));
    let listed = scene.run(&["expert", "list", "--format", "json"]).json();
    let origin = |name: &str| {
        let all = listed["experts"].as_array().unwrap();
        let one = all.iter().find(|one| one["name"] == name).unwrap();
        (one["origin"].as_str().unwrap().to_owned(), one["replaces_built_in"].as_bool().unwrap())
    };
    for (name, of, replaces) in [
        ("one", "user", false),
        ("two", "project", false),
        ("three", "project", false),
        ("four", "project", false),
        ("five", "project", false),
        ("six", "user", false),
        ("seven", "project", false),
        ("eight", "project", false),
        ("architect", "project", true),
        ("designer", "built-in", false),
    ] {
        assert_eq!(origin(name), (of.to_owned(), replaces), "{name}");
    }
    assert!(
        !listed["experts"].to_string().contains("\"deep\"") && listed["skipped"] == json!([]),
        "{listed}"
    );
    answer(&ask(&scene, "one", &[]));
    let refused = scene.run(&["expert", "architect", TASK, "--yes"]).stderr;
    assert!(refused.contains("not trusted: architect, which replaces the built-in one"), "{refused}");
    let shadowed = ask(&scene, "architect", &["--trust"]);
    assert!(shadowed.json()["notes"].to_string().contains("replaces the built-in expert architect"));
    assert!(scene.run(&["expert"]).stdout.contains("architect (project, replaces the built-in one)"));
}

#[test]
fn line_ends_of_a_description_are_spaces_in_lists() {
    let scene = scene(&[]);
    let text = "---\nname: dba\ndescription: Knows SQL.\\n\\nExamples\\nuser\n---\nYou are a DBA.\n";
    write(&scene, ".claude/agents/dba.md", text);
    let listed = scene.run(&["expert"]).stdout;
    assert!(listed.contains("  dba (project)\n    Knows SQL. Examples user\n"), "{listed}");
}

#[test]
fn hostile_files_are_named_and_skipped() {
    let scene = scene(&["Ok."]);
    let place = |name: &str| format!(".claude/agents/{name}");
    write(&scene, &place("big.md"), &"x".repeat(10 << 20));
    write(&scene, &place("red.md"), &file("red", "\u{1b}[31mred"));
    write(&scene, &place("a.md"), &file("twice", "First."));
    write(&scene, &place("b.md"), &file("twice", "Second."));
    write(&scene, &place("up.md"), &file("../../../etc/passwd", "Up."));
    write(&scene, &place("list.md"), &file("list", "Listed."));
    write_at(&scene.path("outside.md"), &file("outside", "Out."));
    symlink(scene.path("outside.md"), scene.path("project/.claude/agents/link.md")).unwrap();
    symlink(scene.path("home"), scene.path("project/.gemini")).unwrap();
    let listed = scene.run(&["expert", "--format", "json"]).json();
    let skipped = listed["skipped"].to_string();
    for why in [
        "U+001B in line 7 is invisible",
        "has the same name",
        "is the name of a command",
        "link.md",
        "big.md",
    ] {
        assert!(skipped.contains(why), "{why}: {skipped}");
    }
    let names = listed["experts"].to_string();
    assert!(names.contains("\"twice\"") && !names.contains("\"outside\""), "{names}");
    assert!(names.contains("\"etc-passwd\""), "{names}");
    answer(&ask(&scene, "architect", &[]));
}

#[test]
fn a_tier_has_the_agent_of_the_settings() {
    let scene = scene(&["Ok."]);
    scene.write_settings("[experts]\nfrontier = \"improver\"\n");
    let agent = |name: &str, more: &[&str]| ask(&scene, name, more).json()["agents"]["expert"].clone();
    assert_eq!(agent("architect", &[]), json!("improver"));
    assert_eq!(agent("designer", &[]), json!("executor"));
    assert_eq!(agent("architect", &["--agent", "evaluator"]), json!("evaluator"));
}

#[test]
fn an_expert_is_printed_in_another_programs_format() {
    let scene = scene(&[]);
    write(&scene, "dba.md", &file("dba", "You are a DBA."));
    let codex = scene.run(&["expert", "convert", "dba.md", "--to", "codex"]);
    assert!(codex.stdout.contains("name = \"dba\"") && codex.stdout.contains("You are a DBA."), "{codex:?}");
    assert!(codex.stderr.contains("left out: tools"), "{}", codex.stderr);
    write(&scene, "dba.toml", &codex.stdout);
    let claude = scene.run(&["expert", "convert", "dba.toml", "--to", "claude"]);
    assert!(claude.stdout.starts_with("---\nname: \"dba\"\n"), "{claude:?}");
    assert!(scene.refusal(&["expert", "convert", "missing.md", "--to", "codex"]).contains("cannot convert"));
}

#[test]
fn a_run_of_an_expert_has_no_versions_and_is_listed_among_the_others() {
    let scene = scene(&["Ok."]);
    answer(&ask(&scene, "architect", &[]));
    let run = scene.run_id();
    let listed = scene.run(&["list", "--loop", "expert"]).stdout;
    assert!(listed.contains("expert") && listed.contains("architect"), "{listed}");
    for line in [["diff", &run], ["apply", &run], ["export", &run]] {
        let line: Vec<&str> =
            if line[0] == "export" { vec!["export", &run, "champion", "out"] } else { line.to_vec() };
        let ran = scene.run(&line);
        assert_eq!(ran.code, Some(2), "{line:?}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    }
    assert_eq!(scene.run(&["status", &run]).code, Some(0));
    assert_eq!(scene.run(&["history", &run]).code, Some(0));
    assert_eq!(scene.run(&["report", &run]).code, Some(0));
}
