//! Shards: the parts of a night that several machines share.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::ceiling::Ceilings;
use crate::base::id::Digest;
use crate::base::name::Name;

/// The number of a part and of all parts, such as `2/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u32,
    of: u32,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("invalid shard {0:?}: use a form like 2/8, with at most {MOST}")]
pub struct NotAShard(String);

/// More than any CI matrix has.
const MOST: u32 = 256;

/// A shard whose results have arrived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub shard: Shard,
    /// The hash of its night.
    pub mark: Digest,
    /// Whether it finished.
    pub is_whole: bool,
}

impl Shard {
    pub fn number(self) -> u32 {
        self.number
    }

    pub fn of(self) -> u32 {
        self.of
    }

    /// Returns its share of the jobs: by name, in turn.
    pub fn share(self, jobs: impl IntoIterator<Item = Name>) -> BTreeSet<Name> {
        let sorted: BTreeSet<Name> = jobs.into_iter().collect();
        let turns = (1..=self.of).cycle();
        sorted.into_iter().zip(turns).filter(|(_, turn)| *turn == self.number).map(|(job, _)| job).collect()
    }

    /// Returns its share of a night's ceilings. All shares together are the whole.
    #[must_use]
    pub fn ceilings(self, whole: Ceilings) -> Ceilings {
        let of = u64::from(self.of);
        let share = |amount: u64| amount / of + u64::from(u64::from(self.number) <= amount % of);
        Ceilings {
            usd: whole.usd.map(|usd| usd / f64::from(self.of)),
            tokens: whole.tokens.map(share),
            calls: whole.calls.map(share),
            ..whole
        }
    }
}

impl FromStr for Shard {
    type Err = NotAShard;

    fn from_str(text: &str) -> Result<Self, NotAShard> {
        let read =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match read {
            Some((number, of)) if (1..=of).contains(&number) && of <= MOST => Ok(Self { number, of }),
            Some(_) | None => Err(NotAShard(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = NotAShard;

    fn try_from(text: String) -> Result<Self, NotAShard> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shards_together_have_each_job_once_and_the_whole_budget() {
        let jobs: Vec<Name> = (0..21).map(|nth| format!("job-{nth}").parse().unwrap()).collect();
        let whole = Ceilings { calls: Some(21), tokens: Some(3), usd: Some(4.0), ..Ceilings::default() };
        let shards: Vec<Shard> = (1..=8).map(|number| format!("{number}/8").parse().unwrap()).collect();
        let mut taken: Vec<Name> = shards.iter().flat_map(|shard| shard.share(jobs.clone())).collect();
        taken.sort();
        let mut all = jobs.clone();
        all.sort();
        assert_eq!(taken, all);
        let parts: Vec<Ceilings> = shards.iter().map(|shard| shard.ceilings(whole)).collect();
        assert_eq!(parts.iter().filter_map(|part| part.calls).sum::<u64>(), 21);
        assert_eq!(parts.iter().filter_map(|part| part.tokens).sum::<u64>(), 3);
        assert!(parts.iter().all(|part| part.usd == Some(0.5)));
    }

    #[test]
    fn what_is_no_part_of_a_whole_is_no_shard() {
        for text in ["", "2", "0/8", "9/8", "1/0", "-1/8", "1/257", "1/4294967296", "1/8/2"] {
            assert_eq!(text.parse::<Shard>(), Err(NotAShard(text.to_owned())));
        }
    }
}
