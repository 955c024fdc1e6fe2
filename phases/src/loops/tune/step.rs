//! The steps that a loop can request: plain data, so that a step is its own key.

use serde::{Deserialize, Serialize};

use super::anchor;
use crate::base::id::{CandidateId, TreeId};
use crate::base::role::Role;
use crate::judging::contract::Contract;
use crate::runs::proposal::Form;
use crate::skills::target::Place;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Prepare the workspace of a scenario, which holds these files, once for all its trials.
    SetUp { scenario: usize, files: Option<TreeId> },
    /// Run one member on one scenario, on the output of the previous member; the first one on the scenario's files.
    /// Keyed by the member's tree, so that an unchanged one is not run again.
    Exercise {
        member: Place,
        skill: TreeId,
        trial: Trial,
        input: Option<TreeId>,
        /// Something is demanded of it, so more is kept than the artifacts.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        graded: bool,
    },
    /// Make the checks of one member's work that need no program.
    Inspect { member: Place, trial: Trial, kept: Kept },
    /// Run the program of one check of a scenario on a copy of what its member left.
    Check {
        trial: Trial,
        demand: usize,
        left: TreeId,
        /// The additional files of the program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grader: Option<TreeId>,
    },
    /// Judge whether the output meets the expectations of a scenario.
    Grade {
        candidate: CandidateId,
        trial: Trial,
        artifacts: Vec<TreeId>,
        evidence: Vec<TreeId>,
        #[serde(default, skip_serializing_if = "Asked::is_plain")]
        asked: Asked,
    },
    /// Judge the text of a candidate, once for all scenarios with demands.
    #[serde(rename = "review")]
    JudgeText { candidate: CandidateId, era: u32 },
    /// Judge one candidate by its text and by its output on one scenario.
    Judge {
        candidate: CandidateId,
        trial: Trial,
        artifacts: Vec<TreeId>,
        #[serde(default, skip_serializing_if = "Asked::is_plain")]
        asked: Asked,
    },
    /// Improve one member of a candidate.
    Improve {
        round: u32,
        base: CandidateId,
        member: Place,
        #[serde(default, skip_serializing_if = "is_first_improver")]
        by: Improver,
        /// The number of failed edits of this round before it.
        #[serde(default, skip_serializing_if = "is_none")]
        failed: usize,
    },
    /// Ask a person.
    Ask(Hold),
    /// Copy a candidate into the target, which must still be `from`.
    Promote { from: CandidateId, to: CandidateId },
    /// Make a commit of a candidate's changes to the start; the target stays as it is.
    Propose { candidate: CandidateId, form: Form },
}

/// One of the improvers of a run, which take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Improver {
    #[default]
    First,
    Second,
}

impl Improver {
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    pub fn role(self) -> Role {
        match self {
            Self::First => Role::IMPROVER,
            Self::Second => Role::SECOND_IMPROVER,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_first_improver(by: &Improver) -> bool {
    *by == Improver::First
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// The judge of a trial, and the reason for asking it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Asked {
    #[serde(default, skip_serializing_if = "is_first_seat")]
    pub seat: Seat,
    /// The look at which the judge is tested, if it has judged this trial before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<usize>,
}

/// A place among the judges of a run. The first judges every trial, the others only close calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seat {
    #[default]
    First,
    Second,
    Third,
}

impl Asked {
    pub(super) fn of(seat: Seat) -> Self {
        Self { seat, anchor: None }
    }

    /// Returns what a judge is asked, given the contract of a first judgement.
    pub(super) fn of_contract(self, contract: Contract) -> Contract {
        if self.anchor.is_some() { anchor::asked(contract) } else { contract }
    }

    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

impl Seat {
    pub const ALL: [Self; 3] = [Self::First, Self::Second, Self::Third];

    pub fn role(self) -> Role {
        match self {
            Self::First => Role::EVALUATOR,
            Self::Second => Role::SECOND_EVALUATOR,
            Self::Third => Role::THIRD_EVALUATOR,
        }
    }
}

/// The parts of a member's work that are kept for its checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kept {
    /// All files of the workspace, including unchanged ones.
    pub left: TreeId,
    /// The record of what the agent said, did and used.
    pub evidence: TreeId,
    /// The initial content of the workspace, if it differs from the scenario's: files of the skill came with its
    /// version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<TreeId>,
}

/// One execution on one scenario. Fresh trials of the final comparison have separate ordinals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Trial {
    pub scenario: usize,
    pub ordinal: u32,
    /// Increases whenever the executor or the evaluator changes, or when pairs follow separate samples: trials of two
    /// eras are never compared.
    #[serde(default, skip_serializing_if = "is_first")]
    pub era: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_first_seat(seat: &Seat) -> bool {
    *seat == Seat::First
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_first(era: &u32) -> bool {
    *era == 0
}

/// A question to a person, with a declared default for unattended runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Should the champion replace the target? Unattended, it does if it is sure to be better and brings no danger.
    Apply { champion: CandidateId, sure: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    Apply,
    Keep,
}

impl Hold {
    pub fn options(self) -> &'static [Choice] {
        match self {
            Self::Apply { .. } => &[Choice::Apply, Choice::Keep],
        }
    }

    /// Returns the answer for an unattended run.
    pub fn default_choice(self) -> Choice {
        match self {
            Self::Apply { sure: true, .. } => Choice::Apply,
            Self::Apply { sure: false, .. } => Choice::Keep,
        }
    }
}

impl Choice {
    pub fn word(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Keep => "keep",
        }
    }
}

impl Step {
    /// Returns the trial that the step is part of, if any.
    pub fn trial(&self) -> Option<Trial> {
        match self {
            Self::Exercise { trial, .. }
            | Self::Inspect { trial, .. }
            | Self::Check { trial, .. }
            | Self::Grade { trial, .. }
            | Self::Judge { trial, .. } => Some(*trial),
            Self::SetUp { .. }
            | Self::JudgeText { .. }
            | Self::Improve { .. }
            | Self::Ask(_)
            | Self::Promote { .. }
            | Self::Propose { .. } => None,
        }
    }

    /// Returns the step with other scenario numbers.
    #[must_use]
    pub(super) fn numbered(&self, number: impl Fn(usize) -> usize) -> Self {
        let mut step = self.clone();
        match &mut step {
            Self::SetUp { scenario, .. } => *scenario = number(*scenario),
            Self::Exercise { trial, .. }
            | Self::Inspect { trial, .. }
            | Self::Check { trial, .. }
            | Self::Grade { trial, .. }
            | Self::Judge { trial, .. } => trial.scenario = number(trial.scenario),
            Self::JudgeText { .. }
            | Self::Improve { .. }
            | Self::Ask(_)
            | Self::Promote { .. }
            | Self::Propose { .. } => {}
        }
        step
    }

    /// Returns the candidate that a judge is asked about.
    pub fn judged(&self) -> Option<CandidateId> {
        match self {
            Self::Grade { candidate, .. }
            | Self::JudgeText { candidate, .. }
            | Self::Judge { candidate, .. } => Some(*candidate),
            Self::SetUp { .. }
            | Self::Exercise { .. }
            | Self::Inspect { .. }
            | Self::Check { .. }
            | Self::Improve { .. }
            | Self::Ask(_)
            | Self::Promote { .. }
            | Self::Propose { .. } => None,
        }
    }

    /// Returns the judge and the reason for asking, if a judge does this step.
    pub fn asked(&self) -> Option<Asked> {
        match self {
            Self::Grade { asked, .. } | Self::Judge { asked, .. } => Some(*asked),
            Self::SetUp { .. }
            | Self::Exercise { .. }
            | Self::Inspect { .. }
            | Self::Check { .. }
            | Self::JudgeText { .. }
            | Self::Improve { .. }
            | Self::Ask(_)
            | Self::Promote { .. }
            | Self::Propose { .. } => None,
        }
    }

    /// Returns the role that answers this step, if an agent does.
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::Exercise { .. } => Some(Role::EXECUTOR),
            Self::Judge { asked, .. } | Self::Grade { asked, .. } => Some(asked.seat.role()),
            Self::JudgeText { .. } => Some(Role::EVALUATOR),
            Self::Improve { by, .. } => Some(by.role()),
            Self::SetUp { .. }
            | Self::Inspect { .. }
            | Self::Check { .. }
            | Self::Ask(_)
            | Self::Promote { .. }
            | Self::Propose { .. } => None,
        }
    }
}
