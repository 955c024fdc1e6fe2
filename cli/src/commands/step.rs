//! `step`: one call as a program. `step --take -` is a worker: it reads a call from stdin, carries it out like the engine of a
//! run, and writes the reply to stdout. With a file in place of `-`, the reply goes into a file beside it.
//!
//! It opens no journal. It runs only agents of the user's own settings, and commands of suites and projects only if the
//! user allows that. When its stdin ends, it ends with everything that it has started.

mod call;
mod greeting;
mod watch;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::{Timestamp, ToSpan as _};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use skilltune_orchestrator::disk::{Lock, SafePath};
use skilltune_orchestrator::process::become_driver;
use skilltune_orchestrator::store::Home;
use skilltune_orchestrator::workers::{BEAT, Frame, Heard, Inbox, Sender, WORKERS_PATIENCE};
use skilltune_phases::with_loop;

use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;

/// The stream to the coordinator. The beats of a call go between its other frames.
type Out = Arc<Mutex<Sender<File>>>;

/// A worker, which makes one call.
struct Taking<'a> {
    env: &'a Environment,
    settings: Settings,
    /// The folder of the calls of others; each day has its own, so that old ones can go.
    place: SafePath,
    /// Held, so that the folder stays.
    _in_use: Option<Lock>,
    home: Home,
    allows_commands: bool,
    inbox: Inbox<File>,
    out: Out,
    /// Whether the other side answers: a file does not.
    is_live: bool,
}

fn locked(out: &Out) -> MutexGuard<'_, Sender<File>> {
    out.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a worker ends without a reply.
enum End {
    /// The other side is gone.
    Gone,
    /// The worker makes no such calls.
    Refused(String),
    /// The worker cannot make the call now.
    Failed(String),
}

impl End {
    fn into_line(self) -> String {
        match self {
            Self::Gone => "the connection is gone".to_owned(),
            Self::Refused(why) | Self::Failed(why) => why,
        }
    }
}

impl From<Complaint> for End {
    fn from(complaint: Complaint) -> Self {
        Self::Failed(complaint.in_one_line())
    }
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => Self::Failed(error.to_string()),
            _ => Self::Gone,
        }
    }
}

/// Makes the call that this file holds; `-` is stdin.
pub fn take(file: &Path, allows_commands: bool, env: &Environment) -> Result<Exit, Complaint> {
    become_driver().map_err(ours)?;
    if file == Path::new("-") {
        let own = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().map(File::from);
        let (from, to) = (own(&io::stdin()).map_err(ours)?, own(&io::stdout()).map_err(ours)?);
        return Ok(Taking::of(allows_commands, env, (from, to), true)?.take());
    }
    let file = env.named(file)?;
    let (folder, name) = (file.parent().unwrap_or(Path::new("/")), file.file_name().unwrap_or_default());
    let reply = file.with_extension("reply");
    let unread =
        |error: io::Error| Complaint::input(format!("cannot read {}", file.display())).caused_by(error);
    let unwritten = |error| Complaint::input(format!("cannot write {}", reply.display())).caused_by(error);
    let from = SafePath::below(folder, name).open().map_err(ours)?;
    let from = from.ok_or_else(|| unread(Errno::NOENT.into()))?;
    let draft = tempfile::NamedTempFile::new_in(folder).map_err(unwritten)?;
    let to = draft.as_file().try_clone().map_err(unwritten)?;
    let taking = Taking::of(allows_commands, env, (from, to), false)?;
    let failed = |why: &str| Complaint::input(format!("cannot make the call in {}: {why}", file.display()));
    match taking.greet().map_err(End::from).and_then(|()| taking.serve()) {
        Ok(true) => {}
        Ok(false) | Err(End::Gone) => return Err(failed("it is not a whole call")),
        Err(end) => return Err(failed(&end.into_line())),
    }
    draft.persist(&reply).map_err(|error| unwritten(error.error))?;
    Ok(Exit::Reached)
}

impl<'a> Taking<'a> {
    fn of(
        allows_commands: bool,
        env: &'a Environment,
        (from, to): (File, File),
        is_live: bool,
    ) -> Result<Self, Complaint> {
        let (place, in_use) = place_of_today(env)?;
        // The folder has no settings, so that only the user's own count.
        let settings = crate::loops::settings(place.path(), env)?;
        let out = Arc::new(Mutex::new(Sender::of(to)));
        let home = Home::of(place.path());
        Ok(Self {
            env,
            settings,
            place,
            _in_use: in_use,
            home,
            allows_commands,
            inbox: Inbox::of(from),
            out,
            is_live,
        })
    }

    /// Greets, answers questions about agents, and makes one call.
    fn take(self) -> Exit {
        let out = Arc::clone(&self.out);
        let say = |frame: &Frame| {
            // The other side may be gone.
            let _ = locked(&out).send(frame);
        };
        match self.greet().map_err(End::from).and_then(|()| self.serve()) {
            Ok(_) => Exit::Reached,
            Err(End::Gone) => Exit::Interrupted,
            Err(End::Refused(why)) => {
                say(&Frame::Refused { why });
                Exit::Input
            }
            Err(End::Failed(why)) => {
                say(&Frame::Failed { why });
                Exit::Ended
            }
        }
    }

    fn greet(&self) -> io::Result<()> {
        locked(&self.out).say(&greeting::hello())
    }

    /// Returns whether there was a call.
    fn serve(mut self) -> Result<bool, End> {
        loop {
            match self.next()? {
                None => return Ok(false),
                Some(Frame::Describe { agents }) => self.describe(&agents)?,
                Some(Frame::Call { key, kind, bytes }) => {
                    return with_loop!(kind, L => self.call::<L>(key, bytes)).map(|()| true);
                }
                Some(Frame::Beat) => {}
                Some(_) => return Err(End::Failed("it got a frame that no call begins with".to_owned())),
            }
        }
    }

    /// Waits for the next frame; none if the other side has nothing more to say.
    fn next(&mut self) -> Result<Option<Frame>, End> {
        let since = Instant::now();
        loop {
            match self.inbox.next(BEAT, &[])? {
                Heard::Frame(frame) => return Ok(Some(frame)),
                Heard::Closed => return Ok(None),
                Heard::Quiet { .. } | Heard::Other if since.elapsed() > WORKERS_PATIENCE => {
                    return Err(End::Gone);
                }
                Heard::Quiet { .. } | Heard::Other => {}
            }
        }
    }

    fn send(&self, frame: &Frame, payload: &[u8]) -> Result<(), End> {
        Ok(locked(&self.out).send_with(frame, payload)?)
    }
}

/// Returns today's folder for the calls of others, and removes those of earlier days that no worker uses: what they hold
/// was sent, or can be sent again.
fn place_of_today(env: &Environment) -> Result<(SafePath, Option<Lock>), Complaint> {
    let all = SafePath::below(&env.cache, "worker");
    let now = Timestamp::now();
    let name = |time: Timestamp| time.strftime("%Y-%m-%d").to_string();
    let kept = [name(now), name(now.saturating_sub(24.hours()).map_err(ours)?)];
    let lock = |place: &SafePath, how| place.join("lock").lock(how);
    let place = all.join(&kept[0]);
    place.make().map_err(ours)?;
    let in_use = lock(&place, FlockOperation::LockShared).map_err(ours)?;
    for old in all.names().map_err(ours)?.iter().filter(|old| kept.iter().all(|kept| *old != kept.as_str())) {
        let old = all.join(old);
        // Another worker may be doing the same.
        if let Ok(Some(_alone)) = lock(&old, FlockOperation::NonBlockingLockExclusive) {
            let _ = old.remove();
        }
    }
    Ok((place, in_use))
}
