//! What is to be done about a failed call: one table.

use crate::event::FailureKind;

/// What may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Another try, which is told what was wrong with this one.
    Tell,
    /// Another try, just the same: the answer was not at fault.
    Repeat,
    /// A person: until something is put right, every call ends so.
    Mend,
    /// Time: the limit is lifted by itself.
    Wait,
}

impl FailureKind {
    pub fn remedy(self) -> Remedy {
        match self {
            // The second try of a long prompt may be a shorter one.
            Self::TimedOut
            | Self::Crashed
            | Self::Empty
            | Self::OffSchema
            | Self::TooLarge
            | Self::Gate
            | Self::Refused
            | Self::TurnLimit
            | Self::BudgetLimit
            | Self::DeniedTool
            | Self::PromptTooLong
            | Self::Breach => Remedy::Tell,
            Self::RateLimited | Self::Overloaded | Self::Network => Remedy::Repeat,
            Self::Authentication | Self::ModelNotFound | Self::UsageError => Remedy::Mend,
            Self::UsageLimit => Remedy::Wait,
        }
    }

    /// Whether a run goes on after it.
    pub fn blocks(self) -> bool {
        match self.remedy() {
            Remedy::Tell | Remedy::Repeat => false,
            Remedy::Mend | Remedy::Wait => true,
        }
    }
}
