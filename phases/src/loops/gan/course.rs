//! The course of a run: what follows from the rounds so far, and what a person or a declared default has answered.
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
use crate::contract::{CriterionId, DimensionId};
use crate::id::{Digest, TreeId};
use crate::score::Score;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds {
    pub rounds: Vec<Round>,
    pub answers: Vec<Answered>,
}

/// One artifact and what was found of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// How many artifacts were built by then: one that is judged again, under another contract, is no new one.
    pub sprints: u32,
    pub artifact: TreeId,
    /// Verdicts of two evaluators are never compared.
    pub era: u32,
    pub first: Evaluation,
    /// That of another judge, who was asked in other words.
    pub second: Option<Evaluation>,
    /// What its judge would look at besides in the next round.
    pub wanted: Vec<Item>,
}

/// What a focus asks besides the contract.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Item {
    pub id: CriterionId,
    pub text: Box<str>,
    pub verification: Box<str>,
}

/// A hold, and what was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// After so many rounds.
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
    /// Nobody was there.
    Default,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Go on with another dimension first.
    Refocus {
        dimension: DimensionId,
    },
    Amend {
        changes: Vec<Change>,
    },
    /// Tell the builder something.
    Guide {
        text: Box<str>,
    },
    /// Call it passed though it is not.
    Force,
    /// Take it as it is.
    Accept,
    /// End, and keep the best.
    Stop,
    /// End, and take nothing.
    Abort,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum NextAction {
    /// To build, from this artifact if there is one.
    Build {
        sprint: u32,
        from: Option<TreeId>,
        focus: Focus,
    },
    /// To judge what is there: the contract or the evaluator is another one now.
    Judge {
        artifact: TreeId,
    },
    /// To judge it a second time: it has passed once.
    Second {
        artifact: TreeId,
    },
    Question(Question),
    End(Ending),
}

/// What a round is to see to first. It is told to the builder, and never scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Focus {
    pub priority: DimensionId,
    pub unmet: Vec<CriterionId>,
    /// It is judged and shown.
    pub extra: Vec<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Reached,
    /// A person called it passed.
    Forced,
    /// A person took it as it was.
    Accepted,
    /// It ended without a pass; the best is kept.
    Kept(Question),
    Aborted,
    /// A step came to nothing, again and again.
    Failed,
}

impl Choice {
    /// It does not end the run.
    fn goes_on(&self) -> bool {
        matches!(self, Self::Refocus { .. } | Self::Amend { .. } | Self::Guide { .. })
    }
}

impl Question {
    /// What a person may choose.
    pub fn allows(self, choice: &Choice) -> bool {
        match choice {
            Choice::Amend { .. } | Choice::Guide { .. } | Choice::Force | Choice::Accept | Choice::Abort => {
                true
            }
            Choice::Refocus { .. } => self != Self::Exhausted,
            // It is only a question: the run has rounds left, and has not stood still.
            Choice::Stop => self != Self::Escalation,
        }
    }
}

impl Round {
    /// Of two judgements the lower one stands.
    pub fn evaluation(&self) -> &Evaluation {
        match &self.second {
            Some(second) if (second.score, second.share) < (self.first.score, self.first.share) => second,
            _ => &self.first,
        }
    }

    /// The one that stands, with the worse of two verdicts on each criterion: what one judge has missed is to be seen to.
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
        found.patterns = patterns.filter(|seen| known.insert(seen.pattern.clone())).collect();
        found
    }

    /// By how much two judgements differ, where that is to be named.
    pub fn apart(&self, rules: &Rules) -> Option<Score> {
        let second = self.second.as_ref()?;
        let apart = (self.first.score.points() - second.score.points()).abs();
        Score::new(apart).map(Score::in_tenths).filter(|apart| *apart > rules.apart)
    }

    /// Every gate that one of its judges has closed.
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
    /// What follows under this contract, with verdicts of this era.
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
            // The rounds of the older contract or evaluator, ranked by what has to pass now.
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

    /// The best round of a series.
    pub fn best(&self, contract: &Contract, rules: &Rules, era: u32) -> Option<&Round> {
        best_of(self.series(contract.hash(), era), contract, rules)
    }

    /// What the next artifact may not lose: all that the best has, from which it is built, and what that had lost itself. What a
    /// dropped one had is not owed.
    pub fn owed(&self, contract: &Contract, rules: &Rules, era: u32) -> BTreeSet<CriterionId> {
        let Some(best) = self.best(contract, rules, era).map(Round::found) else { return BTreeSet::new() };
        best.passed().chain(&best.fallen).cloned().collect()
    }

    /// Two series are never compared: not those of two contracts, and not those of two evaluators.
    fn series(&self, contract: Digest, era: u32) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(move |round| round.first.contract == contract && round.era == era)
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

    /// How often a person has let the run go on.
    pub fn extensions(&self) -> usize {
        self.answers.iter().filter(|one| one.by == Who::Person && one.choice.goes_on()).count()
    }

    /// How many artifacts may be built before a person is asked again whether there shall be more.
    pub fn last_sprint(&self, rules: &Rules) -> u32 {
        self.sprints_by(|hold| hold == Question::Exhausted).saturating_add(rules.max_rounds)
    }

    /// How many artifacts there were when an answer last let the run go on at such a question.
    fn sprints_by(&self, is: fn(Question) -> bool) -> u32 {
        let goes_on = |answered: &&Answered| is(answered.hold) && answered.choice.goes_on();
        let answered = self.answers.iter().rev().find(goes_on);
        let last = answered.and_then(|answered| answered.after.checked_sub(1));
        last.and_then(|last| self.rounds.get(last)).map_or(0, |round| round.sprints)
    }

    fn hold(&self, rules: &Rules, contract: Digest, era: u32) -> Option<Question> {
        let sprints = self.rounds.last().map_or(0, |round| round.sprints);
        if sprints >= self.last_sprint(rules) {
            return Some(Question::Exhausted);
        }
        if self.stands_still(rules, contract, era) {
            return Some(Question::Stagnation);
        }
        (sprints.saturating_sub(self.sprints_by(|_| true)) >= rules.escalate_after)
            .then_some(Question::Escalation)
    }

    /// Whether the newest rounds of a series gained too little over the best before each of them. An answer gives it another chance.
    fn stands_still(&self, rules: &Rules, contract: Digest, era: u32) -> bool {
        let begun = self.answers.last().map_or(0, |answered| answered.after);
        let (mut best, mut small) = (None::<Score>, 0);
        for (nth, round) in self.rounds.iter().enumerate() {
            if round.first.contract != contract || round.era != era {
                continue;
            }
            let share = round.evaluation().share;
            if let Some(best) = best.filter(|_| nth >= begun) {
                let gained = share.points() - best.points();
                small = if gained < rules.gain.points() { small + 1 } else { 0 };
            }
            best = best.max(Some(share));
        }
        small >= rules.standstill
    }

    /// The next build goes on from the best, and sees first to what is lowest, or to what a person has named.
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

    /// What is done where nobody answers: after an escalation another focus than the one that was tried last, otherwise the best
    /// is kept.
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

/// The one with the fewest gates closed, and of those the one of the greatest share; of equals the first.
fn best_of<'a>(
    rounds: impl Iterator<Item = &'a Round>,
    contract: &Contract,
    rules: &Rules,
) -> Option<&'a Round> {
    let rank = |round: &Round| {
        let blocks = round.blocks(contract, rules, u32::MAX).into_iter();
        let closed =
            blocks.filter(|block| matches!(block, Block::MustPass { .. } | Block::Fallen { .. })).count();
        (std::cmp::Reverse(closed), round.evaluation().share, round.evaluation().score)
    };
    rounds.reduce(|best, next| if rank(next) > rank(best) { next } else { best })
}

fn heaviest(contract: &Contract) -> DimensionId {
    let first = contract.dimensions.iter().rev().max_by_key(|dimension| dimension.weight);
    first.expect("a contract has dimensions").id.clone()
}

/// The dimension of the lowest level besides one; of equals the heaviest.
fn lowest(contract: &Contract, evaluation: &Evaluation, besides: Option<&DimensionId>) -> DimensionId {
    let others = evaluation.dimensions.iter().filter(|dimension| Some(&dimension.id) != besides);
    let weight = |id: &DimensionId| contract.dimension(id).map_or(0, |dimension| dimension.weight);
    let lowest = others.min_by_key(|dimension| (dimension.level, std::cmp::Reverse(weight(&dimension.id))));
    lowest.map_or_else(|| heaviest(contract), |dimension| dimension.id.clone())
}
