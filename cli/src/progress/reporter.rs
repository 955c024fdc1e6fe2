//! What every reporter is told, and where it may write.

use std::io::{self, Write};

use skilltune_phases::event::Record;
use skilltune_phases::loops::Loop;
use skilltune_phases::run::Run;

/// Follows one run. `run` always holds the record that is told.
pub trait Reporter<L: Loop> {
    fn recorded(&mut self, run: &Run<L>, record: &Record<L>);
    fn began(&mut self, run: &Run<L>, step: &L::Step);
    fn ended(&mut self, run: &Run<L>, step: &L::Step);
    /// Nothing more will happen to this run now: it is at its end, or paused. Tells whether all data was written.
    fn finished(&mut self, run: &Run<L>) -> io::Result<()>;
    /// Something that a person should know and that is no part of the run.
    fn remark(&mut self, text: &str);
}

/// Where a reporter writes: data for programs, talk for people.
pub struct Streams {
    data: Box<dyn Write + Send>,
    talk: Box<dyn Write + Send>,
    /// Why data was lost, the first time that it was.
    lost: Option<io::Error>,
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

impl Streams {
    pub fn new(data: impl Write + Send + 'static, talk: impl Write + Send + 'static) -> Self {
        Self { data: Box::new(data), talk: Box::new(talk), lost: None }
    }

    pub fn data(&mut self, line: &str) {
        if let Err(error) = write(&mut self.data, line) {
            self.lost.get_or_insert(error);
        }
    }

    pub fn talk(&mut self, line: &str) {
        // Nobody is left to be told that nobody can be told.
        drop(write(&mut self.talk, line));
    }

    /// Whether all data came where it was to go, told once.
    pub fn written(&mut self) -> io::Result<()> {
        self.lost.take().map_or(Ok(()), Err)
    }
}

/// Nothing that cannot be written ends a run that is being paid for; a reader that has gone away has had enough.
fn write(to: &mut dyn Write, line: &str) -> io::Result<()> {
    match writeln!(to, "{line}").and_then(|()| to.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
