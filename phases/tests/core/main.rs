//! The core, driven without a disk, a clock or a process.

mod delivery;
mod drive;
mod endings;
mod frontmatter;
mod graded;
mod laws;
mod prompts;
mod recast;
mod reflex;
mod roles;
mod search;
mod starting;
mod waiting;
mod world;
