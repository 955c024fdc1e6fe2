//! Reporters and their captured output, for tests.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use skilltune_phases::loops::Loop;
use skilltune_phases::runs::run::Run;

use crate::loops::tune::world::Play;
use crate::progress::reporter::{Reporter, Streams};

#[derive(Clone, Debug, Default)]
pub struct Captured {
    data: Pipe,
    talk: Pipe,
}

#[derive(Clone, Debug, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Pipe {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Captured {
    pub fn streams(&self) -> Streams {
        Streams::new(self.data.clone(), self.talk.clone())
    }

    pub fn data(&self) -> String {
        self.data.text()
    }

    pub fn talk(&self) -> String {
        self.talk.text()
    }

    pub fn all(&self) -> String {
        self.talk() + &self.data()
    }
}

/// Sends a whole run to a reporter, record by record.
pub fn follow<L: Loop, R: Reporter<L>>(play: &Play<L>, reporter: impl FnOnce(Streams) -> R) -> Captured {
    let captured = Captured::default();
    let mut reporter = reporter(captured.streams());
    let (first, rest) = play.records.split_first().unwrap();
    let mut run = Run::begin(first).unwrap();
    reporter.recorded(&run, first);
    for record in rest {
        run.apply(record);
        reporter.recorded(&run, record);
    }
    reporter.finished(&run).unwrap();
    captured
}
