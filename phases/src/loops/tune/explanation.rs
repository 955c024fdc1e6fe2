//! Why each round edited what it edited: what was believed when its targets were chosen, and after the next trial that told of them.

use super::drafting::PROBABLY_MET;
use super::{Round, Run};

pub use super::faults::{Fault, Look};

/// Why one round edited some of what failed in it, and left the rest alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// In the order in which they were chosen.
    pub targets: Vec<Fault>,
    /// The likeliest to be met first; none while the targets are still to be chosen.
    pub left_alone: Vec<(Fault, LeftAlone)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftAlone {
    /// It was met often enough in other trials.
    ProbablyMet,
    /// As many others as are edited at once are more pressing.
    OthersFirst,
    /// It was the last round.
    SearchEnded,
}

impl LeftAlone {
    pub const ALL: [Self; 3] = [Self::ProbablyMet, Self::OthersFirst, Self::SearchEnded];

    pub fn word(self) -> &'static str {
        match self {
            Self::ProbablyMet => "probably_met",
            Self::OthersFirst => "others_first",
            Self::SearchEnded => "search_ended",
        }
    }
}

/// One for each round of a run, in their order.
pub fn of(run: &Run) -> Vec<Explanation> {
    run.state.rounds.iter().map(|round| of_round(run, round)).collect()
}

/// Nothing, while the targets of a round are still to be chosen.
pub fn of_round(run: &Run, round: &Round) -> Explanation {
    if round.targets.is_none() && run.state.stopped.is_none() {
        return Explanation::default();
    }
    let is_target = |fault: &&Fault| round.targets.iter().flatten().any(|id| *id == fault.criterion);
    let others = round.faults.iter().filter(|fault| !is_target(fault));
    let mut left_alone: Vec<(Fault, LeftAlone)> =
        others.map(|fault| (fault.clone(), why_left_alone(round, fault.chance))).collect();
    left_alone.sort_by(|(one, _), (other, _)| other.chance.total_cmp(&one.chance));
    Explanation { targets: round.aims().cloned().collect(), left_alone }
}

fn why_left_alone(round: &Round, chance: f64) -> LeftAlone {
    match &round.targets {
        _ if chance >= PROBABLY_MET => LeftAlone::ProbablyMet,
        None => LeftAlone::SearchEnded,
        Some(_) => LeftAlone::OthersFirst,
    }
}
