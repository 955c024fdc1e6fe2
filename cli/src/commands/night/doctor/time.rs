//! The clock, the window of the night, the remaining budget, and the nights so far.

use std::time::Duration;

use jiff::civil::Time;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};
use skilltune_phases::nights::night::{History, Night, Share, Spent, shared};

use crate::commands::night::doctor::start::Start;
use crate::commands::night::status::OVERDUE;
use crate::nights::book::Shelf;
use crate::nights::check::{About, Check};
use crate::nights::clock::{Clock, zone_of};
use crate::nights::file::{NightPlan, Overlap};
use crate::terminal::environment::Environment;
use crate::text::figures::duration;

pub struct Times {
    now: Zoned,
    /// The next scheduled start; none if no time is known.
    pub next: Option<Zoned>,
    pub last: Option<Timestamp>,
    /// Whether a scheduled night ran recently enough not to be overdue.
    pub has_run_lately: bool,
    pub checks: Vec<Check>,
}

/// The number of days that are checked for a clock change.
const DAYS: i32 = 14;

/// The longest night that can be intended; systemd stops a longer one.
const LONGEST: SignedDuration = SignedDuration::from_hours(20);

fn fine(text: impl AsRef<str>) -> Check {
    Check::fine(About::Time, text)
}

fn broken(text: impl AsRef<str>, fix: impl AsRef<str>) -> Check {
    Check::broken(About::Time, text, fix)
}

fn unknown(text: impl AsRef<str>, fix: impl AsRef<str>) -> Check {
    Check::unknown(About::Time, text, fix)
}

impl Times {
    pub fn new(start: &Start, shell: &Environment) -> Self {
        let mut checks = Vec::new();
        let given = start.env.vars.get("TZ");
        let zone = zone_of(given.map(String::as_str)).unwrap_or_else(|| {
            let text = match given {
                Some(name) => format!("TZ is {name:?}, which is not a time zone: the night uses UTC"),
                None => "cannot read the time zone of this machine: the night uses UTC".to_owned(),
            };
            checks.push(broken(text, "set the time zone, such as with `timedatectl set-timezone`"));
            TimeZone::UTC
        });
        if let Some(own) = shell.vars.get("TZ").filter(|own| Some(*own) != given) {
            let fix = "the night does not use the time zone of this shell";
            checks.push(unknown(format!("TZ is {own:?} in this shell only, not for the night"), fix));
        }
        let now = Clock::in_zone(zone.clone()).now();
        let next = start.scheduled.as_ref().and_then(|known| {
            let scheduler = zone_of(known.zone.as_deref()).unwrap_or(TimeZone::UTC);
            let at = known.job.as_ref().map(|job| job.at);
            let next = known.next.or_else(|| Clock::next(&now.with_time_zone(scheduler.clone()), at?))?;
            let next = next.to_zoned(scheduler);
            checks.push(fine(format!("the next start is {}", shown(&next))));
            if let Some(at) = at {
                checks.extend((0..DAYS).filter_map(|day| changed_clock(&next, day, at)));
            }
            Some(next.with_time_zone(zone))
        });
        Self { now, next, last: None, has_run_lately: false, checks }
    }

    /// Adds the checks that need the file of jobs and the earlier nights.
    pub fn look(&mut self, plan: &NightPlan, history: &History, checks: &mut Vec<Check>) {
        self.window(plan);
        checks.extend(budgets(plan, history, self.next.as_ref().unwrap_or(&self.now)));
        let last = history.nights.iter().rev().find(|night| night.scheduled).or_else(|| history.last());
        self.last = last.map(|night| night.began);
        let scheduled = last.filter(|night| night.scheduled);
        let age = scheduled.map(|night| self.now.timestamp().duration_since(night.began));
        self.has_run_lately = age.is_some_and(|age| age.unsigned_abs() <= OVERDUE);
        self.checks.push(last.map_or_else(|| fine("no night has run yet"), |night| self.ran(night)));
        if let Some(night) = history.last().filter(|night| night.over.is_none()) {
            self.checks.push(self.under_way(night, plan));
        }
        let latest =
            history.nights.iter().map(|night| night.over.map_or(night.began, |(at, _)| at.max(night.began)));
        if let Some(latest) = latest.max().filter(|latest| *latest > self.now.timestamp()) {
            let latest = shown(&latest.to_zoned(self.now.time_zone().clone()));
            let text = format!("the clock shows {}, before the last night of {latest}", shown(&self.now));
            self.checks.push(broken(text, "set the clock: skilltune runs the night of each date only once"));
        }
    }

    fn window(&mut self, plan: &NightPlan) {
        let Some(start) = &self.next else { return };
        let clock = |time: Time| time.strftime("%H:%M").to_string();
        let until = plan.content.until.and_then(|until| Some((until, Clock::next(start, until)?)));
        if let Some((until, end)) = until {
            let length = end.duration_since(start.timestamp());
            let at = clock(start.time());
            self.checks.push(if length > LONGEST {
                broken(
                    format!("`until` is {}, not after the start at {at}: the night would stop only on the next day", clock(until)),
                    "change `until`, or install with another `--at`",
                )
            } else {
                let length = duration(Duration::try_from(length).unwrap_or_default());
                fine(format!("it stops at {}, {length} after its start", clock(until)))
            });
        }
        let latest =
            plan.content.latest_start.and_then(|latest| Some((latest, Clock::latest(start, latest)?)));
        if let Some((latest, moment)) = latest.filter(|(_, moment)| *moment < start.timestamp()) {
            let late = shown(&moment.to_zoned(start.time_zone().clone()));
            self.checks.push(broken(
                format!(
                    "`latest_start` is {} ({late}), before the start: every scheduled night starts too late",
                    clock(latest)
                ),
                "change `latest_start`, or install with another `--at`",
            ));
        }
    }

    fn ran(&self, night: &Night) -> Check {
        let moment = |at: Timestamp| shown(&at.to_zoned(self.now.time_zone().clone()));
        let how = match (night.scheduled, night.over) {
            (_, Some((at, _))) => format!("it ended {}", moment(at)),
            (_, None) => "it has not ended".to_owned(),
        };
        let word = if night.scheduled { "scheduled night" } else { "night, started by hand," };
        let text = format!("the last {word} began {}; {how}", moment(night.began));
        let is_done = self.next.as_ref().is_some_and(|next| Clock::night_of(next) == night.date);
        if night.scheduled && is_done && self.next.as_ref().is_some_and(|next| next.timestamp() > night.began)
        {
            let fix = "the night after it runs; run `skilltune night` to start one now";
            return unknown(format!("{text}, so the next start, of the same night, does nothing"), fix);
        }
        fine(text)
    }

    /// Checks the lock of the journal only if its last night has not ended, so that it never blocks a night that
    /// begins.
    fn under_way(&self, night: &Night, plan: &NightPlan) -> Check {
        let began = shown(&night.began.to_zoned(self.now.time_zone().clone()));
        if !Shelf::of(plan).is_locked() {
            return fine(format!(
                "the night that began {began} was killed: the next night continues its runs"
            ));
        }
        let then = match plan.content.overlap {
            Overlap::Skip => "does nothing",
            Overlap::Queue => "waits for it",
        };
        let fix = format!("if it has not ended at the next start, that one {then} (`overlap`)");
        unknown(format!("a night has been under way since {began}"), fix)
    }
}

/// Checks the budget left at the start of the night. Without a limit there is nothing to report.
fn budgets(plan: &NightPlan, history: &History, start: &Zoned) -> Vec<Check> {
    let content = &plan.content;
    let used = history.spent_in_week(Clock::night_of(start));
    let nothing = |left| shared(&[left], 1, 1, Default::default(), Spent::default()) == Share::Nothing;
    let raise = |key: &str| format!("raise the limits of `[{key}]`");
    let mut checks = Vec::new();
    for (key, limits) in [("night", content.night), ("week", content.week)] {
        if nothing((limits.ceilings(), Spent::default())) {
            let text = format!("`[{key}]` allows no call at all");
            checks.push(Check::broken(About::File, text, raise(key)));
        } else if key == "week" && nothing((limits.ceilings(), used)) {
            let text = "the budget of the week is used up, and still will be at the next start";
            checks.push(Check::broken(
                About::File,
                text,
                raise(key) + ", or wait until its nights are a week old",
            ));
        }
    }
    checks
}

/// Returns a check if the clock changes around the start of that day.
fn changed_clock(next: &Zoned, day: i32, at: Time) -> Option<Check> {
    let date = next.date().checked_add(day.days()).ok()?;
    let zone = next.time_zone();
    let clock = at.strftime("%H:%M");
    match zone.to_ambiguous_timestamp(date.to_datetime(at)).offset() {
        AmbiguousOffset::Unambiguous { .. } => None,
        AmbiguousOffset::Gap { .. } => Some(unknown(
            format!("on {date} the clock skips {clock}: that night may start an hour late, or not at all"),
            "install with another `--at`",
        )),
        AmbiguousOffset::Fold { .. } => {
            Some(fine(format!("on {date} it is {clock} twice: the second start of that night does nothing")))
        }
    }
}

fn shown(moment: &Zoned) -> String {
    moment.strftime("%Y-%m-%d %H:%M %Z").to_string()
}
