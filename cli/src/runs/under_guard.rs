//! Runs programs outside of any run, in parallel and under guard.

use std::path::PathBuf;

use skilltune_orchestrator::process::{Cancel, CancelToken, Canceller, GuardianPool, become_driver};
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

use crate::terminal::complaint::{Complaint, ours};

/// The hidden command that starts this program as a guardian.
pub const GUARDIAN: &str = "guardian";

/// The variable by which a later command finds leftover guardians.
pub const GUARDS: &str = "SKILLTUNE_GUARDS";

/// The maximum number of programs at a time.
const AT_ONCE: usize = 32;

/// Runs each program in its own folder, in parallel and under guard, and returns the results in order. Ctrl-C and
/// SIGTERM end the programs and leave nothing behind.
pub fn under_guard<T, F>(
    count: usize,
    lost: fn() -> T,
    make: impl Fn(usize, PathBuf) -> F,
) -> Result<Vec<T>, Complaint>
where
    T: Send + 'static,
    F: FnOnce(GuardianPool, CancelToken) -> T + Send + 'static,
{
    if count == 0 {
        return Ok(Vec::new());
    }
    let failed = |what: &'static str| move |error| Complaint::ours(what).caused_by(error);
    become_driver().map_err(ours)?;
    let exe = std::env::current_exe().map_err(failed("cannot find the skilltune program"))?;
    let room = tempfile::tempdir().map_err(failed("cannot make a temporary folder"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed("cannot start the runtime"))?;
    let pool = GuardianPool::new(exe, GUARDIAN, (GUARDS.to_owned(), "doctor".to_owned()), count.min(AT_ONCE));
    let mut cancel = Canceller::new().map_err(ours)?;
    let mut all = Vec::new();
    for nth in 0..count {
        let place = room.path().join(nth.to_string());
        std::fs::create_dir(&place).map_err(failed("cannot make a temporary folder"))?;
        let (ask, pool, cancel_token) = (make(nth, place), pool.clone(), cancel.cancel_token());
        all.push(move || ask(pool, cancel_token));
    }
    let heard = runtime.block_on(gathered(all, lost, &mut cancel));
    pool.close();
    heard
}

async fn gathered<T: Send + 'static>(
    all: Vec<impl FnOnce() -> T + Send + 'static>,
    lost: fn() -> T,
    cancel: &mut Canceller,
) -> Result<Vec<T>, Complaint> {
    let tasks: Vec<_> = all.into_iter().map(tokio::task::spawn_blocking).collect();
    let answers = async {
        let mut heard = Vec::new();
        for task in tasks {
            heard.push(task.await.unwrap_or_else(|_| lost()));
        }
        heard
    };
    tokio::pin!(answers);
    let mut terminate = signal(SignalKind::terminate()).map_err(ours)?;
    let ended = tokio::select! {
        heard = &mut answers => return Ok(heard),
        _ = ctrl_c() => Complaint::interrupted(),
        _ = terminate.recv() => Complaint::terminated(),
    };
    cancel.say(Cancel::Now);
    answers.await;
    Err(ended)
}
