//! Random cases, each with a world and the commands run in it.

use std::fmt;

use serde_json::Value;

use super::{loops, tune};
use crate::kill::Random;

/// A world and the commands run in it.
pub(super) struct Case {
    pub(super) kind: &'static str,
    /// The number of parallel calls.
    pub(super) jobs: &'static str,
    pub(super) skills: Vec<(&'static str, u32)>,
    pub(super) script: Value,
    pub(super) acts: Vec<Act>,
    pub(super) chance: Chance,
}

/// The nondeterminism of a case besides the order of parallel calls.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Chance {
    #[default]
    Nothing,
    /// Several calls fail at the same time, and any of them can be named first.
    FirstFailure,
    /// Two trials with the same output are inspected once if they also took the same time.
    SameEvidence,
}

pub(super) enum Act {
    /// Writes a file of the project.
    Write(&'static str, String),
    /// Runs skilltune with these arguments; `{run}` is replaced by the newest run.
    Run(Vec<String>),
}

impl Case {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = Random(seed);
        match seed % 10 {
            0 => tune::search(&mut random, seed, "1"),
            1 => loops::reflex(&mut random, seed, "1"),
            2 => tune::search(&mut random, seed, "4"),
            3 => loops::reflex(&mut random, seed, "4"),
            4 => loops::gan(&mut random, seed, "1"),
            5 => loops::gan(&mut random, seed, "4"),
            6 => tune::with_suite(&mut random, seed),
            7 => tune::without_skill(&mut random),
            8 => tune::calibration(&mut random, seed),
            _ => tune::comparison(&mut random, seed),
        }
    }

    /// Returns whether calls have a fixed order. Parallel calls do not.
    pub(super) fn is_ordered(&self) -> bool {
        self.jobs == "1"
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.acts.iter().filter_map(|act| match act {
            Act::Run(arguments) => Some(format!("{arguments:?}")),
            Act::Write(..) => None,
        });
        write!(f, "{}: {}", self.kind, lines.collect::<Vec<_>>().join(", then "))
    }
}

pub(super) fn one_of<T: Clone>(random: &mut Random, all: &[T]) -> T {
    let chosen = random.below(all.len() as u64);
    all[usize::try_from(chosen).unwrap()].clone()
}

pub(super) fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

pub(super) fn quality(random: &mut Random) -> u32 {
    u32::try_from(10 + random.below(89)).unwrap()
}

pub(super) fn format(random: &mut Random) -> &'static str {
    one_of(random, &["json", "human", "jsonl"])
}
