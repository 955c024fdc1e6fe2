//! How thorough the long tests are: `SKILLTUNE_TIER` is unset for people, `ci` in CI, and `all` where `just` runs one of
//! them whole.

/// How much of a long test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// Something of every kind, so that people can wait for it.
    First,
    Ci,
    All,
}

impl Tier {
    pub(crate) fn of_this_run() -> Self {
        match std::env::var("SKILLTUNE_TIER").as_deref() {
            Err(_) => Self::First,
            Ok("ci") => Self::Ci,
            Ok("all") => Self::All,
            Ok(other) => panic!("SKILLTUNE_TIER is ci or all, not {other}"),
        }
    }
}
