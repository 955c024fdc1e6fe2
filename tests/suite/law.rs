//! Runs `tune --runs` with the real binary in a world of `skilltune-research`. Its agents are programs that read and
//! write real files and err like the simulated ones; the results must be equal.
//!
//! Each agent draws by its input, and by how often that input occurred before. With one call at a time the order of
//! calls is known, so nothing differs. With more, the trials of a version on one scenario may swap draws.
//!
//! `SKILLTUNE_SEEDS` sets how many searches `just law` makes, `SKILLTUNE_SEED` the first seed, and `SKILLTUNE_JOBS` the
//! number of parallel calls.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skilltune_phases::judging::proof::Confidence;
use skilltune_research::{Estimate, Law, Policy, Skill, World, play_and_tell};

use crate::kill::setting;
use crate::scene::{SKILLTUNE, Scene};

/// The result of a search.
#[derive(Debug, PartialEq)]
struct CameTo {
    /// The true quality of the final skill, in points.
    quality: f64,
    /// The number of executor runs.
    runs: usize,
    decisions: Vec<Value>,
}

fn simulated(law: Law, seed: u64, runs: u32) -> CameTo {
    let (played, decisions) =
        play_and_tell(&World::new(law, seed), Policy::Draft, runs, Confidence::default());
    let decisions = decisions.iter().map(|one| serde_json::to_value(one).unwrap());
    CameTo { quality: played.end, runs: played.runs as usize, decisions: comparable(decisions) }
}

fn real(law: Law, seed: u64, runs: u32, jobs: u64) -> CameTo {
    let world = World::new(law, seed);
    let scene = scene(&world, &json!(law), seed);
    let [runs, seed, jobs] = [runs.to_string(), seed.to_string(), jobs.to_string()];
    let line = ["tune", "writer", "--suite", "suite.toml", "--yes", "--format", "json", "--threshold", "90"];
    let ran = scene.run(&[&line[..], &["--runs", &runs, "--seed", &seed, "--jobs", &jobs]].concat());
    // An inconsistent judge may be dismissed, and then the comparison has no judge.
    assert!(matches!(ran.code, Some(0 | 3 | 4)), "{ran:?}");
    let calls = scene.calls();
    let executed = calls.iter().filter(|(name, _)| name.starts_with("executor"));
    CameTo {
        quality: world.truth(&[skill(&scene)]),
        runs: executed.map(|(_, (_, answered))| answered).sum(),
        decisions: comparable(scene.events("decided").into_iter()),
    }
}

/// Writes the skill and the suite of a world as files.
fn scene(world: &World, law: &Value, seed: u64) -> Scene {
    let scene = Scene::new(&[("writer", 0)], &json!({}));
    let times = scene.path("times");
    scene.write_script(&json!({ "law": { "law": law, "seed": seed, "times": times } }));
    let page = scene.skill("writer").join("SKILL.md");
    let skill = serde_json::to_string(&world.start[0]).unwrap();
    let text = fs::read_to_string(&page).unwrap().replace("Quality: 0", &format!("Skill: {skill}"));
    fs::write(page, text).unwrap();
    let scenarios = world.scenarios.iter().map(|scenario| {
        let expectations = scenario.demands.iter().map(|demand| {
            let text = demand.how.question().unwrap();
            format!("{{ id = \"{}\", text = \"{text}\", weight = {} }}", demand.id, demand.weight)
        });
        let expectations: Vec<String> = expectations.collect();
        let (id, description) = (&scenario.id, &scenario.description);
        format!(
            "[[scenarios]]\nid = \"{id}\"\ndescription = \"{description}\"\nexpectations = [{}]\n",
            expectations.join(", ")
        )
    });
    fs::write(scene.path("project/suite.toml"), scenarios.collect::<String>()).unwrap();
    scene
}

fn skill(scene: &Scene) -> Skill {
    let text = fs::read_to_string(scene.skill("writer").join("SKILL.md")).unwrap();
    serde_json::from_str(text.lines().find_map(|line| line.strip_prefix("Skill: ")).unwrap()).unwrap()
}

/// Numbers hashes in order of appearance. Drops scores of the skill's text, because a simulated run has no such
/// criteria.
fn comparable(decisions: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut known = HashMap::new();
    let decisions = decisions.map(|mut decision| {
        number(&mut decision, &mut known);
        if let Some(scored) = decision.get_mut("scored").and_then(Value::as_object_mut) {
            scored.remove("dimensions").expect("the field is there");
        }
        decision
    });
    decisions.collect()
}

fn number(value: &mut Value, known: &mut HashMap<String, usize>) {
    match value {
        Value::String(text) if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            let next = known.len();
            *value = json!(known.entry(text.clone()).or_insert(next));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| number(item, known)),
        Value::Object(fields) => fields.values_mut().for_each(|field| number(field, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_real_program_decides_what_the_simulator_does_and_leaves_the_same_skill() {
    let harmful = Law { fixes: 0.3, breaks: 0.5, ..Law::default() };
    let overfitting = Law { overfits: 0.5, ..Law::default() };
    let easy = Law { start: 2, fixes: 1.0, breaks: 0.0, ..Law::default() };
    let mut shipped = 0;
    for (seed, law) in (0..).zip([Law::default(), harmful, overfitting, easy]) {
        let (simulated, real) = (simulated(law, seed, 32), real(law, seed, 32, 1));
        let decided = simulated.decisions.iter().zip(&real.decisions);
        for (nth, (simulated, real)) in decided.enumerate() {
            assert_eq!(real, simulated, "seed {seed}, decision {nth}");
        }
        assert_eq!(real, simulated, "seed {seed}");
        shipped += usize::from(real.decisions.iter().any(|decision| decision["close"] == "applied"));
    }
    assert!(shipped > 0, "a skill is replaced in one of these worlds");
}

/// Returns the held-out scenarios that the search of a run has tried, in their order.
fn tested(run: &Path) -> Vec<u64> {
    let text = fs::read_to_string(run.join("history.jsonl")).expect("the journal is there");
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON")["event"].take())
        .collect();
    let scenarios = &events[0]["started"]["scenarios"];
    let opened = events.iter().filter_map(|event| event["decided"]["open"]["scenarios"].as_array());
    let tried = opened.flatten().map(|nth| nth.as_u64().expect("a number"));
    tried
        .filter(|nth| scenarios[usize::try_from(*nth).expect("a small number")]["held_out"] == true)
        .collect()
}

#[test]
fn a_later_search_begins_with_held_out_scenarios_that_no_improver_has_seen() {
    let law = Law::default();
    let scene = scene(&World::new(law, 1), &json!(law), 1);
    let line = ["tune", "writer", "--suite", "suite.toml", "--apply", "never", "--runs", "16", "--yes"];
    let ran = scene.run(&line);
    assert!(ran.stderr.contains(" (held out)\n"), "{ran:?}");
    let first = scene.run_folders().remove(0);
    scene.run(&line);
    let then = scene.run_folders().into_iter().find(|run| *run != first).unwrap();
    let (first, then) = (tested(&first), tested(&then));
    assert_eq!((first.len(), then.len()), (6, 6), "{first:?} {then:?}");
    assert!(then[..4].iter().all(|nth| !first.contains(nth)), "four of ten are left: {first:?} {then:?}");
    assert!(then[4..].iter().all(|nth| first.contains(nth)), "{first:?} {then:?}");
}

#[test]
#[ignore = "hundreds of searches: `just law`"]
fn hundreds_of_real_searches_leave_what_the_simulator_says() {
    let (first, seeds) = (setting("SKILLTUNE_SEED", 0), setting("SKILLTUNE_SEEDS", 100));
    let jobs = setting("SKILLTUNE_JOBS", 1);
    let seeds: Vec<u64> = (first..first + seeds).collect();
    eprintln!("runs  seeds     simulated  real program    difference  other decisions");
    let budgets = [16, 32, 64, 128].map(|runs| {
        let pairs = of_all(&seeds, |seed| {
            (simulated(Law::default(), seed, runs), real(Law::default(), seed, runs, jobs))
        });
        let mean = |value: fn(&(CameTo, CameTo)) -> f64| {
            let one = Estimate::of(pairs.iter().map(value)).expect("there is a seed");
            (one.mean, format!("{:.1} ± {:.1}", one.mean, one.error))
        };
        let (_, simulated) = mean(|(simulated, _)| simulated.quality);
        let (_, real) = mean(|(_, real)| real.quality);
        let (difference, gap) = mean(|(simulated, real)| real.quality - simulated.quality);
        let others = pairs.iter().zip(&seeds).filter(|((simulated, real), _)| real != simulated);
        let others: Vec<u64> = others.map(|(_, seed)| *seed).collect();
        let count = seeds.len();
        eprintln!("{runs:>4}  {count:>5}  {simulated:>12}  {real:>12}  {gap:>12}  {:>15}", others.len());
        (difference, others)
    });
    for (difference, others) in budgets {
        assert!(difference.abs() <= 2.0, "{difference}");
        assert!(jobs > 1 || others.is_empty(), "other decisions with the seeds {others:?}");
    }
}

/// How often each verdict came.
type Verdicts = BTreeMap<String, usize>;

/// Runs a program in a world in which no edit changes anything, and counts the verdicts.
fn verdicts(program: &str, seeds: &[u64], line: &[&str]) -> Verdicts {
    let law = Law { fixes: 0.0, breaks: 0.0, ..Law::default() };
    let words = of_all(seeds, |seed| {
        let scene = scene(&World::new(law, seed), &json!(law), seed);
        // The same skill in another folder, with one line more.
        let (one, other) = (scene.skill("writer"), scene.skill("other"));
        fs::create_dir(&other).unwrap();
        let text = fs::read_to_string(one.join("SKILL.md")).unwrap().replace("name: writer", "name: other");
        fs::write(other.join("SKILL.md"), text).unwrap();
        let seed = seed.to_string();
        let more = ["--suite", "suite.toml", "--yes", "--format", "json", "--seed", &seed];
        let ran = scene.command_of(program, &[], &[line, &more].concat()).output().unwrap();
        let result: Value = String::from_utf8(ran.stdout)
            .unwrap()
            .lines()
            .last()
            .map_or(Value::Null, |line| serde_json::from_str(line).unwrap_or_default());
        result["verdict"].as_str().unwrap_or("none").to_owned()
    });
    words.into_iter().fold(Verdicts::new(), |mut counts, word| {
        *counts.entry(word).or_default() += 1;
        counts
    })
}

#[test]
#[ignore = "hundreds of searches and comparisons: `just useless`"]
fn equal_versions_win_no_more_often_than_the_confidence_allows() {
    let (first, seeds) = (setting("SKILLTUNE_SEED", 0), setting("SKILLTUNE_SEEDS", 150));
    let seeds: Vec<u64> = (first..first + seeds).collect();
    let older = std::env::var("SKILLTUNE_OLD");
    let programs =
        std::iter::once(("this program", SKILLTUNE)).chain(older.iter().map(|old| ("the older", &**old)));
    let compare = ["compare", ".claude/skills/writer", ".claude/skills/other"];
    let lines: [&[&str]; 3] =
        [&["tune", "writer", "--runs", "16"], &["tune", "writer", "--runs", "32"], &compare];
    for (name, program) in programs {
        for line in lines {
            let verdicts = verdicts(program, &seeds, line);
            eprintln!("{name}, {} times `{}`: {verdicts:?}", seeds.len(), line.join(" "));
            let wins = verdicts.get("win").copied().unwrap_or_default();
            // A tenth, and two standard errors.
            let most = seeds.len() / 10 + 2 * (seeds.len() * 9 / 100).isqrt();
            assert!(wins <= most, "{wins} wins, at most {most}");
        }
    }
}

/// Runs two searches at a time, and returns the results in the order of the seeds.
fn of_all<T: Send>(seeds: &[u64], search: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let search = |seeds: &[u64]| seeds.iter().map(|seed| search(*seed)).collect::<Vec<T>>();
    let (one, other) = seeds.split_at(seeds.len() / 2);
    std::thread::scope(|scope| {
        let one = scope.spawn(|| search(one));
        let other = search(other);
        one.join().expect("the searches have ended").into_iter().chain(other).collect()
    })
}
