//! The protocol of the browser's developer tools over two pipes: sends commands, reads their results, and passes all
//! events on.
//!
//! Each message is JSON and ends with a zero byte. The browser shows untrusted pages, so each message has a size limit
//! and each wait a timeout.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A screenshot in base64; no other requested answer is as large.
const LARGEST: u64 = 64 << 20;
/// A page can make the browser send more than we read. The browser still reads, so we can always answer.
const MOST_UNREAD: usize = 16;

#[derive(Debug, thiserror::Error)]
pub(super) enum Mute {
    #[error("the browser did not answer in time")]
    Late,
    #[error("the browser did not start{0}")]
    NotStarted(String),
    #[error("the browser exited")]
    Gone,
    #[error("the browser refused {method}: {why}")]
    Refused { method: String, why: String },
    #[error("cannot communicate with the browser")]
    Broken(#[from] io::Error),
}

/// Receives the events of the browser. The command that it returns is sent without waiting for the answer.
pub(super) trait Listener {
    /// Handles an event; `left` is the remaining time.
    fn hear(&mut self, method: &str, params: &Value, left: Duration) -> Option<(&'static str, Value)>;
}

#[derive(Debug)]
pub(super) struct DevTools {
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: Option<String>,
    until: Instant,
}

impl DevTools {
    pub(super) fn new(to: ChildStdin, from: ChildStdout, until: Instant) -> Self {
        let (sender, receiver) = mpsc::sync_channel(MOST_UNREAD);
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Some(message) = message(&mut from) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { to, from: receiver, last: 0, session: None, until }
    }

    /// Sends all further commands to this page.
    pub(super) fn speak_to(&mut self, session: Option<String>) {
        self.session = session;
    }

    /// Returns the time until the deadline.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Runs `work` with its own deadline, if that is earlier.
    pub(super) fn within<T>(
        &mut self,
        long: Duration,
        work: impl FnOnce(&mut Self) -> Result<T, Mute>,
    ) -> Result<T, Mute> {
        let until = self.until;
        self.until = until.min(Instant::now() + long);
        let done = work(self);
        self.until = until;
        done
    }

    /// Sends a command and waits for its result; passes on all events in between.
    pub(super) fn ask(
        &mut self,
        method: &str,
        params: &Value,
        listener: &mut dyn Listener,
    ) -> Result<Value, Mute> {
        let id = self.send(method, params)?;
        loop {
            let mut message = self.next(self.until)?.ok_or(Mute::Late)?;
            if message["id"] != id {
                self.hand_on(&message, listener)?;
                continue;
            }
            return match message.get("error") {
                Some(error) => {
                    let why = error["message"].as_str().unwrap_or("no reason").to_owned();
                    Err(Mute::Refused { method: method.to_owned(), why })
                }
                None => Ok(message["result"].take()),
            };
        }
    }

    /// Passes events on until this one arrives, or this time is over.
    pub(super) fn await_one(
        &mut self,
        event: &str,
        long: Duration,
        listener: &mut dyn Listener,
    ) -> Result<bool, Mute> {
        let until = self.until.min(Instant::now() + long);
        while let Some(message) = self.next(until)? {
            self.hand_on(&message, listener)?;
            if message["method"] == event && self.is_ours(&message) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<u64, Mute> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes)?;
        Ok(self.last)
    }

    fn next(&self, until: Instant) -> Result<Option<Value>, Mute> {
        let left = until.saturating_duration_since(Instant::now());
        // A browser that keeps sending would otherwise hold us beyond the deadline.
        if left.is_zero() {
            return Ok(None);
        }
        match self.from.recv_timeout(left) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Mute::Gone),
        }
    }

    fn hand_on(&mut self, message: &Value, listener: &mut dyn Listener) -> Result<(), Mute> {
        let Some(method) = message["method"].as_str() else { return Ok(()) };
        if !self.is_ours(message) {
            return Ok(());
        }
        if let Some((method, params)) = listener.hear(method, &message["params"], self.left()) {
            self.send(method, &params)?;
        }
        Ok(())
    }

    fn is_ours(&self, message: &Value) -> bool {
        message["sessionId"].as_str() == self.session.as_deref()
    }
}

/// Reads the next message; invalid JSON is skipped.
fn message(from: &mut BufReader<ChildStdout>) -> Option<Value> {
    loop {
        let mut bytes = Vec::new();
        from.by_ref().take(LARGEST).read_until(0, &mut bytes).ok()?;
        // The stream ended, or the message is too long.
        bytes.pop().filter(|last| *last == 0)?;
        if let Ok(message) = serde_json::from_slice(&bytes) {
            return Some(message);
        }
    }
}
