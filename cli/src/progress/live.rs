//! The live line: what is running now, and for how long.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use jiff::Timestamp;
use skilltune_phases::runs::run::Run;

use crate::progress::layout::Letters;
use crate::report::ui::Ui;
use crate::text::width::around;
use crate::text::{figures, plain};

/// Columns kept for the spinner and the elapsed time.
const MARGIN: usize = 12;

#[derive(Debug)]
pub struct Live<L: Ui> {
    bar: ProgressBar,
    under_way: Vec<(L::Step, Instant)>,
    /// Shared with the bar, which draws itself.
    clock: Arc<Mutex<Option<Clock>>>,
}

/// The time that the line shows.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// The time since the oldest running step began.
    Since(Instant),
    /// The time that remains until then.
    Until(Timestamp),
}

impl<L: Ui> Live<L> {
    pub fn new(letters: Letters) -> Self {
        let clock = Arc::new(Mutex::new(None));
        let style = style(Arc::clone(&clock));
        let style = match letters {
            Letters::Blocks => style,
            Letters::Plain => style.tick_chars("|/-\\ "),
        };
        let bar = ProgressBar::new_spinner().with_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, under_way: Vec::new(), clock }
    }

    pub fn began(&mut self, run: &Run<L>, step: &L::Step, width: usize) {
        self.under_way.push((step.clone(), Instant::now()));
        self.show(run, width);
    }

    pub fn ended(&mut self, run: &Run<L>, step: &L::Step, width: usize) {
        if let Some(at) = self.under_way.iter().position(|(known, _)| known == step) {
            self.under_way.remove(at);
        }
        if !self.is_idle() {
            self.show(run, width);
        }
    }

    /// Shows a countdown while nothing runs.
    pub fn waiting(&mut self, until: Timestamp, width: usize) {
        self.set(Some(Clock::Until(until)));
        self.bar.set_message(around("waiting for the limit to reset", "", "", width.saturating_sub(MARGIN)));
    }

    /// Pauses the live line while other lines are written above it.
    pub fn aside(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    pub fn clear(&mut self) {
        self.under_way.clear();
        self.bar.finish_and_clear();
    }

    fn set(&self, clock: Option<Clock>) {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock;
    }

    fn show(&self, run: &Run<L>, width: usize) {
        let steps: Vec<&L::Step> = self.under_way.iter().map(|(step, _)| step).collect();
        self.set(self.under_way.first().map(|(_, since)| Clock::Since(*since)));
        self.bar.set_message(message(run, &steps, width.saturating_sub(MARGIN)));
    }
}

impl Clock {
    fn shown(self) -> String {
        let time = match self {
            Self::Since(then) => then.elapsed(),
            Self::Until(then) => {
                Duration::try_from(then.duration_since(Timestamp::now())).unwrap_or_default()
            }
        };
        figures::duration(Duration::from_secs(time.as_secs()))
    }
}

fn style(clock: Arc<Mutex<Option<Clock>>>) -> ProgressStyle {
    let template =
        ProgressStyle::with_template("{spinner} {msg} {since}").expect("the template is well formed");
    template.with_key("since", move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        if let Some(clock) = *clock.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = out.write_str(&clock.shown());
        }
    })
}

/// Describes the oldest running step, and the number of other steps.
fn message<L: Ui>(run: &Run<L>, under_way: &[&L::Step], width: usize) -> String {
    let Some((oldest, others)) = under_way.split_first() else { return String::new() };
    let after = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    around(&format!("{}: ", L::place(run)), &plain::one_line(&L::step(run, oldest)), &after, width)
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::tune::{Improver, Step};
    use skilltune_phases::skills::target::Place;

    use super::*;
    use crate::loops::tune::world::{Play, plan, scored};

    #[test]
    fn a_wait_counts_down_to_its_end_and_no_further() {
        let until = Timestamp::now() + Duration::from_secs(3 * 3600 + 30);
        assert_eq!(Clock::Until(until).shown(), "3h 00m");
        assert_eq!(Clock::Until(Timestamp::UNIX_EPOCH).shown(), "0s");
    }

    #[test]
    fn the_oldest_step_is_told_and_the_others_are_counted() {
        let mut play = Play::begin(plan(&["write-a-haiku"], 1));
        play.advance(&mut scored(&[], &[])).unwrap();
        let step = Step::Improve {
            round: 1,
            base: play.run.start(),
            member: Place(0),
            by: Improver::First,
            failed: 0,
        };
        assert_eq!(message(&play.run, &[], 40), "");
        assert_eq!(message(&play.run, &[&step], 40), "round 1 of 3: improving write-a-haiku");
        assert_eq!(message(&play.run, &[&step, &step], 40), "round 1 of 3: improvi…a-haiku and 1 more");
    }
}
