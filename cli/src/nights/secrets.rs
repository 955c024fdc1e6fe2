//! Hides keys in all texts of a night before anything is written, so that the journal, all pages and the notified
//! command are free of them.

use skilltune_phases::nights::night::{Decided, End, JobOutcome, Left};
use skilltune_phases::skills::keys::{self, Keys};
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::transcript::Redaction;

use crate::terminal::environment::Environment;

/// The keys in our own environment. Text that looks like a key is hidden too.
pub struct Secrets(Redaction);

impl Secrets {
    pub fn of(env: &Environment) -> Self {
        Self(Redaction { keys: Keys::new(keys::of_environment(&env.vars)), workspace: Vec::new() })
    }

    pub fn left(&self, left: Left) -> Left {
        match left {
            Left::Busy { why } => Left::Busy { why: self.hide(&why) },
            Left::Refused { why } => Left::Refused { why: self.hide(&why) },
            Left::Budget | Left::Time | Left::Away | Left::Unchanged => left,
        }
    }

    pub fn outcome(&self, outcome: JobOutcome) -> JobOutcome {
        let end = match outcome.end {
            End::Decided(decided) => End::Decided(Box::new(self.decided(*decided))),
            End::Paused { why, halt, agent } => End::Paused { why: self.hide(&why), halt, agent },
            End::Unjudged { why } => End::Unjudged { why: self.hide(&why) },
            End::Refused { why } => End::Refused { why: self.hide(&why) },
            End::Failed { why } => End::Failed { why: self.hide(&why) },
            measured @ End::Measured { .. } => measured,
        };
        let cause = outcome.cause.map(|cause| self.hide(&cause));
        JobOutcome { end, cause, ..outcome }
    }

    /// Agents wrote the text that the dangers quote, and git and `gh` that of the notes; all other texts are our own.
    fn decided(&self, decided: Decided) -> Decided {
        let dangers = decided.dangers.iter().map(|danger| self.hide(danger)).collect();
        let notes = decided.notes.iter().map(|note| self.hide(note)).collect();
        Decided { dangers, notes, ..decided }
    }

    /// Hides keys in the demands, which a judge wrote.
    pub fn demands(&self, demands: &mut [Demand]) {
        for demand in demands {
            if let How::Question { text } = &mut demand.how {
                *text = self.hide(text);
            }
        }
    }

    pub fn hide(&self, text: &str) -> Box<str> {
        self.0.clean(text).into()
    }
}
