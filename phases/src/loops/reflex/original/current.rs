//! `current.json`: which run is under way. It is there only while one is.

use jiff::Timestamp;
use serde::Serialize;

use super::lenient::{Fields, Unreadable, object, seconds};
use super::name::Alias;
use super::words::{Status, Word};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Current {
    pub active_run_id: String,
    pub task_alias: Alias,
    pub status: Status,
    #[serde(serialize_with = "seconds")]
    pub updated_at: Timestamp,
}

/// What was read: it names a run, and the rest may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundCurrent {
    pub active_run_id: String,
    pub task_alias: Option<String>,
    pub status: Option<Word<Status>>,
    pub updated_at: Option<Timestamp>,
}

impl Current {
    /// The file's text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("it has a JSON text") + "\n"
    }
}

pub fn read_current(bytes: &[u8]) -> Result<FoundCurrent, Unreadable> {
    let (object, mut doubts) = (object(bytes)?, Vec::new());
    let mut fields = Fields::of(&object, &mut doubts);
    Ok(FoundCurrent {
        active_run_id: fields.text("active_run_id").ok_or(Unreadable::NoRun)?,
        task_alias: fields.text("task_alias"),
        status: fields.word("status"),
        updated_at: fields.time("updated_at"),
    })
}
