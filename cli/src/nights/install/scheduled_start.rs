//! A nightly start in a scheduler, and whether the scheduler would start it.

use crate::nights::check::{About, Check};
use crate::nights::install::reading::Reading;

#[derive(Clone, Debug)]
pub struct ScheduledStart {
    /// The scheduler's name.
    pub by: &'static str,
    pub reading: Reading,
    /// Checks of the scheduler itself.
    pub checks: Vec<Check>,
    /// The time zone of its times, as `TZ` names it; without one, the machine's zone.
    pub zone: Option<String>,
    /// How to give the night a variable that it does not have.
    pub gives: String,
}

impl ScheduledStart {
    /// Builds it with the checks of the text itself.
    pub fn new(by: &'static str, reading: Reading, gives: String) -> Self {
        let again = "run `skilltune night install` to rewrite it";
        let checks = match (&reading.job, reading.is_ours) {
            (Some(_), true) => Vec::new(),
            (Some(_), false) => vec![Check::unknown(
                About::Start,
                format!("{by}: the installed start of the night was modified"),
                again,
            )],
            (None, _) => vec![Check::unknown(
                About::Start,
                format!("{by}: the installed start of the night cannot be read: it was modified"),
                again,
            )],
        };
        Self { by, reading, checks, zone: None, gives }
    }
}
