//! The fold of the journal: the state of each night and of each job.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};

use super::waiting::{Waiting, WaitingList};
use super::watch::{Measurement, Watch};
use super::{Decided, Draft, End, Entry, Event, JobOutcome, Key, Over, Part, Shard, Spent, Work};
use crate::base::id::Digest;
use crate::base::name::Name;
use crate::nights::drift::DriftLevel;
use crate::nights::drift::change::ChangeKind;
use crate::runs::plan::RunId;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub nights: Vec<Night>,
    pub jobs: BTreeMap<Name, Job>,
    /// The last known usage of each run. Other machines may use the same ids for runs of other jobs.
    runs: BTreeMap<(Name, RunId), Spent>,
    /// The marks of all drafts ever put into the inbox.
    drafted: BTreeSet<Digest>,
    waiting: WaitingList,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Night {
    pub name: Name,
    pub began: Timestamp,
    pub date: Date,
    pub scheduled: bool,
    pub jobs: Vec<Name>,
    /// The part of this machine, if several machines share the night.
    pub shard: Option<Shard>,
    /// The shards that were merged into it, by number.
    pub parts: BTreeMap<u32, Part>,
    pub done: Vec<Done>,
    pub left: Vec<(Name, Left)>,
    /// The drafts put into the inbox, each with its job.
    pub drafts: Vec<(Name, Draft)>,
    pub under_way: BTreeMap<Name, Work>,
    /// None if the night is running or was killed.
    pub over: Option<(Timestamp, Over)>,
}

/// A finished piece of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub job: Name,
    pub work: Work,
    pub outcome: JobOutcome,
    /// In this night only.
    pub spent: Spent,
    pub at: Timestamp,
}

/// The reason why a job was skipped or not continued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    Budget,
    Time,
    /// Its agents are used up or unreachable, as another job found.
    Away,
    /// Another command works on the skill.
    Busy {
        why: Box<str>,
    },
    /// A person must fix it.
    Refused {
        why: Box<str>,
    },
    /// Nothing in it changed since the revision given to the night.
    Unchanged,
}

/// The state of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    pub settled: Option<Settled>,
    pub watch: Option<Watch>,
    /// When a person last said that they know of its trouble.
    pub acknowledged: Option<Timestamp>,
    /// The end of its last search: the job that waited longest goes first.
    pub served: Option<Timestamp>,
    pub points: Vec<Point>,
}

/// The result of the last search, with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    pub key: Key,
    /// The last measurement before it, by the same agents: these may report other models in a search.
    pub measured: Option<Key>,
    /// The same of earlier results for this version of the skill and this suite, by these agents: a service that
    /// switches between two models costs no search at each switch.
    earlier: Vec<Key>,
    pub run: Option<RunId>,
    pub champion: Option<Digest>,
    /// The number of comparisons in a row that left it open.
    pub open: u32,
}

/// One night of a job, for `trend`.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub at: Timestamp,
    pub date: Date,
    /// The mean of the measured scores.
    pub score: Option<f64>,
    /// The bounds of the score that drift detection expected; None for the first night of a series.
    pub expected: Option<(f64, f64)>,
    pub trials: usize,
    pub drift_level: DriftLevel,
    pub verdict: Option<Box<str>>,
    /// Whether skill, suite or agents changed since the night before.
    pub is_new_series: bool,
}

impl History {
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut history = Self::default();
        entries.into_iter().for_each(|entry| history.apply(entry));
        history
    }

    pub fn apply(&mut self, Entry { at, event }: &Entry) {
        match event {
            Event::Began { night, date, scheduled, jobs, shard } => self.nights.push(Night {
                name: night.clone(),
                began: *at,
                date: *date,
                scheduled: *scheduled,
                jobs: jobs.clone(),
                shard: *shard,
                parts: BTreeMap::new(),
                done: Vec::new(),
                left: Vec::new(),
                drafts: Vec::new(),
                under_way: BTreeMap::new(),
                over: None,
            }),
            Event::Asked { job, work } => {
                self.tonight(|night| drop(night.under_way.insert(job.clone(), work.clone())));
            }
            Event::Ended { job, work, outcome } => self.ended(*at, job, work, outcome),
            Event::Left { job, left } => self.tonight(|night| {
                night.left.retain(|(known, _)| known != job);
                night.left.push((job.clone(), left.clone()));
            }),
            Event::Drafted { job, drafts } => {
                self.drafted.extend(drafts.iter().map(|draft| draft.mark));
                let of_job = drafts.iter().map(|draft| (job.clone(), draft.clone()));
                self.tonight(|night| night.drafts.extend(of_job));
            }
            Event::Over { why } => self.tonight(|night| night.over = Some((*at, *why))),
            Event::Acknowledged { job } => {
                let job = self.jobs.entry(job.clone()).or_default();
                job.acknowledged = Some(*at);
                if let Some(watch) = &mut job.watch {
                    watch.acknowledge();
                }
            }
            Event::Dismissed { job, run } => self.waiting.dismiss(job, run),
            Event::Merged { parts } => self.tonight(|night| {
                night.parts.extend(parts.iter().map(|part| (part.shard.number(), part.clone())));
            }),
            Event::Waits { job, run, waiting } => {
                // The machine of the shard finds out anew each morning.
                if self.last().is_some_and(|night| !night.parts.is_empty()) {
                    self.waiting.found(job, run, waiting.as_deref());
                }
            }
        }
    }

    pub fn last(&self) -> Option<&Night> {
        self.nights.last()
    }

    /// Returns the amount spent in the nights of the seven evenings up to this one.
    pub fn spent_in_week(&self, last: Date) -> Spent {
        let before = last.saturating_sub(7.days());
        self.nights.iter().filter(|night| night.date > before).map(Night::spent).sum()
    }

    /// Returns a unique name for a night.
    pub fn free_name(&self, wanted: &Name) -> Name {
        let is_taken = |name: &Name| self.nights.iter().any(|night| night.name == *name);
        let numbered = (2..=self.nights.len() + 1).filter_map(|nth| format!("{wanted}-{nth}").parse().ok());
        std::iter::once(wanted.clone())
            .chain(numbered)
            .find(|name| !is_taken(name))
            .unwrap_or_else(|| wanted.clone())
    }

    /// Returns the last known usage of a run.
    pub fn spent_by_run(&self, job: &Name, run: &RunId) -> Spent {
        self.runs.get(&(job.clone(), run.clone())).copied().unwrap_or_default()
    }

    /// Returns the run of a job's last verdict, if that is open and no person dismissed it.
    pub fn open_run(&self, job: &Name) -> Option<&RunId> {
        let settled = self.jobs.get(job)?.settled.as_ref()?;
        let run = settled.run.as_ref().filter(|_| settled.open > 0);
        run.filter(|run| !self.waiting.is_dismissed(job, run))
    }

    /// Returns the verdicts that wait for a person, as far as the journal says, the oldest first.
    pub fn waiting(&self) -> &[Waiting] {
        self.waiting.all()
    }

    /// Returns the verdicts that a person dismissed, each by its job and its run.
    pub fn dismissed(&self) -> impl Iterator<Item = (&Name, &RunId)> {
        self.waiting.dismissed()
    }

    /// Returns the runs that have the version before an edit which made a skill worse: mornings name them.
    pub fn runs_before_edits(&self) -> impl Iterator<Item = &RunId> {
        let falls = self.jobs.values().filter_map(|job| job.watch.as_ref()).flat_map(Watch::open_falls);
        falls.filter(|fall| fall.kind == ChangeKind::Edit).filter_map(|fall| fall.run_before.as_ref())
    }

    /// Returns whether this work found a winner that an earlier run of the job had found.
    pub fn was_known(&self, done: &Done) -> bool {
        let run = done.outcome.run.as_ref().filter(|_| matches!(done.outcome.end, End::Decided(_)));
        run.is_some_and(|run| self.waiting.is_known(&done.job, run))
    }

    /// Returns whether this was ever put into the inbox.
    pub fn was_drafted(&self, mark: &Digest) -> bool {
        self.drafted.contains(mark)
    }

    /// Returns whether any work of a job was done tonight.
    pub fn was_done(&self, job: &Name) -> bool {
        self.last().is_some_and(|night| night.works(job).next().is_some())
    }

    fn tonight(&mut self, change: impl FnOnce(&mut Night)) {
        if let Some(night) = self.nights.last_mut() {
            change(night);
        }
    }

    fn ended(&mut self, at: Timestamp, name: &Name, work: &Work, outcome: &JobOutcome) {
        let Some(night) = self.nights.last_mut() else { return };
        let before = outcome.run.as_ref();
        let before = before.and_then(|run| self.runs.insert((name.clone(), run.clone()), outcome.spent));
        let spent = outcome.spent.since(before.unwrap_or_default());
        night.under_way.remove(name);
        let done = Done { job: name.clone(), work: work.clone(), outcome: outcome.clone(), spent, at };
        night.done.push(done);
        let date = night.date;
        if let (End::Decided(decided), Some(key), Some(run)) = (&outcome.end, &outcome.key, &outcome.run) {
            self.waiting.decided(Waiting {
                job: name.clone(),
                run: run.clone(),
                since: date,
                found_again: None,
                start: key.skill,
                decided: (**decided).clone(),
                shard: night.shard_of(name),
            });
        }
        let job = self.jobs.entry(name.clone()).or_default();
        match (&outcome.end, &outcome.key) {
            (End::Decided(decided), Some(key)) => job.decided(at, date, (key, outcome.run.as_ref()), decided),
            (End::Measured { trials }, Some(key)) => {
                let is_again = matches!(work, Work::Again { .. });
                let run = outcome.run.as_ref();
                job.measured(at, &Measurement { date, key, run, trials, is_again });
            }
            (
                End::Decided(_)
                | End::Measured { .. }
                | End::Paused { .. }
                | End::Unjudged { .. }
                | End::Refused { .. }
                | End::Failed { .. },
                _,
            ) => {}
        }
        if work.is_search() {
            job.served = Some(at);
        }
    }
}

impl Night {
    /// Returns the merged night's shards whose results are missing.
    pub fn missing_shards(&self) -> Vec<Shard> {
        let of = self.parts.values().map(|part| part.shard.of()).max().unwrap_or_default();
        let all = (1..=of).filter(|number| !self.parts.contains_key(number));
        all.filter_map(|number| format!("{number}/{of}").parse().ok()).collect()
    }

    /// Returns the shard that did this job, if this night was merged from shards.
    pub fn shard_of(&self, job: &Name) -> Option<Shard> {
        let mut shards = self.parts.values().map(|part| part.shard);
        shards.find(|shard| shard.share(self.jobs.iter().cloned()).contains(job))
    }

    /// Returns the shards that were killed.
    pub fn killed_shards(&self) -> Vec<Shard> {
        self.parts.values().filter(|part| !part.is_whole).map(|part| part.shard).collect()
    }

    pub fn spent(&self) -> Spent {
        self.done.iter().map(|done| done.spent).sum()
    }

    pub fn spent_by(&self, job: &Name) -> Spent {
        self.works(job).map(|done| done.spent).sum()
    }

    /// Returns the agents that report no usage window although a part of it had to stay free.
    pub fn without_windows(&self) -> BTreeSet<&str> {
        self.done.iter().flat_map(|done| &done.outcome.without_windows).map(|agent| &**agent).collect()
    }

    pub(super) fn works(&self, job: &Name) -> impl Iterator<Item = &Done> {
        self.done.iter().filter(move |done| done.job == *job)
    }
}

impl Settled {
    /// Returns whether its agents and models still answer.
    pub(super) fn has_agents_of(&self, now: &Key) -> bool {
        self.key.has_agents_of(now) || self.measured.as_ref().is_some_and(|one| one.has_agents_of(now))
    }

    /// Returns whether there was an earlier search with these agents and models.
    pub(super) fn was_tuned_for(&self, now: &Key) -> bool {
        self.earlier.iter().any(|one| one.has_agents_of(now))
    }

    /// Returns all keys that it was settled for, if the next result is for the same version, suite and agents.
    fn keys_before(self, next: &Key) -> Vec<Key> {
        if !self.key.has_content_of(next) || self.key.agents != next.agents {
            return Vec::new();
        }
        self.earlier.into_iter().chain(self.measured).chain([self.key]).collect()
    }
}

impl Job {
    fn decided(&mut self, at: Timestamp, date: Date, (key, run): (&Key, Option<&RunId>), decided: &Decided) {
        let again =
            self.settled.as_ref().filter(|settled| settled.key.is_same(key)).map_or(0, |known| known.open);
        let open = if decided.is_open { again + 1 } else { 0 };
        let measured = self.watch.as_ref().map(|watch| &watch.key).filter(|one| one.agents == key.agents);
        let (measured, key, run) = (measured.cloned(), key.clone(), run.cloned());
        let earlier = self.settled.take().map(|known| known.keys_before(&key)).unwrap_or_default();
        self.settled = Some(Settled { key, measured, earlier, run, champion: decided.champion, open });
        let point = self.point(at, date);
        point.verdict = Some(decided.verdict.clone());
    }

    fn measured(&mut self, at: Timestamp, one: &Measurement<'_>) {
        let &Measurement { date, key, trials, is_again, .. } = one;
        let is_known = self.watch.as_ref().is_some_and(|watch| watch.key.is_same(key));
        let is_winner = self.settled.as_ref().is_some_and(|settled| settled.champion == Some(key.skill));
        let expected = self.watch.as_ref().filter(|_| is_known);
        let expected = expected.and_then(|watch| watch.series.expected(trials));
        match &mut self.watch {
            Some(watch) if is_known => watch.go_on(one),
            watch => *watch = Some(Watch::new(watch.take(), one, is_winner)),
        }
        let drift_level = self.drift_level();
        let point = self.point(at, date);
        // A second measurement of other scenarios has a score of its own.
        if !is_again {
            point.expected = expected.filter(|_| point.trials == 0);
        }
        #[expect(clippy::cast_precision_loss, reason = "a few trials")]
        let (old, new) = (point.trials as f64, trials.len() as f64);
        let sum: f64 = trials.iter().map(|trial| trial.score.points()).sum();
        if new > 0.0 {
            point.score = Some((point.score.unwrap_or_default() * old + sum) / (old + new));
        }
        point.trials += trials.len();
        point.drift_level = drift_level;
        point.is_new_series |= !is_known;
    }

    /// Returns whether the skill works worse: its scores fall, or fell and have not recovered.
    pub fn is_worse(&self) -> bool {
        let has_fallen = |watch: &Watch| watch.open_falls().next().is_some();
        self.drift_level() != DriftLevel::Steady || self.watch.as_ref().is_some_and(has_fallen)
    }

    /// Returns whether this is another version of the skill than the one that was measured last, with the same suite.
    pub fn is_edited(&self, key: &Key) -> bool {
        let is_other = |watch: &Watch| watch.key.suite == key.suite && watch.key.skill != key.skill;
        self.watch.as_ref().is_some_and(is_other)
    }

    pub fn drift_level(&self) -> DriftLevel {
        self.watch.as_ref().map_or(DriftLevel::Steady, |watch| watch.series.drift_level())
    }

    /// Returns the point of the day.
    fn point(&mut self, at: Timestamp, date: Date) -> &mut Point {
        if self.points.last().is_none_or(|point| point.date != date) {
            let drift_level = self.drift_level();
            self.points.push(Point {
                at,
                date,
                score: None,
                expected: None,
                trials: 0,
                drift_level,
                verdict: None,
                is_new_series: false,
            });
        }
        let last = self.points.last_mut().expect("there is one by now");
        last.at = at;
        last
    }
}
