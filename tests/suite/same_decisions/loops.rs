//! Random runs of `reflex` and `gan`.

use serde_json::{Value, json};

use super::case::{Act, Case, Chance, format, one_of, words};
use super::tune::begun;
use crate::kill::Random;
use crate::{gan, reflex};

/// Creates texts with random sections, and invalid answers in a third of the runs.
pub(super) fn reflex(random: &mut Random, seed: u64, jobs: &'static str) -> Case {
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
    // Which of several parallel judges comes first is random.
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
        "--alias pump --template docs --max-iterations {rounds} --thresholds {a},{b} --proposals 0"
    )));
    let acts = begun(random, arguments, seed, jobs);
    let kind = if jobs == "1" { "reflex" } else { "reflex, 4 jobs" };
    let fails = play["odd"].get("evaluate").is_some();
    let chance = if fails && jobs != "1" { Chance::FirstFailure } else { Chance::Nothing };
    Case { kind, jobs, skills: Vec::new(), script: json!({ "reflex": play }), acts, chance }
}

/// Creates builds that meet random criteria, usually more each time, with a contract negotiation in a third of the
/// runs.
pub(super) fn gan(random: &mut Random, seed: u64, jobs: &'static str) -> Case {
    let mut play = json!({ "builds": builds(random) });
    // A negotiation needs a draft.
    if random.below(8) > 0 {
        play["drafted"] = json!([{
            "id": "form.polite", "dimension": "form", "criterion": "It is polite.", "verification": "Read.",
            "must_pass": random.below(2) == 0, "weight": 2,
        }]);
    }
    let (proposed, ruled) = talk(random);
    (play["proposed"], play["ruled"]) = (proposed, ruled);
    match random.below(10) {
        0 => play["rubbish"] = json!([one_of(random, &["draft", "propose", "build", "judge", "second"])]),
        1 => play["leaves"] = one_of(random, &["AGENTS.md", "notes.txt", "src/main.js"]).into(),
        2 | 3 => {
            let verdict = one_of(random, &["passed", "failed", "unverified"]);
            play["second"] = json!({ one_of(random, &gan::ALL): verdict });
        }
        4 => {
            play["wanted"] =
                json!([{ "id": "form.colour", "text": "It has colour.", "verification": "Look." }]);
        }
        _ => {}
    }
    let acts = vec![
        Act::Write("brief.md", gan::BRIEF.to_owned()),
        Act::Write("plain.yaml", gan::PROFILE.to_owned()),
    ];
    let acts = acts.into_iter().chain(gan_acts(random, seed, jobs)).collect();
    let kind = if jobs == "1" { "gan" } else { "gan, 4 jobs" };
    Case { kind, jobs, skills: Vec::new(), script: json!({ "gan": play }), acts, chance: Chance::Nothing }
}

/// Returns what the builder proposes in up to two rounds, and the rulings. A ruling that cites no words of the brief is
/// invalid.
fn talk(random: &mut Random) -> (Value, Value) {
    let drop = json!({ "change": "drop", "id": "form.polite", "why": "nobody asked for it" });
    let soften = json!({ "change": "must_pass", "id": "form.polite", "must_pass": false, "why": "too hard" });
    let rounds = [vec![], vec![drop.clone()], vec![soften.clone()], vec![soften, drop]];
    let proposed: Vec<_> = (0..random.below(3)).map(|_| one_of(random, &rounds)).collect();
    let words = ["Say how it runs", "show prices", "show prices", "no such words"];
    let mut ruling = || json!([random.below(2) == 0, one_of(random, &words)]);
    let ruled: Vec<Vec<_>> = proposed.iter().map(|round| round.iter().map(|_| ruling()).collect()).collect();
    (json!(proposed), json!(ruled))
}

fn builds(random: &mut Random) -> Vec<Value> {
    let versions = 1 + random.below(4);
    let version = |nth: u64| {
        let mut met: Vec<_> =
            gan::ALL.into_iter().filter(|_| random.below(5) <= nth + 1).map(str::to_owned).collect();
        met.extend((random.below(6) == 0).then(|| "shows: form.padding".to_owned()));
        json!(met)
    };
    (0..versions).map(version).collect()
}

/// Returns the commands, in a third of the cases with a person's answer to a run that does not pass.
fn gan_acts(random: &mut Random, seed: u64, jobs: &str) -> Vec<Act> {
    let (rounds, goal) = (1 + random.below(5), one_of(random, &[60, 75, 100]));
    let level = one_of(random, &["minimal", "standard", "standard", "thorough"]);
    let mut line = format!(
        "gan brief.md --profile plain.yaml --into site --no-browser --level {level} --max-rounds {rounds} --threshold {goal}"
    );
    for (more, of) in [(" --contract", 4), (" --strict", 5), (" --minimums form=75", 6)] {
        // The lowest level has no contract to negotiate.
        if random.below(of) == 0 && (level == "standard" || more != " --contract") {
            line.push_str(more);
        }
    }
    if random.below(3) > 0 {
        return begun(random, words(&line), seed, jobs);
    }
    let begin = format!("{line} --seed {seed} --jobs {jobs} --format {}", format(random));
    let answer = one_of(random, &["force", "accept", "end", "abort"]);
    let resume = format!("resume {{run}} --answer {answer} --jobs {jobs} --format {}", format(random));
    vec![Act::Run(words(&begin)), Act::Run(words(&resume))]
}
