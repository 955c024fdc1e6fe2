//! Nights: the jobs of a night, its journal, and the trend over many nights.

pub mod drift;
pub mod night;
