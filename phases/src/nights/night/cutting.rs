//! Cuts a long journal down to its newest nights and what must not be forgotten of older ones.

use std::collections::{BTreeMap, BTreeSet};

use super::{End, Entry, Event, History};
use crate::base::name::Name;
use crate::runs::plan::RunId;

/// Returns the entries that a long journal keeps: the newest nights, the last verdict of each job, because it would be
/// tuned again without it, the verdicts that wait, what persons dismissed, and all marks of the inbox, so that drafts do
/// not come back.
pub fn kept(entries: &[Entry], nights: usize) -> Vec<Entry> {
    let places = |is: fn(&Event) -> bool| entries.iter().enumerate().filter(move |(_, one)| is(&one.event));
    let began = places(|event| matches!(event, Event::Began { .. }));
    let began: Vec<usize> = began.map(|(nth, _)| nth).collect();
    let Some(cut) = began.len().checked_sub(nights.max(1)).and_then(|nth| began.get(nth)).copied() else {
        return entries.to_vec();
    };
    let mut old = verdicts(entries, cut);
    let night_of = |nth: usize| began.iter().rev().find(|began| **began < nth).copied();
    // Without its first lines, an entry would be of another night.
    let heads = old.iter().filter_map(|&nth| Some(night_of(nth)?..nth)).flat_map(|night| {
        let is_merged = move |nth: &usize| matches!(entries[*nth].event, Event::Merged { .. });
        std::iter::once(night.start).chain(night.filter(is_merged))
    });
    let heads: Vec<usize> = heads.collect();
    old.extend(heads);
    let stays = places(|event| matches!(event, Event::Drafted { .. } | Event::Dismissed { .. }));
    old.extend(stays.map(|(nth, _)| nth).filter(|nth| *nth < cut));
    old.into_iter().map(|nth| entries[nth].clone()).chain(entries[cut..].iter().cloned()).collect()
}

/// Returns the places of the last verdict of each job before the cut, and of all that wait.
fn verdicts(entries: &[Entry], cut: usize) -> BTreeSet<usize> {
    let history = History::of(entries);
    let waits = |job: &Name, run: &RunId| history.waiting().iter().any(|one| one.is_of(job, run));
    let mut last: BTreeMap<(&Name, Option<&RunId>), usize> = BTreeMap::new();
    for (nth, entry) in entries[..cut].iter().enumerate() {
        match &entry.event {
            Event::Ended { job, outcome, .. } if matches!(outcome.end, End::Decided(_)) => {
                last.insert((job, None), nth);
                if let Some(run) = outcome.run.as_ref().filter(|run| waits(job, run)) {
                    last.insert((job, Some(run)), nth);
                }
            }
            Event::Waits { job, run, .. } if waits(job, run) => {
                last.insert((job, Some(run)), nth);
            }
            _ => {}
        }
    }
    last.into_values().collect()
}
