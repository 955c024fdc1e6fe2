//! The model's answers as an expert and in a review: it reads the changed file, reports the fault that the change brings,
//! and as the second agent proposes a command that shows it.

use serde_json::json;

use super::pages::{bound, code};
use super::{Talk, Turn};

const EXPERT: &str = "Do what the task asks, as the expert described above.";
const FIND: &str = "Review a change, as the expert described above.";
const VERIFY: &str = "A reviewer reports a fault in a change.";

/// The expert's answer, and the words of the error that the fault causes.
pub(crate) const ADVICE: &str = "One queue, with a bound.";
const ERROR: &str = "the average of nothing";

/// Returns the model's turn, or `None` if the page is none of these.
pub(super) fn turn(talk: &Talk, space: &str) -> Option<Turn> {
    let words = talk.words.as_str();
    if words.contains(EXPERT) {
        Some(Turn::Text(ADVICE.to_owned()))
    } else if words.contains(FIND) && talk.results == 0 {
        Some(Turn::Read { path: format!("{space}/project/calc.js") })
    } else if words.contains(FIND) {
        let found = json!({
            "severity": "high", "title": "An empty list has no average", "path": "calc.js", "line": 1,
            "side": "new", "quote": "return sum / values.length;", "what": "average([]) is NaN.",
            "suggestion": "Return 0 for an empty list.", "replacement": "",
        });
        Some(Turn::Text(bound(words, "findings", [found]).to_string()))
    } else if words.contains(VERIFY) {
        let script = format!("if (isNaN(require('./calc').average([]))) throw new Error('{ERROR}')");
        let verdict = json!({
            "answer_to": code(words, "answer_to"), "verdict": "confirmed", "why": "0 / 0 is NaN.", "path": "",
            "line": 0, "quote": "", "proof": { "argv": ["node", "-e", script], "announces": ERROR },
        });
        Some(Turn::Text(verdict.to_string()))
    } else {
        None
    }
}
