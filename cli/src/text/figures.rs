//! Readable numbers.

use std::time::Duration;

use jiff::{Timestamp, Zoned};
use skilltune_orchestrator::snapshot::DiffSize;
use skilltune_phases::judging::score::Score;
use skilltune_phases::runs::ledger::Account;

pub fn score(score: Option<Score>) -> String {
    score.map_or_else(|| "-".to_owned(), |score| score.to_string())
}

/// Shows a score and its difference from an earlier one.
pub fn score_since(score: Score, before: Option<Score>) -> String {
    before.map_or_else(
        || score.to_string(),
        |before| format!("{score} ({})", change(score.points() - before.points())),
    )
}

fn change(by: f64) -> String {
    let tenths = format!("{by:+.1}");
    if matches!(tenths.as_str(), "+0.0" | "-0.0") { "±0.0".to_owned() } else { tenths }
}

/// Formats points, always with a sign.
pub fn signed(points: f64) -> String {
    // Avoids -0.0.
    format!("{:+.1}", points + 0.0)
}

/// Shows a probability between 0 and 1. None is certain, so none is shown as 0% or 100%.
pub fn percent(chance: f64) -> String {
    format!("{:.0}%", (chance * 100.0).clamp(1.0, 99.0))
}

pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match (hours, minutes, seconds) {
        (0, 0, 0) if time.as_millis() >= 50 => format!("{:.1}s", time.as_secs_f64()),
        (0, 0, _) => format!("{seconds}s"),
        (0, _, _) => format!("{minutes}m {:02}s", seconds % 60),
        _ => format!("{hours}h {:02}m", minutes % 60),
    }
}

pub fn milliseconds(ms: u64) -> String {
    duration(Duration::from_millis(ms))
}

/// Shows the cost of an account's calls. Names the calls of unknown cost, so that the sum is not taken for the total,
/// and marks a sum that contains estimates with `about`.
pub fn money(account: &Account) -> String {
    match account.unpriced {
        _ if account.calls == 0 => "$0".to_owned(),
        0 => sum(account),
        unpriced if unpriced == account.calls => "cost unknown".to_owned(),
        unpriced => format!("{} plus {} of unknown cost", sum(account), count(unpriced as usize, "call")),
    }
}

fn sum(account: &Account) -> String {
    let about = if account.estimated > 0 { "about " } else { "" };
    format!("{about}{}", dollars(account.usd))
}

/// Shows a time in UTC, the same in every time zone.
pub fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Shows a time in the zone of the person who reads it now, with its date if that is not today.
pub fn time_of_day(at: &Zoned, now: &Zoned) -> String {
    at.strftime(if at.date() == now.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" }).to_string()
}

pub fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// Shows bytes in the largest unit that they fill.
pub fn bytes(number: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(size, _)| number >= *size);
    unit.map_or_else(|| format!("{number} B"), |(size, name)| format!("{} {name}", grouped(number / size)))
}

/// Shows a change in lines and files: `+12 -3 in 2 files`.
pub fn size(size: &DiffSize) -> String {
    let files = count(size.files, "file");
    let opaque = match size.opaque {
        0 => String::new(),
        opaque => format!(", {} of them large or binary", grouped(opaque as u64)),
    };
    if size.added + size.removed == 0 {
        return format!("{files}{opaque}");
    }
    format!("+{} -{} in {files}{opaque}", grouped(size.added as u64), grouped(size.removed as u64))
}

/// Shows a number of things: `1 call`, `2 calls`.
pub fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number as u64))
}

/// Shows a place in a series: `third`, `12th`.
pub fn ordinal(number: usize) -> String {
    const WORDS: [&str; 10] =
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
    if let Some(word) = number.checked_sub(1).and_then(|nth| WORDS.get(nth)) {
        return (*word).to_owned();
    }
    let is_teen = (11..=13).contains(&(number % 100));
    let end = match number % 10 {
        1 if !is_teen => "st",
        2 if !is_teen => "nd",
        3 if !is_teen => "rd",
        _ => "th",
    };
    format!("{}{end}", grouped(number as u64))
}

/// Separates thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: f64) -> Score {
        Score::new(points).unwrap()
    }

    #[test]
    fn a_score_tells_its_change() {
        assert_eq!(score_since(points(72.5), None), "72.5");
        assert_eq!(score_since(points(72.5), Some(points(69.0))), "72.5 (+3.5)");
        assert_eq!(score_since(points(60.0), Some(points(72.0))), "60.0 (-12.0)");
        assert_eq!(score_since(points(60.0), Some(points(60.01))), "60.0 (±0.0)");
        assert_eq!(score(None), "-");
    }

    #[test]
    fn places_in_a_series_are_words_as_long_as_they_are_short() {
        let places = [1, 3, 10, 11, 12, 13, 21, 22, 33, 111, 1001].map(ordinal);
        let shown =
            ["first", "third", "tenth", "11th", "12th", "13th", "21st", "22nd", "33rd", "111th", "1,001st"];
        assert_eq!(places, shown);
    }

    #[test]
    fn no_chance_is_shown_as_certain() {
        assert_eq!([0.0, 0.126, 0.5, 0.998, 1.0].map(percent), ["1%", "13%", "50%", "99%", "99%"]);
    }

    #[test]
    fn durations_have_two_units_at_most() {
        let texts = [0, 49, 400, 59_999, 63_000, 3_600_000, 90_061_000].map(milliseconds);
        assert_eq!(texts, ["0s", "0s", "0.4s", "59s", "1m 03s", "1h 00m", "25h 01m"]);
    }

    #[test]
    fn money_says_what_has_no_price() {
        let account = |calls, unpriced, usd| Account { calls, unpriced, usd, ..Account::default() };
        let accounts = [account(0, 0, 0.0), account(2, 0, 1.5), account(3, 1, 0.004), account(2, 2, 0.0)];
        assert_eq!(
            accounts.map(|one| money(&one)),
            ["$0", "$1.50", "$0.0040 plus 1 call of unknown cost", "cost unknown"]
        );
    }

    #[test]
    fn money_that_is_estimated_is_about_so_much() {
        let account = |unpriced| Account { calls: 3, unpriced, usd: 1.5, estimated: 1, ..Account::default() };
        assert_eq!(
            [0, 1].map(|one| money(&account(one))),
            ["about $1.50", "about $1.50 plus 1 call of unknown cost"]
        );
    }

    #[test]
    fn bytes_are_told_in_a_unit_that_fits() {
        let texts = [0, 1023, 1024, 5 << 20, (1 << 30) - 1, 2_000 << 30].map(bytes);
        assert_eq!(texts, ["0 B", "1023 B", "1 KiB", "5 MiB", "1,023 MiB", "2,000 GiB"]);
    }

    #[test]
    fn a_change_is_told_in_lines_where_there_are_any() {
        let text = |added, removed, files, opaque| size(&DiffSize { added, removed, files, opaque });
        assert_eq!(text(12, 3, 2, 0), "+12 -3 in 2 files");
        assert_eq!(text(1_200, 0, 1, 0), "+1,200 -0 in 1 file");
        assert_eq!(text(1, 1, 3, 2), "+1 -1 in 3 files, 2 of them large or binary");
        assert_eq!([text(0, 0, 1, 0), text(0, 0, 2, 1)], ["1 file", "2 files, 1 of them large or binary"]);
    }

    #[test]
    fn counts_are_grouped_and_agree_with_their_thing() {
        assert_eq!(["call", "round"].map(|thing| count(1, thing)), ["1 call", "1 round"]);
        assert_eq!(count(12_345, "call"), "12,345 calls");
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
