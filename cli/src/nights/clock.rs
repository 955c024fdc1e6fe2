//! The time of nights. Tests set it; users cannot.

use std::path::Path;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use skilltune_orchestrator::disk;

/// More than any time zone has.
const LARGEST: u64 = 1 << 20;

#[derive(Clone, Debug)]
pub struct Clock {
    zone: TimeZone,
}

impl Clock {
    pub fn new() -> Self {
        Self { zone: TimeZone::system() }
    }

    pub fn in_zone(zone: TimeZone) -> Self {
        Self { zone }
    }

    pub fn now(&self) -> Zoned {
        chosen().unwrap_or_else(Timestamp::now).to_zoned(self.zone.clone())
    }

    /// Returns the night of a moment as the date of its evening: anything before noon belongs to the day before. So
    /// neither a clock that is set back nor starts at 23:30 and at 02:30 split one night into two.
    pub fn night_of(moment: &Zoned) -> Date {
        if moment.hour() >= 12 { moment.date() } else { moment.date().saturating_sub(1.day()) }
    }

    /// Returns the moment of the night at which the clock shows this time.
    pub fn latest(now: &Zoned, time: Time) -> Option<Timestamp> {
        let evening = Self::night_of(now);
        let date = if time.hour() >= 12 { evening } else { evening.tomorrow().ok()? };
        Some(date.to_datetime(time).to_zoned(now.time_zone().clone()).ok()?.timestamp())
    }

    /// Returns the next moment after the start at which the clock shows this time.
    pub fn next(start: &Zoned, time: Time) -> Option<Timestamp> {
        let today = start.date().to_datetime(time).to_zoned(start.time_zone().clone()).ok()?;
        let next = if today <= *start {
            let tomorrow = start.date().tomorrow().ok()?;
            tomorrow.to_datetime(time).to_zoned(start.time_zone().clone()).ok()?
        } else {
            today
        };
        Some(next.timestamp())
    }
}

/// Returns the time zone of a program that is started with this `TZ`, or the machine's zone without one. None if it
/// cannot be read.
pub fn zone_of(name: Option<&str>) -> Option<TimeZone> {
    let Some(name) = name else {
        return match std::env::var_os("TZ") {
            None => TimeZone::try_system().ok(),
            // Our own `TZ` differs from the machine's zone.
            Some(_) => of_machine(Path::new("/etc/localtime")),
        };
    };
    let name = name.strip_prefix(':').unwrap_or(name);
    let name = name.rsplit_once("zoneinfo/").map_or(name, |(_, name)| name);
    if name.is_empty() {
        return Some(TimeZone::UTC);
    }
    TimeZone::get(name).or_else(|_| TimeZone::posix(name)).ok()
}

fn of_machine(link: &Path) -> Option<TimeZone> {
    let Ok(file) = link.canonicalize() else { return Some(TimeZone::UTC) };
    let text = file.to_str().filter(|text| text.contains("zoneinfo/"));
    text.and_then(|text| zone_of(Some(text))).or_else(|| {
        let bytes = disk::read(&file, LARGEST).ok()?;
        TimeZone::tzif("local", &bytes).ok()
    })
}

#[cfg(feature = "testing")]
fn chosen() -> Option<Timestamp> {
    let now = std::env::var("SKILLTUNE_NOW").ok()?;
    // A path names a file that the test changes meanwhile.
    let read = |path: &str| disk::read(path.as_ref(), 100).ok();
    let text = if now.starts_with('/') { String::from_utf8(read(&now)?).ok()? } else { now };
    text.trim().parse().ok()
}

#[cfg(not(feature = "testing"))]
fn chosen() -> Option<Timestamp> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    #[test]
    fn a_night_is_called_by_its_evening_also_when_the_clock_is_set_back() {
        for (moment, night) in [
            ("2026-10-24T23:30[Europe/Vienna]", "2026-10-24"),
            ("2026-10-25T02:30+02:00[Europe/Vienna]", "2026-10-24"),
            ("2026-10-25T02:30+01:00[Europe/Vienna]", "2026-10-24"),
            ("2026-10-25T11:59[Europe/Vienna]", "2026-10-24"),
            ("2026-10-25T12:00[Europe/Vienna]", "2026-10-25"),
        ] {
            assert_eq!(Clock::night_of(&at(moment)).to_string(), night, "{moment}");
        }
    }

    #[test]
    fn a_stop_time_is_the_next_one_of_that_name_also_where_the_clock_skips_it() {
        for (start, time, stop) in [
            ("2026-11-23T23:30[Europe/Vienna]", "06:30", "2026-11-24T06:30:00+01:00"),
            ("2026-11-24T02:30[Europe/Vienna]", "06:30", "2026-11-24T06:30:00+01:00"),
            // There is no 02:30 on that day: it is 03:30.
            ("2026-03-29T01:00[Europe/Vienna]", "02:30", "2026-03-29T03:30:00+02:00"),
        ] {
            let stop: Timestamp = stop.parse().unwrap();
            assert_eq!(
                Clock::next(&at(start), Time::strptime("%H:%M", time).unwrap()),
                Some(stop),
                "{start}"
            );
        }
    }
}
