//! Usage windows: an agent's report of its account limits, and whether enough of them stays free.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A percentage from 1% to 99%.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Percent(u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole percentage from 1% to 99%, such as 30%")]
pub struct BadPercent;

impl FromStr for Percent {
    type Err = BadPercent;

    fn from_str(text: &str) -> Result<Self, BadPercent> {
        let digits = text.strip_suffix('%').ok_or(BadPercent)?;
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|number| is_plain && (1..=99).contains(number));
        number.map(Self).ok_or(BadPercent)
    }
}

impl Percent {
    pub fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<String> for Percent {
    type Error = BadPercent;

    fn try_from(text: String) -> Result<Self, BadPercent> {
        text.parse()
    }
}

impl From<Percent> for String {
    fn from(percent: Percent) -> Self {
        percent.to_string()
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

/// An agent's report of one usage window of its account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The agent's own name for it, such as `five_hour`.
    pub name: Box<str>,
    /// In percent, rounded up.
    pub used: u8,
    pub resets_at: Timestamp,
}

impl Window {
    /// Returns whether less than this share is left. After its reset a window is free.
    fn is_full(&self, free: Percent, now: Timestamp) -> bool {
        self.used > 100 - free.0 && self.resets_at > now
    }
}

/// The latest report of an agent, and the step of the call that reported it.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage<S> {
    pub step: S,
    windows: BTreeMap<Box<str>, Window>,
}

impl<S> Usage<S> {
    pub fn new(step: S) -> Self {
        Self { step, windows: BTreeMap::new() }
    }

    pub fn report(&mut self, step: S, windows: &[Window]) {
        self.step = step;
        self.windows.extend(windows.iter().map(|window| (window.name.clone(), window.clone())));
    }

    /// Returns the window with less than this share left; if there are several, the one that resets last.
    pub fn full(&self, free: Percent, now: Timestamp) -> Option<&Window> {
        let full = self.windows.values().filter(|window| window.is_full(free, now));
        full.max_by_key(|window| window.resets_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_whole_percentage_from_1_to_99() {
        for good in ["1%", "30%", "99%"] {
            assert_eq!(good.parse::<Percent>().unwrap().to_string(), good);
            assert!(serde_json::from_value::<Percent>(good.into()).is_ok());
        }
        for bad in
            ["", "%", "0%", "100%", "30", "+30%", "-1%", "30.5%", "3e1%", "256%", " 30%", "30%%", "\u{663}%"]
        {
            assert_eq!(bad.parse::<Percent>(), Err(BadPercent), "{bad}");
            assert!(serde_json::from_value::<Percent>(bad.into()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_window_is_full_when_less_than_the_share_is_left_and_it_has_not_reset() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let window =
            |name: &str, used, resets_at| Window { name: name.into(), used, resets_at: at(resets_at) };
        let free: Percent = "30%".parse().unwrap();
        let mut usage = Usage::new(1);
        usage.report(1, &[window("five_hour", 70, 100), window("seven_day", 71, 50)]);
        let full = |usage: &Usage<i32>, now| usage.full(free, at(now)).map(|window| window.name.to_string());
        assert_eq!((full(&usage, 49).as_deref(), full(&usage, 50)), (Some("seven_day"), None));
        usage.report(2, &[window("five_hour", 100, 100)]);
        assert_eq!(
            (full(&usage, 49).as_deref(), full(&usage, 100), usage.step),
            (Some("five_hour"), None, 2)
        );
        usage.report(3, &[window("five_hour", 2, 200)]);
        assert_eq!(full(&usage, 49).as_deref(), Some("seven_day"), "each window is known by its last report");
        // A journal from another person.
        usage.report(4, &[window("five_hour", 255, 200)]);
        assert_eq!(full(&usage, 60).as_deref(), Some("five_hour"));
    }
}
