//! What a run of `reflex` leaves for people and scripts to read, and how it is told while it goes on.

pub(crate) mod advice;
pub(crate) mod changes;
mod history;
pub(crate) mod json;
mod page;
mod status;
pub(crate) mod words;
#[cfg(test)]
pub(crate) mod world;

use serde_json::Value;
use skilltune_orchestrator::engine::reflex::Pages;
use skilltune_phases::loops::reflex::{Reflex, Run, Step};

use super::worded::Worded;

pub(crate) use history::event;
pub(crate) use page::report;
pub(crate) use status::{facts, result};

/// How the engine has a run's pages worded.
pub(crate) const PAGES: Pages =
    Pages { report: page::report, report_json: |run| format!("{:#}\n", json::report(run)) };

impl Worded for Reflex {
    fn step(run: &Run, step: &Step) -> String {
        words::step(run, step)
    }

    fn place(run: &Run) -> String {
        format!("iteration {}, level {}", run.course.iteration, run.course.level)
    }

    fn resumed_at(run: &Run) -> String {
        let best = run.best().and_then(|best| best.evaluation.score.map(|score| (score, best)));
        let best = best.map_or(String::new(), |(score, best)| {
            format!(", best so far {score} at level {}", best.evaluation.level)
        });
        format!(" in iteration {}, level {}{best}", run.course.iteration, run.course.level)
    }

    fn summary(run: &Run) -> Value {
        json::summary(run, None)
    }
}
