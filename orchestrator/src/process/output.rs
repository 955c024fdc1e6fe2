//! Copies one output stream of a child to its file, up to a limit.
//!
//! Usually through a pipe. If the child writes the file itself, the excess is cut off from time to time.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::event::PollFlags;

use super::error::Trouble;

pub(super) struct Stream<'a> {
    pipe: Option<PipeReader>,
    path: &'a Path,
    file: Option<File>,
    /// The child writes the file itself.
    itself: bool,
    keep: u64,
    seen: u64,
}

/// The source of a child's output.
pub(super) enum Source {
    Pipe(PipeReader),
    /// The file that the child writes.
    Itself(File),
}

/// Creates a pipe and returns the child's end of it as well.
pub(super) fn piped() -> io::Result<(Source, Stdio)> {
    let (ours, theirs) = io::pipe()?;
    Ok((Source::Pipe(ours), theirs.into()))
}

/// Creates a new file and an append-only handle to it for the child.
pub(super) fn itself(path: &Path) -> io::Result<(Source, Stdio)> {
    let file = OpenOptions::new().append(true).create_new(true).open(path)?;
    Ok((Source::Itself(file.try_clone()?), file.into()))
}

impl<'a> Stream<'a> {
    /// The interval for checking a file that a child writes itself.
    const LOOK: Duration = Duration::from_secs(1);

    pub(super) fn new(source: Source, path: &'a Path, keep: u64) -> Self {
        let (pipe, file) = match source {
            Source::Pipe(pipe) => (Some(pipe), None),
            Source::Itself(file) => (None, Some(file)),
        };
        Self { itself: file.is_some(), pipe, path, file, keep, seen: 0 }
    }

    pub(super) fn look_within(&self) -> Option<Duration> {
        self.itself.then_some(Self::LOOK)
    }

    /// Counts the new bytes of a file that the child writes itself, and cuts off what is not kept.
    pub(super) fn look(&mut self) -> Result<(), Trouble> {
        let Some(file) = self.file.as_ref().filter(|_| self.itself) else { return Ok(()) };
        let cut = self.seen.saturating_sub(self.keep);
        let looked = file.metadata().map(|meta| meta.len()).and_then(|length| {
            if length > self.keep {
                file.set_len(self.keep)?;
            }
            Ok(length)
        });
        self.seen = cut + looked.map_err(|source| self.trouble("cut", source))?;
        Ok(())
    }

    /// Returns the pipe to watch, until its last writer has closed it.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn truncated(&self) -> bool {
        self.seen > self.keep
    }

    /// Reads what a poll announced. Never waits, as we are the only reader.
    pub(super) fn pump(&mut self, announced: PollFlags, buffer: &mut [u8]) -> Result<(), Trouble> {
        let mut count = 0;
        if announced.contains(PollFlags::IN) {
            count = self.read(buffer)?;
            self.take(&buffer[..count])?;
        }
        // No writer is left, and the buffer took all of the pipe: this saves reading the end.
        if announced.contains(PollFlags::HUP) && count < buffer.len() {
            self.pipe = None;
        }
        Ok(())
    }

    /// Reads only what is in the pipe now: any remaining writer is about to be killed.
    pub(super) fn drain(&mut self, buffer: &mut [u8]) -> Result<(), Trouble> {
        if self.itself {
            return self.settle();
        }
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

    /// Removes the file if there was no output.
    fn settle(&mut self) -> Result<(), Trouble> {
        self.look()?;
        if self.seen == 0 {
            std::fs::remove_file(self.path).map_err(|source| self.trouble("remove", source))?;
        }
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

/// Creates a new file. Exclusive creation follows no symlink, dangling or not.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_child_writes_itself_is_counted_and_cut_again_and_again() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("stdout");
        let (source, _childs) = itself(&path).expect("a new file can be made");
        let mut stream = Stream::new(source, &path, 4);
        let mut child = OpenOptions::new().append(true).open(&path).expect("it is there");
        for (said, seen, kept) in
            [("ab", 2, "ab"), ("cdefgh", 8, "abcd"), ("", 8, "abcd"), ("ij", 10, "abcd")]
        {
            child.write_all(said.as_bytes()).expect("it can be written");
            stream.look().expect("it can be looked at");
            assert_eq!((stream.seen(), stream.truncated()), (seen, seen > 4));
            assert_eq!(std::fs::read_to_string(&path).expect("it can be read"), kept);
        }
    }
}
