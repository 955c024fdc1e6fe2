use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use skilltune_phases::base::id::Digest;
use skilltune_phases::judging::score::Score;
use skilltune_phases::nights::drift::Trial;
use skilltune_phases::nights::night::{
    Decided, Entry, Event, History, JobOutcome, Key, Left, Over, Place, Spent,
};

use super::*;

struct Story {
    history: History,
    at: Timestamp,
}

impl Story {
    fn tell(&mut self, event: Event) {
        self.history.apply(&Entry { at: self.at, event });
    }

    /// Begins a night, after the end of the one before it.
    fn night(&mut self, jobs: &[&str]) {
        self.tell(Event::Over { why: Over::Done });
        self.at += SignedDuration::from_hours(24);
        let (night, date) = (self.at.as_second().to_string(), self.at.to_zoned(TimeZone::UTC).date());
        let jobs = jobs.iter().map(|job| job.parse().unwrap()).collect();
        self.tell(Event::Began { night: night.parse().unwrap(), date, scheduled: true, shard: None, jobs });
    }

    fn ended(&mut self, job: &str, work: Work, end: End) {
        let key = Key {
            skill: Digest::of(job.as_bytes()),
            suite: Digest::of(b"suite"),
            agents: [].into(),
            models: [].into(),
            shown: "claude".into(),
        };
        let outcome = JobOutcome {
            run: None,
            key: Some(key),
            end,
            spent: Spent::default(),
            without_windows: std::collections::BTreeSet::new(),
            cause: None,
        };
        self.tell(Event::Ended { job: job.parse().unwrap(), work, outcome: Box::new(outcome) });
    }

    /// Adds a measurement with these scores of the first and the second trials.
    fn measured(&mut self, job: &str, first: f64, again: Option<f64>) {
        let only: Vec<Name> = ["s1", "s2", "s3", "s4"].map(|id| id.parse().unwrap()).into();
        let end = |points| {
            let score = Score::new(points).unwrap();
            let trials = only.iter().map(|id| Trial { scenario: id.clone(), score }).collect();
            End::Measured { trials }
        };
        self.ended(job, Work::Measure { only: only.clone() }, end(first));
        if let Some(again) = again {
            self.ended(job, Work::Again { only: only.clone() }, end(again));
        }
    }

    fn left(&mut self, job: &str, left: Left) {
        self.tell(Event::Left { job: job.parse().unwrap(), left });
    }

    fn decided(&mut self, job: &str, is_open: bool) {
        let decided = Decided {
            verdict: "x".into(),
            words: "between -3 and +9 points".into(),
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
        self.ended(job, Work::Tune, End::Decided(Box::new(decided)));
    }
}

/// Returns the test case of a job, on one line.
fn case<'a>(xml: &'a str, job: &str) -> &'a str {
    let (_, rest) = xml.split_once(&format!("<testcase name=\"{job}\" ")).expect("the job is a test case");
    rest.split("<testcase").next().unwrap()
}

#[test]
fn each_fate_of_a_job_is_another_kind_of_test_case() {
    let mut story = Story { history: History::default(), at: Timestamp::UNIX_EPOCH };
    for night in 0..5 {
        story.night(&[
            "drifts", "watched", "flickers", "steady", "lost", "open", "away", "broken", "late", "gone",
            "idle", "killed",
        ]);
        let is_low = night >= 2;
        story.measured("drifts", if is_low { 20.0 } else { 80.0 }, is_low.then_some(20.0));
        let is_low = night == 4;
        story.measured("watched", if is_low { 20.0 } else { 80.0 }, is_low.then_some(20.0));
        story.measured("flickers", if is_low { 20.0 } else { 80.0 }, is_low.then_some(80.0));
        story.measured("steady", 80.0, None);
    }
    story.decided("lost", false);
    story.decided("open", true);
    let away = End::Paused { why: "limit <reached>\x1b \u{ffff}".into(), halt: Halt::Away, agent: None };
    story.ended("away", Work::Tune, away);
    story.ended("broken", Work::Tune, End::Unjudged { why: "no verdict".into() });
    story.left("late", Left::Time);
    story.left("gone", Left::Refused { why: "no suite".into() });
    story.tell(Event::Asked { job: "killed".parse().unwrap(), work: Work::Tune });
    let killed = junit(&Morning::of(&story.history).unwrap(), None);
    assert!(case(&killed, "killed").contains("type=\"killed\""), "{killed}");
    let unreached = "<skipped message=\"not begun: the night did not get to it";
    assert!(case(&killed, "idle").contains(unreached), "{killed}");
    story.tell(Event::Over { why: Over::Done });

    let xml = junit(&Morning::of(&story.history).unwrap(), None);
    assert!(xml.contains("tests=\"12\" skipped=\"5\" failures=\"1\" errors=\"2\""), "{xml}");
    for (job, what) in [
        ("drifts", "<failure message=\"drifts: 20.0 now, 80.0 before."),
        ("watched", "<property name=\"flaky\" value=\"watched: 20.0 now"),
        ("flickers", "<property name=\"flaky\" value=\"it scored low once"),
        ("open", "<skipped message=\"between -3 and +9 points\" type=\"indecisive\"/>"),
        ("away", "<error message=\"paused until the next night: limit &lt;reached&gt;"),
        ("broken", "<error message=\"not judged: no verdict\" type=\"not_judged\"/>"),
        ("late", "<skipped message=\"not begun: the night was over"),
        ("gone", "<skipped message=\"cannot run: no suite\" type=\"did_not_run\"/>"),
        ("idle", "<skipped message=\"nothing to do\" type=\"did_not_run\"/>"),
    ] {
        assert!(case(&xml, job).contains(what), "{job}: {}", case(&xml, job));
    }
    for passed in ["steady", "lost", "watched", "flickers"] {
        let case = case(&xml, passed);
        assert!(!["<failure", "<error", "<skipped"].iter().any(|mark| case.contains(mark)), "{case}");
    }
    for (job, kind) in [("drifts", "drift"), ("away", "agent"), ("late", "did_not_run")] {
        assert!(case(&xml, job).contains(&format!("type=\"{kind}\"")), "{job}: {}", case(&xml, job));
    }
}
