//! The search policies to compare: their plan for a budget, when they end, and their result.

use skilltune_phases::base::id::CandidateId;
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::Score;
use skilltune_phases::judging::stop::Stall;
use skilltune_phases::loops::tune::{Decision, Ending, Plan, Rules, Run, Search};
use skilltune_phases::research;
use skilltune_phases::suites::split::split;

use super::plan::plan;
use super::world::World;

/// A way to spend a budget of executor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `tune --search rounds`: rounds over the scenarios of the search, then the exact comparison on the held-out
    /// scenarios.
    Rounds,
    /// The rounds of skill-iter-tune: all runs go into the search, and its best candidate is always applied.
    Original,
    /// Keeps the candidate that scored higher on one scenario.
    KeepBest,
    /// `tune`: one scenario per trial, and an edit for every fault that is probably real; then the exact comparison.
    Draft,
    /// Like `Draft` in a chain, but always edits the member with the lowest score, whatever is at fault.
    Lowest,
}

/// The candidate with which a policy replaces the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Left {
    pub(super) candidate: CandidateId,
    /// The claimed gain in points.
    pub(super) claimed: f64,
}

impl Policy {
    /// The policies that differ for a single skill.
    pub const ALL: [Self; 4] = [Self::Draft, Self::Rounds, Self::Original, Self::KeepBest];

    /// The policies that differ in a chain.
    pub const OF_CHAIN: [Self; 2] = [Self::Draft, Self::Lowest];
    /// All policies.
    pub const NAMED: [Self; 5] = [Self::Draft, Self::Rounds, Self::Original, Self::KeepBest, Self::Lowest];

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|policy| policy.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Original => "original",
            Self::KeepBest => "keep-best",
            Self::Draft => "draft",
            Self::Lowest => "lowest",
        }
    }

    /// With fewer executor runs than this, some policy cannot work.
    pub const FEWEST_RUNS: u32 = 16;
    /// The fewest scenarios with which every policy works, at any confidence.
    pub const FEWEST_SCENARIOS: usize = 6;

    /// Returns the plan for a budget of this many executor runs.
    pub(super) fn plan(self, world: &World, runs: u32, confidence: Confidence) -> Plan {
        let runs = runs as usize;
        // A trial of a chain runs each member.
        let trials = runs / world.start.len().max(1);
        match self {
            Self::Rounds => rounds(world, trials, confidence),
            Self::Draft | Self::Lowest => draft(world, runs, confidence),
            Self::Original => {
                let searched = (trials / ROUNDS).clamp(1, world.scenarios.len());
                let rules = rules(ROUNDS.min(trials / searched), 80.0, confidence);
                plan(world, world.scenarios[..searched].to_vec(), rules)
            }
            Self::KeepBest => {
                let never = Stall { window: usize::MAX, gain: 0.0, reaching: false };
                let rules = Rules { regress: 0.0, stall: never, ..rules(trials, 100.0, confidence) };
                plan(world, world.scenarios[..1].to_vec(), rules)
            }
        }
    }

    /// Returns true if a run has done what the policy wants, even if it could go on.
    pub(super) fn is_over(self, run: &Run) -> bool {
        match self {
            Self::Rounds | Self::Draft | Self::Lowest => false,
            Self::Original | Self::KeepBest => run.state.stopped.is_some(),
        }
    }

    /// Returns the replacement of the start, or `None` if the start stays.
    pub(super) fn left(self, run: &Run) -> Option<Left> {
        match self {
            Self::Rounds | Self::Draft | Self::Lowest => shipped(run),
            Self::Original | Self::KeepBest => best(run),
        }
    }

    /// Returns the policy's decision in place of `tune`'s.
    pub(super) fn decides(self, run: &Run, decision: Decision) -> Decision {
        match (self, decision, run.state.rounds.last()) {
            (Self::Lowest, Decision::Target { .. }, Some(round)) => research::target_lowest(run, round),
            (_, decision, _) => decision,
        }
    }
}

/// A search of fewer rounds measures too little.
const FEWEST_ROUNDS: usize = 4;
/// The default number; most searches stall earlier.
const ROUNDS: usize = 5;
/// The upper limit of the setting.
const MOST_TRIALS: usize = 20;
/// The share of scenarios that `tune` holds out by default, in per cent.
const HELD_OUT: u32 = 40;

/// Plans with the largest part of the suite that leaves enough rounds, divided like in `tune`. The budget for more than
/// five rounds is spent on more trials in the final comparison, as a user would do who knows that searches stall.
fn rounds(world: &World, runs: usize, confidence: Confidence) -> Plan {
    let fewest = confidence.fewest_pairs();
    let divided = |count: usize| {
        let mut scenarios = world.scenarios[..count].to_vec();
        split(&mut scenarios, HELD_OUT, fewest, world.seed);
        let pairs = scenarios.iter().filter(|scenario| scenario.held_out).count().max(1);
        let searched = (count - pairs).max(1);
        let trials = (runs.saturating_sub(ROUNDS * searched) / (2 * pairs)).clamp(1, MOST_TRIALS);
        let rounds = runs.saturating_sub(2 * pairs * trials) / searched;
        (scenarios, trials, rounds)
    };
    let counts = (fewest + 1..=world.scenarios.len()).rev().map(divided);
    let enough = counts.into_iter().find(|(_, _, rounds)| *rounds >= FEWEST_ROUNDS);
    let (scenarios, trials, rounds) =
        enough.unwrap_or_else(|| divided(world.scenarios.len().min(fewest + 1)));
    let confirm = u32::try_from(trials).unwrap_or(u32::MAX);
    plan(world, scenarios, Rules { confirm, ..rules(rounds, 90.0, confidence) })
}

/// Plans with all scenarios, divided like in `tune`.
fn draft(world: &World, runs: usize, confidence: Confidence) -> Plan {
    let mut scenarios = world.scenarios.clone();
    split(&mut scenarios, HELD_OUT, confidence.fewest_pairs(), world.seed);
    let runs = u32::try_from(runs).unwrap_or(u32::MAX);
    let rules = rules(0, 90.0, confidence);
    let mut plan = plan(world, scenarios, rules);
    plan.draft_with(runs, true);
    plan
}

/// Returns the default rules of `tune`.
fn rules(rounds: usize, goal: f64, confidence: Confidence) -> Rules {
    Rules {
        max_iterations: u32::try_from(rounds).unwrap_or(u32::MAX),
        threshold: Score::new(goal).expect("a goal is a score"),
        regress: 10.0,
        stall: Stall { window: 2, gain: 2.0, reaching: false },
        max_errors: 3,
        confirm: 1,
        confidence,
        extensions: 0,
        coverage: 0.8,
        search: Search::Rounds,
    }
}

/// Returns the candidate that the final comparison has shown to be better.
fn shipped(run: &Run) -> Option<Left> {
    let shipment = run.state.shipment.as_ref().filter(|_| run.state.closed == Some(Ending::Applied))?;
    Some(Left { candidate: shipment.champion, claimed: shipment.effect.map_or(0.0, |effect| effect.points) })
}

/// Returns the best candidate of the search, by its score there.
fn best(run: &Run) -> Option<Left> {
    let (candidate, score) = run.best().filter(|(candidate, _)| *candidate != run.start())?;
    let before = run.search_score(run.start()).map_or(0.0, Score::points);
    Some(Left { candidate, claimed: score.points() - before })
}
