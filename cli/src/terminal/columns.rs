//! The widths of lines.

use std::io;
use std::os::fd::AsFd;

use crate::terminal::environment::Environment;

/// Returns the maximum width of data; a pipe has none.
pub fn data_width(env: &Environment) -> usize {
    if env.terminal.stdout { console_width(io::stdout()) } else { UNBOUNDED }
}

/// Returns the maximum width of messages.
pub fn talk_width(env: &Environment) -> usize {
    if env.terminal.stderr { console_width(io::stderr()) } else { UNBOUNDED }
}

pub const UNBOUNDED: usize = u16::MAX as usize;

fn console_width(terminal: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(terminal);
    size.map(|size| usize::from(size.ws_col)).ok().filter(|&columns| columns > 0).unwrap_or(80)
}
