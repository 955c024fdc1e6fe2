//! What a second agent says of a finding, and when a command proves one.

use serde::{Deserialize, Serialize};

use super::finding::{Place, normalised};
use crate::loops::shared::diagnostics::Diagnostic;
use crate::loops::shared::looking::only_looks;
use crate::suites::checks::shell_fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Confirmed,
    Refuted,
    Uncertain,
}

/// The answer of a verifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    pub verdict: Verdict,
    pub why: Box<str>,
    /// The quote that speaks against the finding, as skilltune found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Place>,
    /// Why a refutation does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfounded: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
}

/// A command that is to show a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub argv: Vec<String>,
    /// Words that its output will have, announced before it runs.
    pub announces: Box<str>,
    /// Why it would prove nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<str>>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// The exit code, 128 and the signal that ended it, or 124 if it did not end in time; none if it did not run.
    pub exit: Option<i32>,
    /// How it ended, with the end of its output.
    pub details: Box<str>,
    /// Whether its output has the announced words.
    #[serde(default)]
    pub announced: bool,
    /// The places in its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

const SHORTEST_WORDS: usize = 5;

impl Proposal {
    pub(super) fn new(argv: Vec<String>, announces: &str) -> Self {
        let announces: Box<str> = normalised(announces).into();
        let refused = fault(&argv, &announces).map(Into::into);
        Self { argv, announces, refused }
    }

    /// Returns the proposal with its fault computed again.
    #[must_use]
    pub fn again(self) -> Self {
        Self::new(self.argv, &self.announces)
    }

    /// Whether the output of the command has the announced words.
    pub fn is_announced(&self, output: &str) -> bool {
        normalised(output).to_lowercase().contains(&self.announces.to_lowercase())
    }
}

/// Returns why a command would prove nothing.
fn fault(argv: &[String], announces: &str) -> Option<String> {
    if let Some(why) = shell_fault(argv) {
        return Some(why);
    }
    if let Some(why) = only_looks(argv) {
        return Some(why);
    }
    if announces.chars().count() < SHORTEST_WORDS {
        return Some("it announces no words of its output".to_owned());
    }
    None
}

impl CommandEnd {
    pub fn passed(&self) -> bool {
        self.exit == Some(0)
    }

    pub fn failed(&self) -> bool {
        self.exit.is_some_and(|code| code != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(argv: &[&str], announces: &str) -> bool {
        Proposal::new(argv.iter().map(|word| (*word).to_owned()).collect(), announces).refused.is_some()
    }

    #[test]
    fn a_command_that_only_looks_or_announces_nothing_proves_nothing() {
        assert!(!refused(&["python3", "-m", "unittest", "tests.test_div"], "ZeroDivisionError"));
        assert!(!refused(&["python3", "-c", "import calc; calc.div(1, 0)"], "ZeroDivisionError"));
        assert!(!refused(&["perl", "-Ispan", "-e", "use Calc; Calc::div(1, 0)"], "division by zero"));
        for argv in [
            &["false"][..],
            &["grep", "-q", "secret", "a.py"],
            &["/usr/bin/test", "-f", "a.py"],
            &["sh", "-c", "exit 1"],
            &["python3", "-c", "import os; os.path.exists('a.py') and exit(1)"],
            &["python3", "-cimport sys; sys.exit('a' in open('a.py').read())"],
            &["python3", "-c", "import linecache; assert 'a' in linecache.getlines('a.py')[0]"],
            &["perl", "-ne", "exit 1 if /a/", "a.py"],
            &["mawk", "/a/ { exit 1 }", "a.py"],
            &["git", "diff", "--exit-code"],
            &[],
        ] {
            assert!(refused(argv, "ZeroDivisionError"), "{argv:?}");
        }
        assert!(refused(&["pytest"], " no "));
    }

    #[test]
    fn a_fault_that_a_proposal_conceals_is_found_again() {
        let concealed =
            Proposal { argv: vec!["false".to_owned()], announces: "Zero Division".into(), refused: None };
        assert!(concealed.again().refused.is_some());
    }

    #[test]
    fn words_are_announced_in_any_case_and_spacing() {
        let proposal = Proposal::new(vec!["pytest".to_owned()], "Zero  Division\nError");
        assert!(proposal.is_announced("E  zero division error: 3"));
        assert!(!proposal.is_announced("ZeroDivisionError"));
    }
}
