//! Arguments that several commands share. Each checks the form; the commands check the meaning.

pub mod examples;
pub mod lint;
pub mod night;
pub mod overrides;
pub mod runs;
pub mod schemas;
pub mod shared;
pub mod suite;
