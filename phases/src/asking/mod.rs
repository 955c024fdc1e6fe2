//! Requests to agents: orders and prompts.

pub mod order;
pub mod prompt;
