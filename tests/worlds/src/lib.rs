//! Worlds for tests and benches: they replace agents, disks and clocks when a loop runs.
//!
//! Each module of a loop plans its runs and answers their steps; `drive` plays a run to its end. The integration tests
//! of `phases`, the unit tests of `cli` and the benches share them. Unit tests in `phases/src` share
//! `tier` only: of the rest they would meet two versions of that crate.

pub mod drive;
pub mod evolve;
pub mod expert;
pub mod gan;
pub mod reflex;
pub mod review;
pub mod tier;
pub mod tune;
