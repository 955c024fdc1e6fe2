//! What several loops do in the same way.

mod commands;
pub mod rounds;
pub mod step;
mod tail;
