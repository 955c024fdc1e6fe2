//! Who does a step, and with which rights. Each loop says which role does which of its steps, and what it may write meanwhile.

use serde::{Deserialize, Serialize};

/// Which of the three roles a call of an agent is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Executor,
    Evaluator,
    Improver,
}

impl Role {
    pub const ALL: [Self; 3] = [Self::Executor, Self::Evaluator, Self::Improver];

    pub fn word(self) -> &'static str {
        match self {
            Self::Executor => "executor",
            Self::Evaluator => "evaluator",
            Self::Improver => "improver",
        }
    }

    /// What the role may write, unless its loop asks for less.
    pub fn rights(self) -> Rights {
        match self {
            Self::Executor => Rights::Work,
            Self::Evaluator => Rights::Read,
            Self::Improver => Rights::Edit,
        }
    }
}

/// What an agent may write during a call, besides its temporary folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rights {
    /// The whole workspace.
    Work,
    /// Nothing.
    Read,
    /// The draft that it was given.
    Edit,
}

impl Rights {
    pub const ALL: [Self; 3] = [Self::Work, Self::Read, Self::Edit];
}
