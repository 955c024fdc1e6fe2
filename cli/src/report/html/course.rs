//! The course of a run: the score of each round, and the version that each was edited from.

use serde::Serialize;
use serde_json::Value;

#[derive(Debug, PartialEq, Serialize)]
pub struct Point {
    round: Value,
    score: Value,
    kept: Option<bool>,
    /// The place of the point whose version was edited.
    parent: Option<usize>,
    note: String,
}

/// Returns the points of a run's report; none if its loop has no scores by round.
pub fn of(report: &Value) -> Vec<Point> {
    let all = |key: &str| report[key].as_array().map(Vec::as_slice).unwrap_or_default();
    match report["loop"].as_str() {
        Some("tune") => searched(all("rounds")),
        Some("gan") => in_a_row(all("judged"), "round"),
        Some("reflex") => in_a_row(all("evaluations"), "iteration"),
        _ => Vec::new(),
    }
}

fn searched(rounds: &[Value]) -> Vec<Point> {
    let point = |(nth, round): (usize, &Value)| {
        let before = &rounds[..nth];
        let drafted =
            before.iter().rfind(|one| !one["draft"].is_null() && one["draft"] == round["candidate"]);
        // A version that is measured again follows its own last round.
        let was_measured = before.iter().any(|one| one["candidate"] == round["candidate"]);
        let from = if was_measured { Some(&round["candidate"]) } else { drafted.map(|one| &one["draft_of"]) };
        let kept = round["kept"].as_bool();
        Point {
            round: round["round"].clone(),
            score: round["measured"]["score"].clone(),
            kept,
            parent: before.iter().rposition(|one| Some(&one["candidate"]) == from),
            note: match (kept, round["dropped_because"].as_str()) {
                (Some(true), _) => "kept".to_owned(),
                (Some(false), Some(why)) => format!("dropped: {why}"),
                (Some(false), None) => "dropped".to_owned(),
                (None, _) => "open".to_owned(),
            },
        }
    };
    rounds.iter().enumerate().map(point).collect()
}

/// Returns points of which each edits the one before it. The best is filled.
fn in_a_row(all: &[Value], number: &str) -> Vec<Point> {
    let point = |(nth, one): (usize, &Value)| {
        let kept = one["best"].as_bool();
        let note = if kept == Some(true) { "the best" } else { "not the best" };
        Point {
            round: one[number].clone(),
            score: one["score"].clone(),
            kept,
            // After a dropped version a new one is made, of none.
            parent: nth.checked_sub(1).filter(|&before| all[before]["dropped"] != true),
            note: note.to_owned(),
        }
    };
    all.iter().enumerate().map(point).collect()
}
