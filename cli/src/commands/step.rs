//! `step`: one call as a program. `step --take -` is a worker: it reads a call from stdin, carries it out like the engine of a
//! run, and writes the reply to stdout. With a file in place of `-`, the reply goes into a file beside it.
//!
//! It opens no journal. It runs only agents of the user's own settings, and commands of suites and projects only if the
//! user allows that. When its stdin ends, it ends with everything that it has started.

mod call;
mod watch;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::io::Errno;
use skilltune_orchestrator::disk::{self, Lock, SafePath};
use skilltune_orchestrator::process::become_driver;
use skilltune_orchestrator::store::Home;
use skilltune_orchestrator::workers::{BEAT, Frame, Hello, Inbox, PROTOCOL, Sender, WORKERS_PATIENCE};
use skilltune_phases::with_loop;

use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ErrorKind, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;

/// The stream to the coordinator. The beats of a call go between its other frames.
type Out = Arc<Mutex<Sender<File>>>;

/// A worker, which makes one call. It ends with an input error if it makes no such calls, and as interrupted if the other
/// side is gone.
struct Taking<'a> {
    env: &'a Environment,
    settings: Settings,
    /// The store of today's calls.
    home: Home,
    /// Held, so that the store stays.
    _in_use: Lock,
    allows_commands: bool,
    inbox: Inbox<File>,
    out: Out,
    /// Whether the other side answers: a file does not.
    is_live: bool,
}

fn locked(out: &Out) -> MutexGuard<'_, Sender<File>> {
    out.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns how a worker ends whose connection failed.
fn lost(error: io::Error) -> Complaint {
    match error.kind() {
        io::ErrorKind::InvalidData => Complaint::ours("what arrived is damaged").caused_by(error),
        _ => Complaint::interrupted(),
    }
}

/// Makes the call that this file holds; `-` is stdin.
pub fn take(file: &Path, allows_commands: bool, env: &Environment) -> Result<Exit, Complaint> {
    become_driver().map_err(ours)?;
    if file == Path::new("-") {
        take_stdin(allows_commands, env)
    } else {
        take_file(file, allows_commands, env)
    }
}

fn take_stdin(allows_commands: bool, env: &Environment) -> Result<Exit, Complaint> {
    let own = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().map(File::from);
    let (from, to) = (own(&io::stdin()).map_err(ours)?, own(&io::stdout()).map_err(ours)?);
    let out = Arc::new(Mutex::new(Sender::of(to)));
    let taking = greet(&out).and_then(|()| Taking::of(allows_commands, env, from, &out, true));
    let Err(complaint) = taking.and_then(Taking::serve) else { return Ok(Exit::Reached) };
    let why = complaint.in_one_line();
    // The other side may be gone.
    let _ = match complaint.kind {
        ErrorKind::Interrupted | ErrorKind::Terminated => Ok(()),
        ErrorKind::Input => locked(&out).send(&Frame::Refused { why }),
        ErrorKind::Ours | ErrorKind::Agent | ErrorKind::Conflict => locked(&out).send(&Frame::Failed { why }),
    };
    Ok(complaint.exit())
}

fn take_file(file: &Path, allows_commands: bool, env: &Environment) -> Result<Exit, Complaint> {
    let file = env.named(file)?;
    let (folder, name) = (file.parent().unwrap_or(Path::new("/")), file.file_name().unwrap_or_default());
    let reply = file.with_extension("reply");
    let unwritten = |error| Complaint::input(format!("cannot write {}", reply.display())).caused_by(error);
    let from = SafePath::below(folder, name)
        .open()
        .map_err(ours)?
        .ok_or_else(|| Complaint::input(format!("cannot read {}", file.display())).caused_by(Errno::NOENT))?;
    let draft = tempfile::NamedTempFile::new_in(folder).map_err(unwritten)?;
    let to = draft.as_file().try_clone().map_err(unwritten)?;
    let out = Arc::new(Mutex::new(Sender::of(to)));
    greet(&out)?;
    let why = match Taking::of(allows_commands, env, from, &out, false)?.serve() {
        Ok(true) => {
            draft.persist(&reply).map_err(|error| unwritten(error.error))?;
            return Ok(Exit::Reached);
        }
        Err(complaint) if complaint.kind != ErrorKind::Interrupted => complaint.in_one_line(),
        Ok(false) | Err(_) => "it is not a whole call".to_owned(),
    };
    Err(Complaint::input(format!("cannot make the call in {}: {why}", file.display())))
}

impl<'a> Taking<'a> {
    fn of(
        allows_commands: bool,
        env: &'a Environment,
        from: File,
        out: &Out,
        is_live: bool,
    ) -> Result<Self, Complaint> {
        let (home, in_use) = store_of_today(env)?;
        // The folder has no settings, so that only the user's own count.
        let settings = crate::loops::settings(home.project(), env)?;
        let (inbox, out) = (Inbox::of(from), Arc::clone(out));
        Ok(Self { env, settings, home, _in_use: in_use, allows_commands, inbox, out, is_live })
    }

    /// Answers questions about agents, and makes one call. Returns whether there was a call.
    fn serve(mut self) -> Result<bool, Complaint> {
        loop {
            match self.next()? {
                None => return Ok(false),
                Some(Frame::Describe { agents }) => self.describe(&agents)?,
                Some(Frame::Call { key, kind, bytes }) => {
                    return with_loop!(kind, L => self.call::<L>(key, bytes)).map(|()| true);
                }
                Some(Frame::Beat) => {}
                Some(_) => return Err(Complaint::ours("it got a frame that no call begins with")),
            }
        }
    }

    /// Waits for the next frame; none if the other side has nothing more to say.
    fn next(&mut self) -> Result<Option<Frame>, Complaint> {
        loop {
            match self.inbox.next(BEAT, &[]) {
                Ok(Some(line)) => {
                    if let Some(frame) = Frame::of(&line).map_err(lost)? {
                        return Ok(Some(frame));
                    }
                }
                Ok(None) if self.inbox.silence() > WORKERS_PATIENCE => return Err(Complaint::interrupted()),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(lost(error)),
            }
        }
    }

    fn send(&self, frame: &Frame, payload: &[u8]) -> Result<(), Complaint> {
        locked(&self.out).send_with(frame, payload).map_err(lost)
    }
}

/// Returns today's store for the calls of others, and removes those of earlier days that no worker uses: what they hold
/// was sent, or can be sent again.
fn store_of_today(env: &Environment) -> Result<(Home, Lock), Complaint> {
    let all = SafePath::below(&env.cache, "worker");
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let kept = [today, today.yesterday().map_err(ours)?].map(|day| day.to_string());
    let place = all.join(&kept[0]);
    place.make().map_err(ours)?;
    let home = Home::of(place.path());
    home.create().map_err(ours)?;
    let in_use = home.hold().map_err(ours)?;
    for old in all.names().map_err(ours)?.iter().filter(|old| kept.iter().all(|kept| *old != kept.as_str())) {
        let old = all.join(old);
        // Another worker may be doing the same.
        if let Ok(Some(_alone)) = Home::of(old.path()).hold_alone() {
            let _ = old.remove();
        }
    }
    Ok((home, in_use))
}

/// Sends the first line of a worker, before anything can fail: what fails then is said in a frame.
fn greet(out: &Out) -> Result<(), Complaint> {
    let hello = Hello {
        skilltune_worker: PROTOCOL,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        memory: free_memory(),
    };
    locked(out).send(&hello).map_err(lost)
}

/// Returns how many bytes are free, if this is Linux.
fn free_memory() -> Option<u64> {
    let text = String::from_utf8(disk::read("/proc/meminfo".as_ref(), 64 << 10).ok()?).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1 << 10)
}
