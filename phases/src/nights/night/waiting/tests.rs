use std::collections::BTreeMap;

use jiff::Timestamp;

use super::*;
use crate::nights::night::{
    End, Entry, Event, History, JobOutcome, Key, Morning, Over, ShardNight, Spent, Work, kept, merged,
};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn run(text: &str) -> RunId {
    text.parse().unwrap()
}

fn day(nth: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + nth * 86_400).unwrap()
}

/// The evening of the night that begins on this day.
fn evening(nth: i64) -> Date {
    day(nth).to_zoned(jiff::tz::TimeZone::UTC).date()
}

fn began(nth: i64, jobs: &[&str], shard: Option<&str>) -> Entry {
    let jobs = jobs.iter().map(|job| name(job)).collect();
    let shard = shard.map(|shard| shard.parse().unwrap());
    let (night, date) = (name(&nth.to_string()), evening(nth));
    entry(nth, Event::Began { night, date, scheduled: true, jobs, shard })
}

fn entry(nth: i64, event: Event) -> Entry {
    Entry { at: day(nth), event }
}

fn decided(place: Option<Place>) -> Decided {
    let is_win = place.is_some();
    Decided {
        verdict: "x".into(),
        words: "x".into(),
        is_win,
        is_open: !is_win,
        has_retry: false,
        effect: None,
        before: None,
        after: None,
        place: place.unwrap_or(Place::Nowhere),
        commit: None,
        notes: Vec::new(),
        champion: None,
        dangers: Vec::new(),
        price: (!is_win).then(|| "Price of an answer: 10 calls.".into()),
    }
}

/// The verdict of a run: a winner at this place, or an open one without a place.
fn verdict(nth: i64, job: &str, of: &str, place: Option<Place>) -> Entry {
    let key = Key {
        skill: Digest::of(b"skill"),
        suite: Digest::of(b"suite"),
        agents: BTreeMap::new(),
        models: BTreeMap::new(),
        shown: "claude".into(),
    };
    let outcome = JobOutcome {
        run: Some(run(of)),
        key: Some(key),
        end: End::Decided(Box::new(decided(place))),
        spent: Spent::default(),
        without_windows: BTreeSet::new(),
        cause: None,
    };
    entry(nth, Event::Ended { job: name(job), work: Work::Tune, outcome: Box::new(outcome) })
}

/// What waits, with the day since when.
fn waiting(history: &History) -> Vec<(String, Date)> {
    history.waiting().iter().map(|one| (one.run.as_str().to_owned(), one.since)).collect()
}

fn with(history: &[Entry], more: &[Entry]) -> Vec<Entry> {
    [history, more].concat()
}

#[test]
fn a_winner_and_an_open_verdict_with_its_price_wait_morning_after_morning() {
    let first = [
        began(1, &["a", "b", "c"], None),
        verdict(1, "a", "r1", Some(Place::Branch("skilltune/a".into()))),
        verdict(1, "b", "r2", None),
        verdict(1, "c", "r3", Some(Place::Applied)),
    ];
    let later: Vec<Entry> = (2..=20).map(|nth| began(nth, &["a", "b", "c"], None)).collect();
    let history = History::of(&with(&first, &later));
    let morning = Morning::of(&history).unwrap();
    assert!(morning.needs_you() && morning.better.is_empty(), "the winner is of an earlier night");
    let [winner] = &morning.waiting[..] else { panic!("{:?}", morning.waiting) };
    assert_eq!((winner.job.as_str(), winner.since), ("a", evening(1)));
    let [open] = &morning.undecided[..] else { panic!("{:?}", morning.undecided) };
    assert_eq!((open.job.as_str(), open.since), ("b", evening(1)));
    assert_eq!(open.decided.price.as_deref(), Some("Price of an answer: 10 calls."));
}

#[test]
fn a_new_verdict_replaces_an_open_one_and_only_a_person_removes_a_winner() {
    let mut entries = vec![
        began(1, &["a"], None),
        verdict(1, "a", "r1", Some(Place::Kept)),
        began(2, &["a"], None),
        verdict(2, "a", "r2", None),
        began(3, &["a"], None),
        verdict(3, "a", "r3", None),
    ];
    let both = [("r1".to_owned(), evening(1)), ("r3".to_owned(), evening(3))];
    assert_eq!(waiting(&History::of(&entries)), both);
    entries.push(verdict(3, "a", "r4", Some(Place::Applied)));
    assert_eq!(waiting(&History::of(&entries)), both[..1], "it is decided");
    let dismissed = Event::Dismissed { job: name("a"), run: run("r1") };
    entries.push(entry(4, dismissed));
    assert!(waiting(&History::of(&entries)).is_empty());
    assert!(!Morning::of(&History::of(&entries)).unwrap().needs_you());
    let read: Vec<Entry> = entries
        .iter()
        .map(|entry| serde_json::from_str(&serde_json::to_string(entry).unwrap()).unwrap())
        .collect();
    assert_eq!(read, entries);
}

#[test]
fn a_job_with_a_winner_and_an_open_verdict_has_several_also_if_the_winner_was_taken_since() {
    let several = |entries: &[Entry], is_shown: fn(&Waiting) -> bool| -> Vec<String> {
        let history = History::of(entries);
        let shown = history.waiting().iter().filter(|one| is_shown(one)).cloned().collect();
        let morning = Morning::with(&history, shown).unwrap();
        morning.several.iter().map(|job| job.as_str().to_owned()).collect()
    };
    let mut entries = vec![
        began(1, &["a", "b"], None),
        verdict(1, "a", "r1", Some(Place::Kept)),
        verdict(1, "b", "r2", None),
    ];
    assert!(several(&entries, |_| true).is_empty());
    entries.extend([began(2, &["a", "b"], None), verdict(2, "a", "r3", None)]);
    assert_eq!(several(&entries, |_| true), ["a"]);
    assert_eq!(several(&entries, |one| !one.is_winner()), ["a"]);
    entries.push(entry(3, Event::Dismissed { job: name("a"), run: run("r3") }));
    assert!(several(&entries, |_| true).is_empty());
}

#[test]
fn an_open_verdict_that_a_person_dismissed_is_not_compared_again() {
    let job = name("a");
    let mut entries = vec![began(1, &["a"], None), verdict(1, "a", "r1", None)];
    assert_eq!(History::of(&entries).open_run(&job), Some(&run("r1")));
    entries.push(entry(1, Event::Dismissed { job: job.clone(), run: run("r1") }));
    assert_eq!(History::of(&entries).open_run(&job), None);
    let later: Vec<Entry> = (2..=20).map(|nth| began(nth, &["a"], None)).collect();
    entries.extend(later);
    assert_eq!(History::of(&kept(&entries, 10)).open_run(&job), None, "a shorter journal knows it too");
    // The verdict of another search is another question.
    entries.push(verdict(20, "a", "r2", None));
    assert_eq!(History::of(&entries).open_run(&job), Some(&run("r2")));
}

#[test]
fn a_winner_that_more_trials_of_a_dismissed_run_found_is_news() {
    let dismissed = |nth| entry(nth, Event::Dismissed { job: name("a"), run: run("r1") });
    let mut entries = vec![
        began(1, &["a"], None),
        verdict(1, "a", "r1", None),
        dismissed(1),
        began(2, &["a"], None),
        verdict(2, "a", "r1", None),
    ];
    assert!(waiting(&History::of(&entries)).is_empty(), "it is still open");
    entries.extend([began(3, &["a"], None), verdict(3, "a", "r1", Some(Place::Kept))]);
    let history = History::of(&entries);
    assert_eq!(waiting(&history), [("r1".to_owned(), evening(3))]);
    assert_eq!(history.dismissed().count(), 0);
    entries.push(dismissed(3));
    assert!(waiting(&History::of(&entries)).is_empty());
}

/// A winner of a run, with this content.
fn winner(nth: i64, of: &str, content: &str) -> Entry {
    let mut entry = verdict(nth, "a", of, Some(Place::Kept));
    if let Event::Ended { outcome, .. } = &mut entry.event
        && let End::Decided(decided) = &mut outcome.end
    {
        decided.champion = Some(Digest::of(content.as_bytes()));
    }
    entry
}

#[test]
fn a_winner_that_a_later_search_finds_again_is_no_news_and_stays_dismissed() {
    let mut entries = vec![began(1, &["a"], None), winner(1, "r1", "x")];
    assert_eq!(Morning::of(&History::of(&entries)).unwrap().better.len(), 1);
    entries.extend([began(2, &["a"], None), winner(2, "r2", "x")]);
    let history = History::of(&entries);
    assert_eq!(waiting(&history), [("r2".to_owned(), evening(1))]);
    assert_eq!(history.waiting()[0].scored(), evening(2), "its scores are of the later night");
    assert!(Morning::of(&history).unwrap().better.is_empty());
    entries.push(entry(2, Event::Dismissed { job: name("a"), run: run("r2") }));
    entries.extend([began(3, &["a"], None), winner(3, "r3", "x")]);
    let history = History::of(&entries);
    assert!(waiting(&history).is_empty() && !Morning::of(&history).unwrap().needs_you());
    entries.push(winner(3, "r4", "y"));
    assert_eq!(waiting(&History::of(&entries)), [("r4".to_owned(), evening(3))]);
}

#[test]
fn a_journal_that_is_cut_down_keeps_what_waits_and_what_was_dismissed() {
    let mut entries = Vec::new();
    for nth in 1..=40 {
        entries.push(began(nth, &["a", "b"], None));
        if nth <= 5 {
            entries.push(verdict(nth, "a", &format!("a{nth}"), Some(Place::Kept)));
        }
        if nth == 7 {
            entries.extend([verdict(nth, "a", "a7", None), verdict(nth, "b", "b7", None)]);
        }
        if nth == 8 {
            let event = |of: &str| Event::Dismissed { job: name("a"), run: run(of) };
            entries.extend(["a1", "a2", "a3"].map(|of| entry(nth, event(of))));
        }
    }
    let whole = History::of(&entries);
    let runs: Vec<String> = waiting(&whole).into_iter().map(|(run, _)| run).collect();
    assert_eq!(runs, ["a4", "a5", "a7", "b7"]);
    let cut = kept(&entries, 10);
    assert!(cut.len() < entries.len() / 2, "{}", cut.len());
    assert_eq!(waiting(&History::of(&cut)), waiting(&whole));
    assert_eq!(kept(&cut, 10), cut, "once is enough");
}

/// The night of one of two shards, with what it found about this run of an earlier night.
fn shard_night(nth: i64, shard: &str, job: &str, found: Option<(&str, bool)>) -> ShardNight {
    let mut entries = vec![began(nth, &[job], Some(shard))];
    if let Some((of, still_waits)) = found {
        let since = evening(1);
        let decided = decided(Some(Place::Branch("skilltune/a".into())));
        let start = Digest::of(b"skill");
        let (job, run) = (name("a"), run(of));
        let one = Waiting { job, run: run.clone(), since, found_again: None, start, decided, shard: None };
        let waiting = still_waits.then(|| Box::new(one));
        entries.push(entry(nth, Event::Waits { job: name("a"), run, waiting }));
    }
    entries.push(entry(nth, Event::Over { why: Over::Done }));
    ShardNight::last(entries).unwrap()
}

fn jobs() -> [(Name, u32); 2] {
    ["a", "b"].map(|job| (name(job), 1))
}

#[test]
fn what_waits_on_the_machine_of_a_shard_waits_in_the_merged_morning_too() {
    // The machine that merges the shards knows no earlier night, as in a fresh checkout.
    let shards = [shard_night(2, "1/2", "a", Some(("r1", true))), shard_night(2, "2/2", "b", None)];
    assert!(shards.iter().all(ShardNight::is_of_its_jobs));
    let first = merged(&History::default(), &shards, &jobs());
    let history = History::of(&first);
    assert_eq!(waiting(&history), [("r1".to_owned(), evening(1))]);
    assert_eq!(history.waiting()[0].shard.map(|shard| shard.to_string()).as_deref(), Some("1/2"));

    // The job moved to the other shard, and the branch was merged meanwhile.
    let gone = [shard_night(3, "1/2", "a", Some(("r1", false)))];
    let second = with(&first, &merged(&history, &gone, &jobs()));
    assert!(waiting(&History::of(&second)).is_empty());

    // A dismissal on this machine holds, although the shard does not know of it.
    let dismissed = with(&first, &[entry(2, Event::Dismissed { job: name("a"), run: run("r1") })]);
    let again = [shard_night(3, "2/2", "b", Some(("r1", true)))];
    let third = with(&dismissed, &merged(&History::of(&dismissed), &again, &jobs()));
    assert!(waiting(&History::of(&third)).is_empty());

    // A job that the file does not have is not shown.
    let others = [(name("b"), 1)];
    assert!(waiting(&History::of(&merged(&History::default(), &again, &others))).is_empty());
}

#[test]
fn a_winner_of_a_merged_night_names_its_shard_and_a_shards_own_journal_keeps_all() {
    let own = [began(1, &["a"], Some("1/2")), verdict(1, "a", "r1", Some(Place::Kept))];
    let over = entry(1, Event::Over { why: Over::Done });
    let shard = ShardNight::last(with(&own, std::slice::from_ref(&over))).unwrap();
    let history = History::of(&merged(&History::default(), &[shard], &jobs()));
    assert_eq!(history.waiting()[0].shard.map(|shard| shard.to_string()).as_deref(), Some("1/2"));
    assert_eq!(history.last().unwrap().shard_of(&name("b")), None, "its shard is missing");

    let gone = entry(2, Event::Waits { job: name("a"), run: run("r1"), waiting: None });
    let next = with(&own, &[over, began(2, &["a"], Some("1/2")), gone]);
    let all = waiting(&History::of(&next));
    assert_eq!(all, [("r1".to_owned(), evening(1))], "it finds out anew each morning");
}
