//! The decisions of skilltune.
//!
//! A sans-IO core: no files, no clock, no processes, no randomness. Time, ids and seeds come in as values.
//!
//! ```text
//! Run ---> loop.next(&Run) ---> Decide | Do(steps) | End        (loops/, stop)
//!  ^                                        |
//!  |   loop.order(step), order.prompt(..)   v                   (order, prompt, prompts/)
//!  |   an outcome of the loop's own    <- carried out outside   (judgement, edit, skill)
//!  +-- run.apply(&Record) <------------ recorded                (event, run)
//! ```
//!
//! A loop is a type. It has its own journal types (vocabulary), fold (run) and next steps (loops); all loops share the
//! rest.

pub mod agreement;
pub mod answer;
pub mod backoff;
pub mod candidate;
pub mod ceiling;
pub mod checks;
pub mod context;
pub mod contract;
pub mod delivery;
pub mod demand;
pub mod drafts;
mod draw;
pub mod drift;
pub mod edit;
pub mod ending;
pub mod event;
pub mod findings;
mod form;
pub mod gauge;
pub mod id;
pub mod json;
pub mod judgement;
pub mod keys;
pub mod leak;
pub mod ledger;
pub mod lint;
pub mod loops;
pub mod material;
pub mod model;
pub mod name;
pub mod night;
pub mod offline;
pub mod order;
pub mod plan;
pub mod price;
pub mod prompt;
pub mod proof;
pub mod proposal;
pub mod remedy;
pub mod role;
pub mod rubric;
pub mod rules;
pub mod run;
pub mod scenario;
#[cfg(test)]
mod schemas;
pub mod score;
pub mod simulate;
pub mod skill;
pub mod split;
pub mod stop;
pub mod target;
pub mod transcript;
pub mod vacuous;
pub mod vocabulary;
pub mod waiting;
pub mod window;
pub mod yaml;
