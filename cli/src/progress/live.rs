//! The one line that changes: what runs now, and for how long.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use skilltune_phases::run::Run;
use skilltune_phases::step::Step;

use super::chart::Letters;
use super::width::around;
use crate::report::{figures, plain, words};

/// Columns kept for the spinner and the elapsed time.
const MARGIN: usize = 12;

#[derive(Debug)]
pub(super) struct Live {
    bar: ProgressBar,
    under_way: Vec<(Step, Instant)>,
    /// Since when the first of them has been running; shared with the bar, which draws itself.
    since: Arc<Mutex<Option<Instant>>>,
}

impl Live {
    pub(super) fn new(letters: Letters) -> Self {
        let since = Arc::new(Mutex::new(None));
        let style = style(Arc::clone(&since));
        let style = match letters {
            Letters::Blocks => style,
            Letters::Plain => style.tick_chars("|/-\\ "),
        };
        let bar = ProgressBar::new_spinner().with_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, under_way: Vec::new(), since }
    }

    pub(super) fn began(&mut self, run: &Run, step: &Step, width: usize) {
        self.under_way.push((step.clone(), Instant::now()));
        self.show(run, width);
    }

    pub(super) fn ended(&mut self, run: &Run, step: &Step, width: usize) {
        if let Some(at) = self.under_way.iter().position(|(known, _)| known == step) {
            self.under_way.remove(at);
        }
        if !self.is_idle() {
            self.show(run, width);
        }
    }

    /// Lets others write lines above the live one.
    pub(super) fn aside(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.under_way.clear();
        self.bar.finish_and_clear();
    }

    fn show(&self, run: &Run, width: usize) {
        let steps: Vec<&Step> = self.under_way.iter().map(|(step, _)| step).collect();
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) =
            self.under_way.first().map(|(_, since)| *since);
        self.bar.set_message(message(run, &steps, width.saturating_sub(MARGIN)));
    }
}

fn style(since: Arc<Mutex<Option<Instant>>>) -> ProgressStyle {
    let template =
        ProgressStyle::with_template("{spinner} {msg} {since}").expect("the template is well formed");
    template.with_key("since", move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        if let Some(since) = *since.lock().unwrap_or_else(PoisonError::into_inner) {
            let whole = Duration::from_secs(since.elapsed().as_secs());
            let _ = out.write_str(&figures::duration(whole));
        }
    })
}

/// The oldest step under way, and how many others there are.
fn message(run: &Run, under_way: &[&Step], width: usize) -> String {
    let Some((oldest, others)) = under_way.split_first() else { return String::new() };
    let after = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    let stage =
        if run.stopped.is_some() { "end: ".to_owned() } else { format!("round {}: ", run.round_number()) };
    around(&stage, &plain::one_line(&words::step(run, oldest)), &after, width)
}

#[cfg(test)]
mod tests {
    use skilltune_phases::plan::Place;

    use super::*;
    use crate::report::world::{Play, plan, scored};

    #[test]
    fn the_oldest_step_is_told_and_the_others_are_counted() {
        let mut play = Play::begin(plan(&["write-a-haiku"], 1));
        play.advance(&mut scored(&[], &[])).unwrap();
        let step = Step::Improve { round: 1, base: play.run.start(), member: Place(0) };
        assert_eq!(message(&play.run, &[], 40), "");
        assert_eq!(message(&play.run, &[&step], 40), "round 1: improving write-a-haiku");
        assert_eq!(message(&play.run, &[&step, &step], 40), "round 1: improving …e-a-haiku and 1 more");
    }
}
