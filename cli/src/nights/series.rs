//! Prepares a job's series for its charts: adds to each point of `trend` the expected score, and where the line breaks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde_json::{Value, json};
use skilltune_phases::base::name::Name;
use skilltune_phases::nights::night::{History, Key, Point};

use crate::nights::trend;

/// Returns the newest points of a job.
pub fn series(name: &Name, history: &History, most: usize) -> Value {
    let all = history.jobs.get(name).map_or(&[][..], |job| &job.points);
    let left_out = all.len().saturating_sub(most);
    let points = &all[left_out..];
    let Some(first) = points.first().map(|point| point.date) else {
        return json!({ "points": [], "days": 0, "left_out": 0, "newest": null });
    };
    let nights = history.nights.iter().filter(|night| night.jobs.contains(name));
    let nights: BTreeSet<Date> = nights.map(|night| night.date).collect();
    let updates = updates(name, history);
    // A clock may have been set back between two nights.
    let day = |point: &Point| (point.date - first).get_days().max(0);
    let drawn = points.iter().enumerate().map(|(nth, point)| {
        let mut object = trend::point(point);
        let before = nth.checked_sub(1).map(|before| &points[before]);
        object["day"] = day(point).into();
        object["expected"] = point.expected.map_or(Value::Null, bounds);
        object["is_joined"] = before.is_some_and(|before| is_joined(before, point, &nights)).into();
        object["updates"] = json!(updates.get(&point.date).map_or(&[][..], Vec::as_slice));
        object
    });
    json!({
        "points": drawn.collect::<Vec<_>>(),
        "days": points.iter().map(day).max(),
        "left_out": left_out,
        "newest": points.iter().rfind(|point| point.score.is_some()).map(trend::point),
    })
}

/// A score is never outside of these bounds, whatever its scatter says.
fn bounds((lower, upper): (f64, f64)) -> Value {
    json!({ "lower": lower.clamp(0.0, 100.0), "upper": upper.clamp(0.0, 100.0) })
}

/// Returns whether a line leads from one point to the next: both have a score of the same series, and no night between
/// them should have given one.
fn is_joined(before: &Point, point: &Point, nights: &BTreeSet<Date>) -> bool {
    let is_between = |night: &&Date| before.date < **night && **night < point.date;
    before.score.is_some()
        && point.score.is_some()
        && !point.is_new_series
        && !nights.iter().any(|night| is_between(&night))
}

/// Returns by night what changed in the agents since the night before. Only a job without measurements has that of its
/// searches: in a search the agents may report other models.
fn updates(name: &Name, history: &History) -> BTreeMap<Date, Vec<String>> {
    let of_job = |is_search: bool| -> Vec<(Date, &Key)> {
        let done = history.nights.iter().flat_map(|night| night.done.iter().map(|done| (night.date, done)));
        let done = done.filter(|(_, done)| done.job == *name && done.work.is_search() == is_search);
        done.filter_map(|(date, done)| Some((date, done.outcome.key.as_ref()?))).collect()
    };
    let measured = of_job(false);
    let keys = if measured.is_empty() { of_job(true) } else { measured };
    let mut updates: BTreeMap<Date, Vec<String>> = BTreeMap::new();
    for pair in keys.windows(2) {
        let [(_, before), (date, now)] = pair else { continue };
        let what = before.changed(now);
        if !what.is_empty() {
            updates.entry(*date).or_default().extend(what);
        }
    }
    updates
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use jiff::{SignedDuration, Timestamp};
    use skilltune_phases::base::id::Digest;
    use skilltune_phases::judging::score::Score;
    use skilltune_phases::nights::drift::Trial;
    use skilltune_phases::nights::night::{End, Entry, Event, JobOutcome, Spent, Work};
    use skilltune_phases::runs::plan::Fingerprint;

    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    /// Returns a night of job `a`: its score with this version of the agent, or no measurement.
    fn night(day: i64, measured: Option<(f64, &str)>) -> Vec<Entry> {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * day);
        let (night, date) = (name(&format!("n{day}")), at.to_zoned(TimeZone::UTC).date());
        let began = Event::Began { night, date, scheduled: true, jobs: vec![name("a")], shard: None };
        let ended = measured.map(|(points, version)| {
            let mut print = Fingerprint::default();
            print.add("version", version.as_bytes());
            let key = Key {
                skill: Digest::of(b"skill"),
                suite: Digest::of(b"suite"),
                agents: BTreeMap::from([("executor".to_owned(), print)]),
                models: BTreeMap::new(),
                shown: "claude".into(),
            };
            let trial = Trial { scenario: name("s"), score: Score::new(points).unwrap() };
            let outcome = JobOutcome {
                run: None,
                key: Some(key),
                end: End::Measured { trials: vec![trial] },
                spent: Spent::default(),
                without_windows: BTreeSet::new(),
                cause: None,
            };
            let work = Work::Measure { only: vec![name("s")] };
            Event::Ended { job: name("a"), work, outcome: Box::new(outcome) }
        });
        [began].into_iter().chain(ended).map(|event| Entry { at, event }).collect()
    }

    fn points(entries: &[Entry]) -> Vec<Value> {
        let series = series(&name("a"), &History::of(entries), 60);
        series["points"].as_array().unwrap().clone()
    }

    #[test]
    fn a_line_breaks_at_a_night_without_a_score_and_at_a_new_series_but_not_between_two_weeks() {
        let nights = [
            night(1, Some((70.0, "1"))),
            night(2, Some((71.0, "1"))),
            night(3, None),
            night(4, Some((69.0, "1"))),
            night(5, Some((50.0, "2"))),
            night(12, Some((51.0, "2"))),
        ];
        let points = points(&nights.concat());
        let of = |key: &str| points.iter().map(|point| point[key].clone()).collect::<Vec<_>>();
        assert_eq!(of("day"), [0, 1, 3, 4, 11]);
        assert_eq!(of("is_joined"), [false, true, false, false, true]);
        assert_eq!(of("updates")[3], json!(["executor: version"]));
        assert_eq!(of("updates")[4], json!([]));
        let expected = of("expected");
        assert!(expected[0].is_null() && expected[3].is_null(), "a new series has nothing to compare with");
        assert!(expected[1]["lower"].as_f64().unwrap() < 70.0, "{expected:?}");
        assert!(expected[1]["upper"].as_f64().unwrap() <= 100.0, "{expected:?}");
    }

    #[test]
    fn only_the_newest_points_are_drawn_and_a_job_without_points_has_an_empty_series() {
        let entries: Vec<Entry> = (1..=5).flat_map(|day| night(day, Some((70.0, "1")))).collect();
        let history = History::of(&entries);
        let two = series(&name("a"), &history, 2);
        let days = |point: &Value| point["day"].clone();
        assert_eq!(two["points"].as_array().unwrap().iter().map(days).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((&two["left_out"], &two["newest"]["score"]), (&json!(3), &json!(70.0)));
        assert_eq!(series(&name("b"), &history, 2)["points"], json!([]));
    }
}
