//! The aims besides the search: comparing, regrading, calibrating, and trying without a skill.

pub mod calibration;
pub(super) mod comparison;
pub mod regrade;
pub mod without_skill;
