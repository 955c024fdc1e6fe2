//! A stream of events, one JSON object per line, as the real agents print it. Invalid lines are counted.

use serde_json::Value;

use super::response::Talk;

/// Returns the objects of an output. Other lines are counted as unknown: some libraries print into every stream.
pub(super) fn events<'a>(stdout: &'a str, talk: &mut Talk) -> impl Iterator<Item = Value> + use<'a> {
    let lines = stdout.lines().filter(|line| !line.trim().is_empty());
    let read: Vec<Option<Value>> =
        lines.map(|line| serde_json::from_str(line).ok().filter(Value::is_object)).collect();
    talk.unknown += read.iter().filter(|event| event.is_none()).count() as u64;
    read.into_iter().flatten()
}

/// Returns a text field of an event.
pub(super) fn text<'v>(event: &'v Value, key: &str) -> Option<&'v str> {
    event.get(key)?.as_str().filter(|text| !text.is_empty())
}

impl Talk {
    pub(super) fn used(&mut self, tool: &str) {
        *self.tools.entry(tool.to_owned()).or_default() += 1;
    }

    pub(super) fn was_denied(&mut self, tool: &str) {
        if !self.denied.iter().any(|denied| denied == tool) {
            self.denied.push(tool.to_owned());
        }
    }
}
