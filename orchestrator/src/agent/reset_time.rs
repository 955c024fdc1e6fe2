//! Reads from a service's messages when a rate limit or usage limit resets. A message without a clear time gives none,
//! never a guess: a time of day without a zone does not count.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use regex::{Captures, Regex};
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::runs::remedy::Remedy;

/// A longer wait is not a pause between two retries.
const BRIEF: Duration = Duration::from_secs(5 * 60);
/// A time of day that has just passed does not mean tomorrow.
const JUST_NOW: Duration = Duration::from_secs(3600);
/// No limit resets more than a month ahead: a date that seems to has passed.
pub(super) const FARTHEST: Duration = Duration::from_secs(32 * 24 * 3600);

/// Adds the reported reset time to a failure, if that is useful.
pub(super) fn with_reset_time(failure: Failure, resets_at: Option<Timestamp>, at: Timestamp) -> Failure {
    let kind = match (failure.kind, resets_at) {
        (FailureKind::RateLimited, Some(resets_at)) if resets_at > at + BRIEF => FailureKind::UsageLimit,
        (kind, _) => kind,
    };
    let until = match kind.remedy() {
        Remedy::Wait => resets_at,
        // A retry must not wait for an hour in silence.
        Remedy::Repeat => resets_at.filter(|resets_at| *resets_at <= at + BRIEF),
        Remedy::Tell | Remedy::Fix => None,
    };
    Failure { kind, until, ..failure }
}

/// Finds the reset time in a message written at `at`; the last one, if there are several: a program may have retried.
pub(super) fn find(text: &str, at: Timestamp) -> Option<Timestamp> {
    let last =
        |form: &Form| form.words.captures_iter(text).filter_map(|found| (form.read)(&found, at)).last();
    FORMS.iter().find_map(last)
}

/// One format of a reset time.
struct Form {
    words: Regex,
    read: fn(&Captures<'_>, Timestamp) -> Option<Timestamp>,
}

static FORMS: LazyLock<[Form; 6]> = LazyLock::new(|| {
    let form = |words: &str, read| Form { words: Regex::new(words).expect("a form is well formed"), read };
    [
        form(r"(?i)limit reached[^|\n]*\|(\d{10})\b", |found, _| Timestamp::from_second(number(found)?).ok()),
        form(r"(?i)\bresets?(?: at| on)?:? (\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))", |found, _| {
            found[1].parse().ok()
        }),
        form(CLOCK, of_the_day),
        form(SPAN, |found, at| at.checked_add(span(&found[1])?).ok()),
        form(r#"retryDelay[\\"']*\s*:\s*[\\"']*([\d.]+s)\b"#, |found, at| {
            at.checked_add(span(&found[1])?).ok()
        }),
        form(r#"(?i)retry-after[\\"']*\s*[:=]\s*[\\"']*(\d{1,7})\b"#, |found, at| {
            at.checked_add(Duration::from_secs(number(found)?.unsigned_abs())).ok()
        }),
    ]
});

/// `resets 3pm (Europe/Berlin)`, `will reset at 7am (..)`, `resets May 5 at 9pm (..)`, `resets Jul 31, 2am (..)`.
const CLOCK: &str = r"(?ix) \b resets? (?:\ at)?
    (?: \ (?<month> jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec ) [a-z]* \ (?<day> \d{1,2} ) (?: , | \ at ) )?
    \ (?<hour> \d{1,2} ) (?: : (?<minute> \d\d ) )? \ ? (?<half> [ap] ) m \ \( (?<zone> [A-Za-z0-9_+/-]+ ) \)";

/// `reset after 3h24m10s`, `Please retry in 47.4s`, `try again in 3 hours 5 minutes`.
const SPAN: &str = r"(?ix) \b (?: reset \ after | retry \ in | retry \ after | again \ in ) \ (
    (?: \d+ (?: \. \d+ )? \ ? (?: ms | d(?:ays?)? | h(?:ours?)? | m(?:in(?:ute)?s?)? | s(?:ec(?:ond)?s?)? ) [\ ,]* )+ )";

fn number(found: &Captures<'_>) -> Option<i64> {
    found[1].parse().ok()
}

/// Returns the next such time in the named zone.
fn of_the_day(found: &Captures<'_>, at: Timestamp) -> Option<Timestamp> {
    let zone = TimeZone::get(&found["zone"]).ok()?;
    let part = |name: &str| found.name(name).map_or(Some(0), |part| part.as_str().parse::<i8>().ok());
    let hour = part("hour").filter(|hour| (1..=12).contains(hour))? % 12;
    let afternoon = if found["half"].eq_ignore_ascii_case("p") { 12 } else { 0 };
    let time = Time::new(hour + afternoon, part("minute")?, 0, 0).ok()?;
    let earliest = at.checked_sub(JUST_NOW).ok()?;
    let today = earliest.to_zoned(zone.clone()).date();
    let days = match found.name("month") {
        None => [Some(today), today.tomorrow().ok()],
        Some(name) => {
            let day = |year| Date::new(year, month(name.as_str())?, part("day")?).ok();
            [day(today.year()), day(today.year() + 1)]
        }
    };
    let times =
        days.into_iter().flatten().filter_map(|day| day.to_datetime(time).to_zoned(zone.clone()).ok());
    let next = times.map(|time| time.timestamp()).find(|time| *time >= earliest)?;
    (next <= at.checked_add(FARTHEST).ok()?).then_some(next)
}

fn month(name: &str) -> Option<i8> {
    const NAMES: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let at = NAMES.find(&name.to_ascii_lowercase())?;
    i8::try_from(at / 3 + 1).ok()
}

/// Returns the sum of the parts of a span.
fn span(text: &str) -> Option<Duration> {
    static PART: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)(\d+(?:\.\d+)?) ?(ms|d|h|m|s)").expect("a part is well formed"));
    let part = |found: Captures<'_>| {
        let seconds = match found[2].to_ascii_lowercase().as_str() {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => 86_400.0,
        };
        Duration::try_from_secs_f64(found[1].parse::<f64>().ok()? * seconds).ok()
    };
    PART.captures_iter(text).map(part).try_fold(Duration::ZERO, |sum, part| sum.checked_add(part?))
}

#[cfg(test)]
mod tests;
