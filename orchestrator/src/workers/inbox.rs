//! Reads frames from the other side, which may be slow, silent, gone or hostile.

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::frame::{Frame, Hello, LONGEST_LINE, MOST_NOISE, OPENING};

const PIECE: usize = 64 << 10;
/// Less than this is read into memory before it is known to come.
const ROOM: usize = 1 << 20;

/// The stream from the other side, with the bytes that were read ahead.
#[derive(Debug)]
pub struct Inbox<R> {
    from: R,
    ahead: Vec<u8>,
    /// How much of `ahead` has been taken.
    taken: usize,
    /// How much of the rest has no end of a line.
    searched: usize,
}

/// The result of a wait for a frame.
#[derive(Debug)]
pub enum Heard {
    Frame(Frame),
    /// Nothing whole has arrived. `bytes` tells whether anything has.
    Quiet {
        bytes: usize,
    },
    /// Something else has happened that the caller waits for.
    Other,
    /// The other side has closed its end.
    Closed,
}

impl<R: Read + AsFd> Inbox<R> {
    pub fn of(from: R) -> Self {
        Self { from, ahead: Vec::new(), taken: 0, searched: 0 }
    }

    /// Waits for the next frame for this time. Also returns when one of `others` can be read.
    pub fn next(&mut self, within: Duration, others: &[BorrowedFd<'_>]) -> io::Result<Heard> {
        if let Some(line) = self.line(LONGEST_LINE)? {
            return serde_json::from_slice(&line)
                .map(Heard::Frame)
                .map_err(|error| invalid(&format!("it sent no frame: {error}")));
        }
        let ready = {
            let own = [PollFd::new(&self.from, PollFlags::IN)];
            let others = others.iter().map(|other| PollFd::from_borrowed_fd(*other, PollFlags::IN));
            let mut all: Vec<_> = own.into_iter().chain(others).collect();
            wait(&mut all, within)?;
            all.iter().position(|one| !one.revents().is_empty())
        };
        Ok(match ready {
            None => Heard::Quiet { bytes: 0 },
            Some(0) => match self.read_ahead()? {
                0 => Heard::Closed,
                bytes => Heard::Quiet { bytes },
            },
            Some(_) => Heard::Other,
        })
    }

    /// Waits for the first line of a worker, and skips what its machine prints before it.
    pub(super) fn hello(
        &mut self,
        within: Duration,
        others: &[BorrowedFd<'_>],
        noise: &mut usize,
    ) -> io::Result<Result<Hello, Heard>> {
        while let Some(line) = self.line(MOST_NOISE)? {
            let opening = line.windows(OPENING.len()).position(|part| part == OPENING);
            if let Some(at) = opening {
                return serde_json::from_slice(&line[at..])
                    .map(Ok)
                    .map_err(|error| invalid(&format!("its first line is no greeting: {error}")));
            }
            *noise += line.len() + 1;
            if *noise > MOST_NOISE {
                return Err(invalid("it printed more than 1 MiB before its first line"));
            }
        }
        self.next(within, others).map(Err)
    }

    /// Returns the next `bytes` bytes as a reader that waits for each piece at most this time.
    pub fn payload(&mut self, bytes: u64, patience: Duration) -> Payload<'_, R> {
        Payload { inbox: self, left: bytes, patience }
    }

    /// Reads a payload of at most `most` bytes.
    pub fn bytes(&mut self, bytes: u64, most: u64, patience: Duration) -> io::Result<Vec<u8>> {
        if bytes > most {
            return Err(invalid(&format!("it sent {bytes} bytes where at most {most} may be")));
        }
        let mut all = Vec::with_capacity(usize::try_from(bytes).unwrap_or(ROOM).min(ROOM));
        self.payload(bytes, patience).read_to_end(&mut all)?;
        Ok(all)
    }

    /// Returns the next whole line that was read, without its end.
    fn line(&mut self, longest: usize) -> io::Result<Option<Vec<u8>>> {
        let rest = &self.ahead[self.taken..];
        let end = rest[self.searched..].iter().position(|byte| *byte == b'\n').map(|end| self.searched + end);
        let Some(end) = end else {
            self.searched = rest.len();
            return if rest.len() > longest {
                Err(invalid("it sent a line without an end"))
            } else {
                Ok(None)
            };
        };
        let line = rest[..end].to_vec();
        (self.taken, self.searched) = (self.taken + end + 1, 0);
        Ok(Some(line))
    }

    fn read_ahead(&mut self) -> io::Result<usize> {
        self.ahead.drain(..self.taken);
        self.taken = 0;
        let known = self.ahead.len();
        self.ahead.resize(known + PIECE, 0);
        let count = read(&mut self.from, &mut self.ahead[known..]);
        self.ahead.truncate(known + count.as_ref().map_or(0, |count| *count));
        count
    }
}

/// The bytes that follow a frame. A payload that ends early is an error.
#[derive(Debug)]
pub struct Payload<'a, R> {
    inbox: &'a mut Inbox<R>,
    left: u64,
    patience: Duration,
}

impl<R: Read + AsFd> Read for Payload<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let ahead = &self.inbox.ahead[self.inbox.taken..];
        let count = if ahead.is_empty() {
            if wait(&mut [PollFd::new(&self.inbox.from, PollFlags::IN)], self.patience)? == 0 {
                return Err(io::Error::new(ErrorKind::TimedOut, "it stopped in the middle of a payload"));
            }
            read(&mut self.inbox.from, &mut into[..most])?
        } else {
            let count = most.min(ahead.len());
            into[..count].copy_from_slice(&ahead[..count]);
            self.inbox.taken += count;
            self.inbox.searched = 0;
            count
        };
        if count == 0 {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "it ended in the middle of a payload"));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

fn read(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(into) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Waits until one of them is ready, for at most this time. Returns how many are.
pub(super) fn wait(all: &mut [PollFd<'_>], within: Duration) -> io::Result<usize> {
    let within = Timespec::try_from(within).ok();
    loop {
        match poll(all, within.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

pub(super) fn invalid(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Write as _, pipe};

    use super::super::frame::Part;
    use super::*;

    fn inbox(bytes: &[u8]) -> (Inbox<io::PipeReader>, PipeWriter) {
        let (from, mut to) = pipe().unwrap();
        to.write_all(bytes).unwrap();
        (Inbox::of(from), to)
    }

    fn next(inbox: &mut Inbox<io::PipeReader>) -> io::Result<Heard> {
        loop {
            match inbox.next(Duration::ZERO, &[])? {
                Heard::Quiet { bytes: 1.. } => {}
                heard => return Ok(heard),
            }
        }
    }

    #[test]
    fn what_a_login_script_prints_before_the_first_line_is_skipped_also_on_that_line() {
        let hello = "{\"skilltune_worker\":1,\"program\":\"0.1.0\",\"machine\":\"den\"}\n";
        for noise in ["", "Welcome!\n\n{\"frame\":\"beat\"}\n", "Last login: today\n$ "] {
            let (mut inbox, _to) = inbox(format!("{noise}{hello}{{\"frame\":\"beat\"}}\n").as_bytes());
            let mut read = 0;
            let found = loop {
                match inbox.hello(Duration::ZERO, &[], &mut read).unwrap() {
                    Ok(hello) => break hello,
                    Err(heard) => assert!(matches!(heard, Heard::Quiet { bytes: 1.. }), "{heard:?}"),
                }
            };
            assert_eq!((found.machine.as_str(), found.memory), ("den", None), "{noise:?}");
            assert!(matches!(next(&mut inbox).unwrap(), Heard::Frame(Frame::Beat)));
        }
    }

    #[test]
    fn a_payload_follows_its_frame_and_one_that_ends_early_is_an_error() {
        let digest = skilltune_phases::base::id::Digest::of(b"abc");
        let mut sent = serde_json::to_vec(&Frame::Object(Part { digest, bytes: 3 })).unwrap();
        sent.extend(b"\nabc{\"frame\":\"sent\"}\n");
        let (mut inbox, to) = inbox(&sent);
        let Heard::Frame(Frame::Object(part)) = next(&mut inbox).unwrap() else { panic!("no object") };
        assert_eq!(inbox.bytes(part.bytes, 3, Duration::ZERO).unwrap(), b"abc");
        assert!(matches!(next(&mut inbox).unwrap(), Heard::Frame(Frame::Sent)));
        let silent = inbox.bytes(1, 1, Duration::ZERO).unwrap_err();
        assert_eq!(silent.kind(), ErrorKind::TimedOut);
        let large = inbox.bytes(u64::MAX, 1, Duration::ZERO).unwrap_err();
        assert_eq!(large.kind(), ErrorKind::InvalidData);
        drop(to);
        assert_eq!(inbox.bytes(1, 1, Duration::ZERO).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert!(matches!(next(&mut inbox).unwrap(), Heard::Closed));
    }

    #[test]
    fn what_is_no_frame_is_an_error_and_what_is_none_yet_is_quiet() {
        let (mut inbox, mut to) = inbox(b"{\"frame\":\"be");
        assert!(matches!(next(&mut inbox).unwrap(), Heard::Quiet { bytes: 0 }));
        to.write_all(b"at\"}\n{\"frame\":\"other\"}\n").unwrap();
        assert!(matches!(next(&mut inbox).unwrap(), Heard::Frame(Frame::Beat)));
        assert_eq!(next(&mut inbox).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
