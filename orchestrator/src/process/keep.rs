//! One output stream of a child: from its pipe into its file, as far as it is kept.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::event::PollFlags;

use super::error::Trouble;

pub(super) struct Stream<'a> {
    pipe: Option<PipeReader>,
    path: &'a Path,
    file: Option<File>,
    keep: u64,
    seen: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(pipe: PipeReader, path: &'a Path, keep: u64) -> Self {
        Self { pipe: Some(pipe), path, file: None, keep, seen: 0 }
    }

    /// The pipe to be watched, until its last writer has closed it.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn truncated(&self) -> bool {
        self.seen > self.keep
    }

    /// Takes what a poll has announced; never waits, as we are the only reader.
    pub(super) fn pump(&mut self, announced: PollFlags, buffer: &mut [u8]) -> Result<(), Trouble> {
        let mut count = 0;
        if announced.contains(PollFlags::IN) {
            count = self.read(buffer)?;
            self.take(&buffer[..count])?;
        }
        // No writer is left, and what was in the pipe fitted into the buffer: this spares the read of the end.
        if announced.contains(PollFlags::HUP) && count < buffer.len() {
            self.pipe = None;
        }
        Ok(())
    }

    /// Takes what is in the pipe now, and no more: whoever still writes is about to be killed.
    pub(super) fn drain(&mut self, buffer: &mut [u8]) -> Result<(), Trouble> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        let mut left = rustix::io::ioctl_fionread(pipe).unwrap_or(0);
        while left > 0 {
            let piece = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let count = self.read(&mut buffer[..piece])?;
            if count == 0 {
                break;
            }
            self.take(&buffer[..count])?;
            left -= count as u64;
        }
        self.pipe = None;
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Trouble> {
        let Some(pipe) = &mut self.pipe else { return Ok(0) };
        let count = loop {
            match pipe.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = count.map_err(|source| self.trouble("read the output for", source))?;
        if count == 0 {
            self.pipe = None;
        }
        Ok(count)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let room = self.keep.saturating_sub(self.seen);
        let kept = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.seen += bytes.len() as u64;
        if kept == 0 {
            return Ok(());
        }
        let written = match &mut self.file {
            Some(file) => file.write_all(&bytes[..kept]),
            None => create(self.path).and_then(|file| self.file.insert(file).write_all(&bytes[..kept])),
        };
        written.map_err(|source| self.trouble("write", source))
    }

    fn trouble(&self, doing: &'static str, source: io::Error) -> Trouble {
        Trouble { doing, path: self.path.to_owned(), source }
    }
}

/// Creates a file that was not there: an exclusive creation follows no link, dangling or not.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
