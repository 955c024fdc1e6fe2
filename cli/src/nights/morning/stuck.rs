//! Formats the jobs that nights could not judge, each cause once.

use skilltune_phases::base::name::Name;
use skilltune_phases::nights::night::{Cause, End, Left, Morning, Stuck};

use super::{MOST_NAMED, typed};
use crate::text::figures::ordinal;
use crate::text::markdown::{marked, words};
use crate::text::plain::{capitalised, one_line};
use crate::text::width::cut;

/// More of a cause does not fit into a headline.
const WIDEST: usize = 120;

/// Counts the jobs that need a person, for the headline.
pub(super) fn headline(morning: &Morning<'_>) -> Option<String> {
    let stuck: Vec<&Stuck<'_>> = morning.stuck.iter().filter(|stuck| stuck.needs_you()).collect();
    (!stuck.is_empty()).then(|| not_judged(&stuck, morning.jobs.len()))
}

/// Names the jobs that failed in a night that needs no person; None if it ended before it got to some others.
pub(super) fn quiet_headline(morning: &Morning<'_>) -> Option<String> {
    let all = morning.jobs.len();
    let is_all = all > 1 && morning.stuck.len() == all;
    let stuck = if is_all { morning.stuck.iter().collect() } else { failed(morning) };
    let is_named = |job: &&Name| stuck.iter().any(|one| one.job == *job);
    let are_all_named = morning.broken.iter().chain(&morning.unreached).all(is_named);
    (are_all_named && !stuck.is_empty()).then(|| format!("No. {}", retry(&stuck, all)))
}

/// Says that other jobs failed in a night that needs a person anyway.
pub(super) fn retried(morning: &Morning<'_>) -> Option<String> {
    let stuck = failed(morning);
    let is_said = morning.needs_you() && !stuck.is_empty();
    is_said.then(|| retry(&stuck, morning.jobs.len()))
}

/// Returns the jobs that this night could not judge, without those that need a person.
fn failed<'a>(morning: &'a Morning<'_>) -> Vec<&'a Stuck<'a>> {
    let has_failed = |job: &Name| {
        let of_job = morning.failed.iter().filter(|(done, _)| done.job == *job);
        of_job.map(|(done, _)| *done).any(|done| matches!(done.outcome.end, End::Unjudged { .. }))
    };
    morning.stuck.iter().filter(|one| !one.needs_you() && has_failed(one.job)).collect()
}

/// Returns `3 jobs could not be judged (agent w2 exits with 9, first night); the next night retries them.`
fn retry(stuck: &[&Stuck<'_>], all: usize) -> String {
    let them = if stuck.len() == 1 { "it" } else { "them" };
    format!("{}; the next night retries {them}.", capitalised(&not_judged(stuck, all)))
}

/// Returns `all 5 jobs could not be judged (agent w2 exits with 9, third night)`.
fn not_judged(stuck: &[&Stuck<'_>], all: usize) -> String {
    let who = match stuck.len() {
        1 => "1 job".to_owned(),
        2 if all == 2 => "both jobs".to_owned(),
        number if number == all => format!("all {number} jobs"),
        number => format!("{number} jobs"),
    };
    let nights = nights(stuck);
    let first = stuck[0].cause;
    let why = if stuck.iter().all(|one| one.cause == first) {
        format!("{}, {nights}", cut(&cause(first), WIDEST))
    } else {
        nights
    };
    format!("{who} could not be judged ({why})")
}

fn nights(stuck: &[&Stuck<'_>]) -> String {
    let numbers = || stuck.iter().map(|one| one.nights);
    let (least, most) = (numbers().min().unwrap_or_default(), numbers().max().unwrap_or_default());
    if least == most { format!("{} night", ordinal(least)) } else { format!("{least} nights or more") }
}

/// Lists what a person can do, one line for each cause.
pub(super) fn needs(morning: &Morning<'_>) -> Vec<String> {
    let mut groups: Vec<Vec<&Stuck<'_>>> = Vec::new();
    for one in morning.stuck.iter().filter(|stuck| stuck.needs_you()) {
        match groups.iter_mut().find(|group| group[0].cause == one.cause) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().map(|group| need(group)).collect()
}

fn need(group: &[&Stuck<'_>]) -> String {
    let jobs: Vec<&Name> = group.iter().map(|one| one.job).collect();
    let (named, more) = jobs.split_at(jobs.len().min(MOST_NAMED));
    let named = named.iter().map(|job| words(job)).collect::<Vec<_>>().join(", ");
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let since = group.iter().map(|one| one.since).min().unwrap_or(group[0].since);
    let (why, fix) = (marked(&cause(group[0].cause)), fix(group[0].cause));
    let known = match jobs.as_slice() {
        [job] => typed("skilltune night ack", job),
        _ => "`skilltune night ack JOB`".to_owned(),
    };
    format!(
        "{named}{more} could not be judged since {since}, {}: {why}. {fix}; {known} if you know it already",
        nights(group)
    )
}

/// Says in words why a job could not be judged, and for which night in a row.
pub fn why(one: &Stuck<'_>) -> String {
    format!("{}, {}", cause(one.cause), nights(&[one]))
}

/// Names a cause on one line.
fn cause(cause: Cause<'_>) -> String {
    match cause {
        Cause::Run(why) => one_line(why),
        Cause::Failed(why) => format!("skilltune failed: {}", one_line(why)),
        Cause::Left(Left::Busy { why } | Left::Refused { why }) => one_line(why),
        Cause::Left(Left::Budget) => "no budget was left".to_owned(),
        Cause::Left(Left::Time) => "the night was over before its turn".to_owned(),
        Cause::Left(Left::Away) => "its agent was at its limit or down".to_owned(),
        Cause::Left(Left::Unchanged) => "it was unchanged".to_owned(),
        Cause::Killed => "skilltune was killed".to_owned(),
        Cause::Missing => "the results of its shard are missing".to_owned(),
    }
}

/// Says what a person can do about a cause.
fn fix(cause: Cause<'_>) -> &'static str {
    match cause {
        Cause::Left(Left::Budget) => "Raise `[night]` or `[week]` in the file of jobs, or limit other jobs",
        Cause::Left(Left::Time) => "Set a later `until`, or run more jobs at a time (`parallel`)",
        Cause::Left(Left::Busy { .. }) => "`skilltune list` shows the runs of its skill",
        Cause::Killed => "Look at what ends skilltune at night, such as the memory or a shutdown",
        Cause::Missing => "`skilltune night merge` takes the results of its shard",
        Cause::Run(_)
        | Cause::Failed(_)
        | Cause::Left(Left::Away | Left::Refused { .. } | Left::Unchanged) => {
            "`skilltune night doctor` looks for the fault"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::tz::TimeZone;
    use jiff::{SignedDuration, Timestamp};
    use skilltune_phases::nights::night::{Entry, Event, History, JobOutcome, Over, Spent, Work};

    use super::super::headline;
    use super::*;
    use crate::nights::failed_start::FailedStart;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn at(night: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * night)
    }

    /// Returns a night of three jobs, in which the agent of this one failed and the others had nothing to do.
    fn failing(night: i64, job: &str) -> [Entry; 3] {
        let (at, jobs) = (at(night), ["a", "b", "c"].map(name).into());
        let (night, date) = (name(&format!("n{night}")), at.to_zoned(TimeZone::UTC).date());
        let began = Event::Began { night, date, scheduled: true, jobs, shard: None };
        let outcome = JobOutcome {
            run: None,
            key: None,
            end: End::Unjudged { why: "exit code 9".into() },
            spent: Spent::default(),
            without_windows: BTreeSet::new(),
            cause: Some("agent w2 exits with 9".into()),
        };
        let ended = Event::Ended { job: name(job), work: Work::Tune, outcome: Box::new(outcome) };
        [began, ended, Event::Over { why: Over::Done }].map(|event| Entry { at, event })
    }

    #[test]
    fn a_job_that_failed_is_named_with_its_cause_and_night_also_if_a_person_knows_of_it() {
        let headline = |entries: &[Entry]| headline(&Morning::of(&History::of(entries)).unwrap(), None);
        let mut entries: Vec<Entry> = (1..=2).flat_map(|night| failing(night, "a")).collect();
        let second = "No. 1 job could not be judged (agent w2 exits with 9, second night); \
                      the next night retries it.";
        assert_eq!(headline(&entries), second);
        entries.extend(failing(3, "a"));
        let third = "Yes: 1 job could not be judged (agent w2 exits with 9, third night).";
        assert_eq!(headline(&entries), third);
        entries.push(Entry { at: at(3), event: Event::Acknowledged { job: name("a") } });
        assert_eq!(headline(&entries), second.replace("second", "third"));
        // The next night fails as a whole while it works at another job.
        let mut killed = failing(4, "a");
        killed[2].event = Event::Asked { job: name("b"), work: Work::Tune };
        entries.extend(killed);
        assert_eq!(headline(&entries), "No. Some jobs failed; the next night retries them.");
    }

    #[test]
    fn a_night_that_ended_and_then_failed_is_named_unless_evenings_without_a_whole_night_are() {
        let failed = FailedStart { at: at(1), why: "cannot write night.md".to_owned() };
        let earlier = |nights: &[i64]| {
            let entries: Vec<Entry> = nights.iter().flat_map(|night| failing(*night, "a")).collect();
            let history = History::of(&entries);
            let line = headline(&Morning::of(&history).unwrap(), Some(&failed));
            line.split_once("retries it. ").expect("a job failed").1.to_owned()
        };
        assert_eq!(earlier(&[1, 2]), "A night failed at 1970-01-02 00:00:00 UTC: cannot write night.md.");
        assert_eq!(earlier(&[1, 3]), "No scheduled night ran to its end on 1970-01-03.");
    }
}
