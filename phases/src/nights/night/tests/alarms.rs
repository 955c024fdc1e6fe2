//! What nights raise an alarm about, how long, and when it ends.

use super::*;
use crate::nights::drift::change::{Change, ChangeKind};

/// Trials of these points, a little apart.
fn steady(points: f64) -> impl Fn(usize) -> f64 {
    move |nth| if nth.is_multiple_of(2) { points } else { points + 1.0 }
}

fn updated(skill: &str, version: &str) -> Wish {
    Wish { key: key(skill, version), ..wish(skill) }
}

impl TestJournal {
    /// Runs whole nights of one job at these points.
    fn nights(&mut self, count: usize, wish: &Wish, points: f64) {
        for _ in 0..count {
            self.whole_night(wish, steady(points));
        }
    }

    fn morning(&self) -> Morning<'_> {
        Morning::of(&self.history).expect("a night has begun")
    }

    /// Returns the falls that the morning reports.
    fn falls(&self) -> Vec<ChangeKind> {
        let kind = |worse: &Worse<'_>| match worse {
            Worse::Fell { change, .. } => Some(change.kind),
            Worse::Drifts { .. } => None,
        };
        self.morning().worse.iter().filter_map(kind).collect()
    }

    /// Returns how many nights at these points pass until the morning reports no fall.
    fn nights_of_fall(&mut self, wish: &Wish, points: f64) -> Option<usize> {
        (1..10).find(|_| {
            self.nights(1, wish, points);
            self.morning().worse.is_empty()
        })
    }
}

#[test]
fn an_update_is_compared_with_the_nights_just_before_it_and_hides_no_earlier_drift() {
    let mut journal = TestJournal::new();
    journal.nights(6, &updated("skill", "1"), 80.0);
    journal.nights(5, &updated("skill", "1"), 50.0);
    assert_eq!(journal.drift_level(), DriftLevel::Drift);
    journal.nights(1, &updated("skill", "2"), 50.0);
    assert_eq!(journal.falls(), [ChangeKind::Drift], "the update costs nothing, and the skill is low still");
    let since = |change: &Change| change.since;
    let watch = journal.history.jobs[&name("a")].watch.as_ref().unwrap();
    assert_eq!(watch.open_falls().map(since).collect::<Vec<_>>(), [jiff::civil::date(2026, 9, 28)]);
    journal.nights(1, &updated("skill", "3"), 20.0);
    assert_eq!(journal.falls(), [ChangeKind::Drift, ChangeKind::Update]);
}

#[test]
fn an_alarm_of_an_update_ends_by_itself_when_the_skill_has_recovered_and_the_next_fall_is_seen() {
    let mut journal = TestJournal::new();
    journal.nights(6, &updated("skill", "1"), 80.0);
    journal.nights(1, &updated("skill", "2"), 60.0);
    assert_eq!(journal.falls(), [ChangeKind::Update]);
    journal.nights(4, &updated("skill", "2"), 60.0);
    assert_eq!(journal.falls(), [ChangeKind::Update], "it stays while the skill is low");
    journal.nights(2, &updated("skill", "3"), 60.0);
    assert_eq!(journal.falls(), [ChangeKind::Update], "an update that changes nothing does not hide it");
    let nights = journal.nights_of_fall(&updated("skill", "3"), 80.0);
    assert!(nights.is_some_and(|nights| (2..=4).contains(&nights)), "{nights:?}");
    let morning = journal.morning();
    assert_eq!((morning.recovered.len(), morning.needs_you()), (1, false));
    journal.nights(1, &updated("skill", "3"), 80.0);
    assert!(journal.morning().recovered.is_empty(), "a recovery is news once");
    journal.nights(1, &updated("skill", "3"), 60.0);
    assert_eq!(journal.drift_level(), DriftLevel::Watch, "as low as after the update is a fall again");
}

#[test]
fn an_edit_that_makes_a_skill_worse_is_measured_before_it_is_tuned_and_compared_with_the_version_before() {
    let mut journal = TestJournal::new();
    journal.nights(5, &wish("skill"), 80.0);
    let (measured, tuned) = journal.whole_night(&wish("edited"), steady(60.0));
    assert_eq!((measured.iter().map(Vec::len).collect::<Vec<_>>(), tuned), (vec![8, 8], true));
    let works = &journal.history.last().unwrap().done;
    assert!(matches!(works[0].work, Work::Measure { .. }) && works.last().unwrap().work == Work::Tune);
    assert_eq!(journal.falls(), [ChangeKind::Edit]);
    assert!(journal.morning().needs_you());
    // The person takes it back.
    journal.nights(1, &wish("skill"), 80.0);
    assert!(journal.falls().is_empty());
    assert_eq!((journal.morning().recovered.len(), journal.morning().risen.len()), (1, 1));
    let mut unmeasured = wish("other");
    unmeasured.sample = 0;
    assert_eq!(journal.whole_night(&unmeasured, steady(60.0)), (Vec::new(), true), "0 measures none");
}

#[test]
fn a_winner_is_no_edit_and_other_tasks_are_compared_with_nothing() {
    let mut journal = TestJournal::new();
    journal.nights(5, &wish("skill"), 80.0);
    journal.night(&["a"]);
    journal.tuned("a", wish("skill").key, false);
    let night = journal.history.nights.last_mut().unwrap();
    let mut outcome = night.done.pop().unwrap().outcome;
    let End::Decided(decided) = &mut outcome.end else { panic!("it was tuned") };
    decided.champion = Some(wish("winner").key.skill);
    journal.tell(Event::Ended { job: name("a"), work: Work::Tune, outcome: Box::new(outcome) });
    journal.nights(1, &wish("winner"), 60.0);
    assert!(journal.falls().is_empty());
    let mut other_suite = wish("edited");
    other_suite.key.suite = Digest::of(b"another");
    journal.nights(1, &other_suite, 30.0);
    assert!(journal.falls().is_empty());
}

#[test]
fn an_acknowledged_fall_is_shown_apart_and_one_after_a_recovery_is_news() {
    let mut journal = TestJournal::new();
    journal.nights(6, &wish("skill"), 80.0);
    journal.nights(5, &wish("skill"), 50.0);
    journal.tell(Event::Acknowledged { job: name("a") });
    let morning = journal.morning();
    assert_eq!((morning.worse.len(), morning.acknowledged.len(), morning.needs_you()), (0, 1, false));
    // The person still knows when the agents are others.
    journal.nights(1, &updated("skill", "2"), 50.0);
    assert_eq!((journal.falls(), journal.morning().acknowledged.len()), (Vec::new(), 1));
    journal.nights(9, &updated("skill", "2"), 80.0);
    assert!(journal.morning().acknowledged.is_empty());
    journal.nights(5, &updated("skill", "2"), 50.0);
    assert!(journal.morning().needs_you());
}

#[test]
fn a_night_of_one_job_hides_no_trouble_of_the_others() {
    let mut journal = TestJournal::new();
    journal.nights(5, &wish("skill"), 80.0);
    journal.nights(1, &wish("edited"), 40.0);
    journal.day += 1;
    let (night, date) = (name("by-hand"), jiff::civil::date(2026, 12, 1));
    let jobs = vec![name("b")];
    journal.tell(Event::Began { night, date, scheduled: false, jobs, shard: None });
    journal.tuned("b", key("b", "1"), false);
    journal.tell(Event::Over { why: Over::Done });
    assert_eq!(journal.falls(), [ChangeKind::Edit]);
    assert!(journal.morning().needs_you());
}
