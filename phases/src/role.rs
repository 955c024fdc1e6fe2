//! Who does a step: three roles, and each loop says which of its steps is whose.

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
}
