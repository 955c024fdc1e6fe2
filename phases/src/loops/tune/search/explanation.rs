//! The reasons for each round's edits: the beliefs when its targets were chosen, and after the next trial of them.

use super::drafting::PROBABLY_MET;
use crate::loops::tune::evidence::credit;
use crate::loops::tune::{Round, Run};
use crate::skills::target::Place;

pub use crate::loops::tune::evidence::faults::{Fault, Recheck};

/// The reasons why one round edited some of its faults and left the rest alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// In the order of choice.
    pub targets: Vec<Fault>,
    /// The most likely met first. Empty while the targets are not chosen yet.
    pub left_alone: Vec<(Fault, LeftAlone)>,
}

impl Explanation {
    /// Returns the chance of each member of a chain to be at fault for the targets, the most likely first.
    pub fn at_fault(&self) -> Vec<(Place, f64)> {
        let missed: f64 = self.targets.iter().map(|fault| 1.0 - fault.chance).sum();
        let share = |place: usize| -> f64 {
            let of = |fault: &Fault| (1.0 - fault.chance) * fault.at_fault.get(place).copied().unwrap_or(0.0);
            self.targets.iter().map(of).sum::<f64>() / missed
        };
        let members = self.targets.iter().map(|fault| fault.at_fault.len()).max();
        let members = members.filter(|_| missed > 0.0).unwrap_or(0);
        let mut shares: Vec<(Place, f64)> = (0..members).map(|nth| (Place(nth), share(nth))).collect();
        shares.sort_by(|one, other| other.1.total_cmp(&one.1));
        shares
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftAlone {
    /// It was met often enough in other trials.
    ProbablyMet,
    /// Enough other faults for one edit are more pressing.
    OthersFirst,
    /// Another member of the chain is probably at fault.
    OtherMember,
    /// It was the last round.
    SearchEnded,
}

impl LeftAlone {
    pub const ALL: [Self; 4] = [Self::ProbablyMet, Self::OthersFirst, Self::OtherMember, Self::SearchEnded];

    pub fn word(self) -> &'static str {
        match self {
            Self::ProbablyMet => "probably_met",
            Self::OthersFirst => "others_first",
            Self::OtherMember => "other_member",
            Self::SearchEnded => "search_ended",
        }
    }
}

/// Returns an explanation for each round of a run, in order.
pub fn of(run: &Run) -> Vec<Explanation> {
    run.state.rounds.iter().map(|round| of_round(run, round)).collect()
}

/// Returns an empty explanation while the targets of a round are not chosen yet.
pub fn of_round(run: &Run, round: &Round) -> Explanation {
    if round.targets.is_none() && run.state.stopped.is_none() {
        return Explanation::default();
    }
    let is_target = |fault: &&Fault| round.targets.iter().flatten().any(|id| *id == fault.criterion);
    let others = round.faults.iter().filter(|fault| !is_target(fault));
    let mut left_alone: Vec<(Fault, LeftAlone)> =
        others.map(|fault| (fault.clone(), why_left_alone(round, fault))).collect();
    left_alone.sort_by(|(one, _), (other, _)| other.chance.total_cmp(&one.chance));
    Explanation { targets: round.aims().cloned().collect(), left_alone }
}

fn why_left_alone(round: &Round, fault: &Fault) -> LeftAlone {
    match &round.targets {
        _ if fault.chance >= PROBABLY_MET => LeftAlone::ProbablyMet,
        None => LeftAlone::SearchEnded,
        Some(_) if round.member.is_some_and(|member| !credit::is_its(&fault.at_fault, member)) => {
            LeftAlone::OtherMember
        }
        Some(_) => LeftAlone::OthersFirst,
    }
}
