//! The exit codes: public interface, one place.

use std::process::ExitCode;

use skilltune_phases::base::ending::Class;

/// How the program ended, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Reached,
    Ended,
    Unjudged,
    Paused,
    Input,
    Failed,
    Terminated,
    Interrupted,
}

impl Exit {
    /// In the order of their codes, as the help lists them.
    const ALL: [Self; 8] = [
        Self::Reached,
        Self::Failed,
        Self::Input,
        Self::Ended,
        Self::Unjudged,
        Self::Paused,
        Self::Interrupted,
        Self::Terminated,
    ];

    pub fn code(self) -> u8 {
        match self {
            Self::Reached => 0,
            Self::Failed => 1,
            Self::Input => 2,
            Self::Ended => 3,
            Self::Unjudged => 4,
            Self::Paused => 5,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Self::Reached => "success: goal reached, or nothing left to do",
            Self::Failed => "skilltune itself failed",
            Self::Input => "bad input",
            Self::Ended => {
                "goal or --fail- condition missed, lint or suite found problems, or doctor is not ready"
            }
            Self::Unjudged => "not judged: an agent failed or gave an incomplete answer",
            Self::Paused => "paused at a limit: --max-usd, --max-tokens, --max-calls or --max-minutes",
            Self::Interrupted => "interrupted (Ctrl-C)",
            Self::Terminated => "terminated",
        }
    }

    /// Returns one exit code for several independent runs.
    pub fn worst(a: Self, b: Self) -> Self {
        a.max(b)
    }
}

/// Returns the table at the end of the help.
pub fn table() -> String {
    let line = |exit: &Exit| format!("\n{:>5}  {}", exit.code(), exit.meaning());
    "Exit codes:".to_owned() + &Exit::ALL.iter().map(line).collect::<String>()
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

impl From<Class> for Exit {
    fn from(class: Class) -> Self {
        match class {
            Class::Reached => Self::Reached,
            Class::Short | Class::Open => Self::Ended,
            Class::Unjudged => Self::Unjudged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn badness_is_ordered_as_documented() {
        let codes = [0, 3, 4, 5, 2, 1, 143, 130];
        let mut all = Exit::ALL;
        all.sort();
        assert_eq!(all.map(Exit::code), codes);
    }

    #[test]
    fn the_worst_of_two_is_the_same_in_either_order() {
        for a in Exit::ALL {
            assert_eq!(Exit::worst(a, a), a);
            for b in Exit::ALL {
                assert_eq!(Exit::worst(a, b), Exit::worst(b, a));
            }
        }
        assert_eq!(Exit::worst(Exit::Ended, Exit::Unjudged), Exit::Unjudged);
        assert_eq!(Exit::worst(Exit::Interrupted, Exit::Failed), Exit::Interrupted);
    }
}
