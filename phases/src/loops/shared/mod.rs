//! What several loops do in the same way.

pub mod command_line;
pub mod commands;
pub mod diagnostics;
pub(crate) mod form;
pub(in crate::loops) mod looking;
pub mod persona;
pub mod request;
pub mod rounds;
pub mod scanners;
pub mod step;
pub mod test_results;
