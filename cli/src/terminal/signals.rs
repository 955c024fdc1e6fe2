//! The meaning of signals for a run: finish and save, end and save, and finally exit at once.

use std::convert::Infallible;
use std::sync::mpsc;
use std::time::Duration;

use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use skilltune_orchestrator::engine::Halt;
use skilltune_phases::runs::event::Pause;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::terminal::exit::Exit;
use crate::text::figures;

/// The consequences of a stop, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Stopping {
    /// The longest time that a call can take.
    pub longest: Duration,
    /// Whether a stop ends the run for good.
    pub is_final: bool,
}

/// Forwards signals to the engine and reports them on the terminal, as long as the engine runs.
pub async fn watch(halt: watch::Sender<Option<Halt>>, stopping: Stopping, say: impl Fn(&str)) -> Infallible {
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup), Ok(mut stop)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
        signal(SignalKind::user_defined1()),
    ) else {
        // Without handlers the system's defaults apply: the guardians clean up, and the journal is complete.
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
                // A Ctrl-C after this counts as the second.
                interrupts = interrupts.max(1);
                Halt::Finish(Pause::Stopped)
            }
        };
        let mut new_halt = None;
        halt.send_if_modified(|halt| {
            new_halt = both(*halt, asked);
            *halt = new_halt.or(*halt);
            new_halt.is_some()
        });
        if let Some(halt) = new_halt {
            say(&words(halt, stopping));
        }
    }
}

/// Returns the result of two requests, or none if the second requests nothing new. Ctrl-C only speeds up a stop, and a
/// stop replaces an interrupt as the reason.
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

/// Says what happens now, how long it takes, and how to speed it up.
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

/// Asks at the terminal. Returns none if a signal ends the program meanwhile, or the terminal closes.
///
/// The question blocks, and on a closed terminal it is never answered. So it runs on a separate thread, another thread
/// listens for signals, and the terminal's mode is restored.
pub fn unless_ended<T: Send + 'static>(ask: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    let before = tcgetattr(std::io::stdin()).ok();
    let (tell, answers) = mpsc::channel();
    let answered = tell.clone();
    // If the answer comes too late, the receiver is gone.
    std::thread::spawn(move || drop(answered.send(ask())));
    std::thread::spawn(move || {
        wait_for_the_end();
        drop(tell.send(None));
    });
    let answer = answers.recv().ok().flatten();
    if let Some(before) = before {
        // A closed terminal needs no restore.
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

/// Exits at once: the user has asked three times. The guardians end the agents when our sockets close.
#[expect(clippy::exit, reason = "a person has asked three times")]
fn leave() -> ! {
    std::process::exit(Exit::Interrupted.code().into())
}
