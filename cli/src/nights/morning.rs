//! Formats a night: the lines while it runs, and the morning page.

mod costs;
mod falls;
pub mod stuck;
mod winners;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use jiff::tz::TimeZone;
use skilltune_phases::base::name::Name;
use skilltune_phases::judging::proof::Effect;
use skilltune_phases::nights::night::{
    Done, End, Halt, JobOutcome, Left, Morning, Night, Over, Place, Waiting, Work, Worse,
};

pub use costs::{cost, limit};
pub use falls::{effect, worse};

use crate::nights::failed_start::FailedStart;
use crate::nights::file::Limits;
use crate::text::figures::count;
use crate::text::markdown::{MarkdownPage, code, marked, words};
use crate::text::plain::{capitalised, one_line, shell_path};

/// Formats the start of a piece of work.
pub fn begun(work: &Work, shown: &str) -> String {
    match work {
        Work::Measure { only } => format!("measuring {shown} on {}", count(only.len(), "scenario")),
        Work::Again { only } => {
            format!("scores fell: measuring {} again", count(only.len(), "scenario"))
        }
        Work::Resume { run } => format!("resuming run {run}"),
        Work::Extend { run } => format!("comparing {shown} on more trials, in run {run}"),
        Work::Tune => format!("tuning {shown}"),
    }
}

/// Formats its end.
pub fn ended(outcome: &JobOutcome) -> String {
    match &outcome.end {
        End::Decided(decided) => format!("{}{}", one_line(&decided.words), outcome_text(&decided.place)),
        End::Measured { trials } => {
            let sum: f64 = trials.iter().map(|trial| trial.score.points()).sum();
            #[expect(clippy::cast_precision_loss, reason = "a few trials")]
            let mean = sum / trials.len().max(1) as f64;
            format!("mean {mean:.1} on {}", count(trials.len(), "trial"))
        }
        End::Paused { why, agent, .. } => {
            let agent = agent.as_ref().map(|agent| format!("{}: ", one_line(agent))).unwrap_or_default();
            format!("paused until the next night: {agent}{}", one_line(why))
        }
        End::Unjudged { why } => format!("not judged: {}", one_line(why)),
        End::Refused { why } => format!("not begun: {}", one_line(why)),
        End::Failed { why } => format!("skilltune failed: {}", one_line(why)),
    }
}

pub fn left(left: &Left) -> String {
    match left {
        Left::Budget => "not begun: no budget left; it goes first next night".to_owned(),
        Left::Time => "not begun: the night was over; it goes first next night".to_owned(),
        Left::Away => "not begun: its agent is at its limit or down; retried next night".to_owned(),
        Left::Busy { why } => format!("not begun: {}", one_line(why)),
        Left::Refused { why } => format!("cannot run: {}", one_line(why)),
        Left::Unchanged => "not begun: unchanged".to_owned(),
    }
}

/// Says that a night did not begin a job before it was killed or failed.
pub const UNREACHED: &str = "not begun: the night did not get to it; the next night begins it";

/// Says that a job was under way when skilltune ended.
pub const BROKEN: &str = "skilltune failed or was killed before it ended; the next night continues it";

/// Formats the reason alone.
pub fn why(left: &Left) -> String {
    let text = self::left(left);
    text.split_once(": ").map_or(text.clone(), |(_, why)| why.to_owned())
}

fn outcome_text(place: &Place) -> String {
    match place {
        Place::Nowhere => String::new(),
        Place::Applied => ", applied".to_owned(),
        Place::Branch(branch) => format!(", on branch {}", one_line(branch)),
        Place::Patch(patch) => format!(", as patch {}", one_line(patch)),
        Place::PullRequest(address) => format!(", as pull request {}", one_line(address)),
        Place::Kept => ", kept for you".to_owned(),
        Place::Conflict => ", not applied because the skill was edited".to_owned(),
    }
}

/// Returns the answer to the first question, in one line. `failed` is the failure of an earlier night that no page has
/// said yet: the line names it unless it names evenings without a whole night.
pub fn headline(morning: &Morning<'_>, failed: Option<&FailedStart>) -> String {
    let earlier = missed(morning).or_else(|| Some(capitalised(&failed?.text())));
    let earlier = earlier.map(|earlier| earlier + ".");
    let all = std::iter::once(answer(morning)).chain(stuck::retried(morning)).chain(earlier);
    all.collect::<Vec<_>>().join(" ")
}

/// Says on which evenings no scheduled night ran to its end: it did not begin, was killed or failed.
fn missed(morning: &Morning<'_>) -> Option<String> {
    match morning.missed.as_slice() {
        [] => None,
        [one] => Some(format!("No scheduled night ran to its end on {one}")),
        [first, .., last] => {
            let all = morning.missed.len();
            Some(format!("No scheduled night ran to its end on {all} evenings from {first} to {last}"))
        }
    }
}

/// Says what went wrong with the nights before this one.
fn earlier(morning: &Morning<'_>, failed: Option<&FailedStart>) -> Option<String> {
    let failed = failed.map(|failed| marked(&failed.text()));
    let parts: Vec<String> = missed(morning).into_iter().chain(failed).collect();
    (!parts.is_empty()).then(|| capitalised(&parts.join("; ")))
}

fn answer(morning: &Morning<'_>) -> String {
    let waits = morning.waiting.len();
    let worse = morning.worse.iter().filter(|worse| worse.needs_you()).map(Worse::job);
    let worse = worse.collect::<BTreeSet<_>>().len();
    let (held, refused, failed) = (held(morning).count(), refused(morning).count(), failed(morning).count());
    let parts = [
        (refused + failed, "job that cannot run", "jobs that cannot run"),
        (worse, "skill that works worse", "skills that work worse"),
        (held, "run that waits for you", "runs that wait for you"),
        (waits, "winner to look at", "winners to look at"),
    ];
    let parts = parts
        .iter()
        .filter(|(number, _, _)| *number > 0)
        .map(|(number, one, many)| format!("{number} {}", if *number == 1 { one } else { many }));
    let shown: Vec<String> = stuck::headline(morning).into_iter().chain(parts).collect();
    if !shown.is_empty() {
        let new = morning.waiting.iter().filter(|one| one.since == morning.night.date).count();
        let new = if (1..waits).contains(&new) { format!(" ({new} new)") } else { String::new() };
        return format!("Yes: {}{new}.", shown.join(", "));
    }
    if !morning.night.missing_shards().is_empty() {
        return "No. Results of some shards are missing; the next night retries their jobs.".to_owned();
    }
    if morning.has_failed() {
        let some = || "No. Some jobs failed; the next night retries them.".to_owned();
        return stuck::quiet_headline(morning).unwrap_or_else(some);
    }
    if morning.goes_on() {
        return "No. The next night continues where this one stopped.".to_owned();
    }
    falls::still_low(morning).unwrap_or_else(|| "No. All is well.".to_owned())
}

/// Returns the runs that wait for a person. A job that could not be judged for long is reported as that alone.
fn held<'a>(morning: &'a Morning<'_>) -> impl Iterator<Item = (&'a Done, &'a str)> {
    let held = morning.paused.iter().filter(|(_, _, halt)| *halt == Halt::Person);
    held.map(|(done, why, _)| (*done, *why)).filter(move |(done, _)| !morning.is_stuck(&done.job))
}

/// Returns the jobs that cannot begin until a person fixes something.
fn refused<'a>(morning: &'a Morning<'_>) -> impl Iterator<Item = (&'a Name, &'a Left)> {
    let refused = morning.left.iter().copied().filter(|(_, left)| matches!(left, Left::Refused { .. }));
    refused.filter(move |(job, _)| !morning.is_stuck(job))
}

/// Returns the failures of a person or of skilltune.
fn failed<'a>(morning: &'a Morning<'_>) -> impl Iterator<Item = &'a Done> {
    let is_ours = |done: &&Done| matches!(done.outcome.end, End::Refused { .. } | End::Failed { .. });
    let failed = morning.failed.iter().map(|(done, _)| *done).filter(is_ours);
    failed.filter(move |done| !morning.is_stuck(&done.job))
}

/// A line of the page as Markdown, with the effect that it names.
#[derive(Debug)]
pub struct Line {
    pub text: String,
    pub effect: Option<Effect>,
}

/// Returns `night.md`: the questions of a reader, in the order in which they ask them. `week` has the limits of seven
/// days, and `failed` is that of the headline.
pub fn page(
    morning: &Morning<'_>,
    inbox: &Path,
    zone: &TimeZone,
    week: Limits,
    failed: Option<&FailedStart>,
) -> String {
    let night = morning.night;
    let mut page = MarkdownPage::titled(&title(night));
    page.section("Does anything need me?");
    page.paragraph(marked(&headline(morning, failed)));
    let needs = needs(morning);
    if !needs.is_empty() {
        page.list(needs);
    }
    page.section("What got better?");
    tell(&mut page, texts(better(morning)));
    page.section("What got worse, and why do we believe it?");
    tell(&mut page, texts(got_worse(morning)));
    page.section("What is undecided, and what would deciding cost?");
    tell(&mut page, texts(undecided(morning)));
    page.section("What did it cost?");
    costs::tell(&mut page, morning, week);
    if let Some(note) = without_windows(night) {
        page.paragraph(note);
    }
    page.section("What could not run, and why?");
    tell(&mut page, failures(morning, failed));
    page.section("What was done?");
    page.paragraph(times(night, zone));
    let unmoved = unmoved(morning);
    if !unmoved.is_empty() {
        page.list(unmoved);
    }
    done(&mut page, night);
    if let Some(drafts) = drafts(night, inbox) {
        page.paragraph(drafts);
    }
    page.finish()
}

pub fn title(night: &Night) -> String {
    let shard = night.shard.map(|shard| format!(", shard {shard}")).unwrap_or_default();
    format!("Night of {}{shard}", night.date)
}

pub fn better(morning: &Morning<'_>) -> Vec<Line> {
    let won = morning
        .better
        .iter()
        .map(|one| Line { text: winners::better(one, morning.night), effect: one.decided.effect });
    let risen = morning
        .risen
        .iter()
        .map(|one| Line { text: falls::risen(one), effect: Some(falls::effect(one.1.fall)) });
    let recovered = morning
        .recovered
        .iter()
        .map(|one| Line { text: falls::recovered(one), effect: one.1.now.map(falls::effect) });
    won.chain(risen).chain(recovered).collect()
}

pub fn got_worse(morning: &Morning<'_>) -> Vec<Line> {
    let new = morning.worse.iter().map(|one| (one, worse(one)));
    let known = morning.acknowledged.iter().map(|one| (one, falls::acknowledged(one)));
    let line = |(one, text): (&Worse<'_>, String)| {
        let effect = match one {
            Worse::Drifts { .. } => None,
            Worse::Fell { change, .. } => Some(falls::effect(change.fall)),
        };
        Line { text, effect }
    };
    new.chain(known).map(line).collect()
}

pub fn undecided(morning: &Morning<'_>) -> Vec<Line> {
    let line = |one: &Waiting| Line { text: winners::undecided(one, morning), effect: one.decided.effect };
    morning.undecided.iter().map(line).collect()
}

/// Names the updates of agents without a sure effect.
pub fn unmoved(morning: &Morning<'_>) -> Vec<String> {
    morning.unmoved.iter().map(|one| falls::unmoved(one, morning.night)).collect()
}

/// Names the agents for which nothing can be kept free.
pub fn without_windows(night: &Night) -> Option<String> {
    let without: Vec<String> = night.without_windows().into_iter().map(words).collect();
    let agents = without.join(", ");
    (!without.is_empty())
        .then(|| format!("`keep_free` has no effect on agents that do not report a usage window: {agents}."))
}

fn texts(lines: Vec<Line>) -> Vec<String> {
    lines.into_iter().map(|line| line.text).collect()
}

fn tell(page: &mut MarkdownPage, lines: Vec<String>) {
    if lines.is_empty() { page.paragraph("Nothing.") } else { page.list(lines) }
}

/// Lists what a person can do, one line each: first what is broken or worse, then the newest winners.
pub fn needs(morning: &Morning<'_>) -> Vec<String> {
    let mut newest: Vec<&Waiting> = morning.waiting.iter().collect();
    newest.sort_by_key(|one| Reverse(one.since));
    let winners = newest.into_iter().map(|one| winners::next(one, morning));
    let worse: BTreeSet<&Name> =
        morning.worse.iter().filter(|worse| worse.needs_you()).map(Worse::job).collect();
    let worse = worse.into_iter().map(|job| {
        format!(
            "{} works worse: see {}; {} if you know it already",
            words(job),
            typed("skilltune trend", job),
            typed("skilltune night ack", job)
        )
    });
    let held = held(morning).map(|(done, why)| format!("{}: {}", words(&done.job), marked(why)));
    let refused = refused(morning).map(|(job, why)| format!("{}: {}", words(job), marked(&left(why))));
    let failed = failed(morning);
    let failed = failed.map(|done| format!("{}: {}", words(&done.job), marked(&ended(&done.outcome))));
    let stuck = stuck::needs(morning);
    stuck.into_iter().chain(refused).chain(failed).chain(worse).chain(held).chain(winners).collect()
}

/// Formats a command to type, with a name from a journal.
fn typed(command: &str, name: &str) -> String {
    code(&format!("{command} {}", shell_path(Path::new(&one_line(name)))))
}

/// The most unchanged jobs that are named.
const MOST_NAMED: usize = 5;

/// Says what could not run, and why. `failed` is that of the headline.
pub fn failures(morning: &Morning<'_>, failed: Option<&FailedStart>) -> Vec<String> {
    let earlier = earlier(morning, failed);
    let failed = morning
        .failed
        .iter()
        .map(|(done, _)| format!("{}: {}", words(&done.job), marked(&ended(&done.outcome))));
    let paused = morning
        .paused
        .iter()
        .map(|(done, _, _)| format!("{}: {}", words(&done.job), marked(&ended(&done.outcome))));
    let (unchanged, left): (Vec<_>, Vec<_>) =
        morning.left.iter().partition(|(_, why)| **why == Left::Unchanged);
    let left = left.into_iter().map(|(job, why)| format!("{}: {}", words(job), marked(&self::left(why))));
    let left = left.chain(morning.unreached.iter().map(|job| format!("{}: {UNREACHED}", words(job))));
    let unchanged = (!unchanged.is_empty()).then(|| {
        let few = unchanged.iter().take(MOST_NAMED).map(|(job, _)| words(job)).collect::<Vec<_>>();
        let more = unchanged.len() - few.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("Unchanged, so not begun: {}{more}", few.join(", "))
    });
    let broken = morning.broken.iter().map(|job| format!("{}: {BROKEN}", words(job)));
    let missing = morning.night.missing_shards();
    let missing = missing.into_iter().map(|shard| {
        format!(
            "Shard {shard}: its results are missing; run `skilltune night merge` again when you have them"
        )
    });
    let killed = morning.night.killed_shards();
    let killed =
        killed.into_iter().map(|shard| format!("Shard {shard}: skilltune was killed before it ended"));
    let of_jobs = failed.chain(paused).chain(left).chain(unchanged).chain(broken);
    earlier.into_iter().chain(of_jobs).chain(missing).chain(killed).collect()
}

fn run(done: &Done) -> String {
    done.outcome.run.as_ref().map_or_else(|| "RUN".to_owned(), ToString::to_string)
}

pub fn times(night: &Night, zone: &TimeZone) -> String {
    let moment = |at: jiff::Timestamp| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string();
    let began = moment(night.began);
    match night.over {
        None => format!("Began {began}, and was killed or is under way."),
        Some((at, over)) => {
            let why = match over {
                Over::Done => "",
                Over::Time => ", because it was time to stop",
                Over::Interrupted => ", because it was interrupted",
            };
            format!("Began {began}, ended {}{why}.", moment(at))
        }
    }
}

fn done(page: &mut MarkdownPage, night: &Night) {
    let rows = night.done.iter().map(|done| {
        vec![words(&done.job), done.work.word().to_owned(), marked(&ended(&done.outcome)), code(&run(done))]
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        page.table(&["Job", "Work", "Result", "Run"], rows);
    }
}

/// Says how many drafts are new in the inbox.
pub fn drafts(night: &Night, inbox: &Path) -> Option<String> {
    if night.drafts.is_empty() {
        return None;
    }
    let drafts = count(night.drafts.len(), "new draft");
    let command = typed("skilltune suite add --from", &inbox.display().to_string());
    Some(format!("{drafts} of scenarios, from trials that fell short: {command} adds one to a suite."))
}
