//! The review loop: machines look first, reviewers follow side by side, and a second agent checks each finding.
//!
//! ```text
//! run machines -> review parts -> merge -> verify each -> (allow) -> prove -> close
//! ```
//!
//! Nothing that an agent says of a place counts before its quote is found in the files. A finding is proved only by a
//! command that fails with the change and passes without it.

mod answers;
pub mod finding;
mod machine;
pub mod markdown;
mod merge;
pub mod proof;
pub mod quote;
mod request;
pub mod sarif;
pub mod task;
mod view;
mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::id::TreeId;
use crate::base::role::{Rights, Role, RoleSpec};
use crate::base::vocabulary::Vocabulary;
use crate::loops::shared::request::{self as shared, Brief};
use crate::loops::shared::step::Shared;
use crate::loops::{Loop, MostCalls, Offer};
use crate::runs::event::Event;
use crate::runs::plan::{self, LoopKind};
use crate::runs::run::{self, Change, Fold, StepState};

pub use answers::{RawFinding, RawVerdict};
use finding::{Dropped, Finding};
pub use merge::Merged;
use proof::{CommandEnd, Verification};
pub use request::{CHANGE, Call, PROJECT};
pub use task::Task;
pub use view::{Counts, DECIDING, Ended, Entry, Grade, Groups, Proved};

/// The marker type of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {}

pub type Plan = plan::Plan<Review>;
pub type Run = run::Run<Review>;
pub type AgentRequest = shared::AgentRequest<Review>;
pub type Next<'a> = super::Next<'a, Review>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Run a command of the project, or a scanner.
    Scan { machine: usize, on: Files },
    /// A reviewer reads a part of the change.
    Review { part: usize, reviewer: usize },
    /// A second agent checks a finding.
    Verify { finding: usize },
    /// Ask a person whether the proposed commands may run.
    Allow,
    /// Run the command that is to show a finding.
    Prove { finding: usize, on: Files },
}

/// The version of the files that a command gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    Before,
    After,
    /// The change with the suggestion of a finding applied.
    Fixed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How a command ended.
    Ran(Box<CommandEnd>),
    Reviewed {
        findings: Vec<Finding>,
        dropped: Vec<Dropped>,
    },
    Verified(Box<Verification>),
    Allowed(bool),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Findings about the same fault become one: each group has their numbers, in the order of the reviews.
    Merge {
        groups: Vec<Vec<usize>>,
    },
    Close,
}

/// The fold of the decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The findings of the reviewers, once all have answered or failed.
    pub merged: Option<Vec<Merged>>,
}

/// A call that fails by its own fault is made once more.
const TRIES: u32 = 2;
/// The most findings that one answer of a reviewer may have.
pub const MOST_FINDINGS: usize = 20;

impl Review {
    pub const ROLES: &'static [RoleSpec] = &[
        RoleSpec::new(Role::REVIEWER, Rights::Read, false),
        RoleSpec::new(Role::VERIFIER, Rights::Read, false),
    ];
}

impl Vocabulary for Review {
    type Task = Task;
    type Step = Step;
    type Answer = Answer;
    type Decision = Decision;

    fn role(step: &Step) -> Option<Role> {
        match step {
            Step::Review { .. } => Some(Role::REVIEWER),
            Step::Verify { .. } => Some(Role::VERIFIER),
            Step::Scan { .. } | Step::Allow | Step::Prove { .. } => None,
        }
    }
}

impl Fold for Review {
    type State = State;
    type Stage = ();

    fn roles(_: &Plan) -> Vec<RoleSpec> {
        Self::ROLES.to_vec()
    }

    fn begin(_: &Plan, _: Timestamp) -> State {
        State::default()
    }

    fn knows(plan: &Plan, event: &Event<Self>) -> bool {
        let Event::Done(done) = event else { return true };
        match done.step {
            Step::Scan { machine, .. } => machine < plan.task.machines.len(),
            Step::Review { part, reviewer } => {
                part < plan.task.parts.len() && reviewer < plan.task.reviewers.len()
            }
            Step::Verify { .. } | Step::Allow | Step::Prove { .. } => true,
        }
    }

    fn closes(decision: &Decision) -> bool {
        matches!(decision, Decision::Close)
    }

    fn fold(run: &mut Run, change: &Change<'_, Self>, _: Timestamp) {
        match change {
            Change::Decided(Decision::Merge { groups }) => {
                run.state.merged = Some(merge::merged(&run.reviewed(), groups));
            }
            Change::Decided(Decision::Close) | Change::Ended(_) | Change::Resumed | Change::Remeasure => {}
        }
    }

    fn round(_: &Run) -> u32 {
        1
    }

    fn stage(_: &Run) {}

    fn tries(_: &Run) -> u32 {
        TRIES
    }
}

impl Loop for Review {
    const KIND: LoopKind = LoopKind::Review;
    const OFFERS: &'static [Offer] = &[
        Offer::new("run", "run the commands that should show findings"),
        Offer::new("skip", "leave these findings unproved"),
    ];

    type Brief = Call;

    const CODE: &'static [u8] = b"review";

    fn next(run: &Run) -> Next<'_> {
        machine::next(run)
    }

    fn brief(brief: &Call) -> &dyn Brief<Self> {
        brief
    }

    fn request(run: &Run, step: &Step) -> Option<AgentRequest> {
        request::of(run, *step)
    }

    fn shared(_: &Run, step: &Step) -> Option<Shared> {
        match step {
            Step::Allow => Some(Shared::Ask),
            Step::Scan { .. } | Step::Review { .. } | Step::Verify { .. } | Step::Prove { .. } => None,
        }
    }

    fn is_yes(answer: &Answer) -> bool {
        matches!(answer, Answer::Allowed(true))
    }

    fn fits(step: &Step, answer: &Answer) -> bool {
        matches!(
            (step, answer),
            (Step::Scan { .. } | Step::Prove { .. }, Answer::Ran(_))
                | (Step::Review { .. }, Answer::Reviewed { .. })
                | (Step::Verify { .. }, Answer::Verified(_))
        )
    }

    fn trees(answer: &Answer) -> Vec<TreeId> {
        match answer {
            Answer::Reviewed { findings, .. } => {
                findings.iter().filter_map(|finding| finding.fixed).collect()
            }
            Answer::Ran(_) | Answer::Verified(_) | Answer::Allowed(_) => Vec::new(),
        }
    }

    fn run_trees(run: &Run) -> Vec<TreeId> {
        let trees = run.plan.task.trees;
        trees.map(|trees| [trees.before, trees.after, trees.diffs]).into_iter().flatten().collect()
    }

    /// Returns the calls of a run in which each reviewer finds as much as it may.
    fn most_calls(plan: &Plan) -> MostCalls {
        let reviews = reviews(plan);
        let findings = reviews * MOST_FINDINGS as u64;
        let tries = u64::from(TRIES);
        [(Role::REVIEWER, reviews * tries), (Role::VERIFIER, findings * tries)].into()
    }

    fn expected_calls(plan: &Plan) -> Option<super::Expected> {
        /// Reviewers of most changes name a few faults.
        const USUAL: u64 = 3;
        let reviews = reviews(plan);
        let likely = [(Role::REVIEWER, reviews), (Role::VERIFIER, reviews * USUAL)].into();
        Some(super::Expected { most: Self::most_calls(plan), likely })
    }
}

fn reviews(plan: &Plan) -> u64 {
    (plan.task.parts.len() * plan.task.reviewers.len()) as u64
}

impl Run {
    /// Returns the answers of all reviews, none for those that are open or failed.
    fn reviewed(&self) -> Vec<(&str, &[Finding])> {
        let answered = |step| match self.state_of(&step) {
            StepState::Answered(Answer::Reviewed { findings, .. }) => &findings[..],
            StepState::Answered(_) | StepState::GivenUp(_) | StepState::Open => &[],
        };
        let reviewers = &self.plan.task.reviewers;
        let by = |step| match step {
            Step::Review { reviewer, .. } => reviewers.get(reviewer).map_or("", |one| &*one.short),
            _ => "",
        };
        machine::reviews(self).map(|step| (by(step), answered(step))).collect()
    }
}
