//! Sends frames to the other side.

use std::io::{self, Write};

use serde::Serialize;

use super::frame::Frame;
use crate::process::json_line;

/// The stream to the other side.
#[derive(Debug)]
pub struct Sender<W>(W);

impl<W: Write> Sender<W> {
    pub fn of(to: W) -> Self {
        Self(to)
    }

    pub fn send(&mut self, frame: &Frame) -> io::Result<()> {
        self.send_with(frame, &[])
    }

    /// Sends a frame and its payload.
    pub fn send_with(&mut self, frame: &Frame, payload: &[u8]) -> io::Result<()> {
        self.say(frame)?;
        self.0.write_all(payload)?;
        self.0.flush()
    }

    /// Sends a line: a frame, or a worker's greeting.
    pub fn say(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.0.write_all(&json_line(line))?;
        self.0.flush()
    }
}
