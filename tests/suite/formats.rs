//! `-q`, `-v` and `--format json` mean the same in every command.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::blocked::{self, ONCE, with_claude};
use crate::cli_texts::subcommands;
use crate::finished::won;
use crate::night::{Nights, WRITER, climbs, suite};
use crate::readme::steady;
use crate::scene::{Ran, Scene};
use crate::{evolve_again, evolve_draft, evolve_verify, gan, reflex, review};

/// The commands without `--format`, and why they have no result for a program.
const TEXTS: [(&str, &str); 9] = [
    ("", "names the commands"),
    ("reflex", "has only commands"),
    ("suite", "has only commands"),
    ("config", "has only commands"),
    ("config schema", "prints a JSON schema"),
    ("demo", "explains itself to a person"),
    ("completions", "prints a script"),
    ("man", "prints manual pages"),
    ("step", "speaks in frames, or writes a reply"),
];

/// `RUN` is the run of the scene, `TASK` a text.
const OF_TUNE: [&str; 28] = [
    "status RUN",
    "list",
    "history RUN",
    "show RUN",
    "show RUN 1",
    "show RUN best",
    "diff RUN",
    "diff RUN start",
    "report RUN",
    "export RUN best copy",
    "resume RUN",
    "stop RUN",
    "rollback RUN",
    "rollback RUN",
    "apply RUN",
    "tune writer page --yes --max-iterations 1",
    "calibrate writer --suite suite.toml --yes",
    "lint writer",
    "suite check suite.toml",
    "suite convert suite.toml --to evals --out evals.json",
    "suite add --from suite.toml s1 --to more.toml",
    "suite add --from suite.toml s1 --to more.toml",
    "suite new writer --to new.toml --scenarios 1",
    "trust suite.toml",
    "config show",
    "doctor",
    "clean RUN --dry-run",
    "clean RUN --yes",
];
const COMPARE: &str = "compare none writer --suite suite.toml --yes";
const REGRADE: &str = "regrade RUN --yes";
const INIT: &str = "init --suite page";
const REFLEX_NEW: &str = "reflex new TASK --template docs --yes";
const OF_REFLEX: [&str; 10] = [
    "reflex status RUN",
    "reflex list",
    "reflex history RUN",
    "reflex show RUN 1",
    "reflex diff RUN",
    "reflex report RUN",
    "reflex export RUN best copy",
    "reflex resume RUN",
    "reflex stop RUN",
    "reflex clean RUN --yes",
];
/// A run of `reflex` has no target, so these always refuse.
const REFUSED: [&str; 2] = ["reflex apply RUN", "reflex rollback RUN"];
const GAN: &str = "gan brief.md --profile plain.yaml --into site --no-browser --yes";
const OF_EXPERT: [&str; 5] = [
    "expert designer TASK --yes",
    "expert new dba Knows --yes",
    "expert list",
    "expert convert .agents/experts/dba.md --to codex",
    "expert",
];
const REVIEW: &str = "review --yes";
const EVOLVE: &str = "evolve spec.md --yes --roles none --jobs 1 --commands run --no-oracles";
const RERUN: &str = "evolve rerun b RUN --yes --roles none --jobs 1 --commands run --no-oracles";
const DRAFT: &str = "evolve draft TASK --yes";
const VERIFY: &str = "evolve verify skilltune/spec --trust";
const OF_NIGHT: [&str; 12] = [
    "night status",
    "night",
    "night run writer",
    "night list",
    "night status",
    "night doctor",
    "night ack writer",
    "night dismiss writer",
    "trend writer",
    "night add other --suite suite.toml",
    "night install --print cron",
    "night uninstall",
];
const MERGE: &str = "night merge RUN";

/// Runs a command with `--format json`. Everything on stdout must be one JSON value.
fn value(scene: &Scene, run: &str, line: &str) -> Value {
    let ran = with_format(scene, run, line);
    assert!(!matches!(ran.code, None | Some(1 | 2)), "{line}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{line}: {error}: {ran:?}"))
}

fn with_format<'a>(scene: &Scene, run: &'a str, line: &'a str) -> Ran {
    let word = |word: &'a str| match word {
        "RUN" => run,
        "TASK" => reflex::TASK,
        word => word,
    };
    let words: Vec<&str> = line.split(' ').map(word).chain(["--format", "json"]).collect();
    let mut command = scene.command(&words);
    if line == "night uninstall" {
        // It must not look into the scheduler of this machine.
        command.env("PATH", scene.path("bin"));
    }
    Ran::of(command.output().unwrap())
}

/// Returns the values of a command of `OF_TUNE`.
fn of<'a>(results: &'a [Value], line: &str) -> Vec<&'a Value> {
    OF_TUNE.iter().zip(results).filter(|(of, _)| **of == line).map(|(_, one)| one).collect()
}

fn id(result: &Value) -> String {
    result["run_id"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

/// Returns a command and all below it, each with whether it has `--format`.
fn commands(scene: &Scene, above: &[&str]) -> Vec<(String, bool)> {
    let ran = scene.run(&[above, &["--help"]].concat());
    assert_eq!(ran.code, Some(0), "{above:?}: {ran:?}");
    let below = subcommands(&ran.stdout).flat_map(|name| commands(scene, &[above, &[name]].concat()));
    let below: Vec<_> = below.collect();
    [(above.join(" "), ran.stdout.contains("--format <FORMAT>"))].into_iter().chain(below).collect()
}

#[test]
fn every_command_with_a_result_has_the_flag_and_a_test_here() {
    let all = commands(&Scene::empty(), &[]);
    assert!(all.len() > 50, "commands below commands are found: {all:?}");
    let lines = [&OF_TUNE[..], &OF_REFLEX, &REFUSED, &OF_EXPERT, &OF_NIGHT].concat();
    let single = [COMPARE, REGRADE, INIT, REFLEX_NEW, GAN, REVIEW, EVOLVE, RERUN, DRAFT, VERIFY, MERGE];
    let begins = |line: &str, name: &str| line == name || line.starts_with(&format!("{name} "));
    let tested = |line: &&str| {
        let names = all.iter().map(|(name, _)| name.as_str()).filter(|name| begins(line, name));
        names.max_by_key(|name| name.len()).unwrap_or_else(|| panic!("{line} is no command"))
    };
    let tested: BTreeSet<&str> = lines.iter().chain(&single).map(tested).collect();
    for (name, has_format) in &all {
        let is_text = TEXTS.iter().any(|(text, _)| text == name);
        assert_eq!(*has_format, !is_text, "`{name}` has --format, or is a text");
        assert_eq!(tested.contains(name.as_str()), *has_format, "`{name}` is tested here");
    }
}

#[test]
fn commands_on_runs_skills_and_suites_print_one_value() {
    let scene = won();
    let scenarios = json!([{ "id": "one", "task": "Write about tides", "expectations": ["It names it."] }]);
    scene.write_script(&json!({ "improve": { "writer": { "40": 60, "60": 90 } }, "scenarios": scenarios }));
    fs::write(scene.path("project/suite.toml"), suite(12)).unwrap();
    let run = scene.run_id();
    let results = OF_TUNE.map(|line| value(&scene, &run, line));
    let one = |line: &str| of(&results, line)[0];
    let history = one("history RUN").as_array().unwrap();
    assert!(history[0]["event"]["started"].is_object() && history.len() > 5, "{history:?}");
    assert_eq!(one("show RUN")["run_id"], json!(run));
    assert!(one("show RUN 1")["text"].as_str().unwrap().contains("# Iteration 1 Evaluation"));
    let changed = &one("diff RUN")["changed"];
    assert_eq!((&changed[0]["name"], &changed[0]["files"][0]), (&json!("writer"), &json!("M SKILL.md")));
    assert_eq!(one("diff RUN start")["changed"], json!([]));
    let outcomes = |line: &str| -> Vec<Value> {
        of(&results, line).into_iter().map(|one| one["outcome"].clone()).collect()
    };
    assert_eq!(outcomes("rollback RUN"), ["restored", "unchanged"]);
    assert_eq!(outcomes("suite add --from suite.toml s1 --to more.toml"), ["added", "unchanged"]);
    for (line, outcome) in [
        ("apply RUN", "applied"),
        ("stop RUN", "not_running"),
        ("export RUN best copy", "copied"),
        ("suite new writer --to new.toml --scenarios 1", "written"),
        ("trust suite.toml", "trusted"),
        ("clean RUN --dry-run", "would_delete"),
        ("clean RUN --yes", "deleted"),
    ] {
        assert_eq!(outcomes(line), [outcome], "{line}");
    }
    let skill = scene.skill("writer");
    assert_eq!(one("apply RUN")["paths"], json!([skill.display().to_string()]));
    assert_eq!(one("apply RUN")["version"], one("rollback RUN")["replaced"]);
    assert_eq!(one("clean RUN --yes")["runs"][0]["run_id"], json!(run));
    assert!(!scene.run_folders().iter().any(|folder| folder.ends_with(&run)));
}

#[test]
fn comparisons_and_a_new_project_print_one_value() {
    let scene = Scene::new(&[("writer", 80)], &json!({}));
    fs::write(scene.path("project/suite.toml"), suite(5)).unwrap();
    let compared = id(&value(&scene, "", COMPARE));
    value(&scene, &compared, REGRADE);
    let scene = Scene::empty();
    let wrote = value(&scene, "", INIT)["paths"].clone();
    let paths = ["skilltune.toml", "suite.toml"].map(|name| scene.path("project").join(name));
    assert_eq!(wrote, json!(paths.map(|path| path.display().to_string())));
}

#[test]
fn commands_of_reflex_and_gan_print_one_value() {
    let scene = Scene::new(&[], &json!({ "reflex": { "produced": { "1": reflex::PASSES_A } } }));
    let run = id(&value(&scene, "", REFLEX_NEW));
    for line in REFUSED {
        let ran = with_format(&scene, &run, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {ran:?}");
    }
    for line in OF_REFLEX {
        value(&scene, &run, line);
    }
    let scene = gan::building(&[&gan::ALL]);
    let run = id(&value(&scene, "", GAN));
    assert_eq!(value(&scene, &run, "rollback RUN")["outcome"], "restored");
    assert_eq!(value(&scene, &run, "diff RUN")["run_id"], json!(run));
}

#[test]
fn experts_and_reviews_print_one_value() {
    let draft = "---\nname: dba\ndescription: Knows Postgres.\n---\n\nYou are a DBA.\n";
    let scene = Scene::new(&[], &json!({ "expert": ["It depends.", draft] }));
    for line in OF_EXPERT {
        value(&scene, "", line);
    }
    value(&review::broken().scene, "", REVIEW);
}

#[test]
fn commands_of_evolve_print_one_value() {
    let project = evolve_again::Project::new();
    project.script(&json!({ "b": [{ "fails": true }] }));
    let run = id(&value(&project.git.scene, "", EVOLVE));
    project.script(&json!({}));
    value(&project.git.scene, &run, RERUN);
    let draft = [evolve_draft::FREE, "\n## Assumptions\n\n- sides are numbers\n"].concat();
    value(&evolve_draft::scene(&[&draft]), "", DRAFT);
    value(&evolve_verify::Project::new().git.scene, "", VERIFY);
}

#[test]
fn commands_of_nights_print_one_value() {
    let nights = Nights::new(&[("writer", 20), ("other", 70)], &climbs(), WRITER);
    for line in OF_NIGHT {
        value(&nights.scene, "", line);
    }
    let shard = Nights::new(&[("writer", 20)], &climbs(), WRITER);
    shard.night("2026-11-02", &["--shard", "1/1"]);
    let state = shard.scene.path("project/.skilltune/nights/skilltune-night").display().to_string();
    let merging = Nights::new(&[("writer", 20)], &climbs(), WRITER);
    assert!(value(&merging.scene, &state, MERGE)["headline"].is_string());
    assert_eq!(value(&merging.scene, &state, MERGE), json!({ "outcome": "unchanged" }));
}

const TUNE: [&str; 8] = ["tune", "writer", "write a page", "--yes", "--jobs", "1", "--seed", "7"];

/// Tunes a skill in a scene of its own.
fn tuned(more: &[&str]) -> (Scene, Ran) {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    let ran = scene.run(&[&TUNE[..], more].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    (scene, ran)
}

#[test]
fn a_quiet_run_prints_its_result_alone() {
    let stdout = |(scene, ran): &(Scene, Ran)| steady(&scene.normalized(&ran.stdout), &scene.path(""));
    let (usual, quiet) = (tuned(&[]), tuned(&["-q"]));
    assert_eq!(quiet.1.stderr, "");
    assert_eq!(stdout(&quiet), stdout(&usual));
    assert!(!usual.1.stderr.is_empty());
    for line in [&["rollback", "-q"][..], &["--quiet", "apply"], &["list", "-q"]] {
        let ran = quiet.0.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line:?}: {ran:?}");
    }
}

#[test]
fn a_quiet_error_says_what_failed() {
    let scene = Scene::new(&[("writer", 40)], &json!({}));
    let line = ["tune", "missing", "a page", "--yes"];
    let usual = scene.refusal(&line);
    assert!(usual.starts_with("error: "), "{usual}");
    assert_eq!(scene.refusal(&[&line[..], &["-q"]].concat()), usual);
    assert_eq!(scene.run(&["list", "-q", "-v"]).code, Some(2));
    let scene = with_claude();
    let paused = blocked::run(&scene, &[&ONCE[..], &["-q"]].concat());
    insta::assert_snapshot!(scene.normalized(&paused.stderr), @r"
    run RUN is paused; progress is saved
    running writer on scenario-1: is not logged in: Failed to authenticate. API Error: 401 fake 401
    hint: start `claude` and type /login, or set ANTHROPIC_API_KEY
    ");
}

/// Returns the lines about calls.
fn calls(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.starts_with("call: ")).collect()
}

#[test]
fn a_verbose_run_names_each_call_with_its_folder() {
    let (scene, ran) = tuned(&["-v", "--format", "json"]);
    let cost = &ran.json()["cost"];
    let named = calls(&ran);
    assert_eq!((json!(named.len()), &cost["cached"]), (cost["calls"].clone(), &json!(0)), "{ran:?}");
    let mut folders = BTreeSet::new();
    for line in named {
        let parts: Vec<&str> = line.split(", ").collect();
        assert!(parts[0].starts_with("call: ") && parts[2] == "cost unknown", "{line}");
        assert!(Path::new(parts[3]).join("prompt.md").exists(), "{line}");
        folders.insert(parts[3]);
    }
    assert_eq!(json!(folders.len()), cost["calls"], "each call has a folder of its own");
    // A person sees them between the other lines.
    let again = scene.run(&[&TUNE[..], &["--verbose"]].concat());
    let summary = scene.run(&["status", "--format", "json"]).json();
    let all = summary["cost"]["calls"].as_u64().unwrap() + summary["cost"]["cached"].as_u64().unwrap();
    assert_eq!(calls(&again).len() as u64, all, "{again:?}");
    assert!(again.stderr.contains("round 1 of "), "{again:?}");
}
