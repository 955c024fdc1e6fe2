//! What a run of `gan` leaves for people and scripts to read, and how it is told while it goes on.

pub mod history;
pub mod json;
pub mod page;
pub mod words;
