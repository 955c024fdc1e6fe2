//! What signals mean to a run: finish and save, end and save, and at last just go.

use std::convert::Infallible;
use std::sync::mpsc;
use std::time::Duration;

use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use skilltune_orchestrator::engine::Halt;
use skilltune_phases::event::Pause;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::terminal::exit::Exit;
use crate::text::figures;

/// What a stop comes to, for those who watch.
#[derive(Clone, Copy, Debug)]
pub struct Stopping {
    /// No call takes longer.
    pub longest: Duration,
    /// Whether a stop ends the run for good.
    pub is_final: bool,
}

/// Tells the engine of signals, and says so on the terminal, as long as the engine runs.
pub async fn watch(halt: watch::Sender<Option<Halt>>, stopping: Stopping, say: impl Fn(&str)) -> Infallible {
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup), Ok(mut stop)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
        signal(SignalKind::user_defined1()),
    ) else {
        // Without handlers the system's own apply: the guardians clean up, and the journal is whole.
        return std::future::pending().await;
    };
    let mut interrupts = 0;
    loop {
        let asked = tokio::select! {
            () = next(&mut interrupt) => {
                interrupts += 1;
                interrupted(interrupts)
            }
            () = next(&mut terminate) => Halt::Now(Pause::Terminated),
            () = next(&mut hangup) => Halt::Now(Pause::Terminated),
            () = next(&mut stop) => {
                // The next Ctrl-C asks for more.
                interrupts = interrupts.max(1);
                Halt::Finish(Pause::Stopped)
            }
        };
        let mut told = None;
        halt.send_if_modified(|halt| {
            told = both(*halt, asked);
            *halt = told.or(*halt);
            told.is_some()
        });
        if let Some(halt) = told {
            say(&words(halt, stopping));
        }
    }
}

/// What two words come to; nothing, where the second asks for nothing new. Ctrl-C only hastens a stop, and a stop changes
/// what an interrupt comes to.
fn both(before: Option<Halt>, asked: Halt) -> Option<Halt> {
    use Pause::{Interrupted, Stopped};
    match (before, asked) {
        (Some(Halt::Finish(Stopped)), Halt::Now(Interrupted))
        | (Some(Halt::Now(Interrupted)), Halt::Finish(Stopped)) => Some(Halt::Now(Stopped)),
        (None, _)
        | (Some(Halt::Finish(Interrupted)), Halt::Finish(Stopped))
        | (Some(Halt::Finish(_)), Halt::Now(_)) => Some(asked),
        (Some(_), _) => None,
    }
}

/// What is done now, how long it takes, and how to be done sooner.
fn words(asked: Halt, Stopping { longest, is_final }: Stopping) -> String {
    let (lead, again, ends) = match asked {
        Halt::Now(Pause::Terminated) => return "terminating: ending current calls, then saving".to_owned(),
        Halt::Now(_) => return "ending current calls; press Ctrl-C again to exit immediately".to_owned(),
        Halt::Finish(Pause::Stopped) => ("stopping: ", "", is_final),
        Halt::Finish(_) => ("", " again", false),
    };
    let (then, price) = if ends {
        ("ending the run for good", "without their answers")
    } else {
        ("saving", "resume repeats them")
    };
    let longest = figures::duration(longest);
    format!(
        "{lead}finishing current calls (at most {longest}), then {then}; press Ctrl-C{again} to end them now: {price}"
    )
}

/// Asks somebody at the terminal; nothing, when we are told to end meanwhile, or the terminal goes away.
///
/// Whoever asks blocks, and a question on a terminal that is gone is never answered. So it is asked on a thread of its
/// own, signals are listened for on another, and the terminal is given back as it was.
pub fn unless_ended<T: Send + 'static>(ask: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    let before = tcgetattr(std::io::stdin()).ok();
    let (tell, told) = mpsc::channel();
    let answered = tell.clone();
    // Whoever tells too late finds nobody who listens.
    std::thread::spawn(move || drop(answered.send(ask())));
    std::thread::spawn(move || {
        wait_for_the_end();
        drop(tell.send(None));
    });
    let answer = told.recv().ok().flatten();
    if let Some(before) = before {
        // On a terminal that is gone there is nothing to give back.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &before);
    }
    answer
}

fn wait_for_the_end() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let (Ok(mut terminate), Ok(mut hangup)) =
            (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
        else {
            return;
        };
        tokio::select! {
            () = next(&mut terminate) => {}
            () = next(&mut hangup) => {}
        }
    });
}

async fn next(signal: &mut Signal) {
    if signal.recv().await.is_none() {
        std::future::pending::<()>().await;
    }
}

fn interrupted(times: u32) -> Halt {
    match times {
        1 => Halt::Finish(Pause::Interrupted),
        2 => Halt::Now(Pause::Interrupted),
        _ => leave(),
    }
}

/// The third time somebody means it. The guardians end the agents when our sockets close.
#[expect(clippy::exit, reason = "a person has asked three times")]
fn leave() -> ! {
    std::process::exit(Exit::Interrupted.code().into())
}
