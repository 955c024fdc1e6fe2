//! `--format json` and `jsonl`: one object at the end; `jsonl` writes every record on a line before it.

use std::io;

use skilltune_phases::base::json;
use skilltune_phases::runs::event::Record;
use skilltune_phases::runs::run::Run;

use crate::progress::reporter::{Reporter, Streams};
use crate::report;
use crate::report::ui::Ui;
use crate::text::plain;

#[derive(Debug)]
pub struct Json {
    streams: Streams,
    tells_records: bool,
}

impl Json {
    /// Writes nothing until the end, then one object on one line.
    pub fn at_the_end(streams: Streams) -> Self {
        Self { streams, tells_records: false }
    }

    /// Writes each record as a line, and at the end the summary as the last line.
    pub fn by_record(streams: Streams) -> Self {
        Self { streams, tells_records: true }
    }
}

impl<L: Ui> Reporter<L> for Json {
    fn recorded(&mut self, _: &Run<L>, record: &Record<L>) {
        if self.tells_records {
            self.streams.data(&json::line(record));
        }
    }

    fn began(&mut self, _: &Run<L>, _: &L::Step) {}

    fn ended(&mut self, _: &Run<L>, _: &L::Step) {}

    fn finished(&mut self, run: &Run<L>) -> io::Result<()> {
        self.streams.data(&json::line(&report::json::object(run, &L::summary(run, None))));
        self.streams.written()
    }

    fn remark(&mut self, text: &str) {
        self.streams.talk(&plain::pictured(text));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use skilltune_phases::loops::tune::{Record, Tune};

    use super::*;
    use crate::loops::tune::world::{Play, plan, play, scored};
    use crate::progress::capture::{Captured, follow};

    fn summary(play: &Play<Tune>) -> Value {
        report::json::object(&play.run, &Tune::summary(&play.run, None))
    }

    #[test]
    fn every_record_is_a_line_that_can_be_read_again_and_the_last_line_is_the_summary() {
        let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]));
        let seen = follow(&play, Json::by_record).data();
        let lines: Vec<&str> = seen.lines().collect();
        let (last, records) = lines.split_last().unwrap();
        let records: Vec<Record> = records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(records, play.records);
        assert_eq!(serde_json::from_str::<Value>(last).unwrap(), summary(&play));
    }

    #[test]
    fn json_says_nothing_until_the_end_and_then_one_object() {
        let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]));
        let seen = follow(&play, Json::at_the_end);
        assert_eq!(seen.data(), format!("{}\n", summary(&play)));
        assert_eq!(seen.talk(), "");
    }

    #[test]
    fn what_cannot_be_written_is_told_at_the_end_and_a_reader_that_has_gone_is_not() {
        let play = play(plan(&["haiku"], 1), scored(&[50, 95], &[52, 91]));
        for (kind, is_lost) in [(io::ErrorKind::StorageFull, true), (io::ErrorKind::BrokenPipe, false)] {
            let mut json = Json::by_record(Streams::new(Deaf(kind), io::sink()));
            json.recorded(&play.run, &play.records[0]);
            assert_eq!(json.finished(&play.run).is_err(), is_lost, "{kind}");
        }
    }

    /// A writer that fails every write.
    struct Deaf(io::ErrorKind);

    impl io::Write for Deaf {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn remarks_are_no_data() {
        let captured = Captured::default();
        Reporter::<Tune>::remark(&mut Json::by_record(captured.streams()), "a\x1b[31m remark");
        assert_eq!((captured.data().as_str(), captured.talk().as_str()), ("", "a␛[31m remark\n"));
    }
}
