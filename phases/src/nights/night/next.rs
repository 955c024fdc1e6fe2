//! Decides what a night does next.
//!
//! First it measures the settled skills, because that is cheap and shows whether anything needs a person. Then it
//! resumes runs that an earlier night left. Then it tunes what can matter: by priority, and with equal priority the one
//! that waited longest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Done, History, Job, Key, Left, Night, Work};
use crate::base::name::Name;
use crate::runs::plan::RunId;

/// A job's configuration tonight.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    pub key: Key,
    pub scenarios: Vec<Name>,
    pub priority: u32,
    /// A run of the job that an earlier night left unfinished.
    pub unfinished: Option<RunId>,
    /// The number of scenarios that a night measures.
    pub sample: usize,
    /// How often to extend the comparison while the verdict stays open.
    pub retries: u32,
    /// The run with the open verdict, if its comparison can be extended.
    pub extendable: Option<RunId>,
}

/// Returns the next piece of work that can begin now, if any. A job has one running at a time.
pub fn next(history: &History, wishes: &BTreeMap<Name, Wish>) -> Option<(Name, Work)> {
    let first = waiting(history, wishes).min_by_key(|(name, wish, work)| {
        let served = history.jobs.get(*name).and_then(|job| job.served);
        (class(work), Reverse(wish.priority), served, (*name).clone())
    });
    first.map(|(name, _, work)| (name.clone(), work))
}

/// Returns the sum of the priorities of all jobs that would search next, without the running ones: they share the rest.
pub fn searching(history: &History, wishes: &BTreeMap<Name, Wish>) -> u32 {
    let searching = waiting(history, wishes).filter(|(_, _, work)| work.is_search());
    searching.fold(0, |sum, (_, wish, _)| sum.saturating_add(wish.priority))
}

/// Returns the next work of each job that can begin now.
fn waiting<'a>(
    history: &'a History,
    wishes: &'a BTreeMap<Name, Wish>,
) -> impl Iterator<Item = (&'a Name, &'a Wish, Work)> {
    history.last().into_iter().flat_map(move |night| {
        let open =
            wishes.iter().filter(|(name, _)| !night.under_way.contains_key(*name) && !is_left(night, name));
        open.filter_map(|(name, wish)| Some((name, wish, wanted(history, &night.done, name, wish)?)))
    })
}

/// Returns the first work for a job in a night that begins now.
pub fn outlook(history: &History, name: &Name, wish: &Wish) -> Option<Work> {
    wanted(history, &[], name, wish)
}

fn is_left(night: &Night, job: &Name) -> bool {
    night.left.iter().any(|(left, why)| left == job && *why != Left::Unchanged)
}

pub(super) fn class(work: &Work) -> u8 {
    match work {
        Work::Measure { .. } | Work::Again { .. } => 0,
        Work::Resume { .. } => 1,
        Work::Extend { .. } | Work::Tune => 2,
    }
}

fn wanted(history: &History, tonight: &[Done], name: &Name, wish: &Wish) -> Option<Work> {
    let none = Job::default();
    let job = history.jobs.get(name).unwrap_or(&none);
    let own = || tonight.iter().filter(|done| done.job == *name);
    let did = |is: fn(&Work) -> bool| own().any(|done| is(&done.work));
    let measured = did(|work| matches!(work, Work::Measure { .. }));
    let searched = did(Work::is_search);
    if measured && job.watch.as_ref().is_some_and(|watch| watch.is_doubted) {
        let again = did(|work| matches!(work, Work::Again { .. }));
        let last = own().find_map(|done| match &done.work {
            Work::Measure { only } => Some(only.clone()),
            Work::Again { .. } | Work::Resume { .. } | Work::Extend { .. } | Work::Tune => None,
        });
        if let Some(only) = last.filter(|_| !again) {
            return Some(Work::Again { only });
        }
    }
    if let Some(run) = wish.unfinished.as_ref().filter(|_| !searched) {
        return Some(Work::Resume { run: run.clone() });
    }
    let Some(settled) = job.settled.as_ref().filter(|settled| {
        let of_champion = settled.champion.is_some_and(|champion| champion == wish.key.skill);
        settled.key.suite == wish.key.suite && (of_champion || settled.key.skill == wish.key.skill)
    }) else {
        // The version that a person made is compared with the one before it, which a winner would replace.
        if !measured && !searched && wish.sample > 0 && job.is_edited(&wish.key) {
            return Some(Work::Measure { only: wish.scenarios.clone() });
        }
        return (!searched).then_some(Work::Tune);
    };
    if !measured && wish.sample > 0 {
        return Some(Work::Measure { only: sample(job, wish) });
    }
    // The models that answer are known after a measurement.
    let agents = job.watch.as_ref().filter(|_| measured).map_or(&wish.key, |watch| &watch.key);
    let has_changed = !settled.has_agents_of(agents);
    if searched || has_changed {
        return (!searched && !settled.was_tuned_for(agents)).then_some(Work::Tune);
    }
    // Another search would get all its answers from the cache, and another comparison would give luck another chance.
    let is_open = (1..=wish.retries).contains(&settled.open);
    wish.extendable.clone().filter(|_| is_open).map(|run| Work::Extend { run })
}

/// Returns the next scenarios in turn, or all of them if nothing is known yet.
fn sample(job: &Job, wish: &Wish) -> Vec<Name> {
    let count = wish.scenarios.len();
    let known = job.watch.as_ref().filter(|watch| watch.key.has_content_of(&wish.key));
    // With other agents all are tried too, because the comparison with the old ones is made once.
    let Some(watch) = known.filter(|watch| watch.key.agents == wish.key.agents && wish.sample < count) else {
        return wish.scenarios.clone();
    };
    let first = (watch.nights - 1) * wish.sample;
    (first..first + wish.sample).map(|nth| wish.scenarios[nth % count].clone()).collect()
}
