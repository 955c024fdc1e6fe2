//! Reads lines and payloads from the other side, which may be slow, silent, gone or hostile.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

/// A longer line is an error.
const LONGEST_LINE: usize = 1 << 20;

/// The stream from the other side.
#[derive(Debug)]
pub struct Inbox<R> {
    from: BufReader<R>,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// When the last bytes arrived.
    heard_at: Instant,
}

impl<R: Read + AsFd> Inbox<R> {
    pub fn of(from: R) -> Self {
        Self { from: BufReader::new(from), line: Vec::new(), heard_at: Instant::now() }
    }

    /// Waits for the next line for this time. Returns nothing if no line, or only a part of one, has arrived, also as soon as
    /// one of `others` can be read. The end is an error.
    pub fn next(&mut self, within: Duration, others: &[BorrowedFd<'_>]) -> io::Result<Option<Vec<u8>>> {
        if !self.is_ready(within, others)? {
            return Ok(None);
        }
        let arrived = self.from.fill_buf()?.len();
        if arrived == 0 {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "it closed its end"));
        }
        self.heard_at = Instant::now();
        self.from.by_ref().take(arrived as u64).read_until(b'\n', &mut self.line)?;
        if self.line.len() > LONGEST_LINE {
            return Err(invalid("it sent a line without an end"));
        }
        Ok(self.line.ends_with(b"\n").then(|| std::mem::take(&mut self.line)))
    }

    /// Returns how long nothing has arrived.
    pub fn silence(&self) -> Duration {
        self.heard_at.elapsed()
    }

    /// Notes a sign of life that is no byte of this stream.
    pub fn note_life(&mut self) {
        self.heard_at = Instant::now();
    }

    /// Returns the next `bytes` bytes as a reader. An early end is an error.
    pub fn payload(&mut self, bytes: u64, patience: Patience<'_>) -> impl Read {
        Pieces { inbox: self, patience }.take(bytes)
    }

    /// Reads a payload of at most `most` bytes.
    pub fn bytes(&mut self, bytes: u64, most: u64, patience: Patience<'_>) -> io::Result<Vec<u8>> {
        if bytes > most {
            return Err(invalid(&format!("it sent {bytes} bytes where at most {most} may be")));
        }
        // Memory grows with the bytes that arrive: the announced length may be a lie.
        let mut all = Vec::new();
        self.payload(bytes, patience).read_to_end(&mut all)?;
        Ok(all)
    }

    /// Waits until a read does not block.
    fn is_ready(&self, within: Duration, others: &[BorrowedFd<'_>]) -> io::Result<bool> {
        if !self.from.buffer().is_empty() {
            return Ok(true);
        }
        let mut all = vec![PollFd::new(self.from.get_ref(), PollFlags::IN)];
        all.extend(others.iter().map(|other| PollFd::from_borrowed_fd(*other, PollFlags::IN)));
        wait(&mut all, within)?;
        Ok(!all[0].revents().is_empty())
    }
}

/// How long one side waits for the other in the middle of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    /// The longest pause.
    pub silence: Duration,
    pub until: Option<Instant>,
    /// Can be read when the frame is no longer needed.
    pub cancelled: Option<BorrowedFd<'a>>,
}

impl Patience<'_> {
    pub fn of(silence: Duration) -> Self {
        Self { silence, until: None, cancelled: None }
    }

    /// Waits until this stream can be read or written. Returns whether it can.
    pub(super) fn wait(&self, stream: BorrowedFd<'_>, events: PollFlags) -> io::Result<bool> {
        let now = Instant::now();
        if self.until.is_some_and(|until| until <= now) {
            return Ok(false);
        }
        let within = self.until.map_or(self.silence, |until| (until - now).min(self.silence));
        let mut all = vec![PollFd::from_borrowed_fd(stream, events)];
        all.extend(self.cancelled.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN)));
        wait(&mut all, within)?;
        Ok(!all[0].revents().is_empty())
    }
}

/// The bytes that follow a line.
struct Pieces<'a, 'p, R> {
    inbox: &'a mut Inbox<R>,
    patience: Patience<'p>,
}

impl<R: Read + AsFd> Read for Pieces<'_, '_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let from = &self.inbox.from;
        if from.buffer().is_empty() && !self.patience.wait(from.get_ref().as_fd(), PollFlags::IN)? {
            return Err(io::Error::new(ErrorKind::TimedOut, "it stopped in the middle of a payload"));
        }
        let count = self.inbox.from.read(into)?;
        if count == 0 && !into.is_empty() {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "it ended in the middle of a payload"));
        }
        self.inbox.heard_at = Instant::now();
        Ok(count)
    }
}

/// Waits until one of them is ready, for at most this time.
fn wait(all: &mut [PollFd<'_>], within: Duration) -> io::Result<()> {
    let within = Timespec::try_from(within).ok();
    retry_on_intr(|| poll(all, within.as_ref()))?;
    Ok(())
}

pub(super) fn invalid(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Write as _, pipe};

    use super::super::frame::{Frame, Part};
    use super::*;

    fn inbox(bytes: &[u8]) -> (Inbox<io::PipeReader>, PipeWriter) {
        let (from, mut to) = pipe().unwrap();
        to.write_all(bytes).unwrap();
        (Inbox::of(from), to)
    }

    fn next(inbox: &mut Inbox<io::PipeReader>) -> io::Result<Option<Frame>> {
        Ok(inbox.next(Duration::ZERO, &[])?.map(|line| Frame::of(&line)).transpose()?.flatten())
    }

    #[test]
    fn a_payload_follows_its_frame_and_one_that_ends_early_is_an_error() {
        let digest = skilltune_phases::base::id::Digest::of(b"abc");
        let mut sent = serde_json::to_vec(&Frame::Object(Part { digest, bytes: 3 })).unwrap();
        sent.extend(b"\nabc\n{\"frame\":\"sent\"}\n");
        let (mut inbox, to) = inbox(&sent);
        let Some(Frame::Object(part)) = next(&mut inbox).unwrap() else { panic!("no object") };
        assert_eq!(inbox.bytes(part.bytes, 3, Patience::of(Duration::ZERO)).unwrap(), b"abc");
        assert!(next(&mut inbox).unwrap().is_none());
        assert!(matches!(next(&mut inbox).unwrap(), Some(Frame::Sent)));
        let silent = inbox.bytes(1, 1, Patience::of(Duration::ZERO)).unwrap_err();
        assert_eq!(silent.kind(), ErrorKind::TimedOut);
        let large = inbox.bytes(u64::MAX, 1, Patience::of(Duration::ZERO)).unwrap_err();
        assert_eq!(large.kind(), ErrorKind::InvalidData);
        drop(to);
        assert_eq!(
            inbox.bytes(1, 1, Patience::of(Duration::ZERO)).unwrap_err().kind(),
            ErrorKind::UnexpectedEof
        );
        assert_eq!(next(&mut inbox).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_is_no_frame_is_an_error_and_what_is_none_yet_is_quiet() {
        let (mut inbox, mut to) = inbox(b"{\"frame\":\"be");
        assert!(next(&mut inbox).unwrap().is_none());
        to.write_all(b"at\"}\n{\"frame\":\"other\"}\n").unwrap();
        assert!(matches!(next(&mut inbox).unwrap(), Some(Frame::Beat)));
        assert_eq!(next(&mut inbox).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
