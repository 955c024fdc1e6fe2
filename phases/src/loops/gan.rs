//! The builder/evaluator loop, after moai's: what a brief asks for is built against a contract that both sides have agreed on, and
//! judged by a new evaluator each round.
//!
//! So far it is the part that decides: the contract and how it is negotiated, what an artifact is worth under it, and what
//! follows from the rounds. No command runs it yet.

pub mod contract;
pub mod course;
pub mod evaluation;
pub mod inspect;
pub mod negotiation;
pub mod profile;
pub mod rules;

#[cfg(test)]
mod tests;
