//! Merges the nights of shards into one night.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use jiff::civil::Date;

use super::next::class;
use super::shard::Part;
use super::{Entry, Event, History, Over, Waiting, Work};
use crate::base::id::Digest;
use crate::base::name::Name;

/// The last night in the journal of a shard.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardNight {
    pub part: Part,
    pub date: Date,
    pub jobs: Vec<Name>,
    name: Name,
    is_scheduled: bool,
    began: Timestamp,
    /// The entries after its first line.
    entries: Vec<Entry>,
}

impl ShardNight {
    /// Returns None if the last night of the journal is not the night of a shard.
    pub fn last(mut entries: Vec<Entry>) -> Option<Self> {
        let first = entries.iter().rposition(|entry| matches!(entry.event, Event::Began { .. }))?;
        let entries = entries.split_off(first);
        let mark = Digest::of(&serde_json::to_vec(&entries).expect("entries have a JSON text"));
        let is_whole = entries.iter().any(|entry| matches!(entry.event, Event::Over { .. }));
        let mut entries = entries.into_iter();
        let Entry { at: began, event: Event::Began { night: name, date, scheduled, jobs, shard } } =
            entries.next()?
        else {
            return None;
        };
        let part = Part { shard: shard?, mark, is_whole };
        Some(Self { part, date, jobs, name, is_scheduled: scheduled, began, entries: entries.collect() })
    }

    /// Returns whether its entries name only its own jobs.
    pub fn is_of_its_jobs(&self) -> bool {
        let mut named = self.entries.iter().filter_map(|entry| job(&entry.event));
        named.all(|job| self.jobs.contains(job))
    }

    /// Returns what it found about verdicts of earlier nights, for all jobs of the file.
    fn waits(&self, jobs: &[(Name, u32)]) -> impl Iterator<Item = Entry> {
        self.entries.iter().filter_map(move |entry| match &entry.event {
            Event::Waits { job, run, waiting } if jobs.iter().any(|(known, _)| known == job) => {
                let here = |one: &Waiting| Box::new(Waiting { shard: Some(self.part.shard), ..one.clone() });
                let waiting = waiting.as_deref().map(here);
                let event = Event::Waits { job: job.clone(), run: run.clone(), waiting };
                Some(Entry { at: entry.at, event })
            }
            _ => None,
        })
    }
}

fn job(event: &Event) -> Option<&Name> {
    match event {
        Event::Asked { job, .. }
        | Event::Ended { job, .. }
        | Event::Left { job, .. }
        | Event::Drafted { job, .. }
        | Event::Acknowledged { job } => Some(job),
        // What waits may be of a job that was moved to another shard since.
        Event::Began { .. }
        | Event::Over { .. }
        | Event::Merged { .. }
        | Event::Dismissed { .. }
        | Event::Waits { .. } => None,
    }
}

/// Returns the entries to write so that these shards become one night of all jobs in this history; none for shards that
/// are already in it. The order is the one of a single machine that does one job at a time, whatever the order of the
/// shards. `jobs` are the jobs of the file, with their priorities.
pub fn merged(history: &History, shards: &[ShardNight], jobs: &[(Name, u32)]) -> Vec<Entry> {
    let is_known = |one: &&ShardNight| {
        history.nights.iter().any(|night| night.parts.values().any(|part| *part == one.part))
    };
    let new: BTreeMap<u32, &ShardNight> =
        shards.iter().filter(|one| !is_known(one)).map(|one| (one.part.shard.number(), one)).collect();
    let Some(first) = new.values().min_by_key(|one| (one.began, one.part.shard)) else { return Vec::new() };
    let same_night = history.last().filter(|night| {
        let is_same = |part: &Part| part.shard.of() == first.part.shard.of();
        let is_free = |number: &u32| night.parts.get(number).is_none_or(|part| !part.is_whole);
        night.date == first.date
            && !night.parts.is_empty()
            && night.parts.values().all(is_same)
            && new.keys().all(is_free)
    });
    let mut entries = Vec::new();
    let mut over = same_night.and_then(|night| night.over);
    if same_night.is_none() {
        entries.push(Entry {
            at: first.began,
            event: Event::Began {
                night: history.free_name(&first.name),
                date: first.date,
                scheduled: new.values().any(|one| one.is_scheduled),
                jobs: jobs.iter().map(|(job, _)| job.clone()).collect(),
                shard: None,
            },
        });
    }
    let parts = new.values().map(|one| one.part.clone()).collect();
    entries.push(Entry { at: first.began, event: Event::Merged { parts } });
    entries.extend(in_order(history, &new, jobs));
    entries.extend(new.values().flat_map(|one| one.waits(jobs)));
    for one in new.values() {
        let last = one.entries.last().map_or(one.began, |entry| entry.at);
        let why = one.entries.iter().rev().find_map(|entry| match entry.event {
            Event::Over { why } => Some(why),
            _ => None,
        });
        let (known, worst) = over.unwrap_or((last, Over::Done));
        over = Some((known.max(last), worst.max(why.unwrap_or(Over::Done))));
    }
    entries.extend(over.map(|(at, why)| Entry { at, event: Event::Over { why } }));
    entries
}

/// One piece of work: its start and its outcome.
type Piece = (Work, Vec<Entry>);

fn in_order(history: &History, shards: &BTreeMap<u32, &ShardNight>, jobs: &[(Name, u32)]) -> Vec<Entry> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut pieces: BTreeMap<&Name, VecDeque<Piece>> = BTreeMap::new();
    for shard in shards.values() {
        let mut has_begun = false;
        for entry in &shard.entries {
            match &entry.event {
                Event::Left { job, .. } => {
                    let left = if has_begun { &mut after } else { &mut before };
                    left.push((job, entry.clone()));
                }
                Event::Asked { job, work } => {
                    has_begun = true;
                    pieces.entry(job).or_default().push_back((work.clone(), vec![entry.clone()]));
                }
                Event::Ended { job, work, .. } => {
                    let own = pieces.entry(job).or_default();
                    match own.back_mut() {
                        Some((_, piece)) if piece.len() == 1 => piece.push(entry.clone()),
                        Some(_) | None => own.push_back((work.clone(), vec![entry.clone()])),
                    }
                }
                // Drafts stay in the inbox of their shard. What waits follows after all work.
                Event::Began { .. }
                | Event::Drafted { .. }
                | Event::Over { .. }
                | Event::Acknowledged { .. }
                | Event::Dismissed { .. }
                | Event::Merged { .. }
                | Event::Waits { .. } => {}
            }
        }
    }
    let place = |job: &Name| jobs.iter().position(|(known, _)| known == job);
    let priority = |job: &Name| place(job).map_or(0, |nth| jobs[nth].1);
    let served = |job: &Name| history.jobs.get(job).and_then(|job| job.served);
    let rank = |job: &Name| (Reverse(priority(job)), served(job), job.clone());
    before.sort_by_key(|(job, _)| place(job));
    after.sort_by_key(|(job, _)| rank(job));
    let mut entries: Vec<Entry> = before.into_iter().map(|(_, entry)| entry).collect();
    while let Some((_, job)) =
        pieces.iter().map(|(job, own)| ((own.front().map(|(work, _)| class(work)), rank(job)), *job)).min()
    {
        let own = pieces.get_mut(job).expect("it was found in there");
        if let Some((_, piece)) = own.pop_front() {
            entries.extend(piece);
        }
        if own.is_empty() {
            pieces.remove(job);
        }
    }
    entries.extend(after.into_iter().map(|(_, entry)| entry));
    entries
}
