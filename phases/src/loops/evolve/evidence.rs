//! What is known of evidence: oracles, how they end, and the words of receipts.

use serde::{Deserialize, Serialize};

use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;

/// An oracle prints the code in this place if an assertion fails.
pub const RED: &str = "SKILLTUNE_RED";
/// An oracle prints the code in this place once all its assertions have held.
pub const GREEN: &str = "SKILLTUNE_GREEN";

/// The most files of one oracle, or of the stub.
pub const MOST_FILES: usize = 20;
/// The largest size of these together, in bytes.
pub const LARGEST: usize = 256 << 10;
/// The longest name of a file or a folder, in bytes.
pub const LONGEST_NAME: usize = 200;
/// The most arguments of an oracle.
pub const MOST_WORDS: usize = 100;

/// The names that work has to provide so that oracles can use them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Paths, commands, signatures and formats, without expected values. Empty if no oracle needs new names.
    pub note: Box<str>,
    /// Files that have the names and no behaviour. Oracles are tried on them, and no result has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stub: Option<TreeId>,
}

/// A command that is red while a criterion is not met, and green once it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oracle {
    pub argv: Vec<String>,
    /// Its own files, which the project does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<TreeId>,
    /// Whether it uses names of the interface note.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uses_names: bool,
    /// What it shows, in a sentence.
    pub shows: Box<str>,
}

/// The evaluator's answer for a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposal {
    Oracle(Oracle),
    /// No machine can tell, so a judge decides.
    Judge {
        why: Box<str>,
    },
}

/// How an oracle ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probed {
    pub light: Light,
    /// None if it could not start.
    pub exit: Option<i32>,
    /// The end of its output.
    pub said: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Light {
    /// It failed, by an assertion of its own.
    Red,
    /// It passed, and says so.
    Green,
    /// It ended in any other way.
    Neither,
}

/// What a criterion rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Its oracle was red before the work, and is green with the result.
    Verified,
    /// Its oracle was green before the work, and still is.
    AlreadyMet,
    /// An agent or a person says so.
    Judged,
    /// Its oracle fails, and the evaluator finds it met.
    Disputed,
    NotMet,
}

impl Word {
    pub const ALL: [Self; 5] = [Self::Verified, Self::AlreadyMet, Self::Judged, Self::Disputed, Self::NotMet];

    pub fn word(self) -> &'static str {
        ["verified", "already met", "judged", "disputed", "not met"][self as usize]
    }

    /// Whether a machine has seen it, so that it can be repeated.
    pub fn is_of_machine(self) -> bool {
        matches!(self, Self::Verified | Self::AlreadyMet)
    }

    pub fn is_met(self) -> bool {
        match self {
            Self::Verified | Self::AlreadyMet | Self::Judged => true,
            Self::Disputed | Self::NotMet => false,
        }
    }
}

impl Probed {
    /// Whether it ended with exit code 0 and did not say that it passed.
    pub fn is_undecided(&self) -> bool {
        self.light != Light::Green && self.exit == Some(0)
    }
}

/// The exit codes of a command of the project before the change and with the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandReceipt {
    pub stage: Stage,
    pub argv: Vec<String>,
    pub before: Option<i32>,
    pub after: Option<i32>,
}
