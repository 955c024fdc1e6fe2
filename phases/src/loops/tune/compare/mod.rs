//! The parts of a final comparison: what it rests on, its judges, and what it costs.

pub(super) mod apart;
pub(super) mod basis;
pub mod panel;
pub mod price;
