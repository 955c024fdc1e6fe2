//! The course of a run: what follows from the rounds so far and from the answers of a person or a declared default.
//!
//! ```text
//! build -> judge -> passed?              reached (at `thorough` only when a second judge agrees)
//!                   last round?          hold: exhausted
//!                   too little gain?     hold: stagnation
//!                   long without a pass? hold: escalation
//!                   else                 the next focus, from the best so far
//! ```

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::contract::{Change, Contract};
use super::evaluation::{Block, Evaluation, Verdict};
use super::rules::Rules;
use crate::base::id::{Digest, TreeId};
use crate::judging::contract::{CriterionId, DimensionId};
use crate::judging::score::Score;
use crate::judging::stop::{self, Series};
use crate::loops::shared::rounds;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds {
    pub rounds: Vec<Round>,
    pub answers: Vec<Answered>,
}

/// One artifact and its evaluations.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Number of artifacts built so far. Judging an artifact again under a new contract does not count.
    pub sprints: u32,
    pub artifact: TreeId,
    /// The era of the evaluator. Verdicts of two eras are never compared.
    pub era: u32,
    pub first: Evaluation,
    /// The evaluation of a second judge with a different prompt.
    pub second: Option<Evaluation>,
    /// Extra items that its judge suggests for the next round.
    pub wanted: Vec<Item>,
}

/// An item that a focus adds to the contract.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Item {
    pub id: CriterionId,
    pub text: Box<str>,
    pub verification: Box<str>,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The number of rounds before the question.
    pub after: usize,
    pub hold: Question,
    pub choice: Choice,
    pub by: Who,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    Escalation,
    Stagnation,
    Exhausted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    Person,
    /// No person answered.
    Default,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Continue with another dimension first.
    Refocus {
        dimension: DimensionId,
    },
    Amend {
        changes: Vec<Change>,
    },
    /// Send guidance to the builder.
    Guide {
        text: Box<str>,
    },
    /// Call it passed although it is not.
    Force,
    /// Accept it as it is.
    Accept,
    /// End, and keep the best.
    Stop,
    /// End without a result.
    Abort,
}

/// The next action of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum NextAction {
    /// Build, from this artifact if there is one.
    Build {
        sprint: u32,
        from: Option<TreeId>,
        focus: Focus,
    },
    /// Judge this artifact again, because the contract or the evaluator has changed.
    Judge {
        artifact: TreeId,
    },
    /// Judge it a second time, because it has passed once.
    Second {
        artifact: TreeId,
    },
    Question(Question),
    End(Ending),
}

/// The priorities of a round. The builder sees them; they are never scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Focus {
    pub priority: DimensionId,
    pub unmet: Vec<CriterionId>,
    /// Items that are judged and shown.
    pub extra: Vec<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Reached,
    /// A person called it passed.
    Forced,
    /// A person accepted it as it was.
    Accepted,
    /// The run ended without a pass; the best is kept.
    Kept(Question),
    Aborted,
    /// A step failed repeatedly.
    Failed,
}

impl Choice {
    /// Whether the run continues after this choice.
    fn goes_on(&self) -> bool {
        matches!(self, Self::Refocus { .. } | Self::Amend { .. } | Self::Guide { .. })
    }
}

impl Question {
    /// Returns whether a person may make this choice.
    pub fn allows(self, choice: &Choice) -> bool {
        match choice {
            Choice::Amend { .. } | Choice::Guide { .. } | Choice::Force | Choice::Accept | Choice::Abort => {
                true
            }
            Choice::Refocus { .. } => self != Self::Exhausted,
            // An escalation is only a question: the run has rounds left and still makes progress.
            Choice::Stop => self != Self::Escalation,
        }
    }
}

impl Round {
    fn is_of(&self, contract: Digest, era: u32) -> bool {
        self.first.contract == contract && self.era == era
    }

    /// Returns the lower of the two evaluations.
    pub fn evaluation(&self) -> &Evaluation {
        match &self.second {
            Some(second) if self.is_second_lower() => second,
            _ => &self.first,
        }
    }

    pub fn is_second_lower(&self) -> bool {
        let rank = |evaluation: &Evaluation| (evaluation.score, evaluation.share);
        self.second.as_ref().is_some_and(|second| rank(second) < rank(&self.first))
    }

    /// Returns the lower evaluation, with the worse of two verdicts on each criterion: what one judge has missed still
    /// needs a fix.
    pub fn found(&self) -> Evaluation {
        let mut found = self.evaluation().clone();
        let Some(second) = &self.second else { return found };
        let judges = [&self.first, second];
        for finding in found.findings.iter_mut().filter(|finding| finding.verdict == Verdict::Passed) {
            let others = judges.iter().flat_map(|judge| &judge.findings);
            let mut others = others.filter(|other| other.criterion == finding.criterion);
            if let Some(worse) = others.find(|other| other.verdict != Verdict::Passed) {
                *finding = worse.clone();
            }
        }
        let fallen: BTreeSet<_> = judges.iter().flat_map(|judge| &judge.fallen).cloned().collect();
        found.fallen = fallen.into_iter().collect();
        let patterns = judges.iter().flat_map(|judge| judge.patterns.clone());
        let mut known = BTreeSet::new();
        found.patterns = patterns.filter(|hit| known.insert(hit.pattern.clone())).collect();
        found
    }

    /// Returns the difference between two judgements if it is large enough to report.
    pub fn disagreement(&self, rules: &Rules) -> Option<Score> {
        let second = self.second.as_ref()?;
        let difference = (self.first.score.points() - second.score.points()).abs();
        Score::new(difference).map(Score::in_tenths).filter(|difference| *difference > rules.disagreement)
    }

    /// Returns every gate that one of its judges has closed.
    pub fn blocks(&self, contract: &Contract, rules: &Rules, rounds: u32) -> Vec<Block> {
        let mut blocks = self.first.blocks(contract, rules, rounds);
        let second = self.second.iter().flat_map(|second| second.blocks(contract, rules, rounds));
        for block in second {
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        }
        blocks
    }
}

impl Rounds {
    /// Returns what comes next under this contract, with verdicts of this era.
    pub fn follow(&self, contract: &Contract, rules: &Rules, era: u32) -> NextAction {
        if let Some(ending) = self.ended() {
            return NextAction::End(ending);
        }
        let Some(newest) = self.rounds.last() else {
            let all = contract.criteria.iter().map(|criterion| criterion.id.clone());
            let focus = Focus { priority: heaviest(contract), unmet: all.collect(), extra: Vec::new() };
            return NextAction::Build { sprint: 1, from: None, focus };
        };
        let hash = contract.hash();
        let Some(last) = self.series(hash, era).last() else {
            // Ranks the rounds of the older contract or evaluator by what has to pass now.
            let before = self.series(newest.first.contract, newest.era);
            let best = best_of(before, contract, rules).unwrap_or(newest);
            return NextAction::Judge { artifact: best.artifact };
        };
        let is_answered = self.answers.last().is_some_and(|answered| answered.after == self.rounds.len());
        let sprints = newest.sprints;
        if last.blocks(contract, rules, sprints).is_empty() {
            return match last.second {
                None if rules.judge_twice => NextAction::Second { artifact: last.artifact },
                Some(_) | None => NextAction::End(Ending::Reached),
            };
        }
        match self.hold(rules, hash, era) {
            Some(hold) if !is_answered => NextAction::Question(hold),
            Some(_) | None => self.build(contract, rules, era),
        }
    }

    /// Returns the best round of a series.
    pub fn best(&self, contract: &Contract, rules: &Rules, era: u32) -> Option<&Round> {
        best_of(self.series(contract.hash(), era), contract, rules)
    }

    /// Returns the criteria that the next artifact must not lose: all that passed in the best round, from which it is
    /// built, and those that the best round itself had lost. Criteria that only a dropped round passed are not
    /// included.
    pub fn owed(&self, contract: &Contract, rules: &Rules, era: u32) -> BTreeSet<CriterionId> {
        let Some(best) = self.best(contract, rules, era).map(Round::found) else { return BTreeSet::new() };
        best.passed().chain(&best.fallen).cloned().collect()
    }

    /// Returns the rounds of one contract and one era. Rounds of different contracts or evaluators are never compared.
    fn series(&self, contract: Digest, era: u32) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(move |round| round.is_of(contract, era))
    }

    fn ended(&self) -> Option<Ending> {
        let Answered { hold, choice, .. } = self.answers.last()?;
        match choice {
            Choice::Force => Some(Ending::Forced),
            Choice::Accept => Some(Ending::Accepted),
            Choice::Stop => Some(Ending::Kept(*hold)),
            Choice::Abort => Some(Ending::Aborted),
            Choice::Refocus { .. } | Choice::Amend { .. } | Choice::Guide { .. } => None,
        }
    }

    /// Returns how often a person has let the run continue.
    pub fn extensions(&self) -> usize {
        self.answers.iter().filter(|one| one.by == Who::Person && one.choice.goes_on()).count()
    }

    /// Returns how many artifacts may be built before a person is asked again whether to build more.
    pub fn last_sprint(&self, rules: &Rules) -> u32 {
        self.sprints_by(|hold| hold == Question::Exhausted).saturating_add(rules.max_rounds)
    }

    /// Returns the number of artifacts when an answer to such a question last let the run continue.
    fn sprints_by(&self, is: fn(Question) -> bool) -> u32 {
        let goes_on = |answered: &&Answered| is(answered.hold) && answered.choice.goes_on();
        let answered = self.answers.iter().rev().find(goes_on);
        let last = answered.and_then(|answered| answered.after.checked_sub(1));
        last.and_then(|last| self.rounds.get(last)).map_or(0, |round| round.sprints)
    }

    fn hold(&self, rules: &Rules, contract: Digest, era: u32) -> Option<Question> {
        let sprints = self.rounds.last().map_or(0, |round| round.sprints);
        // Before the stop rules: a person who allows no more rounds need not hear that the last ones gained little.
        if sprints >= self.last_sprint(rules) {
            return Some(Question::Exhausted);
        }
        if stop::judge(&rules.limits(), &self.measured(contract, era)).is_some() {
            return Some(Question::Stagnation);
        }
        (sprints.saturating_sub(self.sprints_by(|_| true)) >= rules.escalate_after)
            .then_some(Question::Escalation)
    }

    /// Returns the shares of a series. An answer resets the count of rounds that gained too little.
    fn measured(&self, contract: Digest, era: u32) -> Series {
        let answered = self.answers.last().map_or(0, |answered| answered.after);
        let first = self.rounds.iter().take(answered).filter(|round| round.is_of(contract, era)).count();
        let scores = self.series(contract, era).map(|round| round.evaluation().share).collect();
        Series { scores, each_from: Some(first), ..Series::default() }
    }

    /// Continues from the best artifact. The focus is the lowest dimension, or the one that a person has named.
    fn build(&self, contract: &Contract, rules: &Rules, era: u32) -> NextAction {
        let best = self.best(contract, rules, era).or(self.rounds.last()).expect("a round was judged");
        let named = self.answers.last().filter(|answered| answered.after == self.rounds.len());
        let named = named.and_then(|answered| match &answered.choice {
            Choice::Refocus { dimension } => contract.dimension(dimension).map(|known| known.id.clone()),
            _ => None,
        });
        let evaluation = &best.found();
        let focus = Focus {
            priority: named.unwrap_or_else(|| lowest(contract, evaluation, None)),
            unmet: evaluation.unmet().cloned().collect(),
            extra: best.wanted.iter().take(rules.extra_items).cloned().collect(),
        };
        let sprint = self.rounds.last().map_or(0, |round| round.sprints) + 1;
        NextAction::Build { sprint, from: Some(best.artifact), focus }
    }

    /// Returns the choice when no person answers: after an escalation another focus than the last one, otherwise
    /// keeping the best.
    pub fn unattended(
        &self,
        hold: Question,
        (contract, rules, era): (&Contract, &Rules, u32),
        tried: Option<&DimensionId>,
    ) -> Choice {
        match hold {
            Question::Stagnation | Question::Exhausted => Choice::Stop,
            Question::Escalation => {
                let best = self.best(contract, rules, era).map(Round::evaluation);
                let other = best.map(|evaluation| lowest(contract, evaluation, tried));
                Choice::Refocus { dimension: other.unwrap_or_else(|| heaviest(contract)) }
            }
        }
    }
}

/// Returns the round with the fewest closed gates, and of those the one with the greatest share; of equals the first.
fn best_of<'a>(
    series: impl Iterator<Item = &'a Round>,
    contract: &Contract,
    rules: &Rules,
) -> Option<&'a Round> {
    let rank = |round: &&Round| {
        let blocks = round.blocks(contract, rules, u32::MAX).into_iter();
        let closed =
            blocks.filter(|block| matches!(block, Block::MustPass { .. } | Block::Fallen { .. })).count();
        (std::cmp::Reverse(closed), round.evaluation().share, round.evaluation().score)
    };
    rounds::best(series, rank)
}

/// Returns the heaviest dimension. A contract without dimensions comes only from a forged journal.
fn heaviest(contract: &Contract) -> DimensionId {
    let first = contract.dimensions.iter().rev().max_by_key(|dimension| dimension.weight);
    first.map_or_else(|| DimensionId::new(""), |dimension| dimension.id.clone())
}

/// Returns the dimension with the lowest level, except the given one; of equals the heaviest.
fn lowest(contract: &Contract, evaluation: &Evaluation, besides: Option<&DimensionId>) -> DimensionId {
    let others = evaluation.dimensions.iter().filter(|dimension| Some(&dimension.id) != besides);
    let weight = |id: &DimensionId| contract.dimension(id).map_or(0, |dimension| dimension.weight);
    let lowest = others.min_by_key(|dimension| (dimension.level, std::cmp::Reverse(weight(&dimension.id))));
    lowest.map_or_else(|| heaviest(contract), |dimension| dimension.id.clone())
}
