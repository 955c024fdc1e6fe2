//! `--format jsonl`: each record as a line, and at the end the summary as the last one.

use skilltune_phases::event::Record;
use skilltune_phases::run::Run;
use skilltune_phases::step::Step;

use super::{Reporter, Streams};
use crate::report::{json, plain};

#[derive(Debug)]
pub(crate) struct Jsonl {
    streams: Streams,
}

impl Jsonl {
    pub(crate) fn new(streams: Streams) -> Self {
        Self { streams }
    }
}

impl Reporter for Jsonl {
    fn recorded(&mut self, _: &Run, record: &Record) {
        let line =
            serde_json::to_string(record).expect("a record has a JSON text: the journal is made of it");
        self.streams.data(&line);
    }

    fn began(&mut self, _: &Run, _: &Step) {}

    fn ended(&mut self, _: &Run, _: &Step) {}

    fn finished(&mut self, run: &Run) {
        self.streams.data(&json::summary(run).to_string());
    }

    fn remark(&mut self, text: &str) {
        self.streams.talk(&plain::clean(text));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::progress::Json;
    use crate::progress::capture::follow;
    use crate::report::world::{plan, play, scored};

    #[test]
    fn every_record_is_a_line_that_can_be_read_again_and_the_last_line_is_the_summary() {
        let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]));
        let seen = follow(&play, Jsonl::new).data();
        let lines: Vec<&str> = seen.lines().collect();
        let (last, records) = lines.split_last().unwrap();
        let records: Vec<Record> = records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(records, play.records);
        assert_eq!(serde_json::from_str::<Value>(last).unwrap(), json::summary(&play.run));
    }

    #[test]
    fn json_says_nothing_until_the_end_and_then_one_object() {
        let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]));
        let seen = follow(&play, Json::new);
        assert_eq!(seen.data(), format!("{}\n", json::summary(&play.run)));
        assert_eq!(seen.talk(), "");
    }

    #[test]
    fn remarks_are_no_data() {
        let captured = crate::progress::capture::Captured::default();
        Jsonl::new(captured.streams()).remark("a\x1b[31m remark");
        assert_eq!((captured.data().as_str(), captured.talk().as_str()), ("", "a[31m remark\n"));
    }
}
