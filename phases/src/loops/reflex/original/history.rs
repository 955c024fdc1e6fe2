//! `history.jsonl`: what happened, one event a line.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::lenient::{self, Fields, seconds};
use super::words::{Event, LineStatus, Phase, Step, Word};

/// What we write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryLine {
    #[serde(serialize_with = "seconds")]
    pub ts: Timestamp,
    pub run_id: String,
    pub iteration: u32,
    pub phase: Phase,
    pub step: Step,
    pub event: Event,
    pub status: LineStatus,
    /// For the events of which the original says what it holds, see [`payload`].
    pub payload: Map<String, Value>,
}

/// What was read: it tells an event, and the rest may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundLine {
    /// Where it stands in the file, counted from one.
    #[serde(skip)]
    pub line: usize,
    pub ts: Option<Timestamp>,
    pub run_id: Option<String>,
    pub iteration: Option<u32>,
    pub phase: Option<Phase>,
    pub step: Option<Word<Step>>,
    pub event: Word<Event>,
    pub status: Option<String>,
    pub payload: Map<String, Value>,
}

/// What can be read of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub lines: Vec<FoundLine>,
    /// How many lines tell no event, the torn one apart.
    pub unreadable: usize,
    /// Whether whoever wrote it was interrupted in the last line.
    pub torn: bool,
}

impl HistoryLine {
    /// The line, with its end.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("it has a JSON text") + "\n"
    }
}

pub fn read_history(bytes: &[u8]) -> History {
    let text = lenient::text(bytes);
    let mut history = History::default();
    for (place, line) in text.split_inclusive('\n').enumerate() {
        match FoundLine::read(place + 1, line) {
            Some(found) => history.lines.push(found),
            None if line.trim().is_empty() => {}
            None if !line.ends_with('\n') => history.torn = true,
            None => history.unreadable += 1,
        }
    }
    history
}

impl FoundLine {
    fn read(line: usize, text: &str) -> Option<Self> {
        let object = lenient::object(text.as_bytes()).ok()?;
        let mut doubts = Vec::new();
        let mut fields = Fields::of(&object, &mut doubts);
        Some(Self {
            line,
            ts: fields.time("ts"),
            run_id: fields.text("run_id"),
            iteration: fields.count("iteration"),
            phase: fields.known("phase"),
            step: fields.word("step"),
            event: fields.word("event")?,
            status: fields.text("status"),
            payload: fields.map("payload").unwrap_or_default(),
        })
    }
}

/// How far a run went beyond its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    pub completed_phase_seconds: u64,
    pub max_completed_phase_seconds: u64,
    pub last_completed_step: Step,
}

/// What the original says that some events hold.
pub mod payload {
    use serde_json::{Map, Value, json};

    use super::super::fraction::Fraction;
    use super::super::words::{StopReason, Word};
    use super::Overrun;

    pub fn evaluation_done(score: Option<Fraction>, passed: bool) -> Map<String, Value> {
        object(json!({ "score": score, "passed": passed }))
    }

    pub fn refinement_done(previous_artifact_hash: &str) -> Map<String, Value> {
        object(json!({ "previous_artifact_hash": previous_artifact_hash }))
    }

    pub fn stopped(reason: &Word<StopReason>, overrun: Option<Overrun>) -> Map<String, Value> {
        let mut payload = object(json!({ "reason": reason }));
        if let Some(Overrun { completed_phase_seconds, max_completed_phase_seconds, last_completed_step }) =
            overrun
        {
            payload.append(&mut object(json!({
                "completed_phase_seconds": completed_phase_seconds,
                "max_completed_phase_seconds": max_completed_phase_seconds,
                "overshoot_seconds": completed_phase_seconds.saturating_sub(max_completed_phase_seconds),
                "last_completed_step": last_completed_step,
            })));
        }
        payload
    }

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { unreachable!("a payload is written as an object") };
        object
    }
}
