//! The core, driven without a disk, a clock or a process.

mod calibration;
mod comparing;
mod comparison;
mod cost;
mod credit;
mod delivery;
mod drafting;
mod drive;
mod endings;
mod frontmatter;
mod graded;
mod improving;
mod laws;
mod panel;
mod price;
mod prompts;
mod recast;
mod reflex;
mod regrading;
mod roles;
mod search;
mod starting;
mod turns;
mod unaided;
mod waiting;
mod world;
