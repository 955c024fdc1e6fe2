//! The pages of nights for a browser: `report.html` of a morning, and one page for the series of each job.
//!
//! Their figures are those of `night.json` and of `trend`; their sentences are those of `night.md`.

use std::path::Path;

use jiff::tz::TimeZone;
use pulldown_cmark::{Event, Parser};
use serde_json::{Value, json};
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::id::Digest;
use skilltune_phases::base::name::Name;
use skilltune_phases::nights::night::{Done, End, History, Morning};

use crate::nights::book::Shelf;
use crate::nights::failed_start::FailedStart;
use crate::nights::file::Limits;
use crate::nights::json;
use crate::nights::morning::{self, BROKEN, Line, UNREACHED, cost, limit};
use crate::nights::series::series;
use crate::nights::trend;
use crate::report::html::{figures_of, page};
use crate::runs::unusable;
use crate::terminal::complaint::Complaint;

/// The points in the table of a morning.
const FEW: usize = 60;
/// The points on the page of a series: a year of nights.
const MOST: usize = 365;
/// The longest part of a job's name that is in the name of its page.
const LONGEST: usize = 60;

/// What the page of a morning needs beside the morning.
#[derive(Clone, Copy, Debug)]
pub struct PageInput<'a> {
    pub history: &'a History,
    /// The state of the project, which has the pages of runs.
    pub home: &'a Home,
    pub inbox: &'a Path,
    pub zone: &'a TimeZone,
    /// The limits of seven days.
    pub week: Limits,
    /// The failure of an earlier night that no page has said yet.
    pub failed: Option<&'a FailedStart>,
}

/// Returns the page of a morning. `up` leads from its folder to that of the nights of its file.
pub fn morning(morning: &Morning<'_>, input: PageInput<'_>, up: &str) -> String {
    let night = morning.night;
    let PageInput { inbox, zone, week, failed, .. } = input;
    let object = json::object(morning, failed);
    let notes = morning::unmoved(morning).into_iter().chain(morning::drafts(night, inbox));
    let failures = morning::failures(morning, failed);
    let context = json!({
        "title": morning::title(night),
        "times": morning::times(night, zone),
        "up": up,
        "needs": pieces_of(morning::needs(morning)),
        "better": lines(morning::better(morning)),
        "worse": lines(morning::got_worse(morning)),
        "undecided": lines(morning::undecided(morning)),
        "jobs": morning.jobs.iter().map(|name| job(name, morning, input)).collect::<Vec<_>>(),
        "notes": pieces_of(notes),
        "failures": pieces_of(failures),
        "costs": { "night": cost(&morning.spent), "week": cost(&morning.week), "limit": limit(week) },
        "without_windows": pieces_of(morning::without_windows(night)),
        "figures": figures_of(&object),
        "night": object,
    });
    page("night.html", context)
}

/// Writes the page of a job's series beside those of the mornings, and returns its place.
pub fn leave_series(job: &Name, history: &History, shelf: &Shelf) -> Result<SafePath, Complaint> {
    let folder = shelf.place("series");
    folder.make().map_err(unusable)?;
    let place = folder.join(file_name(job));
    let page = of_series(job, history, shelf.place("report.html").is_file());
    place.replace(page.as_bytes(), Durability::Order).map_err(unusable)?;
    Ok(place)
}

/// Returns the page of a job's series. An older skilltune left no morning that it could link to.
pub fn of_series(job: &Name, history: &History, has_morning: bool) -> String {
    let figures = history.jobs.get(job).map(trend::json).unwrap_or_default();
    let context = json!({
        "job": job,
        "series": series(job, history, MOST),
        "has_morning": has_morning,
        "figures": figures_of(&figures),
    });
    page("series.html", context)
}

/// Returns a file name that needs no quotes in a link. A job may have any name that a folder can have.
fn file_name(job: &Name) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let plain: String = job.chars().map(|c| if is_plain(c) { c } else { '-' }).take(LONGEST).collect();
    let is_whole = *job == plain;
    let mark = if is_whole { String::new() } else { format!("-{}", Digest::of(job.as_bytes()).short()) };
    format!("{plain}{mark}.html")
}

fn job(name: &Name, morning: &Morning<'_>, input: PageInput<'_>) -> Value {
    let series = series(name, input.history, FEW);
    let has_points = series["points"].as_array().is_some_and(|points| !points.is_empty());
    let done = morning.night.done.iter().filter(|done| done.job == *name);
    let done: Vec<Value> = done.map(|done| work(done, input.home)).collect();
    json!({
        "job": name,
        "idle": done.is_empty().then(|| idle(name, morning)),
        "done": done,
        "cost": cost(&morning.night.spent_by(name)),
        "series": series,
        "page": has_points.then(|| format!("series/{}", file_name(name))),
    })
}

fn work(done: &Done, home: &Home) -> Value {
    let run = done.outcome.run.as_ref();
    let tone = match &done.outcome.end {
        End::Decided(decided) if decided.is_win => "good",
        End::Decided(_) => "neutral",
        End::Measured { .. } => "",
        End::Paused { .. } | End::Unjudged { .. } | End::Refused { .. } | End::Failed { .. } => "lost",
    };
    json!({
        "work": done.work.word(),
        "result": morning::ended(&done.outcome),
        "tone": tone,
        "run_id": run,
        // A run of another machine, or of another project, has no page here.
        "has_page": run.is_some_and(|run| home.run(run).page().is_file()),
    })
}

/// Says why nothing of a job was done.
fn idle(name: &Name, morning: &Morning<'_>) -> String {
    let night = morning.night;
    let left = morning.left.iter().find(|(job, _)| *job == name).map(|(_, why)| morning::left(why));
    let broken = || morning.broken.contains(&name).then(|| BROKEN.to_owned());
    let unreached = || morning.unreached.contains(&name).then(|| UNREACHED.to_owned());
    left.or_else(broken).or_else(unreached).unwrap_or_else(|| {
        let why = if !night.jobs.contains(name) {
            "not a job of this night"
        } else if night.missing_shards().is_empty() {
            "nothing to do"
        } else {
            "no result: results of some shards are missing"
        };
        why.to_owned()
    })
}

fn lines(lines: Vec<Line>) -> Vec<Value> {
    let line = |line: Line| json!({ "text": pieces(&line.text), "effect": line.effect });
    lines.into_iter().map(line).collect()
}

fn pieces_of(lines: impl IntoIterator<Item = String>) -> Vec<Vec<Value>> {
    lines.into_iter().map(|line| pieces(&line)).collect()
}

/// Returns a line of `night.md` as words and code, without its markup.
fn pieces(line: &str) -> Vec<Value> {
    let piece = |event| match event {
        Event::Code(code) => Some(json!({ "code": code.as_ref() })),
        Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
            Some(json!({ "words": text.as_ref() }))
        }
        Event::SoftBreak | Event::HardBreak => Some(json!({ "words": " " })),
        _ => None,
    };
    Parser::new(line).filter_map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::markdown::{code, marked, words};

    #[test]
    fn a_line_of_the_page_keeps_its_words_and_code_whatever_a_name_contains() {
        let hostile = "# <b>*a*</b> [l](u) `c` &lt; 1. x_y_z | ~";
        let text = |pieces: &[Value]| {
            let one = |piece: &Value| piece["words"].as_str().or(piece["code"].as_str()).unwrap().to_owned();
            pieces.iter().map(one).collect::<String>()
        };
        let line = pieces(&format!("{}: {} ends", words(hostile), code("run `a` <b>")));
        assert_eq!(line[line.len() - 2], json!({ "code": "run `a` <b>" }));
        assert_eq!(text(&line), format!("{}: run `a` <b> ends", hostile.replace("&lt;", "<")));
        assert_eq!(text(&pieces(&marked("see `x`, then *y*"))), "see x, then *y*");
    }

    #[test]
    fn a_page_of_a_series_has_a_plain_name_and_two_jobs_never_share_one() {
        let of = |job: &str| file_name(&job.parse().unwrap());
        assert_eq!(of("writer_2"), "writer_2.html");
        let odd = ["a b", "a?b", "..a", "a#b\n", &"x".repeat(255)].map(of);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        for name in &odd {
            assert!(name.len() < 100 && name.chars().all(is_plain) && !name.starts_with('.'), "{name}");
        }
        assert_ne!(odd[0], odd[1]);
    }
}
