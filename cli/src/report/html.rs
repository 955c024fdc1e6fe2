//! `report.html`: a run as one page for a browser, with a page for each scenario in `data/`.
//!
//! ```text
//! report.json ------+
//! document::Report -+-> templates -> report.html, data/scenario-001.html
//! ```
//!
//! Every number on a page comes from `report.json`, and so does every picture. A page makes no request, and works
//! without its script.

mod course;
mod engine;

use serde::Serialize;
use serde_json::{Value, json};
use skilltune_orchestrator::engine::EngineError;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::RunFolder;
use skilltune_phases::runs::run::Run;

use crate::report::costs::errors;
use crate::report::document::{Report, Section};
use crate::report::machines::machines;
use crate::report::page::in_short;
use crate::report::replace;
use crate::report::ui::Ui;
use crate::text::figures;
use crate::text::width::cut;

pub use engine::page;

/// Writes the page of a run and those of its scenarios.
pub fn write<L: Ui>(
    objects: &Objects,
    folder: &RunFolder,
    run: &Run<L>,
    report: &Value,
) -> Result<(), EngineError> {
    replace(&folder.page(), &of_run(run, objects, report))?;
    let cases = L::cases(run, objects);
    if cases.is_empty() {
        return Ok(());
    }
    folder.data().make()?;
    for case in &cases {
        let Some(name) = case["page"].as_str().and_then(|path| path.strip_prefix("data/")) else { continue };
        let context = json!({
            "run_id": report["run_id"],
            "case": case,
            "names": names(report),
            "is_paired": is_paired(report),
            "figures": figures_of(case),
        });
        replace(&folder.data().join(name), &page("scenario.html", context))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Content<'a> {
    report: &'a Value,
    document: Report,
    in_short: Section,
    machines: Option<Section>,
    errors: Section,
    about: Value,
    tones: Value,
    course: Vec<course::Point>,
    names: Value,
    is_paired: bool,
    figures: Vec<(String, String)>,
}

fn of_run<L: Ui>(run: &Run<L>, objects: &Objects, report: &Value) -> String {
    let mut document = L::report(run, objects);
    let in_short = in_short(run, &mut document);
    let errors = errors(run, document.unit);
    let summary = L::summary(run, None);
    let next = summary.next.iter().map(|one| json!({ "command": one.command, "purpose": one.purpose }));
    let about = json!({
        "kind": summary.kind,
        "subject": summary.subject,
        "sentence": summary.sentence,
        "facts": summary.facts,
        "found": summary.notes.iter().chain(&summary.found).collect::<Vec<_>>(),
        "next": next.collect::<Vec<_>>(),
        "money": figures::money(&run.ledger.total()),
        "started": figures::moment(run.started_at),
        "ended": run.closed_at.map(figures::moment),
    });
    page(
        "run.html",
        Content {
            report,
            document,
            in_short,
            machines: machines(run),
            errors,
            about,
            tones: tones(),
            course: course::of(report),
            names: names(report),
            is_paired: is_paired(report),
            figures: figures_of(report),
        },
    )
}

/// Returns the names of the two sides; a comparison has its own.
fn names(report: &Value) -> Value {
    let compared = &report["compared"];
    if compared.is_object() { json!([compared["a"], compared["b"]]) } else { json!(["start", "candidate"]) }
}

/// Returns whether both sides of any scenario were tried.
fn is_paired(report: &Value) -> bool {
    let mut all = report["scenarios"].as_array().into_iter().flatten();
    all.any(|one| one["start"].is_object() && one["candidate"].is_object()) || report["compared"].is_object()
}

/// Returns how a verdict or an outcome looks; any other is neither good nor bad.
fn tones() -> Value {
    let of = |tone: &'static str, words: &[&'static str]| {
        words.iter().map(|word| ((*word).to_owned(), json!(tone))).collect::<Vec<_>>()
    };
    let good = of("good", &["win", "improved", "reached", "passed", "accepted", "answered", "clean"]);
    let bad = of("bad", &["loss", "refused", "found"]);
    good.into_iter().chain(bad).collect()
}

/// The most letters of a text among the figures.
const LONGEST: usize = 500;

/// The keys of long texts that a page has in another place.
const TEXTS: [&str; 6] = ["question", "evidence", "digest", "diff", "lines", "answer"];

/// Returns each figure and short text of a value with its place in it. The trials of scenarios have pages of their own.
pub fn figures_of(value: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    add(&mut rows, String::new(), value);
    rows
}

fn add(rows: &mut Vec<(String, String)>, place: String, value: &Value) {
    match value {
        Value::Object(keys) => {
            let is_elsewhere =
                |key: &str| TEXTS.contains(&key) || (place.starts_with("scenarios[") && key == "trials");
            for (key, value) in keys.iter().filter(|(key, _)| !is_elsewhere(key)) {
                let dot = if place.is_empty() { "" } else { "." };
                add(rows, format!("{place}{dot}{key}"), value);
            }
        }
        Value::Array(all) => {
            for (nth, value) in all.iter().enumerate() {
                add(rows, format!("{place}[{nth}]"), value);
            }
        }
        Value::String(text) => rows.push((place, cut(text, LONGEST))),
        Value::Null | Value::Bool(_) | Value::Number(_) => rows.push((place, value.to_string())),
    }
}
