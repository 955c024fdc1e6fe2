//! Which worker makes a call: one with a free slot that has not refused such calls.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skilltune_phases::base::id::Digest;

use super::BEAT;
use super::link::Launch;
use crate::process::CancelToken;

/// A worker that lost so many calls in a row gives its pairs to another.
const GIVEN_UP: u32 = 3;

/// A worker of the user's settings.
#[derive(Clone, Debug)]
pub struct Worker {
    pub name: String,
    pub launch: Launch,
    /// The most calls at once.
    pub slots: usize,
    /// The agents that it is for; empty for any.
    pub agents: Vec<String>,
}

impl Worker {
    pub fn is_for(&self, agent: &str) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|own| own == agent)
    }
}

/// What a call needs of its worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// The name and the fingerprint of an agent.
    pub agent: Option<(String, Digest)>,
    /// Whether it runs a command of a suite or of a project.
    pub commands: bool,
}

/// All workers of a run.
#[derive(Debug)]
pub struct Workers {
    all: Vec<Worker>,
    /// The pause before a call that was lost twice is made once more; the next ones grow.
    pub backoff: Duration,
    room: Mutex<Room>,
    freed: Condvar,
}

#[derive(Debug)]
struct Room {
    /// One for each worker.
    seats: Vec<Seat>,
    /// Refusals that are not in the journal yet.
    new_refusals: Vec<Refused>,
}

#[derive(Clone, Debug, Default)]
struct Seat {
    used: usize,
    /// How many calls in a row were lost.
    lost: u32,
    /// Why it makes no calls that need this; without a need, none at all.
    refusals: BTreeMap<Option<Need>, String>,
}

/// A refusal, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub worker: String,
    pub why: String,
}

/// No worker makes such a call. Each of them says why.
#[derive(Debug, thiserror::Error)]
#[error("no worker makes this call ({0})")]
pub struct NoWorker(String);

/// A slot of a worker.
#[derive(Debug)]
pub struct Lease<'a> {
    workers: &'a Workers,
    nth: usize,
}

impl Workers {
    pub fn of(all: Vec<Worker>, backoff: Duration) -> Self {
        let room = Room { seats: vec![Seat::default(); all.len()], new_refusals: Vec::new() };
        Self { all, backoff, room: Mutex::new(room), freed: Condvar::new() }
    }

    /// Returns whether there is none: then calls are made on this machine.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Waits for a slot. Calls of one pair get the same worker, as long as it makes such calls. Another than the one to avoid
    /// is taken if there is one. Returns nothing if the calls are cancelled meanwhile.
    pub fn lease(
        &self,
        need: &Need,
        pair: Option<Digest>,
        avoid: Option<&str>,
        cancel_token: &CancelToken,
    ) -> Result<Option<Lease<'_>>, NoWorker> {
        let mut room = self.room();
        while cancel_token.heard().is_none() {
            let (mut able, mut whys) = (Vec::new(), Vec::new());
            for (nth, worker) in self.all.iter().enumerate() {
                match room.seats[nth].refusal(worker, need) {
                    Some(why) => whys.push(format!("{}: {why}", worker.name)),
                    None => able.push(nth),
                }
            }
            if able.is_empty() {
                return Err(NoWorker(whys.join("; ")));
            }
            if able.len() > 1 {
                able.retain(|&nth| avoid != Some(&self.all[nth].name));
            }
            if let Some(nth) = self.choice(&room.seats, able, pair) {
                room.seats[nth].used += 1;
                return Ok(Some(Lease { workers: self, nth }));
            }
            room = self.freed.wait_timeout(room, BEAT).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(None)
    }

    /// Returns which of these workers makes a call, if it has a slot. One that lost its last calls gets one at a time, to see
    /// whether it is back.
    fn choice(&self, seats: &[Seat], able: Vec<usize>, pair: Option<Digest>) -> Option<usize> {
        let is_given_up = |nth: usize| seats[nth].lost >= GIVEN_UP;
        let is_free = |&nth: &usize| seats[nth].used < self.all[nth].slots;
        let able = able.into_iter();
        match pair {
            // The rank of a worker for a pair stays the same when other workers drop out.
            Some(pair) => able
                .max_by_key(|&nth| {
                    let rank = Digest::of_parts([self.all[nth].name.as_bytes(), pair.as_bytes().as_slice()]);
                    (!is_given_up(nth), rank)
                })
                .filter(is_free),
            None => able
                .filter(|nth| is_free(nth) && (!is_given_up(*nth) || seats[*nth].used == 0))
                .min_by_key(|&nth| (seats[nth].lost, seats[nth].used)),
        }
    }

    /// Returns the refusals that are not in the journal yet.
    pub fn new_refusals(&self) -> Vec<Refused> {
        std::mem::take(&mut self.room().new_refusals)
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Returns why the worker makes no such calls.
    fn refusal(&self, worker: &Worker, need: &Need) -> Option<String> {
        match &need.agent {
            Some((name, _)) if !worker.is_for(name) => Some(format!("its settings do not name {name}")),
            _ => self.refusals.get(&None).or_else(|| self.refusals.get(&Some(need.clone()))).cloned(),
        }
    }
}

impl Lease<'_> {
    pub fn worker(&self) -> &Worker {
        &self.workers.all[self.nth]
    }

    /// Gives this worker no more calls of this kind; without a kind, none at all.
    pub fn refuse(&self, need: Option<&Need>, why: &str) {
        let mut room = self.workers.room();
        let refused = room.seats[self.nth].refusals.insert(need.cloned(), why.to_owned());
        if refused.is_none() {
            room.new_refusals.push(Refused { worker: self.worker().name.clone(), why: why.to_owned() });
        }
    }

    /// Notes whether the worker gave a reply.
    pub fn ended(&self, is_lost: bool) {
        let seat = &mut self.workers.room().seats[self.nth];
        seat.lost = if is_lost { seat.lost.saturating_add(1) } else { 0 };
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.workers.room().seats[self.nth].used -= 1;
        self.workers.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Cancel, Canceller};

    fn workers(all: &[(&str, usize, &[&str])]) -> Workers {
        let worker = |&(name, slots, agents): &(&str, usize, &[&str])| Worker {
            name: name.to_owned(),
            launch: Launch { program: name.into(), arguments: Vec::new(), env: Vec::new() },
            slots,
            agents: agents.iter().map(|&agent| agent.to_owned()).collect(),
        };
        Workers::of(all.iter().map(worker).collect(), Duration::ZERO)
    }

    fn agent(name: &str) -> Need {
        Need { agent: Some((name.to_owned(), Digest::of(name.as_bytes()))), commands: false }
    }

    #[test]
    fn free_slots_are_shared_out_and_a_worker_that_loses_calls_comes_last() {
        let (workers, canceller) = (workers(&[("a", 2, &[]), ("b", 1, &[])]), Canceller::new().unwrap());
        let token = canceller.cancel_token();
        let lease = || workers.lease(&agent("mine"), None, None, &token).unwrap().unwrap();
        let name = |lease: &Lease<'_>| lease.worker().name.clone();
        let held = [lease(), lease(), lease()];
        let mut names: Vec<_> = held.iter().map(name).collect();
        names.sort();
        assert_eq!(names, ["a", "a", "b"]);
        held[0].ended(true);
        let lost = name(&held[0]);
        drop(held);
        assert_ne!(name(&lease()), lost);
    }

    #[test]
    fn a_pair_stays_on_one_worker_whatever_else_is_free() {
        let (workers, canceller) =
            (workers(&[("a", 1, &[]), ("b", 1, &[]), ("c", 1, &[])]), Canceller::new().unwrap());
        let token = canceller.cancel_token();
        let of = |pair: u8| {
            workers
                .lease(&agent("mine"), Some(Digest::of(&[pair])), None, &token)
                .unwrap()
                .unwrap()
                .worker()
                .name
                .clone()
        };
        let all: Vec<String> = (0..32).map(of).collect();
        assert_eq!(all, (0..32).map(of).collect::<Vec<_>>());
        assert!(["a", "b", "c"].iter().all(|name| all.iter().any(|one| one == name)));
    }

    #[test]
    fn a_refusal_holds_for_its_kind_and_is_told_once_and_without_a_worker_all_say_why() {
        let (workers, mut canceller) =
            (workers(&[("a", 2, &["mine"]), ("b", 1, &[])]), Canceller::new().unwrap());
        let token = canceller.cancel_token();
        let other = agent("other");
        let lease = workers.lease(&other, None, None, &token).unwrap().unwrap();
        lease.refuse(Some(&other), "it has no other");
        lease.refuse(Some(&other), "it has no other");
        drop(lease);
        let told = workers.new_refusals();
        assert_eq!(told, [Refused { worker: "b".into(), why: "it has no other".into() }]);
        let no_worker = workers.lease(&other, None, None, &token).unwrap_err().to_string();
        assert_eq!(
            no_worker,
            "no worker makes this call (a: its settings do not name other; b: it has no other)"
        );
        let mine = workers.lease(&agent("mine"), None, None, &token).unwrap().unwrap();
        mine.refuse(None, "it speaks another protocol");
        drop(mine);
        assert!(workers.lease(&Need { agent: None, commands: true }, None, None, &token).unwrap().is_some());
        canceller.say(Cancel::Gently);
        assert!(workers.lease(&Need { agent: None, commands: true }, None, None, &token).unwrap().is_none());
    }
}
