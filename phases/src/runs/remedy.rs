//! The remedies for a failed call, in one table.

use crate::runs::event::FailureKind;

/// The remedy for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A retry with the error in its prompt.
    Tell,
    /// The same call again: the service was unreachable, and the step is not at fault. If it stays unreachable, the run
    /// pauses.
    Repeat,
    /// A person must fix something. Until then every call fails like this.
    Fix,
    /// Wait: the limit is lifted without help.
    Wait,
}

impl FailureKind {
    pub fn remedy(self) -> Remedy {
        match self {
            // The second answer to a long prompt may be shorter.
            Self::TimedOut
            | Self::Crashed
            | Self::Empty
            | Self::OffSchema
            | Self::TooLarge
            | Self::Gate
            | Self::Refused
            | Self::TurnLimit
            | Self::OutputLimit
            | Self::DeniedTool
            | Self::PromptTooLong
            | Self::Breach => Remedy::Tell,
            Self::RateLimited | Self::Overloaded | Self::Network | Self::NoResponse => Remedy::Repeat,
            Self::Authentication
            | Self::ModelNotFound
            | Self::UsageError
            | Self::NotSetUp
            | Self::NotTrusted
            | Self::BudgetLimit => Remedy::Fix,
            Self::UsageLimit => Remedy::Wait,
        }
    }

    /// Returns whether the executor's skill may be at fault, once the agent had begun. Such a trial scores 0: a retry
    /// would favor a skill whose agent finishes only now and then.
    pub fn is_scored(self) -> bool {
        match self {
            Self::TimedOut | Self::TurnLimit | Self::OutputLimit | Self::TooLarge => true,
            Self::NoResponse
            | Self::Crashed
            | Self::Empty
            | Self::OffSchema
            | Self::Gate
            | Self::Refused
            | Self::BudgetLimit
            | Self::DeniedTool
            | Self::PromptTooLong
            | Self::RateLimited
            | Self::UsageLimit
            | Self::Overloaded
            | Self::Network
            | Self::Authentication
            | Self::ModelNotFound
            | Self::Breach
            | Self::UsageError
            | Self::NotSetUp
            | Self::NotTrusted => false,
        }
    }

    /// Returns whether it counts against the step. Other failures never make the run give up a step.
    pub fn counts(self) -> bool {
        self.remedy() == Remedy::Tell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all kinds in their written form, from the error for an unknown one.
    fn kinds() -> Vec<String> {
        let error = serde_json::from_str::<FailureKind>("\"no such kind\"").unwrap_err().to_string();
        let (_, known) = error.split_once("expected one of ").unwrap();
        known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_page_of_agents_has_every_kind_in_the_row_of_its_remedy() {
        let page = include_str!("../../../docs/agents.md");
        let (_, table) = page.split_once("| kind | what is done |").unwrap();
        let rows: Vec<&str> =
            table.lines().take_while(|line| line.is_empty() || line.starts_with('|')).collect();
        let row = |kind: &str| {
            let named = format!("`{kind}`");
            let mut rows =
                rows.iter().filter(|row| row.split('|').nth(1).is_some_and(|kinds| kinds.contains(&named)));
            let row = rows.next().unwrap_or_else(|| panic!("{kind} is in no row"));
            assert!(rows.next().is_none(), "{kind} is in two rows");
            *row
        };
        assert!(kinds().len() > 17, "{:?}", kinds());
        for kind in kinds() {
            let words = match serde_json::from_str::<FailureKind>(&format!("{kind:?}")).unwrap().remedy() {
                Remedy::Tell => "with the error in the prompt",
                Remedy::Repeat => "retried unchanged after a delay",
                Remedy::Fix => "says what to fix",
                Remedy::Wait => "with `--wait` it waits",
            };
            assert!(row(&kind).contains(words), "{kind}: {}", row(&kind));
        }
    }
}
