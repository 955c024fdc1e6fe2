//! End to end: the real binary, scripted agents, a home and a project of the test's own.
#![expect(clippy::disallowed_methods, reason = "tests build their own scenes")]
#![expect(clippy::unwrap_used, reason = "a test that fails should stop where it fails")]
#![expect(clippy::print_stderr, reason = "some tests have figures to tell")]

mod attacks;
mod background;
mod bad_input;
mod blocked;
mod chain;
mod commands;
mod crash;
mod demo;
mod doctor;
mod elsewhere;
mod every_check;
mod graded;
mod hostile_state;
mod init;
mod keeping;
mod kill;
mod lint;
mod lint_fix;
mod lint_scope;
mod misbehave;
mod models;
mod offline;
mod outage;
mod outcome;
mod own_prompts;
mod placing;
mod privacy;
mod promises;
mod public_skills;
mod readme;
mod recast;
mod reflex;
mod rights;
mod rollback;
mod same_decisions;
mod scene;
mod scripts;
mod seen;
mod starting;
mod stopping;
mod story;
mod strangers;
mod structure;
mod suite_add;
mod suite_files;
mod terminal;
mod tools;
mod transcripts;
mod tune;
mod unused;
mod via;
mod waiting;
mod wrap;
