//! Agents: programs that take a prompt and answer. One file an agent: how it is called, and how its answer is read.
//!
//! No shell is ever asked, and a prompt is never an argument: it goes by stdin or by file.

mod claude;
mod codex;
mod command;
mod found;
mod gemini;
mod heard;
mod opencode;
mod real;
mod skills;
mod stream;
mod until;
mod via;

pub use command::{AgentSettings, BadOutput, CostPointers, EnvSettings, Output};
pub use found::{Agent, Login, Slots};
pub use heard::{Heard, Talk};
pub use real::{Fitting, Real};
pub use skills::{SkillTalk, Skills, UsedSkill};
pub use via::Via;

pub(crate) use command::filled;
pub(crate) use found::Ground;
pub(crate) use heard::Remains;
pub(crate) use real::Form;
