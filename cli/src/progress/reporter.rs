//! What every reporter is told, and where it may write.

use std::io::Write;

use skilltune_phases::event::Record;
use skilltune_phases::loops::Loop;
use skilltune_phases::run::Run;

/// Follows one run. `run` always holds the record that is told.
pub(crate) trait Reporter<L: Loop> {
    fn recorded(&mut self, run: &Run<L>, record: &Record<L>);
    fn began(&mut self, run: &Run<L>, step: &L::Step);
    fn ended(&mut self, run: &Run<L>, step: &L::Step);
    /// Nothing more will happen to this run now: it is at its end, or paused.
    fn finished(&mut self, run: &Run<L>);
    /// Something that a person should know and that is no part of the run.
    fn remark(&mut self, text: &str);
}

/// Where a reporter writes: data for programs, talk for people.
pub(crate) struct Streams {
    pub(crate) data: Box<dyn Write + Send>,
    pub(crate) talk: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

impl Streams {
    pub(super) fn data(&mut self, line: &str) {
        write(&mut self.data, line);
    }

    pub(super) fn talk(&mut self, line: &str) {
        write(&mut self.talk, line);
    }
}

/// A reader that has gone away must not end a run that is being paid for.
fn write(to: &mut dyn Write, line: &str) {
    drop(writeln!(to, "{line}").and_then(|()| to.flush()));
}
