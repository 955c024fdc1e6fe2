//! What several loops do in the same way.

pub mod rounds;
pub mod step;
