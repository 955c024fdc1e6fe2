use super::*;

/// Early in a summer's afternoon in Europe.
const AT: &str = "2026-07-10T12:00:00Z";

fn at() -> Timestamp {
    AT.parse().unwrap()
}

fn read(text: &str) -> Option<String> {
    find(text, at()).map(|time| time.to_string())
}

fn assert_found(forms: &[(&str, &str)]) {
    for (text, time) in forms {
        assert_eq!(read(text).as_deref(), Some(*time), "{text}");
    }
}

/// github.com/anthropics/claude-code/issues/2087 and 15064.
#[test]
fn claude_tells_seconds_behind_a_bar() {
    assert_found(&[
        ("Claude AI usage limit reached|1749924000", "2025-06-14T18:00:00Z"),
        ("Claude AI usage limit reached and won't reset|1766502000", "2025-12-23T15:00:00Z"),
    ]);
}

/// github.com/anthropics/claude-code/issues/9048, 12789, 54698, 74079 and 79136.
#[test]
fn claude_tells_a_time_of_the_day_with_its_zone() {
    assert_found(&[
        (
            "Claude usage limit reached. Your limit will reset at 7am (Asia/Singapore).",
            "2026-07-10T23:00:00Z",
        ),
        ("Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max", "2026-07-11T01:00:00Z"),
        ("You've hit your limit · resets 1:30am (Asia/Dhaka)", "2026-07-10T19:30:00Z"),
        ("You've hit your session limit · resets 12:50am (America/Los_Angeles)", "2026-07-11T07:50:00Z"),
        ("You've hit your session limit · resets 5:40pm (Europe/Berlin)", "2026-07-10T15:40:00Z"),
        ("resets 12pm (UTC)", "2026-07-10T12:00:00Z"),
    ]);
}

/// github.com/anthropics/claude-code/issues/55876 and 81647.
#[test]
fn claude_tells_a_day_when_it_is_not_the_next() {
    let found_in = |text, at: &str| find(text, at.parse().unwrap()).map(|time| time.to_string());
    let may = "You've hit your limit · resets May 5 at 9pm (America/New_York)";
    assert_eq!(found_in(may, "2026-05-03T20:54:34Z").as_deref(), Some("2026-05-06T01:00:00Z"));
    assert_eq!(found_in(may, "2026-05-09T20:54:34Z"), None, "it is not meant for the year to come");
    let july = "You've hit your weekly limit · resets Jul 31, 2am (UTC)";
    assert_eq!(found_in(july, "2026-07-27T08:00:00Z").as_deref(), Some("2026-07-31T02:00:00Z"));
    let new_year = "resets Jan 2 at 3am (UTC)";
    assert_eq!(found_in(new_year, "2026-12-30T08:00:00Z").as_deref(), Some("2027-01-02T03:00:00Z"));
}

#[test]
fn a_time_of_the_day_that_has_just_passed_is_not_that_of_tomorrow() {
    assert_found(&[
        ("resets 11:30am (UTC)", "2026-07-10T11:30:00Z"),
        ("resets 10:30am (UTC)", "2026-07-11T10:30:00Z"),
    ]);
}

#[test]
fn a_whole_date_is_taken_as_it_stands() {
    assert_found(&[
        ("limit reached, resets at 2026-11-21T15:00:00Z", "2026-11-21T15:00:00Z"),
        ("it resets 2026-11-21T15:00:00+02:00.", "2026-11-21T13:00:00Z"),
    ]);
}

/// github.com/earendil-works/pi/issues/2851, router-for-me/CLIProxyAPI/pull/449,
/// browserbase/mcp-server-browserbase/issues/129, google-gemini/gemini-cli/pull/11624.
#[test]
fn gemini_tells_how_long_it_takes() {
    assert_found(&[
        (
            "You have exhausted your capacity on this model. Your quota will reset after 12h34m16s.",
            "2026-07-11T00:34:16Z",
        ),
        ("Your quota will reset after 2s.", "2026-07-10T12:00:02Z"),
        ("limit: 4000000\nPlease retry in 47.434392449s.", "2026-07-10T12:00:47.434392449Z"),
        ("Please retry in 373.5ms.", "2026-07-10T12:00:00.3735Z"),
        ("Too many requests.\nSuggested retry after 59s.", "2026-07-10T12:00:59Z"),
        (
            r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}"#,
            "2026-07-10T12:00:34Z",
        ),
        (r#"\"retryDelay\": \"34.5s\""#, "2026-07-10T12:00:34.5Z"),
    ]);
}

#[test]
fn others_tell_seconds_in_a_header_or_words() {
    assert_found(&[
        ("HTTP 429, retry-after: 30", "2026-07-10T12:00:30Z"),
        (r#"{"Retry-After":"120"}"#, "2026-07-10T12:02:00Z"),
        ("Please try again in 3 hours 5 minutes.", "2026-07-10T15:05:00Z"),
        ("try again in 1 day, 2 hours", "2026-07-11T14:00:00Z"),
    ]);
}

#[test]
fn of_several_times_the_last_is_told() {
    assert_found(&[("Please retry in 5s.\nPlease retry in 40s.", "2026-07-10T12:00:40Z")]);
}

/// github.com/anthropics/claude-code/issues/52334 and 92834.
#[test]
fn what_cannot_be_known_is_no_time() {
    for text in [
        "",
        "You've hit your limit · resets 10pm",
        "You've hit your weekly limit · resets Sep 15 at 7pm",
        "resets 3pm (Middle/Earth)",
        "resets 13pm (UTC)",
        "resets 3:75pm (UTC)",
        "resets Feb 30 at 3pm (UTC)",
        "resets at 2026-13-40T00:00:00Z",
        "Claude AI usage limit reached|soon",
        "reset after a while",
        "retry-after: soon",
        "Please retry in 999999999999999999999999999999h",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn what_is_lifted_in_hours_is_a_limit_and_what_in_minutes_is_none() {
    let failure = |kind| Failure::new(kind, "no");
    let kind = |kind, resets_at| {
        let failure = with_reset_time(failure(kind), resets_at, at());
        (failure.kind, failure.until)
    };
    let (soon, late) = (Some(at() + BRIEF), Some(at() + 2 * BRIEF));
    assert_eq!(kind(FailureKind::RateLimited, soon), (FailureKind::RateLimited, soon));
    assert_eq!(kind(FailureKind::RateLimited, late), (FailureKind::UsageLimit, late));
    assert_eq!(kind(FailureKind::UsageLimit, soon), (FailureKind::UsageLimit, soon));
    assert_eq!(kind(FailureKind::UsageLimit, None), (FailureKind::UsageLimit, None));
    assert_eq!(kind(FailureKind::Overloaded, soon), (FailureKind::Overloaded, soon));
    assert_eq!(kind(FailureKind::Overloaded, late), (FailureKind::Overloaded, None));
    assert_eq!(kind(FailureKind::Crashed, late), (FailureKind::Crashed, None));
}
