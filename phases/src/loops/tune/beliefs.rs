//! What a search believes of a skill, statement by statement: how likely each is met, whichever trial one looks at.
//!
//! One trial tells little: agents slip, and judges miss faults and invent them. So a statement that failed once, and was met in many
//! trials before, is probably met, and is no reason to edit. Beliefs follow from the rounds alone, by Bayes' rule; how well edits
//! work, and how often they break something else, is estimated from the same rounds.

mod explanation;

use std::collections::BTreeMap;

use super::measure::SEARCH;
use super::{Edit, Round, Run, Trial, panel};
use crate::contract::CriterionId;

pub use explanation::{Explanation, Fault, LeftAlone, Look};

/// How often a statement that a skill meets is found to be met in one trial, and one that it does not meet.
const SHOWN: f64 = 0.85;
const SLIPPED: f64 = 0.3;

/// How edits have done, with a few edits of no particular run counted in, so that the first one of this run is not all there is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edits {
    worked: f64,
    aimed: f64,
    broke: f64,
    left_alone: f64,
}

impl Edits {
    const BEFORE: Self = Self { worked: 1.0, aimed: 2.0, broke: 2.0, left_alone: 10.0 };

    /// The chance that an edit mends what it aims at: what was seen, without what slips and failures would show anyway.
    fn works(self) -> f64 {
        ((self.worked / self.aimed - SLIPPED) / (SHOWN - SLIPPED)).clamp(0.05, 0.95)
    }

    /// The chance that it breaks something else, in the same way.
    fn breaks(self) -> f64 {
        ((self.broke / self.left_alone - (1.0 - SHOWN)) / (SHOWN - SLIPPED)).clamp(0.01, 0.5)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Beliefs {
    /// By the words of the statement: those of several scenarios may be the same one.
    met: BTreeMap<String, Belief>,
    edits: Edits,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Belief {
    chance: f64,
    was_met: bool,
    /// An edit aimed at it since it was last looked at.
    is_aimed_at: bool,
    is_edited: bool,
}

impl Beliefs {
    pub fn of(run: &Run) -> Self {
        let era = run.state.era;
        Self::replay(run, run.state.rounds.iter().filter(|round| round.era == era), |_, _| {})
    }

    /// `seen` is told what was believed when the targets of each round were chosen.
    fn replay<'a>(
        run: &Run,
        rounds: impl Iterator<Item = &'a Round>,
        mut seen: impl FnMut(&Self, &Round),
    ) -> Self {
        let mut beliefs = Self { met: BTreeMap::new(), edits: Edits::BEFORE };
        for round in rounds {
            beliefs.look(run, round);
            seen(&beliefs, round);
            if let (Some(Edit::Draft { .. }), Some(targets)) = (&round.edit, &round.targets) {
                beliefs.edit(run, targets);
            }
        }
        beliefs
    }

    fn look(&mut self, run: &Run, round: &Round) {
        // Until something was seen, the first trials say how likely anything is met.
        let prior = round.score().map_or(0.5, |score| score.points() / 100.0).clamp(0.1, 0.9);
        for (id, is_met) in findings(run, round) {
            let fresh = Belief { chance: prior, was_met: false, is_aimed_at: false, is_edited: false };
            let one = self.met.entry(run.plan.task.question(&id)).or_insert(fresh);
            if one.is_aimed_at {
                self.edits.aimed += 1.0;
                self.edits.worked += f64::from(u8::from(is_met));
            } else if one.is_edited && one.was_met {
                self.edits.left_alone += 1.0;
                self.edits.broke += f64::from(u8::from(!is_met));
            }
            let (present, absent) = if is_met { (SHOWN, SLIPPED) } else { (1.0 - SHOWN, 1.0 - SLIPPED) };
            let (present, absent) = (one.chance * present, (1.0 - one.chance) * absent);
            *one = Belief {
                chance: present / (present + absent),
                was_met: is_met,
                is_aimed_at: false,
                is_edited: false,
            };
        }
    }

    fn edit(&mut self, run: &Run, targets: &[CriterionId]) {
        let targets: Vec<String> = targets.iter().map(|id| run.plan.task.question(id)).collect();
        let (works, breaks) = (self.edits.works(), self.edits.breaks());
        for (words, one) in &mut self.met {
            if targets.contains(words) {
                one.chance += (1.0 - one.chance) * works;
                one.is_aimed_at = true;
            } else {
                one.chance *= 1.0 - breaks;
                one.is_edited = true;
            }
        }
    }

    /// How likely a statement is met.
    fn chance(&self, words: &str) -> f64 {
        self.met.get(words).map_or(0.5, |one| one.chance)
    }

    /// The faults that a round has named and that are probably real, those named most often first, at most so many.
    pub fn weaknesses(&self, run: &Run, round: &Round, most: usize) -> Vec<CriterionId> {
        let mut named: BTreeMap<String, (usize, CriterionId)> = BTreeMap::new();
        for (id, _) in findings(run, round).into_iter().filter(|(_, is_met)| !is_met) {
            named.entry(run.plan.task.question(&id)).or_insert((0, id)).0 += 1;
        }
        let mut real: Vec<(usize, f64, CriterionId)> = named
            .into_iter()
            .map(|(words, (times, id))| (times, self.chance(&words), id))
            .filter(|(_, chance, _)| *chance < PROBABLY_MET)
            .collect();
        real.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.total_cmp(&other.1)));
        real.into_iter().take(most).map(|(_, _, id)| id).collect()
    }
}

/// What is met with this chance or more is left alone, though it failed once.
const PROBABLY_MET: f64 = 0.7;

/// What the trials of a round have shown of each statement.
fn findings(run: &Run, round: &Round) -> Vec<(CriterionId, bool)> {
    let trials = round.scenarios.iter().map(|&scenario| Trial { scenario, ordinal: SEARCH, era: round.era });
    let judged = trials.filter_map(|trial| panel::judgement(run, round.candidate, trial));
    judged
        .flat_map(|judgement| judgement.whole.findings.iter())
        .filter_map(|one| Some((one.criterion.clone(), one.verdict.is_met()?)))
        .collect()
}
