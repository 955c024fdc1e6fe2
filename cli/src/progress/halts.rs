//! What keeps a run from going on, and what helps: the same lines for every loop.

use std::time::Duration;

use jiff::Timestamp;
use skilltune_phases::run::{FailedCall as Mishap, Run};

use crate::progress::look::Look;
use crate::report::ui::Ui;
use crate::report::{advice, words};
use crate::text::width::wrapped;
use crate::text::{figures, plain};

/// What a run waits for, until when, and how long that is.
pub fn waiting<L: Ui>(run: &Run<L>, until: Timestamp, width: usize) -> Vec<String> {
    let left = Duration::try_from(until.duration_since(run.updated_at)).unwrap_or_default();
    let (moment, left) = (figures::moment(until), figures::duration(left));
    let told = format!("waiting until {moment} ({left}); press Ctrl-C to stop waiting");
    let why = run.blocked.as_ref().map(|mishap| plain::one_line(&stopped_by(run, mishap)));
    [why, Some(told)].iter().flatten().flat_map(|line| wrapped(line, width, "    ")).collect()
}

/// What a run cannot go on for, and what helps.
pub fn blocked<L: Ui>(run: &Run<L>, mishap: &Mishap<L>, look: Look) -> Vec<String> {
    let told = stopped_by(run, mishap);
    let hint = format!("  hint: {}", advice::mend(run, mishap, look.trusted));
    [told, hint].iter().flat_map(|line| wrapped(&plain::one_line(line), look.width, "    ")).collect()
}

fn stopped_by<L: Ui>(run: &Run<L>, mishap: &Mishap<L>) -> String {
    let told = format!("{}: {}", words::failure(mishap.failure.kind), mishap.failure.why);
    format!("  {}: {told}", L::step(run, &mishap.step))
}
