//! The aims besides the search: to compare, to judge again, to calibrate, to try without a skill.

pub mod calibration;
pub(super) mod comparison;
pub mod regrade;
pub mod without_skill;
