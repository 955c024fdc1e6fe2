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

    /// Finds a winner in this run, which is always the same version.
    fn wins(&mut self, run: &str, key: Key) {
        self.tuned("a", key, false);
        let night = self.history.nights.last_mut().unwrap();
        let mut outcome = night.done.pop().unwrap().outcome;
        let End::Decided(decided) = &mut outcome.end else { panic!("it was tuned") };
        decided.is_win = true;
        decided.place = Place::Kept;
        decided.champion = Some(wish("winner").key.skill);
        outcome.run = Some(run.parse().unwrap());
        self.tell(Event::Ended { job: name("a"), work: Work::Tune, outcome: Box::new(outcome) });
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
    assert_eq!(journal.morning().unmoved.len(), 1, "the update is named all the same");
    let since = |change: &Change| change.since;
    let watch = journal.history.jobs[&name("a")].watch.as_ref().unwrap();
    assert_eq!(watch.open_falls().map(since).collect::<Vec<_>>(), [jiff::civil::date(2026, 9, 28)]);
    journal.nights(1, &updated("skill", "3"), 20.0);
    assert_eq!(journal.falls(), [ChangeKind::Drift, ChangeKind::Update]);
}

#[test]
fn an_update_that_costs_nothing_is_named_once_and_one_with_an_effect_and_an_edit_are_not_among_them() {
    let mut journal = TestJournal::new();
    journal.nights(6, &updated("skill", "1"), 80.0);
    let unmoved = |journal: &TestJournal| {
        let morning = journal.morning();
        morning.unmoved.iter().map(|(job, change)| (job.to_string(), change.kind)).collect::<Vec<_>>()
    };
    assert!(unmoved(&journal).is_empty());
    journal.nights(1, &updated("skill", "2"), 80.0);
    assert_eq!(unmoved(&journal), [("a".to_owned(), ChangeKind::Update)]);
    journal.night(&["a"]);
    assert!(unmoved(&journal).is_empty(), "a night that does not measure it says nothing new");
    journal.nights(1, &updated("skill", "2"), 80.0);
    assert!(unmoved(&journal).is_empty());
    for (version, points) in [("3", 50.0), ("4", 90.0)] {
        journal.nights(1, &updated("skill", version), points);
        assert!(unmoved(&journal).is_empty(), "{points}");
    }
    journal.nights(1, &updated("edited", "4"), 90.0);
    assert!(unmoved(&journal).is_empty());
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
fn a_winner_that_is_found_again_during_a_fall_has_its_scores_from_that_fall() {
    let mut journal = TestJournal::new();
    journal.nights(6, &updated("skill", "1"), 80.0);
    journal.wins("2-20261101-000000", key("skill", "1"));
    journal.nights(1, &updated("skill", "2"), 60.0);
    journal.wins("3-20261101-000000", key("skill", "2"));
    assert_eq!(journal.falls(), [ChangeKind::Update]);
    assert!(journal.nights_of_fall(&updated("skill", "2"), 80.0).is_some());
    let morning = journal.morning();
    let [winner] = &morning.waiting[..] else { panic!("{:?}", morning.waiting) };
    let fall = morning.past_fall_of(winner).expect("it ended after the second search");
    assert!(winner.since < fall.since, "the winner waits since before the fall");
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
    let morning = journal.morning();
    assert_eq!((morning.recovered.len(), morning.risen.len()), (1, 0), "one fact in one line");
    let mut unmeasured = wish("other");
    unmeasured.sample = 0;
    assert_eq!(journal.whole_night(&unmeasured, steady(60.0)), (Vec::new(), true), "0 measures none");
}

#[test]
fn a_fall_that_is_repaired_in_part_stays_until_the_skill_is_as_good_as_before() {
    let mut journal = TestJournal::new();
    journal.nights(5, &wish("skill"), 80.0);
    journal.nights(1, &wish("edited"), 50.0);
    for _ in 0..10 {
        journal.nights(1, &wish("repaired"), 72.0);
        assert_eq!(journal.falls(), [ChangeKind::Edit], "day {}", journal.day);
        let morning = journal.morning();
        let Worse::Fell { change, .. } = morning.worse[0] else { panic!("it fell") };
        let now = change.now.expect("it was measured after its first night");
        assert!((now.points - 8.0).abs() < 1.1 && now.is_sure(), "{now:?}");
    }
    let nights = journal.nights_of_fall(&wish("repaired"), 80.0);
    assert!(nights.is_some_and(|nights| (2..=6).contains(&nights)), "{nights:?}");
    assert_eq!(journal.morning().recovered.len(), 1);
}

#[test]
fn a_winner_is_no_edit_and_other_tasks_are_compared_with_nothing() {
    let mut journal = TestJournal::new();
    journal.nights(5, &wish("skill"), 80.0);
    journal.night(&["a"]);
    journal.wins("2-20261101-000000", wish("skill").key);
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

impl TestJournal {
    /// Begins a night, and tells what it did for the job.
    fn fails(&mut self, job: &str, end: End) {
        self.night(&[job]);
        self.ended(job, Work::Tune, key(job, "1"), end);
        self.tell(Event::Over { why: Over::Done });
    }

    fn leaves(&mut self, job: &str, left: Left) {
        self.night(&[job]);
        self.tell(Event::Left { job: name(job), left });
        self.tell(Event::Over { why: Over::Done });
    }

    fn stuck(&self, job: &str) -> Option<(usize, bool)> {
        self.history.stuck(&name(job)).map(|stuck| (stuck.nights, stuck.needs_you()))
    }
}

fn unjudged() -> End {
    End::Unjudged { why: "exit code 9".into() }
}

fn away() -> End {
    End::Paused { why: "used up".into(), halt: Halt::Away, agent: Some("claude".into()) }
}

#[test]
fn a_job_that_three_nights_could_not_judge_needs_a_person_whoever_is_to_blame() {
    type Night = fn(&mut TestJournal);
    let nights: [(&str, Night); 7] = [
        ("an agent", |journal| journal.fails("a", unjudged())),
        ("a service", |journal| journal.fails("a", away())),
        ("skilltune", |journal| journal.fails("a", End::Failed { why: "disk".into() })),
        ("a person", |journal| journal.leaves("a", Left::Refused { why: "no suite".into() })),
        ("a budget", |journal| journal.leaves("a", Left::Budget)),
        ("a stop time", |journal| journal.leaves("a", Left::Time)),
        ("a kill", |journal| {
            journal.night(&["a"]);
            journal.tell(Event::Asked { job: name("a"), work: Work::Tune });
        }),
    ];
    for (blamed, night) in nights {
        let mut journal = TestJournal::new();
        for _ in 0..3 {
            assert_ne!(journal.stuck("a").map(|(_, needs)| needs), Some(true), "{blamed}");
            night(&mut journal);
        }
        // A killed night is known as one when the next night has begun.
        if blamed == "a kill" {
            assert_eq!(journal.stuck("a"), Some((2, false)));
            journal.night(&["a"]);
        }
        assert_eq!(journal.stuck("a"), Some((3, true)), "{blamed}");
        assert!(journal.morning().needs_you(), "{blamed}");
    }
}

#[test]
fn what_was_judged_or_went_on_or_was_no_concern_of_a_night_is_not_stuck() {
    let mut journal = TestJournal::new();
    journal.fails("a", unjudged());
    journal.fails("a", unjudged());
    journal.leaves("a", Left::Unchanged);
    journal.leaves("b", Left::Budget);
    assert_eq!(journal.stuck("a"), Some((2, false)), "these nights count for nothing");
    journal.day -= 1;
    journal.fails("a", unjudged());
    assert_eq!(journal.stuck("a"), Some((3, true)));
    journal.day -= 1;
    journal.fails("a", unjudged());
    assert_eq!(journal.stuck("a"), Some((3, true)), "several nights of one day are one");
    // A run that is too long for a night gets further.
    journal.night(&["a"]);
    let outcome = JobOutcome {
        run: Some("1-20261101-000000".parse().unwrap()),
        key: None,
        end: End::Paused { why: "max_calls".into(), halt: Halt::Budget, agent: None },
        spent: Spent { calls: 9, ..Spent::default() },
        without_windows: BTreeSet::new(),
        cause: None,
    };
    journal.tell(Event::Ended { job: name("a"), work: Work::Tune, outcome: Box::new(outcome) });
    assert_eq!(journal.stuck("a"), None);
    for _ in 0..3 {
        journal.fails("a", unjudged());
    }
    journal.tell(Event::Acknowledged { job: name("a") });
    journal.fails("a", unjudged());
    assert_eq!((journal.stuck("a"), journal.morning().needs_you()), (Some((4, false)), false));
    journal.whole_night(&wish("a"), steady(70.0));
    assert_eq!(journal.stuck("a"), None);
    for _ in 0..3 {
        journal.fails("a", unjudged());
    }
    assert!(journal.morning().needs_you(), "another failure is news");
}

#[test]
fn a_night_that_did_not_end_has_the_jobs_that_it_did_not_get_to() {
    let mut journal = TestJournal::new();
    journal.night(&["begun", "done", "left", "late", "later"]);
    journal.tell(Event::Left { job: name("left"), left: Left::Unchanged });
    journal.ended("done", Work::Tune, key("done", "1"), unjudged());
    journal.tell(Event::Asked { job: name("begun"), work: Work::Tune });
    let (begun, late, later) = (name("begun"), name("late"), name("later"));
    let morning = journal.morning();
    assert_eq!((morning.broken, morning.unreached), (vec![&begun], vec![&late, &later]));
    journal.tell(Event::Over { why: Over::Done });
    let morning = journal.morning();
    assert_eq!((morning.broken.len(), morning.unreached.len()), (0, 0));
    // A night may fail before its first job.
    journal.night(&["late"]);
    let morning = journal.morning();
    assert_eq!((morning.unreached.len(), morning.has_failed(), morning.needs_you()), (1, true, false));
}

#[test]
fn jobs_that_wait_for_an_agent_have_the_cause_of_the_job_that_found_it_away() {
    let mut journal = TestJournal::new();
    for _ in 0..3 {
        journal.night(&["a", "b"]);
        journal.ended("a", Work::Tune, key("a", "1"), away());
        journal.tell(Event::Left { job: name("b"), left: Left::Away });
        journal.tell(Event::Over { why: Over::Done });
    }
    let morning = journal.morning();
    let causes: Vec<Cause<'_>> = morning.stuck.iter().map(|stuck| stuck.cause).collect();
    assert_eq!(causes, [Cause::Run("used up"); 2]);
    assert_eq!((morning.jobs.len(), morning.stuck[0].since), (2, jiff::civil::date(2026, 9, 22)));
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
    journal.ended("b", Work::Tune, key("b", "1"), unjudged());
    journal.tell(Event::Over { why: Over::Done });
    assert_eq!(journal.falls(), [ChangeKind::Edit]);
    assert!(journal.morning().needs_you());
}

#[test]
fn evenings_without_a_scheduled_night_are_named_unless_the_week_before_had_none_either() {
    let missed = |days: &[i64]| {
        let mut journal = TestJournal::new();
        for day in days {
            journal.day = day - 1;
            journal.night(&["a"]);
            journal.tell(Event::Over { why: Over::Done });
        }
        Morning::of(&journal.history).unwrap().missed.len()
    };
    assert_eq!(missed(&[1, 2, 3]), 0);
    assert_eq!(missed(&[1, 2, 5]), 2);
    // Nights of working days.
    assert_eq!(missed(&[1, 2, 3, 4, 5, 8]), 2);
    assert_eq!(missed(&[1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 15]), 0);
    assert_eq!(missed(&[1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 22]), 5, "the second weekend has none either");
    // A journal from elsewhere may begin at any date.
    assert_eq!(missed(&[1, 2, 400]), 0);
}

#[test]
fn an_evening_whose_scheduled_night_was_killed_or_failed_is_missed_and_named_once() {
    let missed = |days: &[i64], killed: &[i64]| {
        let mut journal = TestJournal::new();
        for day in days {
            journal.day = day - 1;
            journal.night(&["a"]);
            if !killed.contains(day) {
                journal.tell(Event::Over { why: Over::Done });
            }
        }
        let morning = journal.morning();
        let before = morning.before.map(|night| night.name.to_string());
        (morning.missed.len(), before.unwrap_or_default())
    };
    assert_eq!(missed(&[1, 2, 3], &[]), (0, "2".to_owned()));
    assert_eq!(missed(&[1, 2, 3], &[2]), (1, "1".to_owned()));
    assert_eq!(missed(&[1, 2, 3, 4], &[2]), (0, "3".to_owned()), "it was said the morning before");
    assert_eq!(missed(&[1, 3, 4], &[3]), (2, "1".to_owned()), "none began on the evening before either");
    assert_eq!(missed(&[1, 2], &[1]), (1, String::new()), "the very first");
    assert_eq!(missed(&[1, 2, 3], &[1, 2]), (2, String::new()));
    assert_eq!(missed(&[1, 2, 3], &[3]), (0, "2".to_owned()), "it may be under way");
}
