//! The builder/evaluator loop, driven without a disk, a clock or a process.

mod laws;
mod machine;
mod refusals;

pub(crate) use skilltune_worlds::gan as world;
