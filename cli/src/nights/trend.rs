//! Shows a job over all nights: drawn in the terminal, or as data.

use serde_json::{Value, json};
use skilltune_phases::nights::drift::DriftLevel;
use skilltune_phases::nights::night::{Job, Point};

use crate::text::plain::one_line;

/// The eighths of a line's height.
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

fn drift_level(point: &Point) -> &'static str {
    match point.drift_level {
        DriftLevel::Steady => "",
        DriftLevel::Watch => "watch",
        DriftLevel::Drift => "drift",
    }
}

/// Draws one line per night, the newest last, with a strip of all nights first.
pub fn drawn(job: &Job, is_utf8: bool, width: usize) -> String {
    let points: Vec<&Point> = job.points.iter().collect();
    let newest = &points[points.len().saturating_sub(width.clamp(20, 365))..];
    let strip: String = newest.iter().map(|point| step(point, is_utf8)).collect();
    let lines = newest.iter().map(|point| {
        let score = point.score.map_or_else(|| "    -".to_owned(), |score| format!("{score:5.1}"));
        let bar = point.score.map_or_else(String::new, |score| bar(score, is_utf8));
        let series = if point.is_new_series { "new series" } else { "" };
        let verdict = point.verdict.as_deref().unwrap_or_default().replace('_', " ");
        let notes = [drift_level(point), &verdict, series];
        let notes: Vec<String> =
            notes.iter().filter(|note| !note.is_empty()).map(|note| one_line(note)).collect();
        format!("{}  {score}  {bar:20}  {}", point.date, notes.join(", ")).trim_end().to_owned()
    });
    let lines: Vec<String> = lines.collect();
    format!("score of each night, oldest first\n{strip}\n\n{}", lines.join("\n"))
}

fn step(point: &Point, is_utf8: bool) -> char {
    let Some(score) = point.score else { return ' ' };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 7")]
    let nth = (score / 100.0 * 7.0).round().clamp(0.0, 7.0) as usize;
    if is_utf8 { STEPS[nth] } else { char::from(b'0' + u8::try_from(nth).unwrap_or_default()) }
}

fn bar(score: f64, is_utf8: bool) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 20")]
    let length = (score / 5.0).round().clamp(0.0, 20.0) as usize;
    (if is_utf8 { "█" } else { "#" }).repeat(length)
}

pub fn csv(job: &Job) -> String {
    let head = "date,score,trials,standing,verdict,new_series".to_owned();
    let lines = job.points.iter().map(|point| {
        let score = point.score.map_or_else(String::new, |score| format!("{score:.2}"));
        let verdict = point.verdict.as_deref().unwrap_or_default();
        let verdict: String = verdict.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let (trials, drift_level) = (point.trials, word(point.drift_level));
        format!("{},{score},{trials},{drift_level},{verdict},{}", point.date, point.is_new_series)
    });
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

fn word(drift_level: DriftLevel) -> &'static str {
    match drift_level {
        DriftLevel::Steady => "steady",
        DriftLevel::Watch => "watch",
        DriftLevel::Drift => "drift",
    }
}

pub fn json(job: &Job) -> Value {
    job.points.iter().map(point).collect()
}

pub fn point(point: &Point) -> Value {
    json!({
        "date": point.date, "at": point.at, "score": point.score, "trials": point.trials,
        "standing": point.drift_level, "verdict": point.verdict, "new_series": point.is_new_series,
    })
}
