//! Random searches and the other modes of `tune`: trials without a skill, calibrations, comparisons, regrades.

use serde_json::{Map, Value, json};

use super::case::{Act, Case, Chance, format, one_of, quality, words};
use crate::kill::Random;

/// Creates a search with one skill or a chain, each version of a random quality, and faulty agents in a third of the
/// runs.
pub(super) fn search(random: &mut Random, seed: u64, jobs: &'static str) -> Case {
    let names = one_of(random, &[&["writer"][..], &["writer"], &["outline", "writer", "editor"]]);
    let skills: Vec<_> = names.iter().map(|name| (*name, quality(random))).collect();
    let mut script = json!({ "improve": improvements(random, &skills) });
    let (fault, with) = fault(random, skills[0].1);
    script[fault] = with;
    let chance = if fault == "style" || jobs == "1" { Chance::Nothing } else { Chance::FirstFailure };
    let (rounds, goal) = (1 + random.below(5), one_of(random, &[50, 70, 80, 95]));
    let mut arguments = vec!["tune".to_owned(), names.join(","), "write a page".to_owned()];
    arguments.extend((names.len() > 1).then(|| "--chain".to_owned()));
    let more = random.below(4);
    for other in 0..more {
        arguments.extend(["--scenario".to_owned(), format!("page {other}")]);
    }
    if more == 0 {
        // With more than one scenario, which of two calls gets the lucky first score is random.
        script["lucky"] =
            json!({ quality(random).to_string(): 95, skills[0].1.to_string(): quality(random) });
    } else {
        arguments.push("--this-suite-only".to_owned());
    }
    // A draft search needs four scenarios, and most of these runs for its comparison.
    let runs = 12 * names.len() as u64 + random.below(8);
    arguments.extend(words(&match random.below(2) {
        1 if more == 3 => format!("--search draft --runs {runs}"),
        _ => format!("--search rounds --max-iterations {rounds}"),
    }));
    arguments.extend(words(&format!("--threshold {goal}")));
    let acts = begun(random, arguments, seed, jobs);
    let kind = if jobs == "1" { "tune" } else { "tune, 4 jobs" };
    Case { kind, jobs, skills, script, acts, chance }
}

/// Returns the improver's quality steps by skill.
fn improvements(random: &mut Random, skills: &[(&str, u32)]) -> Map<String, Value> {
    let mut improve = Map::new();
    for &(name, start) in skills {
        let mut from = start;
        let mut steps = Map::new();
        for _ in 0..random.below(6) {
            // Two of three edits improve the skill.
            let better = from + 5 + u32::try_from(random.below(40)).unwrap();
            let to = if random.below(3) > 0 { better.min(98) } else { quality(random) };
            steps.insert(from.to_string(), to.into());
            from = to;
        }
        improve.insert(name.to_owned(), steps.into());
    }
    improve
}

/// Returns a script field that makes an agent fail or edit differently.
fn fault(random: &mut Random, start: u32) -> (&'static str, Value) {
    match random.below(24) {
        0 => ("rubbish", json!(true)),
        1 => ("claims", json!(true)),
        2 => ("words_only", json!(true)),
        3 => ("parrot", json!(true)),
        4 => ("executor_fails_at", json!([start])),
        5 => ("style", json!("outside")),
        6 => ("style", json!("no_skill")),
        7 | 8 => ("style", json!("words")),
        _ => ("style", json!("in_place")),
    }
}

/// Returns the commands of a run that, in a sixth of the cases, pauses at a limit and is resumed. With parallel calls
/// it is random which of them are made before the pause. A dry run comes first.
pub(super) fn begun(random: &mut Random, mut line: Vec<String>, seed: u64, jobs: &str) -> Vec<Act> {
    line.extend(words(&format!("--yes --seed {seed} --jobs {jobs}")));
    let dry_run = Act::Run([&line[..], &words("--dry-run --format json")].concat());
    line.extend(words(&format!("--format {}", format(random))));
    if jobs != "1" || random.below(6) > 0 {
        return vec![dry_run, Act::Run(line)];
    }
    line.extend(words(&format!("--max-calls {}", 2 + random.below(6))));
    let resume = format!("resume {{run}} --yes --max-calls 400 --jobs {jobs} --format {}", format(random));
    vec![dry_run, Act::Run(line), Act::Run(words(&resume))]
}

/// Returns a suite of scenarios that ask for random qualities, each evaluated by a judge or a check.
fn suite(random: &mut Random, scenarios: u64) -> String {
    let one = |nth: u64| {
        let asked = match random.below(3) {
            0 => format!(
                "[[scenarios.checks]]\npattern = \"quality {}\"\nin = \"out.md\"",
                one_of(random, &["[5-9]", "[7-9]", "8"])
            ),
            least => {
                let statement =
                    |random: &mut Random| format!("\"Its quality is at least {}.\"", 5 * random.below(20));
                let all: Vec<_> = (0..least).map(|_| statement(random)).collect();
                format!("expectations = [{}]", all.join(", "))
            }
        };
        format!("[[scenarios]]\nid = \"s{nth}\"\ndescription = \"Task {nth}\"\n{asked}\n\n")
    };
    (1..=scenarios).map(one).collect()
}

fn write_suite(random: &mut Random, scenarios: u64) -> Act {
    Act::Write("suite.toml", suite(random, scenarios))
}

/// Makes some of the executor's trials fail.
fn flicker(random: &mut Random, script: &mut Value) {
    let share = one_of(random, &[0, 0, 20, 50]);
    script["flicker"] = json!({ "writer": [share, random.below(1000)] });
}

/// Returns the commands that regrade the newest run, with another suite or the same one.
fn regrade(random: &mut Random, scenarios: u64, jobs: &str) -> Vec<Act> {
    let line = format!("regrade {{run}} --yes --jobs {jobs} --format {}", format(random));
    let other = (random.below(3) > 0).then(|| write_suite(random, scenarios));
    other.into_iter().chain([Act::Run(words(&line))]).collect()
}

/// Creates a search with a partly held-out suite and an improver that raises the quality; half of the cases regrade the
/// comparison.
pub(super) fn with_suite(random: &mut Random, seed: u64) -> Case {
    let (jobs, scenarios) = (one_of(random, &["1", "4"]), 8 + random.below(5));
    let skills = vec![("writer", quality(random) / 2)];
    let mut script = json!({ "improve": improvements(random, &skills) });
    if random.below(2) == 0 {
        script["improve"]["writer"] = json!({ skills[0].1.to_string(): 60, "60": 85 });
    }
    flicker(random, &mut script);
    let spend = one_of(random, &["--runs 8", "--runs 16", "--search rounds --max-iterations 2"]);
    let apply = one_of(random, &["auto", "never"]);
    let line = format!("tune writer --suite suite.toml {spend} --apply {apply} --confidence 0.8");
    let mut acts = vec![write_suite(random, scenarios)];
    acts.extend(begun(random, words(&line), seed, jobs));
    if random.below(2) == 0 {
        acts.extend(regrade(random, scenarios, jobs));
    }
    Case { kind: "tune with a suite", jobs, skills, script, acts, chance: Chance::SameEvidence }
}

/// Creates a case of `suite check --try`, then `suite check`.
pub(super) fn without_skill(random: &mut Random) -> Case {
    let script = json!({ "unaided": quality(random) });
    let scenarios = 1 + random.below(6);
    let line = |random: &mut Random, more: &str| {
        let format = one_of(random, &["json", "human"]);
        Act::Run(words(&format!("suite check suite.toml --format {format}{more}")))
    };
    let tried = format!(" --try --yes --trials {}", 1 + random.below(3));
    let acts = vec![write_suite(random, scenarios), line(random, &tried), line(random, "")];
    // The number of jobs is a setting here; its default is 4.
    let skills = vec![("writer", 40)];
    Case { kind: "without a skill", jobs: "4", skills, script, acts, chance: Chance::SameEvidence }
}

pub(super) fn calibration(random: &mut Random, seed: u64) -> Case {
    let (jobs, scenarios) = (one_of(random, &["1", "4"]), 3 + random.below(10));
    let mut script = json!({});
    flicker(random, &mut script);
    let skills = vec![("writer", quality(random))];
    let line = format!("calibrate writer --suite suite.toml --trials {}", 2 + random.below(2));
    let mut acts = vec![write_suite(random, scenarios)];
    acts.extend(begun(random, words(&line), seed, jobs));
    Case { kind: "calibrate", jobs, skills, script, acts, chance: Chance::SameEvidence }
}

/// Creates a comparison of a skill with no skill or another one; two thirds of the cases regrade the trials.
pub(super) fn comparison(random: &mut Random, seed: u64) -> Case {
    let (jobs, scenarios) = (one_of(random, &["1", "4"]), 4 + random.below(5));
    let mut script = json!({ "unaided": quality(random) });
    flicker(random, &mut script);
    let skills = vec![("writer", quality(random)), ("other", quality(random))];
    let sides = one_of(random, &["none writer", "writer none", "writer other"]);
    let line =
        format!("compare {sides} --suite suite.toml --trials {} --confidence 0.8", 1 + random.below(2));
    let mut acts = vec![write_suite(random, scenarios)];
    acts.extend(begun(random, words(&line), seed, jobs));
    if random.below(3) > 0 {
        acts.extend(regrade(random, scenarios, jobs));
    }
    Case { kind: "compare", jobs, skills, script, acts, chance: Chance::SameEvidence }
}
