//! The decisions of skilltune.
//!
//! A sans-IO core: no files, no clock, no processes, no randomness. Time, ids and seeds come in as values.
//!
//! ```text
//! Run ---> loop.next(&Run) ---> Decide | Do(steps) | End        (loops, judging)
//!  ^                                        |
//!  |   loop.request(&Run, step)             v                   (asking, prompts/)
//!  |   an outcome of the loop's own    <- carried out outside   (judging, skills)
//!  +-- run.apply(&Record) <------------ recorded                (runs)
//! ```
//!
//! A loop is a type. It has its own journal types (`base::vocabulary`), fold (`runs::run`) and next steps (`loops`); all
//! loops share the rest.

// Here, because cargo compiles this crate first: in another one, it would be lost among errors of crates below it.
#[cfg(windows)]
compile_error!("skilltune does not run on Windows itself: run `wsl --install`, then build it inside WSL");

pub mod asking;
pub mod base;
pub mod experts;
pub mod judging;
pub mod loops;
pub mod nights;
#[cfg(feature = "research")]
pub mod research;
pub mod runs;
#[cfg(test)]
mod schemas;
pub mod skills;
pub mod suites;
