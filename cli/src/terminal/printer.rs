//! The only module that prints: data to stdout, talk to stderr.

use std::io::{self, Write as _};

use skilltune_phases::json;

use crate::terminal::columns;
use crate::terminal::complaint::{Complaint, Kind};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::style::Style;
use crate::text::width;

/// Where the program's words go. A reader that has gone away is no failure of ours.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// The style of what goes to stdout.
    pub data: Style,
    /// The style of what goes to stderr.
    pub talk: Style,
    /// No line of talk is wider than this, unless there is something in it to copy.
    talk_width: usize,
}

impl Printer {
    pub const PLAIN: Self = Self { data: Style::PLAIN, talk: Style::PLAIN, talk_width: columns::UNBOUNDED };

    pub fn new(env: &Environment) -> Self {
        let terminal = env.terminal;
        Self {
            data: Style::on(terminal.stdout, env),
            talk: Style::on(terminal.stderr, env),
            talk_width: columns::talk_width(env),
        }
    }

    /// What was asked for. Nothing in it reaches the reader unseen, a pipe included.
    pub fn data(self, text: &str) -> Result<(), Complaint> {
        self.bytes(&self.data.shown(text))
    }

    /// What was asked for, as JSON.
    pub fn json(self, text: &str) -> Result<(), Complaint> {
        self.bytes(&json::shown(text))
    }

    /// What was asked for, as it stands: it has been made safe, or is our own.
    #[expect(clippy::unused_self, reason = "whoever prints holds the printer")]
    pub fn bytes(self, text: &str) -> Result<(), Complaint> {
        let mut out = io::stdout().lock();
        let written = writeln!(out, "{text}").and_then(|()| out.flush());
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(error)),
            _ => Ok(()),
        }
    }

    /// What is said besides.
    pub fn talk(self, text: &str) {
        say(&self.talk.shown(&width::fitted(text, self.talk_width)));
    }

    /// Text of others, line by line as it stands, before a question about it.
    pub fn show(self, text: &str) {
        say(&self.talk.shown(text));
    }

    pub fn complain(self, complaint: &Complaint) {
        if !matches!(complaint.kind, Kind::Interrupted | Kind::Terminated) {
            say(&complaint.render(self.talk, self.talk_width));
        }
    }
}

/// What was asked for cannot be told.
pub fn unwritten(error: io::Error) -> Complaint {
    Complaint::ours("cannot write to stdout").caused_by(error)
}

fn say(text: &str) {
    // Nobody is left to be told that nobody can be told.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// What clap has to say: help and version as data, mistakes as talk.
pub fn usage(words: &clap::Error) -> Exit {
    // Nobody is left to be told that nobody can be told.
    let _ = words.print();
    if words.use_stderr() { Exit::Input } else { Exit::Reached }
}
