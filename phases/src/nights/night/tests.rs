mod alarms;
mod changes;

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::*;
use crate::base::ceiling::Ceilings;
use crate::judging::proof::draw::Draw;
use crate::nights::drift::DriftLevel;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn at(day: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + day * 86_400).unwrap()
}

fn key(skill: &str, version: &str) -> Key {
    let mut print = Fingerprint::default();
    print.add("program claude", version.as_bytes());
    Key {
        skill: Digest::of(skill.as_bytes()),
        suite: Digest::of(b"suite"),
        agents: BTreeMap::from([("executor".to_owned(), print)]),
        models: BTreeMap::new(),
        shown: "claude".into(),
    }
}

fn wish(skill: &str) -> Wish {
    Wish {
        key: key(skill, "1"),
        scenarios: (0..8).map(|nth| name(&format!("s{nth}"))).collect(),
        priority: 1,
        unfinished: None,
        sample: 3,
        retries: 1,
        extendable: None,
    }
}

/// A journal written by a test.
struct TestJournal {
    history: History,
    day: i64,
}

impl TestJournal {
    fn new() -> Self {
        Self { history: History::default(), day: 0 }
    }

    fn tell(&mut self, event: Event) {
        self.history.apply(&Entry { at: at(self.day), event });
    }

    fn night(&mut self, jobs: &[&str]) {
        self.day += 1;
        let date = at(self.day).to_zoned(jiff::tz::TimeZone::UTC).date();
        let jobs = jobs.iter().map(|job| name(job)).collect();
        self.tell(Event::Began {
            night: name(&self.day.to_string()),
            date,
            scheduled: true,
            jobs,
            shard: None,
        });
    }

    fn ended(&mut self, job: &str, work: Work, key: Key, end: End) {
        let outcome = JobOutcome {
            run: Some("1-20261101-000000".parse().unwrap()),
            key: Some(key),
            end,
            spent: Spent::default(),
            without_windows: BTreeSet::new(),
            cause: None,
        };
        self.tell(Event::Ended { job: name(job), work, outcome: Box::new(outcome) });
    }

    fn tuned(&mut self, job: &str, key: Key, is_open: bool) {
        self.decided(job, Work::Tune, key, is_open);
    }

    fn decided(&mut self, job: &str, work: Work, key: Key, is_open: bool) {
        let decided = Decided {
            verdict: "tie".into(),
            words: "TIE".into(),
            is_win: false,
            is_open,
            has_retry: false,
            effect: None,
            before: None,
            after: None,
            place: Place::Nowhere,
            commit: None,
            notes: Vec::new(),
            champion: None,
            dangers: Vec::new(),
            price: None,
        };
        self.ended(job, work, key, End::Decided(Box::new(decided)));
    }

    fn measured(&mut self, job: &str, work: Work, key: Key, points: impl Fn(usize) -> f64) {
        let (Work::Measure { only } | Work::Again { only }) = &work else { panic!("no measurement") };
        let trial = |(nth, scenario): (usize, &Name)| Trial {
            scenario: scenario.clone(),
            score: Score::new(points(nth).clamp(0.0, 100.0)).unwrap(),
        };
        let trials = only.iter().enumerate().map(trial).collect();
        self.ended(job, work, key, End::Measured { trials });
    }

    fn next(&self, wishes: &[(&str, Wish)]) -> Option<(String, Work)> {
        let wishes = wishes.iter().map(|(job, wish)| (name(job), wish.clone())).collect();
        next(&self.history, &wishes).map(|(job, work)| (job.to_string(), work))
    }

    /// Runs a whole night of one job. Returns the measured scenarios, and whether it tuned.
    fn whole_night(&mut self, wish: &Wish, points: impl Fn(usize) -> f64) -> (Vec<Vec<String>>, bool) {
        self.night(&["a"]);
        let (mut measured, mut tuned) = (Vec::new(), false);
        while let Some((_, work)) = self.next(&[("a", wish.clone())]) {
            match &work {
                Work::Measure { only } | Work::Again { only } => {
                    measured.push(only.iter().map(ToString::to_string).collect());
                    self.measured("a", work, wish.key.clone(), &points);
                }
                Work::Tune | Work::Resume { .. } | Work::Extend { .. } => {
                    tuned = true;
                    self.tuned("a", wish.key.clone(), false);
                }
            }
        }
        (measured, tuned)
    }

    fn drift_level(&self) -> DriftLevel {
        self.history.jobs[&name("a")].drift_level()
    }
}

#[test]
fn a_new_job_is_tuned_then_measured_on_everything_and_later_on_scenarios_in_turn() {
    let mut journal = TestJournal::new();
    let all: Vec<String> = (0..8).map(|nth| format!("s{nth}")).collect();
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(journal.whole_night(&wish("skill"), |_| 70.0), (vec![all], true));
    for expected in [["s0", "s1", "s2"], ["s3", "s4", "s5"], ["s6", "s7", "s0"]] {
        assert_eq!(journal.whole_night(&wish("skill"), |_| 70.0), (vec![of(&expected)], false));
    }
}

/// Returns what was done in four nights of a job whose verdict stays open, without measurements.
fn open_nights(retries: u32, is_extendable: bool) -> Vec<&'static str> {
    let (mut journal, mut searched) = (TestJournal::new(), Vec::new());
    for _ in 0..4 {
        journal.night(&["a"]);
        loop {
            let open = journal.history.open_run(&name("a")).filter(|_| is_extendable).cloned();
            let wish = Wish { retries, extendable: open, ..wish("skill") };
            let key = wish.key.clone();
            let Some((_, work)) = journal.next(&[("a", wish)]) else { break };
            if work.is_search() {
                searched.push(work.word());
                journal.decided("a", work, key, true);
            } else {
                journal.measured("a", work, key, |_| 70.0);
            }
        }
    }
    searched
}

#[test]
fn what_stayed_open_is_extended_as_often_as_was_said_and_never_searched_again() {
    assert_eq!(open_nights(0, true), ["tuned"]);
    assert_eq!(open_nights(1, true), ["tuned", "compared again"]);
    assert_eq!(open_nights(2, true), ["tuned", "compared again", "compared again"]);
    assert_eq!(open_nights(2, false), ["tuned"], "the run is gone, or has no look left");
}

#[test]
fn measurements_come_first_then_what_was_left_then_priority_then_who_waited_longest() {
    let mut journal = TestJournal::new();
    journal.night(&["a"]);
    journal.tuned("a", wish("skill").key, false);
    journal.tuned("old", wish("before").key, false);
    journal.night(&["a", "b", "c", "left", "old"]);
    let mut jobs = vec![
        ("a", wish("skill")),
        ("b", wish("b")),
        ("c", Wish { priority: 5, ..wish("c") }),
        ("left", Wish { unfinished: Some("1-20261101-000000".parse().unwrap()), ..wish("d") }),
        ("old", wish("after")),
    ];
    let mut order = Vec::new();
    while let Some((job, _)) = journal.next(&jobs) {
        jobs.retain(|(known, _)| *known != job);
        order.push(job);
    }
    assert_eq!(order, ["a", "left", "c", "b", "old"], "who was never tuned waits longest");
}

#[test]
fn a_job_that_is_under_way_or_was_left_is_not_begun_again_in_the_same_night() {
    let mut journal = TestJournal::new();
    journal.night(&["a", "b"]);
    let jobs = [("a", wish("a")), ("b", wish("b"))];
    let wishes = jobs.iter().map(|(job, wish)| (name(job), wish.clone())).collect();
    assert_eq!(searching(&journal.history, &wishes), 2, "both share what is left");
    journal.tell(Event::Asked { job: name("a"), work: Work::Tune });
    assert_eq!(searching(&journal.history, &wishes), 1);
    journal.tell(Event::Left { job: name("b"), left: Left::Budget });
    assert_eq!((journal.next(&jobs), searching(&journal.history, &wishes)), (None, 0));
    journal.night(&["a", "b"]);
    assert_eq!(journal.next(&jobs).unwrap().0, "a", "another night asks anew");
}

#[test]
fn a_share_follows_priority_and_never_passes_a_limit() {
    let limit = |calls| Ceilings { calls: Some(calls), ..Ceilings::default() };
    let spent = |calls| Spent { calls, ..Spent::default() };
    let of = |limits: &[(Ceilings, Spent)], priority, waiting, own, before| match shared(
        limits, priority, waiting, own, before,
    ) {
        Share::Of(ceilings) => ceilings.calls,
        Share::Nothing => None,
    };
    let free = (Ceilings::default(), Spent::default());
    assert_eq!(of(&[(limit(100), spent(0))], 1, 4, free, spent(0)), Some(25));
    assert_eq!(of(&[(limit(100), spent(60))], 3, 4, free, spent(0)), Some(30));
    assert_eq!(
        of(&[(limit(100), spent(0)), (limit(50), spent(40))], 1, 1, free, spent(0)),
        Some(10),
        "the week"
    );
    assert_eq!(of(&[(limit(100), spent(0))], 1, 1, (limit(7), spent(2)), spent(0)), Some(5), "its own");
    assert_eq!(
        of(&[(limit(100), spent(0))], 1, 4, free, spent(30)),
        Some(55),
        "a run's ceiling counts all its nights"
    );
    assert_eq!(of(&[(limit(2), spent(0))], 1, 4, free, spent(0)), Some(1));
    assert_eq!(of(&[(limit(100), spent(100))], 1, 4, free, spent(0)), None);
}

#[test]
fn a_run_of_several_nights_is_paid_for_once() {
    let mut journal = TestJournal::new();
    let run: RunId = "1-20261101-000000".parse().unwrap();
    for (calls, night) in [(30, 30), (50, 20)] {
        journal.night(&["a"]);
        let end = End::Paused { why: "time".into(), halt: Halt::Time, agent: None };
        let spent = Spent { calls, ..Spent::default() };
        let outcome = JobOutcome {
            run: Some(run.clone()),
            key: None,
            end,
            spent,
            without_windows: BTreeSet::new(),
            cause: None,
        };
        journal.tell(Event::Ended { job: name("a"), work: Work::Tune, outcome: Box::new(outcome) });
        assert_eq!(journal.history.last().unwrap().spent().calls, night);
    }
    let week = |journal: &TestJournal| Morning::of(&journal.history).unwrap().week.calls;
    assert_eq!(week(&journal), 50);
    journal.day += 5;
    for spent in [20, 0] {
        journal.night(&["a"]);
        assert_eq!(week(&journal), spent, "on day {}, without the night a week before", journal.day);
    }
}

const SEEDS: u64 = 2_000;

/// Trials around 70 that scatter by 12, like a skill with a few statements per scenario.
fn noisy(draw: &mut Draw, mean: f64) -> impl Fn(usize) -> f64 {
    let points: Vec<f64> = (0..16).map(|_| mean + 12.0 * draw.normal()).collect();
    move |nth| points[nth]
}

/// Returns how often a change of the mean is reported as a fall in its first night, and how often as a rise.
fn update(change: f64, nights_before: i64) -> (f64, f64) {
    let (mut falls, mut rises) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let (mut draw, mut journal) = (Draw::new(seed, 11), TestJournal::new());
        let mut wish = Wish {
            scenarios: (0..12).map(|nth| name(&format!("s{nth}"))).collect(),
            sample: 4,
            ..wish("skill")
        };
        for _ in 0..nights_before {
            let points = noisy(&mut draw, 70.0);
            journal.whole_night(&wish, points);
        }
        wish.key.agents = key("", "2").agents;
        journal.night(&["a"]);
        while let Some((_, work)) = journal.next(&[("a", wish.clone())]) {
            match work {
                Work::Tune => journal.tuned("a", wish.key.clone(), false),
                work => {
                    let points = noisy(&mut draw, 70.0 + change);
                    journal.measured("a", work, wish.key.clone(), points);
                }
            }
        }
        let watch = journal.history.jobs[&name("a")].watch.as_ref().unwrap();
        let change = watch.change.as_ref().expect("the agents have changed");
        falls += f64::from(u8::from(change.fall.is_sure()));
        rises += f64::from(u8::from(change.fall.is_rise()));
    }
    #[expect(clippy::cast_precision_loss, reason = "two thousand")]
    let seeds = SEEDS as f64;
    (falls / seeds, rises / seeds)
}

#[test]
fn an_update_that_costs_eight_points_is_mostly_named_in_its_first_night_and_one_that_costs_nothing_is_not() {
    let (falls, _) = update(-8.0, 10);
    let (far, _) = update(-15.0, 10);
    let (false_falls, false_rises) = update(0.0, 10);
    assert!(falls >= 0.75, "{falls}");
    assert!(far >= 0.99, "{far}");
    assert!(false_falls <= 0.056 && false_rises <= 0.056, "{false_falls} {false_rises}");
}

#[test]
fn a_fall_that_nobody_has_caused_is_watched_and_after_three_days_it_is_drift_until_somebody_says_that_they_know()
 {
    let mut journal = TestJournal::new();
    for _ in 0..6 {
        journal.whole_night(&wish("skill"), |nth| if nth % 2 == 0 { 70.0 } else { 71.0 });
    }
    assert_eq!(journal.drift_level(), DriftLevel::Steady);
    let mut seen = Vec::new();
    for _ in 0..6 {
        journal.whole_night(&wish("skill"), |nth| if nth % 2 == 0 { 40.0 } else { 41.0 });
        seen.push(journal.drift_level());
    }
    assert_eq!(seen[0], DriftLevel::Watch, "{seen:?}");
    assert_eq!(seen[5], DriftLevel::Drift, "{seen:?}");
    let morning = Morning::of(&journal.history).unwrap();
    assert!(morning.needs_you());
    journal.tell(Event::Acknowledged { job: name("a") });
    assert!(!Morning::of(&journal.history).unwrap().needs_you());
    // A new version of the skill begins a new series.
    journal.whole_night(&wish("edited"), |_| 40.0);
    assert_eq!(journal.drift_level(), DriftLevel::Steady);
}

#[test]
fn the_fold_of_every_prefix_of_a_journal_is_the_live_history() {
    let mut journal = TestJournal::new();
    for _ in 0..5 {
        journal.whole_night(&wish("skill"), |_| 70.0);
    }
    // The events are replayed after a round trip through JSON.
    let mut live = History::default();
    let entry = |event| Entry { at: at(1), event };
    let events = [
        Event::Began {
            night: name("1"),
            date: jiff::civil::date(2026, 11, 1),
            scheduled: false,
            jobs: vec![name("a")],
            shard: None,
        },
        Event::Asked { job: name("a"), work: Work::Tune },
        Event::Left { job: name("b"), left: Left::Refused { why: "gone".into() } },
        Event::Over { why: Over::Time },
    ];
    let mut lines = Vec::new();
    for event in events {
        let entry = entry(event);
        live.apply(&entry);
        lines.push(serde_json::to_string(&entry).unwrap());
        let read: Vec<Entry> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(History::of(&read), live);
    }
}

#[test]
fn a_journal_that_is_cut_down_knows_the_last_verdict_of_each_job_and_the_newest_nights() {
    let mut entries = Vec::new();
    let mut journal = TestJournal::new();
    let mut tell = |journal: &mut TestJournal, event: Event| {
        let entry = Entry { at: at(journal.day), event };
        journal.history.apply(&entry);
        entries.push(entry);
    };
    let decided = |skill: &str| {
        let mut one = TestJournal::new();
        one.night(&["x"]);
        one.tuned("x", key(skill, "1"), false);
        one.history.last().unwrap().done[0].outcome.clone()
    };
    for day in 1..=40 {
        journal.day = day;
        let date = at(day).to_zoned(jiff::tz::TimeZone::UTC).date();
        let jobs = vec![name("a"), name("b")];
        tell(
            &mut journal,
            Event::Began { night: name(&day.to_string()), date, scheduled: true, jobs, shard: None },
        );
        for (job, last) in [("a", 3), ("b", 30)] {
            if day <= last {
                let outcome = Box::new(decided(&format!("{job}{day}")));
                tell(&mut journal, Event::Ended { job: name(job), work: Work::Tune, outcome });
            }
        }
        tell(&mut journal, Event::Over { why: Over::Done });
    }
    let cut = History::of(&kept(&entries, 10));
    let settled = |history: &History, job: &str| history.jobs[&name(job)].settled.clone();
    for job in ["a", "b"] {
        assert_eq!(settled(&cut, job), settled(&journal.history, job));
    }
    assert_eq!(cut.nights[cut.nights.len() - 10..], journal.history.nights[30..]);
    assert_eq!(kept(&kept(&entries, 10), 10), kept(&entries, 10), "once is enough");
    assert_eq!(kept(&entries, 100), entries);
}

fn draft(of: &str) -> Draft {
    Draft { id: name(&format!("{of}-1")), scenario: name(of), mark: Digest::of(of.as_bytes()) }
}

#[test]
fn what_was_in_the_inbox_once_is_known_also_when_its_night_is_forgotten() {
    let mut entries = Vec::new();
    for day in 1..=30 {
        let date = at(day).to_zoned(jiff::tz::TimeZone::UTC).date();
        let (night, jobs) = (name(&day.to_string()), vec![name("a")]);
        let began = Event::Began { night, date, scheduled: true, jobs, shard: None };
        let drafted = Event::Drafted { job: name("a"), drafts: vec![draft(&format!("s{day}"))] };
        entries.extend([began, drafted].map(|event| Entry { at: at(day), event }));
    }
    let history = History::of(&kept(&entries, 10));
    assert_eq!(history.nights.len(), 10);
    assert!((1..=30).all(|day| history.was_drafted(&draft(&format!("s{day}")).mark)));
    assert!(!history.was_drafted(&draft("s31").mark));
    assert_eq!(history.last().unwrap().drafts, [(name("a"), draft("s30"))]);
    let again: Vec<Entry> = entries
        .iter()
        .map(|entry| serde_json::from_str(&serde_json::to_string(entry).unwrap()).unwrap())
        .collect();
    assert_eq!(again, entries);
}

#[test]
fn the_drafts_of_a_shard_stay_with_it_and_those_of_a_job_that_is_not_its_own_are_refused() {
    let shard = |job: &str| {
        let date = at(1).to_zoned(jiff::tz::TimeZone::UTC).date();
        let shard = Some("1/1".parse().unwrap());
        let began = Event::Began { night: name("n"), date, scheduled: true, jobs: vec![name("a")], shard };
        let drafted = Event::Drafted { job: name(job), drafts: vec![draft("s1")] };
        let entries = [began, drafted, Event::Over { why: Over::Done }];
        ShardNight::last(entries.map(|event| Entry { at: at(1), event }).to_vec()).unwrap()
    };
    assert!(!shard("b").is_of_its_jobs());
    let own = shard("a");
    assert!(own.is_of_its_jobs());
    let history = History::of(&merged(&History::default(), &[own], &[(name("a"), 1)]));
    assert!(!history.was_drafted(&draft("s1").mark), "this machine has no such draft");
}

#[test]
fn a_night_has_the_bounds_of_its_first_trials_but_the_first_night_of_a_series_has_none() {
    let mut journal = TestJournal::new();
    let wish = wish("skill");
    let only = |from: usize| wish.scenarios[from..from + 3].to_vec();
    let mut night = |works: &[Work]| {
        journal.night(&["a"]);
        for work in works {
            journal.measured("a", work.clone(), wish.key.clone(), |_| 70.0);
        }
        journal.history.jobs[&name("a")].points.last().unwrap().expected
    };
    let measure = |from| Work::Measure { only: only(from) };
    assert_eq!(night(&[measure(0)]), None);
    let (lower, upper) = night(&[measure(0)]).unwrap();
    assert!(lower < 70.0 && 70.0 < upper, "{lower} {upper}");
    let again = night(&[measure(0), Work::Again { only: only(0) }]).unwrap();
    assert!(
        lower < again.0 && again.1 < upper,
        "more is known, and the second trials change nothing: {again:?}"
    );
    assert_eq!(night(&[measure(3)]), None, "these scenarios were never tried");
    assert_eq!(night(&[measure(0), measure(0)]), None, "its score is of two measurements");
}
