//! `--format json`: nothing until the end, then one object on one line.

use skilltune_phases::event::Record;
use skilltune_phases::run::Run;
use skilltune_phases::step::Step;

use super::{Reporter, Streams};
use crate::report::{json, plain};

#[derive(Debug)]
pub(crate) struct Json {
    streams: Streams,
}

impl Json {
    pub(crate) fn new(streams: Streams) -> Self {
        Self { streams }
    }
}

impl Reporter for Json {
    fn recorded(&mut self, _: &Run, _: &Record) {}

    fn began(&mut self, _: &Run, _: &Step) {}

    fn ended(&mut self, _: &Run, _: &Step) {}

    fn finished(&mut self, run: &Run) {
        self.streams.data(&json::summary(run).to_string());
    }

    fn remark(&mut self, text: &str) {
        self.streams.talk(&plain::clean(text));
    }
}
