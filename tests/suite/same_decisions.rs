//! Checks that an older binary and this one decide the same in random scripted runs of all loops: `just same-decisions
//! OLD`.
//!
//! Each seed is a case: a world and the commands run in it. Both binaries run it one after the other in a folder of the
//! same name, so that all they decide, print and write is equal, call keys included; only times and run ids are masked.
//! `SKILLTUNE_RUNS` is the number of cases, `SKILLTUNE_SEED` the first seed.

mod case;
mod hashes;
mod loops;
mod trace;
mod tune;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::kill::setting;
use crate::scene::SKILLTUNE;

use case::Case;
use trace::Trace;

/// The results of the cases so far.
#[derive(Default)]
struct Results {
    /// The number of cases by kind and ending.
    tally: BTreeMap<String, usize>,
    differences: BTreeMap<u64, String>,
}

fn compare(old: &str, seed: u64, results: &Mutex<Results>) {
    let case = Case::of(seed);
    let old = Trace::of(old, seed, &case);
    let new = Trace::of(SKILLTUNE, seed, &case);
    let difference = old.difference(&new);
    let mut results = results.lock().expect("no other thread has panicked");
    *results.tally.entry(format!("{}: {}", case.kind, new.ending)).or_default() += 1;
    if let Some(difference) = difference {
        results.differences.insert(seed, format!("seed {seed}: {case}\n{difference}"));
    }
}

#[test]
#[ignore = "needs an older binary: just same-decisions OLD"]
fn an_older_binary_decides_prints_and_writes_the_same_in_random_scripted_runs() {
    let old = std::env::var("SKILLTUNE_OLD").expect("SKILLTUNE_OLD names the older binary");
    let (first, runs) = (setting("SKILLTUNE_SEED", 1), setting("SKILLTUNE_RUNS", 400));
    let (next, results) = (AtomicU64::new(first), Mutex::new(Results::default()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + runs {
                break;
            }
            compare(&old, seed, &results);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let Results { tally, differences } = results.into_inner().expect("no thread has panicked");
    eprintln!("same decisions: {runs} cases from seed {first}, {} differ", differences.len());
    eprintln!("{tally:#?}");
    let lines: Vec<_> = differences.into_values().collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}
