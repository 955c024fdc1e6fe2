//! An older binary and this one come to the same on random scripted runs of both loops: `just same-decisions OLD`.
//!
//! `SKILLTUNE_RUNS` says how many, `SKILLTUNE_SEED` with which script they begin.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Map, Value, json};

use crate::kill::{Random, setting};
use crate::reflex;
use crate::scene::{Listing, Ran, SKILLTUNE, Scene, listing};

/// A world, and what is run in it.
struct Case {
    skills: Vec<(&'static str, u32)>,
    script: Value,
    arguments: Vec<String>,
}

/// Everything but times, costs, paths, and the names of the run and of its calls.
#[derive(Debug)]
struct CameTo {
    code: Option<i32>,
    result: Value,
    decisions: Vec<Value>,
    /// In no order: several calls end when they like.
    steps: Vec<String>,
    files: Listing,
}

fn one_of<T: Clone>(random: &mut Random, all: &[T]) -> T {
    let chosen = random.below(all.len() as u64);
    all[usize::try_from(chosen).unwrap()].clone()
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// One skill or a chain, each version of a random quality, and agents with a fault in a third of the runs.
fn tune(random: &mut Random, jobs: &str) -> Case {
    let quality = |random: &mut Random| u32::try_from(10 + random.below(89)).unwrap();
    let names = one_of(random, &[&["writer"][..], &["writer"], &["outline", "writer", "editor"]]);
    let skills: Vec<_> = names.iter().map(|name| (*name, quality(random))).collect();
    let mut improve = Map::new();
    for &(name, start) in &skills {
        let mut from = start;
        let mut steps = Map::new();
        for _ in 0..random.below(6) {
            let to = quality(random);
            steps.insert(from.to_string(), to.into());
            from = to;
        }
        improve.insert(name.to_owned(), steps.into());
    }
    let mut script = json!({ "improve": improve });
    let (fault, with) = match random.below(24) {
        0 => ("rubbish", json!(true)),
        1 => ("claims", json!(true)),
        2 => ("words_only", json!(true)),
        3 => ("parrot", json!(true)),
        4 => ("executor_fails_at", json!([skills[0].1])),
        5 => ("style", json!("outside")),
        6 => ("style", json!("no_skill")),
        7 | 8 => ("style", json!("words")),
        _ => ("style", json!("in_place")),
    };
    script[fault] = with;
    let rounds = 1 + random.below(5);
    let goal = one_of(random, &[50, 70, 80, 95]);
    let mut arguments = words(&format!("--max-iterations {rounds} --threshold {goal} --jobs {jobs}"));
    let more = random.below(4);
    for other in 0..more {
        arguments.extend(["--scenario".to_owned(), format!("page {other}")]);
    }
    if more == 0 {
        // With more than one scenario it is chance which of two calls is the lucky first.
        script["lucky"] =
            json!({ quality(random).to_string(): 95, skills[0].1.to_string(): quality(random) });
    }
    let list = names.join(",");
    let chain = (names.len() > 1).then(|| "--chain".to_owned());
    let begin = ["tune", &list, "write a page"].map(str::to_owned);
    Case { skills, script, arguments: begin.into_iter().chain(chain).chain(arguments).collect() }
}

/// Texts with random sections, and answers that keep no contract in a third of the runs.
fn reflex(random: &mut Random, jobs: &str) -> Case {
    let some = |random: &mut Random| -> Vec<_> {
        let least = random.below(3);
        reflex::ALL.into_iter().filter(|_| random.below(4) >= least).collect()
    };
    let mut play = json!({ "produced": { "1": some(random) } });
    for iteration in 2..5 {
        if random.below(3) == 0 {
            play["refined"][iteration.to_string()] = json!(some(random));
        }
    }
    if random.below(4) == 0 {
        let rule = one_of(random, &reflex::ALL);
        play["verdicts"] = json!({ rule: one_of(random, &["pass", "warn", "fail"]) });
    }
    let odd = one_of(random, &["rubbish", "empty", "wrong_code"]);
    // Of several judges at once it is chance which is the first.
    let once = one_of(random, &["plan", "prepare", "critique", "refine", "produce"]);
    let ever = one_of(random, &["plan", "evaluate", "critique", "refine"]);
    match random.below(9) {
        0 | 1 => play["odd_once"] = json!({ once: odd }),
        2 => play["odd"] = json!({ ever: odd }),
        _ => {}
    }
    let rounds = 1 + random.below(5);
    let (a, b) = (one_of(random, &[50, 75, 90]), one_of(random, &[60, 85, 95]));
    let mut arguments = ["reflex", "new", reflex::TASK].map(str::to_owned).to_vec();
    arguments.extend(words(&format!(
        "--alias pump --template docs --max-iterations {rounds} --thresholds {a},{b} --proposals 0 --jobs {jobs}"
    )));
    Case { skills: Vec::new(), script: json!({ "reflex": play }), arguments }
}

fn case(seed: u64) -> Case {
    let mut random = Random(seed);
    let mut case = match seed % 4 {
        0 => tune(&mut random, "1"),
        1 => reflex(&mut random, "1"),
        2 => tune(&mut random, "4"),
        _ => reflex(&mut random, "4"),
    };
    case.arguments.extend(words(&format!("--yes --format json --seed {seed}")));
    case
}

fn came_to(binary: &str, case: &Case) -> CameTo {
    let scene = Scene::new(&case.skills, &case.script);
    let arguments: Vec<_> = case.arguments.iter().map(String::as_str).collect();
    let mut command = scene.command_of(binary, &[], &arguments);
    let ran = Ran::of(command.output().expect("the binary starts"));
    let mut result = ran.json();
    let fields = result.as_object_mut().expect("an object");
    for path in ["run_id", "target", "report", "state"] {
        fields.remove(path);
    }
    fields["cost"].as_object_mut().expect("an object").remove("seconds");
    if let Some(artifact) = fields.get_mut("artifact").and_then(Value::as_object_mut) {
        artifact.remove("path");
    }
    let mut steps: Vec<_> = scene.events("done").into_iter().map(without_call).collect();
    steps.sort();
    let texts = fs::read(scene.path("project/.ai-factory/evolution/pump/artifact.md"));
    let mut files: Listing = case.skills.iter().flat_map(|(name, _)| listing(&scene.skill(name))).collect();
    files.extend(texts.ok().map(|text| ("artifact.md".into(), 0, text)));
    CameTo { code: ran.code, result, decisions: scene.events("decided"), steps, files }
}

fn without_call(mut done: Value) -> String {
    done.as_object_mut().expect("an object").remove("call");
    done.to_string()
}

/// The first place where the two differ.
fn difference(old: &CameTo, new: &CameTo) -> Option<String> {
    let lines = |came_to: &CameTo| -> Vec<String> {
        let decisions = came_to.decisions.iter().map(|decision| format!("decision {decision}"));
        let steps = came_to.steps.iter().map(|step| format!("step {step}"));
        let result = format!("result {:?} {}", came_to.code, came_to.result);
        decisions.chain(steps).chain([result, format!("files {:?}", came_to.files)]).collect()
    };
    let (old, new) = (lines(old), lines(new));
    let at = (0..old.len().max(new.len())).find(|&at| old.get(at) != new.get(at))?;
    Some(format!("\n  old {:?}\n  new {:?}", old.get(at), new.get(at)))
}

#[test]
#[ignore = "needs an older binary: just same-decisions OLD"]
fn an_older_binary_decides_the_same_on_random_scripted_runs() {
    let old = std::env::var("SKILLTUNE_OLD").expect("SKILLTUNE_OLD names the older binary");
    let (first, runs) = (setting("SKILLTUNE_SEED", 1), setting("SKILLTUNE_RUNS", 200));
    let mut tally = BTreeMap::<String, usize>::new();
    let mut differences = Vec::new();
    for seed in first..first + runs {
        let case = case(seed);
        let (old, new) = std::thread::scope(|scope| {
            let other = scope.spawn(|| came_to(&old, &case));
            let new = came_to(SKILLTUNE, &case);
            (other.join().expect("the older binary has run"), new)
        });
        if let Some(difference) = difference(&old, &new) {
            differences.push(format!("seed {seed}: {:?}{difference}", case.arguments));
        }
        let [outcome, reason] = ["outcome", "reason"].map(|field| &new.result[field]);
        *tally.entry(format!("{}: {outcome}, {reason}", case.arguments[0])).or_default() += 1;
    }
    eprintln!("same decisions: {runs} runs from seed {first}, {} differ", differences.len());
    eprintln!("{tally:#?}");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
