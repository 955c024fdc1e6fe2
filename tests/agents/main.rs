//! Tests of the adapters with the real agents, which talk to our own model server. `tests/agents/run` installs them.
#![expect(clippy::disallowed_methods, reason = "tests build their own scenes")]
#![expect(clippy::unwrap_used, reason = "a test that fails should stop where it fails")]

mod ends;
mod evolve;
mod failures;
mod gan;
mod hostile;
mod isolation;
mod plugin;
mod reflex;
mod review;
mod rights;
mod scene;
mod server;
mod shell;
mod skills;
mod tools;
mod whole;
mod wrap;
