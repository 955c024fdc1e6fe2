//! The guardians against real programs that misbehave. No test sleeps: each waits for an event.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that fails should stop where it fails")]

mod confined;
mod deaths;
mod endings;
mod leftovers;
mod output;
mod pool;
mod stage;
