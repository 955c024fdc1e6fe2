//! The command line of skilltune: commands, questions, progress, reports.
//!
//! ```text
//! main -> commands -> nights -> loops -> runs -> progress -> report -> args, casting -> settings -> trust -> terminal -> text
//! ```
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests build their own scenes"))]
#![expect(unreachable_pub, reason = "nothing of a program is reachable; `pub` means used by other modules")]

mod args;
mod casting;
mod commands;
#[cfg(test)]
mod frozen;
mod inputs;
mod loops;
mod nights;
mod progress;
mod report;
mod runs;
mod settings;
mod terminal;
mod text;
mod trust;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use rustix::process::Signal;
use skilltune_orchestrator::browser;
use skilltune_orchestrator::offline::offline_main;
use skilltune_orchestrator::process::{CONFINED, HIDDEN, confined_main, guardian_main, hidden_main};

use crate::commands::cli::Cli;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

fn main() -> ExitCode {
    survive_the_file_size_limit();
    // Comes first: a guardian is started for each job and must start quickly.
    if std::env::args_os().nth(1).is_some_and(|word| word == runs::under_guard::GUARDIAN) {
        return guardian_main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == CONFINED) {
        return confined_main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == HIDDEN) {
        return hidden_main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == casting::OFFLINE) {
        return offline_main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == browser::LOOK) {
        return browser::look_main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == browser::BECOME) {
        return browser::become_browser_main();
    }
    nights::work::follow_the_night();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => return commands::mistyped::answer(&mut error).into(),
    };
    arm_crash_point();
    let env = Environment::read(cli.project.as_deref());
    let printer = env.as_ref().map_or(Printer::PLAIN, |env| Printer::new(env, cli.level()));
    let ended = env.map_err(Complaint::from).and_then(|env| commands::run(cli.command, &env, printer));
    let exit = ended.unwrap_or_else(|complaint| failed(&complaint, printer));
    list_crash_points();
    exit.into()
}

/// Makes a write beyond `ulimit -f` an error like a full disk, so that it does not kill the program in the middle of a
/// replacement.
///
/// Agents do not inherit a handler, but they would inherit an ignored signal.
fn survive_the_file_size_limit() {
    // If this fails, only that limit is handled worse.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::default());
}

/// Lets a test end the program at one of its durable steps; does nothing in a program that users get.
fn arm_crash_point() {
    #[cfg(feature = "testing")]
    if let Some(at) = std::env::var("SKILLTUNE_CRASH_AT").ok().and_then(|at| at.parse().ok()) {
        skilltune_orchestrator::crash::arm(at);
    }
}

/// Lists the durable steps that the program reached, for a test.
fn list_crash_points() {
    #[cfg(feature = "testing")]
    if let Some(path) = std::env::var_os("SKILLTUNE_CRASH_LIST") {
        let list = skilltune_orchestrator::crash::reached().join("\n");
        skilltune_orchestrator::disk::atomic::create(path.as_ref(), list.as_bytes())
            .expect("a test has named a new file");
    }
}

fn failed(complaint: &Complaint, printer: Printer) -> Exit {
    printer.complain(complaint);
    complaint.exit()
}
