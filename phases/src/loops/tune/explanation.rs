//! Why each round edited what it edited: what was believed when its targets were chosen, and after the next trial that told of them.

use std::collections::BTreeMap;

use super::beliefs::Beliefs;
use super::drafting::PROBABLY_MET;
use super::{Edit, Round, Run, Search, panel};
use crate::contract::CriterionId;

/// Why one round edited some of what failed in it, and left the rest alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// In the order in which they were chosen.
    pub targets: Vec<Fault>,
    /// The likeliest to be met first; none while the targets are still to be chosen.
    pub left_alone: Vec<(Fault, LeftAlone)>,
}

/// A statement that failed in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub criterion: CriterionId,
    /// In words, as the plan has it.
    pub statement: String,
    /// In how many trials it was met and was not, those of this round included. Statements that say the same are one.
    pub passed: usize,
    pub failed: usize,
    /// How likely the skill was to meet it when the targets were chosen, between 0 and 1.
    pub chance: f64,
    /// The next round that told of it.
    pub next: Option<Look>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    pub round: u32,
    /// Whether it was met in all trials of that round.
    pub is_met: bool,
    /// How likely the skill is to meet it after those trials.
    pub chance: f64,
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

/// How often a statement was met, and was not.
type Counts = BTreeMap<String, (usize, usize)>;

/// One for each round of a run, in their order. All rounds are replayed once.
pub fn of(run: &Run) -> Vec<Explanation> {
    if run.plan.task.rules.search == Search::Rounds {
        return vec![Explanation::default(); run.state.rounds.len()];
    }
    // After a change of agents a search believes nothing of what it saw before.
    let eras = run.state.rounds.chunk_by(|one, next| one.era == next.era);
    eras.flat_map(|era| explained(run, era)).collect()
}

/// Forms anew what a search has believed; `seen` is told what that was when the targets of each round were chosen.
fn replay(run: &Run, rounds: &[Round], mut seen: impl FnMut(&Beliefs, &Round)) {
    let mut beliefs = Beliefs::default();
    let words = |id: &CriterionId| run.plan.task.question(id);
    for round in rounds {
        beliefs.look(round.era, findings(run, round).map(|(id, is_met)| (words(id), is_met)));
        seen(&beliefs, round);
        if let (Some(Edit::Draft { .. }), Some(targets)) = (&round.edit, &round.targets) {
            beliefs.edit(targets.iter().map(words));
        }
    }
}

fn findings<'a>(run: &'a Run, round: &'a Round) -> impl Iterator<Item = (&'a CriterionId, bool)> {
    panel::findings(run, round.candidate, &round.scenarios, round.era)
}

fn explained(run: &Run, rounds: &[Round]) -> Vec<Explanation> {
    let mut counts = Counts::new();
    let mut explained = Vec::new();
    replay(run, rounds, |beliefs, round| {
        let mut looks = BTreeMap::new();
        for (id, is_met) in findings(run, round) {
            let words = run.plan.task.question(id);
            let (passed, failed) = counts.entry(words.clone()).or_default();
            *(if is_met { passed } else { failed }) += 1;
            let look = Look { round: round.number, is_met, chance: beliefs.chance(&words) };
            looks.entry(words).and_modify(|one: &mut Look| one.is_met &= is_met).or_insert(look);
        }
        explained.push((explanation(run, round, beliefs, &counts), looks));
    });
    let mut next = BTreeMap::new();
    for (explanation, looks) in explained.iter_mut().rev() {
        let left_alone = explanation.left_alone.iter_mut().map(|(fault, _)| fault);
        for fault in explanation.targets.iter_mut().chain(left_alone) {
            fault.next = next.get(&fault.statement).copied();
        }
        next.append(looks);
    }
    explained.into_iter().map(|(explanation, _)| explanation).collect()
}

fn explanation(run: &Run, round: &Round, beliefs: &Beliefs, counts: &Counts) -> Explanation {
    if round.targets.is_none() && run.state.stopped.is_none() {
        return Explanation::default();
    }
    let fault = |criterion: &CriterionId| {
        let statement = run.plan.task.question(criterion);
        let (passed, failed) = counts.get(&statement).copied().unwrap_or_default();
        let chance = beliefs.chance(&statement);
        Fault { criterion: criterion.clone(), statement, passed, failed, chance, next: None }
    };
    let targets: Vec<Fault> = round.targets.iter().flatten().map(fault).collect();
    let mut left_alone: Vec<(Fault, LeftAlone)> = Vec::new();
    for (id, _) in findings(run, round).filter(|(_, is_met)| !is_met) {
        let one = fault(id);
        let others = targets.iter().chain(left_alone.iter().map(|(fault, _)| fault));
        if others.into_iter().all(|other| other.statement != one.statement) {
            let why = why_left_alone(round, one.chance);
            left_alone.push((one, why));
        }
    }
    left_alone.sort_by(|(one, _), (other, _)| other.chance.total_cmp(&one.chance));
    Explanation { targets, left_alone }
}

fn why_left_alone(round: &Round, chance: f64) -> LeftAlone {
    match &round.targets {
        _ if chance >= PROBABLY_MET => LeftAlone::ProbablyMet,
        None => LeftAlone::SearchEnded,
        Some(_) => LeftAlone::OthersFirst,
    }
}
