//! How wide a line may be.

use std::io;
use std::os::fd::AsFd;

use crate::terminal::environment::Environment;

/// How wide a line of data may be: a pipe has no width.
pub fn data_width(env: &Environment) -> usize {
    if env.terminal.stdout { console_width(io::stdout()) } else { UNBOUNDED }
}

/// How wide a line of talk may be.
pub fn talk_width(env: &Environment) -> usize {
    if env.terminal.stderr { console_width(io::stderr()) } else { UNBOUNDED }
}

pub const UNBOUNDED: usize = u16::MAX as usize;

fn console_width(terminal: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(terminal);
    size.map(|size| usize::from(size.ws_col)).ok().filter(|&columns| columns > 0).unwrap_or(80)
}
