//! Requests to agents: who is asked, and in which words.

pub mod order;
pub mod prompt;
