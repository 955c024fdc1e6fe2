//! Agents: programs that take a prompt and answer. Each file holds one agent: its command line, and the reader of its
//! answer.
//!
//! No shell is used, and a prompt is never an argument: it goes by stdin or by file.

mod claude;
mod codex;
mod command;
mod credit;
mod gemini;
mod installed;
mod opencode;
mod profile;
mod real;
mod reset_time;
mod response;
mod skills;
mod via;

pub use command::{AgentSettings, BadOutput, CostPointers, EnvSettings, Output, Slots};
pub use installed::{Agent, AgentFacts, BadFacts, FactsKind, Login, Wanted, Wrap};
pub use profile::{CostReport, Fitting};
pub use real::Real;
pub use response::{Response, Talk};
pub use skills::{SkillTalk, Skills, UsedSkill};
pub use via::Via;

pub(crate) use command::filled;
pub(crate) use installed::Ground;
pub(crate) use profile::Form;
pub(crate) use response::AgentOutput;
