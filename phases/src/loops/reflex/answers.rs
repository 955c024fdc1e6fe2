//! Reads the agents' answers: rules, a plan, an artifact, verdicts, a critique.
//!
//! A model's text is data: it can refer only to rules that it was asked about, and a number of its own is never a
//! verdict.

mod artifact;
mod critique;
mod plan;
mod proposal;
mod verdicts;

pub use artifact::artifact;
pub use critique::{Issue, critique};
pub use plan::{PlanStep, plan};
pub use proposal::{Wanted, proposal};
pub use verdicts::{contract, judged};
