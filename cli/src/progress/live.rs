//! The live line: what is running now and for how long, how many calls are left, and when the run will probably end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use jiff::{Timestamp, Zoned};
use skilltune_phases::runs::run::Run;

use crate::progress::layout::Letters;
use crate::report::estimate::Remaining;
use crate::report::ui::Ui;
use crate::text::width::{around, columns, cut};
use crate::text::{figures, plain};

/// Columns kept for the spinner and the elapsed time.
const MARGIN: usize = 12;

#[derive(Debug)]
pub struct Live<L: Ui> {
    bar: ProgressBar,
    under_way: Vec<(L::Step, Instant)>,
    /// Shared with the bar, which draws itself.
    parts: Arc<Mutex<Parts>>,
}

/// The parts of the line after the spinner.
#[derive(Debug, Default)]
struct Parts {
    message: String,
    clock: Option<Clock>,
    /// What is left of the run, if it is known: beside the rest, or on a line of its own.
    left: String,
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
        let parts = Arc::new(Mutex::new(Parts::default()));
        let style = style(Arc::clone(&parts));
        let style = match letters {
            Letters::Blocks => style,
            Letters::Plain => style.tick_chars("|/-\\ "),
        };
        let bar = ProgressBar::new_spinner().with_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, under_way: Vec::new(), parts }
    }

    pub fn began(&mut self, step: &L::Step) {
        self.under_way.push((step.clone(), Instant::now()));
    }

    pub fn ended(&mut self, step: &L::Step) {
        if let Some(at) = self.under_way.iter().position(|(known, _)| known == step) {
            self.under_way.remove(at);
        }
    }

    /// Shows the running steps, the calls left and the likely end.
    pub fn show(&self, run: &Run<L>, left: Option<Remaining>, width: usize) {
        let steps: Vec<&L::Step> = self.under_way.iter().map(|(step, _)| step).collect();
        let room = width.saturating_sub(MARGIN);
        let message = message(run, &steps, room);
        let beside = room.saturating_sub(columns(&message));
        let left = left.and_then(|left| remaining(left, &Zoned::now()));
        let left = left.map_or_else(String::new, |left| placed(&left, beside, width));
        let clock = self.under_way.first().map(|(_, since)| Clock::Since(*since));
        self.draw(Parts { message, clock, left });
    }

    /// Shows a countdown while nothing runs.
    pub fn waiting(&mut self, until: Timestamp, width: usize) {
        let message = around("waiting for the limit to reset", "", "", width.saturating_sub(MARGIN));
        self.draw(Parts { message, clock: Some(Clock::Until(until)), left: String::new() });
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

    /// Changes all parts at once, so that no line is drawn with parts that do not fit together.
    fn draw(&self, parts: Parts) {
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = parts;
        self.bar.force_draw();
    }
}

impl Parts {
    fn line(&self) -> String {
        let clock = self.clock.map(Clock::shown).unwrap_or_default();
        format!("{} {clock}{}", self.message, self.left)
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

fn style(parts: Arc<Mutex<Parts>>) -> ProgressStyle {
    let template = ProgressStyle::with_template("{spinner} {line}").expect("the template is well formed");
    template.with_key("line", move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = out.write_str(&parts.lock().unwrap_or_else(PoisonError::into_inner).line());
    })
}

/// Describes the oldest running step, and the number of other steps.
fn message<L: Ui>(run: &Run<L>, under_way: &[&L::Step], width: usize) -> String {
    let Some((oldest, others)) = under_way.split_first() else { return String::new() };
    let after = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    around(&format!("{}: ", L::place(run)), &plain::one_line(&L::step(run, oldest)), &after, width)
}

/// Says how many calls are left and, if it is known, when the run will probably end.
fn remaining(left: Remaining, now: &Zoned) -> Option<String> {
    let calls = figures::count(usize::try_from(left.most).unwrap_or(usize::MAX), "call");
    let end = left.time.and_then(|time| now.checked_add(time).ok());
    let end = end.map(|end| format!(", probably done at {}", figures::time_of_day(&end, now)));
    (left.most > 0).then(|| format!("at most {calls} left{}", end.unwrap_or_default()))
}

/// Puts a text beside the rest of the line if it fits into these columns, and otherwise on a line of its own.
fn placed(text: &str, beside: usize, width: usize) -> String {
    let whole = format!(" ({text})");
    if columns(&whole) < beside { whole } else { format!("\n  {}", cut(text, width.saturating_sub(3))) }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
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

    #[test]
    fn what_is_left_is_said_as_far_as_it_is_known() {
        let now = Timestamp::from_second(1_700_000_000).unwrap().to_zoned(TimeZone::UTC);
        let text = |most, minutes: Option<u64>| {
            let time = minutes.map(|minutes| Duration::from_secs(minutes * 60));
            remaining(Remaining { most, time }, &now).unwrap_or_default()
        };
        assert_eq!(text(84, Some(20)), "at most 84 calls left, probably done at 22:33");
        assert_eq!(text(84, None), "at most 84 calls left", "an unknown end is no guess");
        assert_eq!([text(1, None), text(0, None)], ["at most 1 call left", ""]);
        assert_eq!(text(2, Some(120)), "at most 2 calls left, probably done at 2023-11-15 00:13");
        assert_eq!(text(84, Some(u64::MAX / 60)), "at most 84 calls left", "no calendar has that day");
    }

    #[test]
    fn what_does_not_fit_beside_the_step_has_a_line_of_its_own_and_no_line_is_too_wide() {
        let text = "at most 84 calls left, probably done at 22:33";
        assert_eq!(placed(text, 60, 120), format!(" ({text})"));
        assert_eq!(placed(text, 20, 80), format!("\n  {text}"));
        for width in 20..160 {
            let message = around("round 2 of 5: judging ", "write-a-haiku", " and 3 more", width - MARGIN);
            let left = placed(text, width - MARGIN - columns(&message), width);
            let parts = Parts { message, clock: Some(Clock::Until(Timestamp::UNIX_EPOCH)), left };
            // The clock shows `0s`, and `100h 00m` at most; before it are the spinner and a space.
            let more = columns("100h 00m") - columns("0s") + 2;
            let line = parts.line();
            let (first, below) = line.split_once('\n').unwrap_or((&line, ""));
            assert!(columns(first) + more < width && columns(below) < width, "{width}: {line}");
        }
    }
}
