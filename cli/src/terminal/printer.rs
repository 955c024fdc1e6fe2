//! The only module that prints: data to stdout, messages to stderr.

use std::io::{self, Write as _};

use serde::Serialize;
use skilltune_phases::base::json;

use crate::terminal::columns;
use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::style::Style;
use crate::text::width;

/// Prints all output of the program. A closed reader is not an error.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// The style of stdout.
    pub data: Style,
    /// The style of stderr.
    pub talk: Style,
    /// The maximum width of messages, except for text to copy.
    pub talk_width: usize,
    pub level: Level,
}

/// How much is printed on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Errors, warnings and questions.
    Quiet,
    Normal,
    /// Also each agent call.
    Verbose,
}

impl Printer {
    pub const PLAIN: Self =
        Self { data: Style::PLAIN, talk: Style::PLAIN, talk_width: columns::UNBOUNDED, level: Level::Normal };

    pub fn new(env: &Environment, level: Level) -> Self {
        let terminal = env.terminal;
        Self {
            data: Style::on(terminal.stdout, env),
            talk: Style::on(terminal.stderr, env),
            talk_width: columns::talk_width(env),
            level,
        }
    }

    /// Prints the requested output. Invisible characters become visible, also in a pipe.
    pub fn data(self, text: &str) -> Result<(), Complaint> {
        self.bytes(&self.data.shown(text))
    }

    /// Prints the requested output as JSON: one value on one line in every command, as scripts read the lines of a stream.
    pub fn json(self, value: &impl Serialize) -> Result<(), Complaint> {
        self.bytes(&json::line(value))
    }

    /// Prints the requested output unchanged: it was made safe before, or is our own.
    #[expect(clippy::unused_self, reason = "the caller holds the printer")]
    pub fn bytes(self, text: &str) -> Result<(), Complaint> {
        let mut out = io::stdout().lock();
        let written = writeln!(out, "{text}").and_then(|()| out.flush());
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(error)),
            _ => Ok(()),
        }
    }

    /// Prints a message, unless it is quiet.
    pub fn talk(self, text: &str) {
        if self.level != Level::Quiet {
            self.warn(text);
        }
    }

    /// Prints a warning, or a message that belongs to a question.
    pub fn warn(self, text: &str) {
        say(&self.talk.shown(&width::fitted(text, self.talk_width)));
    }

    /// Prints untrusted text, line by line and unwrapped, before a question about it.
    pub fn show(self, text: &str) {
        say(&self.talk.shown(text));
    }

    /// Prints what clap says about a command line, with our hint instead of its own.
    pub fn misuse(self, error: &clap::Error, hint: &str) {
        let text = error.render().to_string();
        let text = text.split("\n\nFor more information, try").next().unwrap_or_default().trim_end();
        let text = text.replacen("error:", &self.talk.red("error:"), 1);
        say(&self.talk.shown(&format!("{text}\n\n{} {hint}", self.talk.cyan("hint:"))));
    }

    pub fn complain(self, complaint: &Complaint) {
        if !matches!(complaint.kind, ErrorKind::Interrupted | ErrorKind::Terminated) {
            say(&complaint.render(self.talk, self.talk_width));
        }
    }
}

/// Returns the complaint about a failed write to stdout.
pub fn unwritten(error: io::Error) -> Complaint {
    Complaint::ours("cannot write to stdout").caused_by(error)
}

fn say(text: &str) {
    // If stderr is closed, there is nothing to report to.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints what clap has to show: the help or the version.
pub fn usage(words: &clap::Error) -> Exit {
    // If stderr is closed, there is nothing to report to.
    let _ = words.print();
    if words.use_stderr() { Exit::Input } else { Exit::Reached }
}
