//! The types that a loop writes into a journal, in plans and records.
//!
//! It is the lowest of three traits of a loop. `run::Fold` builds on it, and `loops::Loop` on that.

use std::fmt::Debug;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::role::Role;

/// A value that a journal can hold.
pub trait JournalValue:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> JournalValue for T {}

pub trait Vocabulary: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// The loop's part of a plan.
    type Task: JournalValue;
    /// A step that the loop can ask for. It is plain data, so a step is its own key.
    type Step: JournalValue + Eq + Hash;
    /// The answer to a step.
    type Answer: JournalValue;
    type Decision: JournalValue;

    /// Returns the role that answers a step, if an agent does.
    fn role(step: &Self::Step) -> Option<Role>;
}
