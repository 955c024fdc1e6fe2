//! The reflex loop, after aif-loop: one text for a task, planned, written, judged by rules and mended, at two levels.

pub mod answers;
pub mod checks;
pub mod criteria;
pub mod prompts;
pub mod reply;
pub mod sections;
pub mod verdict;
//! The reflex loop: one text artifact, made and remade until its rules are met.
pub mod original;
