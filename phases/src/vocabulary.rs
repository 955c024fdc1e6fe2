//! What a loop writes into a journal: the types that plans and records are made of.
//!
//! It is the lowest of three traits of a loop. `run::Fold` builds on it, and `loops::Loop` on that.

use std::fmt::Debug;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::role::{Role, RoleSpec};

/// A value that a journal can hold.
pub trait JournalValue:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> JournalValue for T {}

pub trait Vocabulary: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// What the loop is asked to do: its part of a plan.
    type Task: JournalValue;
    /// What it can ask for: plain data, so that a step is its own key.
    type Step: JournalValue + Eq + Hash;
    /// What a step is answered with.
    type Answer: JournalValue;
    type Decision: JournalValue;

    /// Its roles, in the order in which people see them.
    const ROLES: &'static [RoleSpec];

    /// The role that answers a step, if an agent does.
    fn role(step: &Self::Step) -> Option<Role>;

    /// What the loop says of a role, if it is one of its own.
    fn spec(role: &Role) -> Option<&'static RoleSpec> {
        Self::ROLES.iter().find(|spec| spec.role == *role)
    }
}
