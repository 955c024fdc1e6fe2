//! The built-in agent: no model, it uses only what the files show.
//!
//! ```text
//! Order --> Task --> walk | a command        the executor: loads the skill as an agent would
//!               \--> judge(task, folders)    the evaluator: what diagnostics can answer, and nothing else
//!                \-> improve(files, tried)   the improver: one kind of repair that keeps every meaning
//! ```
//!
//! Its results are deterministic. What structure cannot show stays `unverified`, and every report names it structural.

mod improve;
mod judge;
mod task;
mod walk;

pub use improve::{Improved, improve};
pub use judge::{Ran, judge};
pub use task::{Folder, Judged, Task};
pub use walk::walk;

/// The agent's name in commands and settings.
pub const NAME: &str = "offline";

/// The agent's name in reports and state.
pub const SHOWN: &str = "offline (structural)";

/// Returns an agent's name for people.
pub fn shown(agent: &str) -> &str {
    if agent == NAME { SHOWN } else { agent }
}

#[cfg(test)]
mod tests;
