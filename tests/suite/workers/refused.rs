//! Workers that make no calls, or not all: each says why in one line, and the calls go elsewhere or the run pauses.

use super::*;

use crate::background::{Background, Gate};

/// The greeting of an older program.
const OLD: &str = r#"{"skilltune_worker":1,"program":"0.0.1","machine":"old"}"#;
/// The greeting of a program with other frames.
const OTHER: &str = r#"{"skilltune_worker":2,"program":"9.0.0","machine":"other"}"#;

/// Returns the lines of a shell that say only this.
fn saying(line: &str) -> String {
    format!("printf '%s\\n' '{line}'\nexec cat > /dev/null")
}

fn why_old() -> String {
    format!(
        "it has skilltune 0.0.1 with protocol 1, and this is {} with protocol 1",
        env!("CARGO_PKG_VERSION")
    )
}

#[test]
fn what_a_login_script_prints_changes_nothing() {
    let scene = scene(&rising(), &["den"]);
    let page = r#"printf 'Welcome to den.\n\n{"news": 1}\n\377\nLast login: today '"#;
    settle(&scene, &[("den", shell(page, worker(&scene, "den")))]);
    let ran = tune(&scene, "den", &[]);
    assert_eq!(End::of(&scene, &ran), End::here(&[]), "{ran:?}");
    assert_eq!((makers(&scene).len(), refusals(&scene)), (1, Vec::new()));
}

#[test]
fn a_worker_of_another_version_or_with_other_frames_is_refused_once_and_the_others_make_the_calls() {
    let scene = scene(&rising(), &["den"]);
    let workers = [
        ("old", shell(&saying(OLD), Vec::new())),
        ("other", shell(&saying(OTHER), Vec::new())),
        ("den", worker(&scene, "den")),
    ];
    settle(&scene, &workers);
    let ran = tune(&scene, "old,other,den", &[]);
    assert_eq!(End::of(&scene, &ran), End::here(&[]), "{ran:?}");
    assert_eq!(makers(&scene), BTreeSet::from(["den".to_owned()]));
    let refused = refusals(&scene);
    let names: Vec<&str> = refused.iter().map(|(worker, _)| worker.as_str()).collect();
    assert_eq!((names, &refused[0].1), (vec!["old", "other"], &why_old()));
    assert!(!refused[1].1.is_empty() && !refused[1].1.contains('\n'), "{refused:?}");
    let history = scene.run(&["history"]).stdout;
    assert!(history.contains(&format!("worker old makes no such calls: {}", why_old())), "{history}");
}

#[test]
fn an_agent_that_no_worker_is_for_is_refused_with_the_setting_that_says_so() {
    let scene = scene(&rising(), &["den"]);
    let file = scene.path("config/skilltune/skilltune.toml");
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{settings}agents = [\"other\"]\n")).unwrap();
    let refusal = scene.refusal(&[&TUNE[..], &["den"]].concat());
    assert!(refusal.contains("no chosen worker has it among its `agents`"), "{refusal}");
}

#[test]
fn a_worker_that_has_no_place_for_calls_says_why_in_a_frame() {
    let scene = scene(&rising(), &["den"]);
    fs::write(scene.path("den/.cache"), "a file").unwrap();
    let refusal = scene.refusal(&[&TUNE[..], &["den"]].concat());
    assert!(refusal.contains("caused by: den: could not open "), "{refusal}");
}

#[test]
fn without_a_worker_for_a_call_the_run_pauses_and_says_why_of_each_and_runs_nothing_here() {
    let scene = scene(&rising(), &["den"]);
    fs::create_dir(scene.path("bare")).unwrap();
    let changed = format!("if {}; then\n{}\nfi", has_begun(&scene), saying(OLD));
    let bare = ("bare", worker(&scene, "bare"));
    let (changed, same) = (shell(&changed, worker(&scene, "den")), worker(&scene, "den"));
    let settle_with = |den: Vec<String>| {
        settle(&scene, &[("den", den), bare.clone()]);
        // This machine has the agents too.
        let path = scene.path("config/skilltune/skilltune.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text + &agents(&scene, &[FAKE_AGENT], "")).unwrap();
    };
    settle_with(changed);
    let paused = tune(&scene, "den,bare", &[]);
    assert_eq!((paused.code, &paused.json()["outcome"]), (Some(4), &json!("paused")), "{paused:?}");
    let blocked = paused.json()["blocked"].clone();
    let why = format!("no worker makes this call (den: {}; bare: unknown agent `executor`)", why_old());
    assert_eq!((&blocked["kind"], &blocked["why"]), (&json!("no_worker"), &json!(why)), "{paused:?}");
    assert!(scene.calls().is_empty(), "no agent was called");
    assert_eq!(scene.alive(), [0; 0]);

    settle_with(same);
    let ran = scene.run(&RESUME);
    assert_eq!(End::of(&scene, &ran), End::here(&[]), "{ran:?}");
    assert!(makers(&scene).contains("den"), "the plan's workers go on");
    let calls = calls(&scene);
    let mut answered = calls.iter().filter(|call| call["outcome"]["failed"].is_null());
    assert!(answered.all(|call| call["machine"]["worker"] == "den"), "{calls:?}");
}

/// The worker that makes all calls is kept busy until the other one was asked.
#[test]
fn a_worker_without_the_agent_or_with_another_script_makes_none_of_its_calls() {
    const MORE: [&str; 16] = SEVEN_MORE;
    let scene = scene(&rising(), &[]);
    for (name, more) in [("den", ""), ("attic", "# another\n")] {
        let program = scene.path(name).join("agent.sh");
        fs::create_dir(scene.path(name)).unwrap();
        fs::write(&program, format!("{more}exec \"{FAKE_AGENT}\" \"$@\"\n")).unwrap();
        describe(&scene, name, &["/bin/sh", program.to_str().unwrap()], "");
    }
    fs::create_dir(scene.path("bare")).unwrap();
    let noting = format!(": > {}", scene.path("asked").display());
    let workers = [
        ("bare", worker(&scene, "bare")),
        ("den", worker(&scene, "den")),
        ("attic", shell(&noting, worker(&scene, "attic"))),
    ];
    settle(&scene, &workers);
    let gate = Gate::before("executor", &scene, rising());
    let run = Background::start(&scene, &[&TUNE[..], &["bare,den,attic"], &MORE].concat());
    assert!(run.until(|scene| scene.path("asked").exists()), "it ended before");
    gate.open();
    let ran = run.wait();
    assert_eq!(End::of(&scene, &ran), End::here(&MORE), "{ran:?}");
    assert_eq!(makers(&scene), BTreeSet::from(["den".to_owned()]));
    let refused = refusals(&scene);
    let whys = |worker: &str| -> Vec<String> {
        refused.iter().filter(|(name, _)| name == worker).map(|(_, why)| why.clone()).collect()
    };
    assert_eq!(
        whys("bare"),
        ["evaluator", "executor", "improver"].map(|role| format!("unknown agent `{role}`"))
    );
    let why = |role: &str| format!("its {role} is not the one of the run: other script agent.sh");
    let attic = whys("attic");
    assert!(attic.contains(&why("executor")), "{refused:?}");
    assert!(attic.iter().all(|one| ROLES.iter().any(|role| *one == why(role))), "{refused:?}");
    assert_eq!(attic.len(), attic.iter().collect::<BTreeSet<_>>().len(), "each is said once");
}

const SUITE: &str = r#"
[[scenarios]]
id = "one"
description = "Write it"

[[scenarios.checks]]
id = "told"
command = ["grep", "-q", "quality", "out.md"]
"#;

const GRADED: [&str; 12] = [
    "tune",
    "writer",
    "--suite",
    "suite.toml",
    "--this-suite-only",
    "--trust",
    "--yes",
    "--format",
    "json",
    "--seed",
    "7",
    "--max-iterations",
];

#[test]
fn commands_of_a_suite_run_only_on_workers_that_allow_them() {
    const WHY: &str = "it runs no commands of suites and projects; start it with --allow-commands to let it";
    let graded = |scene: &Scene, more: &[&str]| {
        fs::write(scene.path("project/suite.toml"), SUITE).unwrap();
        scene.run(&[&GRADED[..], &["1"], more].concat())
    };
    let here = Scene::new(&[("writer", 40)], &rising());
    let ran = graded(&here, &[]);
    let here = End::of(&here, &ran);
    assert!(here.decided.iter().any(|decided| decided["scored"]["score"] == 100.0), "{ran:?}");

    let scene = scene(&rising(), &["closed", "open"]);
    let mut open = worker(&scene, "open");
    open.push("--allow-commands".to_owned());
    settle(&scene, &[("closed", worker(&scene, "closed")), ("open", open)]);
    let ran = graded(&scene, &["--workers", "closed,open"]);
    assert_eq!(End::of(&scene, &ran), here, "{ran:?}");
    // It is asked only if it has a slot when a check is due.
    assert!(refusals(&scene).iter().all(|(worker, why)| worker == "closed" && why == WHY), "{ran:?}");
    let calls = calls(&scene);
    let checks: Vec<_> = calls.iter().filter(|call| !call["step"]["check"].is_null()).collect();
    assert!(!checks.is_empty(), "{calls:?}");
    assert!(checks.iter().all(|check| check["machine"]["worker"] == "open"), "{checks:?}");

    let scene = super::scene(&rising(), &["closed"]);
    let paused = graded(&scene, &["--workers", "closed"]);
    let blocked = paused.json()["blocked"].clone();
    let why = format!("no worker makes this call (closed: {WHY})");
    assert_eq!((paused.code, &blocked["kind"]), (Some(4), &json!("no_worker")), "{paused:?}");
    assert_eq!(blocked["why"], why, "{paused:?}");
}
