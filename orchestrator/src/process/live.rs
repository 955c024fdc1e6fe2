//! One call inside the guardian: start, watch, end, sweep, and record.
//!
//! All waiting is in one poll for the child's exit, its output and the parent; nothing sleeps or spins.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitStatus};

use super::call::Call;
use super::cancel::Cancel;
use super::confine;
use super::ended::{Ended, How, since};
use super::error::Trouble;
use super::family::{self, Reach};
use super::hide::Report;
use super::output::{self, Stream};
use super::parent::{Parent, Received};
use super::start::{self, Exit, Started};
use super::wire::{GuardianRequest, Reply};

/// The time that a child gets to end by itself when it is cancelled or its parent is gone: if it has just answered, it
/// is about to exit, and its paid answer is kept.
const LAST_MOMENT: Duration = Duration::from_millis(500);
/// The time limit for killed processes to be gone. Only a process that hangs in the kernel takes longer, or a fork
/// storm on a busy machine.
const SWEEP_PATIENCE: Duration = Duration::from_secs(6);
/// How often exited orphans are reaped during a long call: seldom, unless there are some. A program that leaves many
/// would fill the process table.
const TIDY: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];

/// Runs one call to its end. None of its processes is alive afterwards.
pub(super) fn run(call: &Call, reach: Reach, parent: &mut Parent, buffer: &mut [u8]) -> Reply {
    let began = Instant::now();
    match attempt(call, reach, parent, buffer).or_else(|trouble| caused_by_child(trouble, began)) {
        Ok(ended) => Reply::Ended(ended),
        Err(trouble) => Reply::Failed { why: trouble.to_string() },
    }
}

/// Returns the end of a call whose child removed or replaced our files. Any other trouble is ours.
fn caused_by_child(trouble: Trouble, began: Instant) -> Result<Ended, Trouble> {
    match trouble.source.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::PermissionDenied => Ok(Ended::lost(began, &trouble.to_string())),
        _ => Err(trouble),
    }
}

fn attempt(call: &Call, reach: Reach, parent: &mut Parent, buffer: &mut [u8]) -> Result<Ended, Trouble> {
    for left_behind in [&call.record, &call.stdout, &call.stderr] {
        remove(left_behind)?;
    }
    let ended = match start::start(call, reach) {
        Ok(started) => watch_over(call, reach, started, parent, buffer)?,
        Err(why) => Ended::without_running(How::NotStarted { why }),
    };
    if ended.how.is_answer() {
        write_record(&call.record, &ended)?;
    }
    Ok(ended)
}

/// Removes the files of an earlier attempt, so that they are not mistaken for an answer of this one.
fn remove(path: &Path) -> Result<(), Trouble> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Trouble { doing: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Writes the record at once, so that it is whole or empty, and before it is reported, so that an answer cannot be
/// lost.
fn write_record(path: &Path, ended: &Ended) -> Result<(), Trouble> {
    let line = super::wire::json_line(ended);
    let written = output::create(path).and_then(|mut file| file.write_all(&line));
    written.map_err(|source| Trouble { doing: "write", path: path.to_owned(), source })
}

fn watch_over(
    call: &Call,
    reach: Reach,
    started: Started,
    parent: &mut Parent,
    buffer: &mut [u8],
) -> Result<Ended, Trouble> {
    let mut live = Live::new(call, reach, started);
    let course = live.watch(parent, buffer);
    let took_ms = since(live.began);
    // Whatever has failed so far, all processes must be dead before this returns.
    let drained = live.stop_reading(buffer);
    let settled = reach.settle(live.pid, SWEEP_PATIENCE);
    let how = course?.unwrap_or_else(|| how_it_ended(settled.status.or(live.status)));
    drained?;
    // A user who cancels us may have killed the child as well: then a failure is not its own.
    let is_cut_off = matches!(live.course, Course::Cancelled) && how != How::Exited(0);
    let how = if is_cut_off { How::Cancelled } else { how };
    let how = if settled.left { How::lost("a process that it started could not be killed") } else { how };
    let began_as_ours = call.confinement.is_some() || live.hides.is_some();
    let how = if began_as_ours { confine::how(how, &call.stderr) } else { how };
    let [stdout, stderr] = &live.streams;
    Ok(Ended {
        how,
        stdout_bytes: stdout.seen(),
        stderr_bytes: stderr.seen(),
        stdout_truncated: stdout.truncated(),
        stderr_truncated: stderr.truncated(),
        took_ms,
        swept: settled.swept,
        hidden: live.hides.as_ref().is_some_and(Report::is_hidden),
    })
}

fn how_it_ended(status: Option<WaitStatus>) -> How {
    let code = status.and_then(WaitStatus::exit_status).map(How::Exited);
    let signal = status.and_then(WaitStatus::terminating_signal).map(How::Signalled);
    code.or(signal).unwrap_or(How::Signalled(Signal::KILL.as_raw()))
}

struct Live<'a> {
    call: &'a Call,
    reach: Reach,
    pid: Pid,
    exit: Exit,
    hides: Option<Report>,
    streams: [Stream<'a>; 2],
    began: Instant,
    course: Course,
    /// When the course has to change; `None` if the clock cannot express it.
    until: Option<Instant>,
    /// The exit status of the child, if it was reaped as a stray.
    status: Option<WaitStatus>,
    tidied: Instant,
    tidy: Duration,
}

/// The course of a running call.
enum Course {
    Running,
    /// The call is cancelled: the child has a last moment before it is asked to exit.
    Cancelled,
    /// The child was asked to exit for this reason.
    Leaving(How),
    /// The parent has been gone since then: the child has a last moment, or its grace if it closed its output.
    Orphaned(Instant),
    /// Waiting is over; the call ended this way.
    Over(How),
}

/// The events of one poll.
struct Announced {
    exit: bool,
    parent: bool,
    streams: [PollFlags; 2],
}

impl<'a> Live<'a> {
    fn new(call: &'a Call, reach: Reach, started: Started) -> Self {
        let began = Instant::now();
        Self {
            call,
            reach,
            pid: started.pid,
            exit: started.exit,
            hides: started.hides,
            streams: [
                Stream::new(started.stdout, &call.stdout, call.keep_bytes),
                Stream::new(started.stderr, &call.stderr, call.keep_bytes),
            ],
            began,
            course: Course::Running,
            until: began.checked_add(call.deadline),
            status: None,
            tidied: began,
            tidy: TIDY[0],
        }
    }

    /// Watches until the child has ended or must be ended. `None` means that it ended by itself.
    fn watch(&mut self, parent: &mut Parent, buffer: &mut [u8]) -> Result<Option<How>, Trouble> {
        loop {
            let announced = self.poll(parent).map_err(|source| self.trouble("watch the call in", source))?;
            for (stream, flags) in self.streams.iter_mut().zip(announced.streams) {
                stream.pump(flags, buffer)?;
                stream.look()?;
            }
            if self.exit.happened(announced.exit) {
                return Ok(match &self.course {
                    Course::Leaving(how) => Some(how.clone()),
                    Course::Running | Course::Cancelled | Course::Orphaned(_) | Course::Over(_) => None,
                });
            }
            self.listen(parent, announced.parent);
            self.mind_the_time();
            if let Course::Over(how) = &self.course {
                return Ok(Some(how.clone()));
            }
        }
    }

    fn poll(&self, parent: &Parent) -> io::Result<Announced> {
        let [stdout, stderr] = &self.streams;
        let sources = [self.exit.watched(), parent.socket(), stdout.pipe(), stderr.pipe()];
        let mut set = Vec::with_capacity(sources.len());
        set.extend(sources.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        let timeout = self.timeout();
        match poll(&mut set, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut flags = set.iter().map(PollFd::revents);
        let [exit, parent, stdout, stderr] =
            sources.map(|source| source.and_then(|_| flags.next()).unwrap_or(PollFlags::empty()));
        Ok(Announced { exit: !exit.is_empty(), parent: !parent.is_empty(), streams: [stdout, stderr] })
    }

    /// Returns how long a poll may wait; `None` is forever.
    fn timeout(&self) -> Option<Timespec> {
        let now = Instant::now();
        let wait = match (&self.course, self.until) {
            (_, Some(until)) => until.saturating_duration_since(now).min(self.tidy),
            (_, None) => self.tidy,
        };
        let waits = [Exit::LOOK, self.streams[0].look_within()];
        Timespec::try_from(waits.into_iter().flatten().fold(wait, Duration::min)).ok()
    }

    fn listen(&mut self, parent: &mut Parent, readable: bool) {
        if matches!(self.course, Course::Orphaned(_) | Course::Over(_)) {
            return;
        }
        match parent.receive(readable) {
            Received::Nothing => {}
            Received::Request(GuardianRequest::Cancel(Cancel::Gently)) => self.be_cancelled(),
            Received::Request(GuardianRequest::Cancel(Cancel::Now)) => self.give_up(),
            Received::Gone | Received::Request(GuardianRequest::Run(_) | GuardianRequest::Mapped) => {
                self.be_orphaned();
            }
        }
    }

    fn mind_the_time(&mut self) {
        if let Course::Orphaned(since) = self.course {
            let wait = if self.has_closed_its_output() { self.call.grace } else { LAST_MOMENT };
            self.until = since.checked_add(wait);
        }
        let late = self.until.is_some_and(|until| Instant::now() >= until);
        match self.course {
            Course::Running if late => self.ask_to_leave(How::TimedOut),
            Course::Cancelled if late => self.ask_to_leave(self.cut_off()),
            Course::Leaving(_) | Course::Orphaned(_) if late => self.give_up(),
            Course::Running | Course::Leaving(_)
                if self.status.is_none() && self.tidied.elapsed() >= self.tidy =>
            {
                let (strays, status) = family::reap_strays(self.pid);
                self.status = status.or(self.status);
                self.tidy = if strays > 0 { TIDY[0] } else { (self.tidy * 2).min(TIDY[1]) };
                self.tidied = Instant::now();
            }
            Course::Running
            | Course::Cancelled
            | Course::Leaving(_)
            | Course::Orphaned(_)
            | Course::Over(_) => {}
        }
    }

    /// Asks all processes of the call to exit.
    fn ask_to_leave(&mut self, why: How) {
        let until = Instant::now().checked_add(self.call.grace);
        self.reach.terminate(self.pid, until);
        self.course = Course::Leaving(why);
        self.until = until;
    }

    fn be_cancelled(&mut self) {
        if matches!(self.course, Course::Running) {
            self.course = Course::Cancelled;
            self.until = Instant::now().checked_add(LAST_MOMENT);
        }
    }

    fn be_orphaned(&mut self) {
        if matches!(self.course, Course::Running | Course::Cancelled) {
            self.course = Course::Orphaned(Instant::now());
        } else {
            self.give_up();
        }
    }

    /// Stops waiting. A call that was asked to exit ends for that reason.
    fn give_up(&mut self) {
        let how = match &self.course {
            Course::Leaving(how) | Course::Over(how) => how.clone(),
            Course::Running | Course::Cancelled | Course::Orphaned(_) => self.cut_off(),
        };
        self.course = Course::Over(how);
    }

    /// Returns the end of a call that skilltune no longer waits for.
    fn cut_off(&self) -> How {
        if self.has_closed_its_output() { How::OutputClosed } else { How::Cancelled }
    }

    /// Returns true if all writers of its streams are gone. For a file that the child writes itself this cannot be
    /// seen: the reader of the answer looks for its end there.
    fn has_closed_its_output(&self) -> bool {
        self.streams.iter().all(|stream| stream.pipe().is_none())
    }

    /// Kills what it can at once, then reads the remaining output without waiting for processes that escaped.
    fn stop_reading(&mut self, buffer: &mut [u8]) -> Result<(), Trouble> {
        // The pid of a reaped child may be reused.
        if self.status.is_none() {
            self.reach.kill_at_once(self.pid);
        }
        let [stdout, stderr] = &mut self.streams;
        let drained = stdout.drain(buffer);
        stderr.drain(buffer).and(drained)
    }

    fn trouble(&self, doing: &'static str, source: io::Error) -> Trouble {
        Trouble { doing, path: self.call.cwd.clone(), source }
    }
}
