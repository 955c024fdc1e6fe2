//! Measures what a search policy is worth: the real core of `tune` in a simulated world, with no agents and no cost.
//!
//! ```text
//! Law + seed -> World -> Play: Tune::next -> step -> Agents answer -> Run::apply -> ... -> Played -> Row
//!                          ^ Policy: the plan, when it is over, what it leaves
//! ```
//!
//! Everything follows from the law, the seed, the policy and its budget. To add a policy, add a variant to `Policy`. An
//! external search uses `Rival`: the same agents answer it, and the core is not involved.
//!
//! The agents are public, so that programs can act as them: the end-to-end tests run the real `tune` with these, with
//! the same result. skilltune itself has nothing of this crate.

pub mod agents;
mod chain;
mod plan;
mod play;
mod policy;
mod rival;
mod row;
mod skill;
mod workshop;
mod world;

pub use play::{Played, play, play_and_tell};
pub use policy::Policy;
pub use rival::{Rival, Statement, TrialResult};
pub use row::{Estimate, Row};
pub use skill::Skill;
pub use world::{Law, World};

#[cfg(test)]
mod tests;
