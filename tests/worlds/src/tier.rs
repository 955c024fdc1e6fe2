//! How thorough the long tests are: `SKILLTUNE_TIER` is unset for people, `ci` in CI, and `all` where `just` runs one
//! of them completely.

/// The part of a long test that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// A sample of every kind, fast enough for people to wait for.
    First,
    Ci,
    All,
}

impl Tier {
    pub fn of_this_run() -> Self {
        match std::env::var("SKILLTUNE_TIER").as_deref() {
            Err(_) => Self::First,
            Ok("ci") => Self::Ci,
            Ok("all") => Self::All,
            Ok(other) => panic!("SKILLTUNE_TIER is ci or all, not {other}"),
        }
    }
}

/// Returns the distance between two cases that run: 1 in CI, and this number for people.
pub fn stride(for_people: usize) -> usize {
    if Tier::of_this_run() == Tier::First { for_people } else { 1 }
}

/// Returns all items in CI, and for people those at this distance.
pub fn sample<T>(all: impl IntoIterator<Item = T>, for_people: usize) -> Vec<T> {
    all.into_iter().step_by(stride(for_people)).collect()
}
