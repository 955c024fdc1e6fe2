//! Runs: plans, events, money, retries, and the state that events add up to.

pub mod event;
pub mod ledger;
pub mod plan;
pub mod price;
pub mod proposal;
pub mod remedy;
pub mod run;
pub mod waiting;
