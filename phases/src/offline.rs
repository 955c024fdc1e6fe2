//! The built-in agent: no model, only what can be seen in the files.
//!
//! ```text
//! Order --> Task --> walk | a command        the executor: loads the skill as an agent would
//!               \--> judge(task, folders)    the evaluator: what findings can answer, and nothing else
//!                \-> improve(files, tried)   the improver: one kind of repair that keeps every meaning
//! ```
//!
//! Deterministic, and honest: what structure cannot show stays `unverified`, and every report names it structural.

mod improve;
mod judge;
mod task;
mod walk;

pub use improve::{Improved, improve};
pub use judge::{Ran, judge};
pub use task::{Folder, Judged, Task};
pub use walk::walk;

/// How the agent is asked for.
pub const NAME: &str = "offline";

/// How every report and state names it.
pub const SHOWN: &str = "offline (structural)";

/// An agent's name as people are told it.
pub fn shown(agent: &str) -> &str {
    if agent == NAME { SHOWN } else { agent }
}

#[cfg(test)]
mod tests;
