//! The events that every reporter receives, and the streams that it may write to.

use std::io::{self, Write};

use skilltune_phases::loops::Loop;
use skilltune_phases::runs::event::Record;
use skilltune_phases::runs::run::Run;

/// Follows one run. `run` already includes the reported record.
pub trait Reporter<L: Loop> {
    fn recorded(&mut self, run: &Run<L>, record: &Record<L>);
    fn began(&mut self, run: &Run<L>, step: &L::Step);
    fn ended(&mut self, run: &Run<L>, step: &L::Step);
    /// Reports that the run has ended or paused. Fails if some data was not written.
    fn finished(&mut self, run: &Run<L>) -> io::Result<()>;
    /// Reports something that the user should know and that does not belong to the run.
    fn remark(&mut self, text: &str);
}

/// The output streams of a reporter: data for programs, messages for people.
pub struct Streams {
    data: Box<dyn Write + Send>,
    talk: Box<dyn Write + Send>,
    is_quiet: bool,
    /// The first error that lost data.
    lost: Option<io::Error>,
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

impl Streams {
    pub fn new(data: impl Write + Send + 'static, talk: impl Write + Send + 'static) -> Self {
        Self { data: Box::new(data), talk: Box::new(talk), is_quiet: false, lost: None }
    }

    /// Leaves out all messages except warnings.
    pub fn quiet(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    pub fn data(&mut self, line: &str) {
        if let Err(error) = write(&mut self.data, line) {
            self.lost.get_or_insert(error);
        }
    }

    pub fn talk(&mut self, line: &str) {
        if !self.is_quiet {
            self.warn(line);
        }
    }

    /// Writes a message that `quiet` does not leave out.
    pub fn warn(&mut self, line: &str) {
        // stderr is closed; nothing to report to.
        drop(write(&mut self.talk, line));
    }

    /// Fails if some data was not written. Reports this only once.
    pub fn written(&mut self) -> io::Result<()> {
        self.lost.take().map_or(Ok(()), Err)
    }
}

/// Writes a line. Ignores a closed pipe, because the reader has gone; a failed write must never end a paid run.
fn write(to: &mut dyn Write, line: &str) -> io::Result<()> {
    match writeln!(to, "{line}").and_then(|()| to.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
