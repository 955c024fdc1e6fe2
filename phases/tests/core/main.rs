//! The core, driven without a disk, a clock or a process.

mod calibration;
mod call_keys;
mod comparing;
mod comparison;
mod cost;
mod credit;
mod danger;
mod delivery;
mod drafting;
mod endings;
mod expert;
mod extending;
mod failed_edits;
mod frontmatter;
mod gan;
mod graded;
mod improving;
mod keep_free;
mod laws;
mod pairs;
mod panel;
mod price;
mod prompts;
mod recast;
mod reflex;
mod regrading;
mod roles;
mod search;
mod short;
mod starting;
mod testing;
mod turns;
mod waiting;
mod without_skill;

use skilltune_worlds::{drive, tune as world};
