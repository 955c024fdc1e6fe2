//! Reading what the agents answer: a plan, an artifact, verdicts, a critique.
//!
//! A model's text is data: it can speak only of rules that it was asked about, and a verdict is never its own number.

mod artifact;
mod critique;
mod judged;
mod plan;

pub use artifact::artifact;
pub use critique::{Issue, critique};
pub use judged::{contract, judged};
pub use plan::{PlanStep, plan};
