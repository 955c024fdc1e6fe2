//! What helps after a failed call: one table.

use crate::event::FailureKind;

/// What may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Another try, with the error in its prompt.
    Tell,
    /// The same try again: the service was unreachable, and the step is not at fault. If it stays unreachable, the run
    /// pauses.
    Repeat,
    /// A person: every call fails like this until something is fixed.
    Fix,
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

    /// Whether it may be the fault of the skill that an executor worked with, once the agent had begun. Such a trial scores 0:
    /// trying it again would help a skill whose agent comes to an end only now and then.
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

    /// Whether it counts against the step. A step is never given up because of the others.
    pub fn counts(self) -> bool {
        self.remedy() == Remedy::Tell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds as they are written, from what is said of one that there is not.
    fn kinds() -> Vec<String> {
        let error = serde_json::from_str::<FailureKind>("\"no such kind\"").unwrap_err().to_string();
        let (_, known) = error.split_once("expected one of ").unwrap();
        known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_page_of_agents_has_every_kind_in_the_row_of_its_remedy() {
        let page = include_str!("../../docs/agents.md");
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
