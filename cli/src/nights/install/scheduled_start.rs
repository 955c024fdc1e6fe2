//! A nightly start in a scheduler: what was installed, and whether the scheduler would start it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::nights::check::{About, Check};
use crate::nights::install::job::Job;
use crate::nights::install::record::Record;

/// The result of `night install`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The scheduler that starts the night.
    pub by: &'static str,
    /// The files that were written; empty if everything was in place.
    pub wrote: Vec<String>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct ScheduledStart {
    /// The scheduler's name.
    pub by: &'static str,
    /// The recorded start; none if the scheduler has another text.
    pub job: Option<Job>,
    /// The variables that the scheduler sets for the night; empty if they are unknown.
    pub env: BTreeMap<String, String>,
    /// Whether the night also gets variables from files that only the scheduler reads.
    pub has_more_env: bool,
    /// Checks of the scheduler itself.
    pub checks: Vec<Check>,
    /// The time zone of its times, as `TZ` names it; without one, the machine's zone.
    pub zone: Option<String>,
    /// The next start, if the scheduler was asked because the record may not know it.
    pub next: Option<Timestamp>,
    /// How to give the night a variable that it does not have.
    pub gives: String,
}

impl ScheduledStart {
    /// Compares the record with the scheduler's text: `is_installed` returns whether it is that of a job, byte for
    /// byte.
    pub fn new(
        by: &'static str,
        record: &Record,
        is_installed: impl Fn(&Job) -> bool,
        gives: String,
    ) -> Self {
        let again = "run `skilltune night install` to rewrite it";
        let (job, doubt) = match record {
            Record::Of(job) if is_installed(job) => (Some(job.clone()), None),
            Record::Of(_) => (None, Some(("the installed start of the night was modified", again))),
            Record::Unreadable => (None, Some(("cannot read the record of the installed start", again))),
            Record::Missing => {
                (None, Some(("installed by an older skilltune", "run `skilltune night install`")))
            }
        };
        let check = |(text, fix): (&str, &str)| Check::unknown(About::Start, format!("{by}: {text}"), fix);
        let env = job.iter().flat_map(|job| job.env.clone()).collect();
        let checks = doubt.map(check).into_iter().collect();
        Self { by, job, env, has_more_env: false, checks, zone: None, next: None, gives }
    }
}
