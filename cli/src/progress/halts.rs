//! Explains why a run cannot continue and how to fix it, with the same lines for every loop.

use std::time::Duration;

use jiff::Timestamp;
use skilltune_phases::base::ceiling::Ceiling;
use skilltune_phases::runs::event::{Done, Failure};
use skilltune_phases::runs::remedy::Remedy;
use skilltune_phases::runs::run::{FailedCall, Run, StepState};

use crate::progress::layout::Layout;
use crate::report::ui::Ui;
use crate::report::{advice, ceilings, words};
use crate::text::width::wrapped;
use crate::text::{figures, plain};

/// Returns what a run waits for, until when, and how long that is.
pub fn waiting<L: Ui>(run: &Run<L>, until: Timestamp, width: usize) -> Vec<String> {
    let left = Duration::try_from(until.duration_since(run.updated_at)).unwrap_or_default();
    let (moment, left) = (figures::moment(until), figures::duration(left));
    let line = format!("waiting until {moment} ({left}); press Ctrl-C to stop waiting");
    let why = run.blocked.as_ref().map(|failed| plain::one_line(&stopped_by(run, failed)));
    [why, Some(line)].iter().flatten().flat_map(|line| wrapped(line, width, "    ")).collect()
}

/// Returns the ceiling that a run is paused at. The end names the command to continue with a higher one.
pub fn at_ceiling<L: Ui>(run: &Run<L>, ceiling: Ceiling, layout: Layout) -> Vec<String> {
    wrapped(&format!("  {}", ceilings::describe(run, ceiling)), layout.width, "    ")
}

/// Returns why a run is blocked, and how to fix it.
pub fn blocked<L: Ui>(run: &Run<L>, failed: &FailedCall<L>, layout: Layout) -> Vec<String> {
    let cause = stopped_by(run, failed);
    let hint = format!("  hint: {}", advice::unblock(run, failed));
    [cause, hint].iter().flat_map(|line| wrapped(&plain::one_line(line), layout.width, "    ")).collect()
}

/// Returns an agent's failure, unless it stops the run: then the pause reports it.
pub fn failed<L: Ui>(run: &Run<L>, done: &Done<L>) -> Option<String> {
    let is_blocked = run.blocked.as_ref().is_some_and(|blocked| blocked.step == done.step);
    let goes_on = |failure: &&Failure| matches!(failure.kind.remedy(), Remedy::Tell | Remedy::Repeat);
    let failure = done.outcome.as_ref().err().filter(goes_on).filter(|_| !is_blocked)?;
    let fate = match run.state_of(&done.step) {
        StepState::GivenUp(_) if L::is_result(&done.step, failure) => "scores 0",
        StepState::GivenUp(_) => "gave up",
        StepState::Answered(_) | StepState::Open => "retried",
    };
    let failed = plain::one_line(&words::failed(run, &done.step, failure));
    Some(format!("{failed} ({fate})"))
}

fn stopped_by<L: Ui>(run: &Run<L>, failed: &FailedCall<L>) -> String {
    format!("  {}", words::failed(run, &failed.step, &failed.failure))
}
