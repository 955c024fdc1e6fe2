//! The parts of a final comparison: what it rests on, its judges, and what it costs.

pub(super) mod basis;
pub(super) mod control;
pub mod extension;
pub mod panel;
pub mod price;
