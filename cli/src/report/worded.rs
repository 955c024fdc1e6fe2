//! What has to be known of a loop so that what all runs have in common is told once, in that loop's words.

use serde_json::Value;
use skilltune_phases::loops::Loop;
use skilltune_phases::loops::tune::{self, Tune};
use skilltune_phases::run::Run;

use super::{json, words};

pub(crate) trait Worded: Loop {
    /// What a step does, and to what.
    fn step(run: &Run<Self>, step: &Self::Step) -> String;

    /// Where the run is while something is under way, such as `round 2`.
    fn place(run: &Run<Self>) -> String;

    /// Where a run stands that is taken up again: what follows those words.
    fn resumed_at(run: &Run<Self>) -> String;

    /// The run as one object for scripts.
    fn summary(run: &Run<Self>) -> Value;
}

impl Worded for Tune {
    fn step(run: &tune::Run, step: &tune::Step) -> String {
        words::step(run, step)
    }

    fn place(run: &tune::Run) -> String {
        if run.course.stopped.is_some() { "end".to_owned() } else { format!("round {}", run.round_number()) }
    }

    fn resumed_at(run: &tune::Run) -> String {
        let place = match run.round_number() {
            0 => String::new(),
            _ if run.course.stopped.is_some() => ", after the search".to_owned(),
            round => format!(" in round {round}"),
        };
        let best = run.best().map_or(String::new(), |(_, score)| format!(", best so far {score}"));
        place + &best
    }

    fn summary(run: &tune::Run) -> Value {
        json::summary(run)
    }
}
