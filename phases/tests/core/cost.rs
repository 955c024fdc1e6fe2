//! The cost of a search itself: the time of its decisions as trials grow in number and size.
//!
//! `cargo test --release -p skilltune-phases --test core cost -- --ignored --nocapture`

use std::collections::HashMap;
use std::time::{Duration, Instant};

use skilltune_phases::base::id::{CandidateId, Digest, TreeId};
use skilltune_phases::judging::contract::{CriterionId, Verdict};
use skilltune_phases::loops::tune::search::explanation;
use skilltune_phases::loops::tune::{Outcome, Plan, Run, Search, Step};
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;

use crate::world::{Drive, improved, plan, stated, tree, well};

/// Gives each scenario statements of its own.
fn suite(scenarios: usize, statements: usize, runs: u32) -> Plan {
    let mut plan = plan(1, scenarios);
    plan.task.rules.search = Search::Draft { runs, drawn: true, tests: 0 };
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        let statement = |of: usize| {
            let how = How::Question { text: format!("Task {nth} shows what is asked in line {of}.").into() };
            Demand::new(format!("statement-{of}").parse().expect("a plain name"), how)
        };
        scenario.demands = (0..statements).map(statement).collect();
        scenario.held_out = nth % 3 == 2;
    }
    plan
}

/// The statements that each version meets, by tree. Edits fix about as many as they break, so the search never settles.
struct Skills(HashMap<TreeId, Vec<bool>>);

impl Skills {
    fn answer(&mut self, run: &Run, step: &Step, nth: usize) -> Outcome {
        let roll = |of: usize| {
            let digest = Digest::of_parts([&nth.to_le_bytes()[..], &of.to_le_bytes()]);
            usize::from(digest.as_bytes()[0]) * 256 + usize::from(digest.as_bytes()[1])
        };
        let tree_of = |candidate: &CandidateId| run.candidate(*candidate).expect("one of the run").trees[0];
        match step {
            Step::Grade { candidate, trial, .. } => {
                let (met, each) = (&self.0[&tree_of(candidate)], run.plan.task.scenarios[0].demands.len());
                stated(run, trial.scenario, |of| {
                    let slips = roll(of) % 10 == 0;
                    if met[trial.scenario * each + of] == slips { Verdict::Fail } else { Verdict::Pass }
                })
            }
            Step::Improve { base, .. } => {
                let mut met = self.0[&tree_of(base)].clone();
                for (aim, id) in run
                    .state
                    .rounds
                    .last()
                    .iter()
                    .flat_map(|round| round.targets.iter().flatten())
                    .enumerate()
                {
                    if roll(aim) % 10 < 7 {
                        met[place(run, id)] = true;
                    }
                    let all = met.len();
                    met[roll(aim + 100) % all] = false;
                }
                let name = format!("version {nth}");
                self.0.insert(tree(&name), met);
                improved(&name)
            }
            _ => well(run, step, 50),
        }
    }
}

/// Returns the index of a statement among those of all scenarios.
fn place(run: &Run, id: &CriterionId) -> usize {
    let mut all = run
        .plan
        .task
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.demands.iter().map(|one| scenario.criterion(one)));
    all.position(|one| one == *id).expect("a statement of the suite")
}

/// Returns how long the decisions of each trial took, and the finished run.
fn timed(scenarios: usize, statements: usize, runs: u32) -> (Vec<Duration>, Drive) {
    let plan = suite(scenarios, statements, runs);
    let start = (0..scenarios * statements).map(|nth| nth % 5 < 2).collect();
    let mut skills = Skills([(plan.task.target.members[0].start, start)].into());
    let mut drive = Drive::start(plan);
    let (mut times, mut rounds, mut spent) = (Vec::new(), 1, Duration::ZERO);
    loop {
        let begun = Instant::now();
        let step = drive.due(1).pop();
        spent += begun.elapsed();
        let Some(step) = step.filter(|_| drive.run.state.stopped.is_none()) else { break };
        if drive.run.state.rounds.len() > rounds {
            times.push(std::mem::take(&mut spent));
            rounds = drive.run.state.rounds.len();
        }
        let outcome = skills.answer(&drive.run, &step, drive.records.len());
        let begun = Instant::now();
        drive.done(step, outcome);
        spent += begun.elapsed();
    }
    (times, drive)
}

#[test]
#[ignore = "it prints times, which are no test"]
#[expect(clippy::print_stdout, reason = "whoever runs it wants to read them")]
fn what_the_decisions_of_a_search_cost() {
    println!("scenarios  statements each  trials  first tenth  last tenth  slowest  explained once");
    for (scenarios, statements) in [(20, 5), (20, 50), (60, 50)] {
        for runs in [250, 500, 1000] {
            let (times, drive) = timed(scenarios, statements, runs);
            let tenth = times.len() / 10;
            assert!(tenth > 0, "only {} trials", times.len());
            let mean = |times: &[Duration]| {
                times.iter().sum::<Duration>() / u32::try_from(times.len()).expect("a small number")
            };
            let begun = Instant::now();
            assert_eq!(explanation::of(&drive.run).len(), drive.run.state.rounds.len());
            println!(
                "{scenarios:9}  {statements:15}  {:6}  {:>11.1?}  {:>10.1?}  {:>7.1?}  {:>14.1?}",
                times.len(),
                mean(&times[..tenth]),
                mean(&times[times.len() - tenth..]),
                times.iter().max().expect("there are some"),
                begun.elapsed()
            );
        }
    }
}
