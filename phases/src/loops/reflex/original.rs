//! The files of the original loop, under `.ai-factory/evolution/`: written strictly, read leniently.
//!
//! ```text
//! current.json                what runs now           Current      --> text          read_current --> FoundCurrent
//! <alias>/run.json            the state of a run      RunFile      --> text          read_run     --> FoundRun
//! <alias>/history.jsonl       what happened, by line  HistoryLine  --> text          read_history --> History
//! <alias>/artifact.md         the artifact itself                                    rebuild(History) --> FoundRun
//! ```
//!
//! Our own journal is the truth, these are what we tell the original of it. What is read may have been written by a
//! model or by hand: what is absent or odd is told, never guessed, and nothing in it can be run.

mod current;
mod fraction;
mod history;
mod lenient;
mod name;
mod parts;
mod rebuild;
mod run_file;
#[cfg(test)]
mod tests;
mod words;

pub use current::{Current, FoundCurrent, read_current};
pub use fraction::Fraction;
pub use history::{FoundLine, History, HistoryLine, Overrun, payload, read_history};
pub use lenient::{Doubt, Unreadable};
pub use name::{Alias, artifact_hash, run_id};
pub use parts::{
    Check, Criteria, Critique, Evaluation, Fault, Gate, Gates, How, Issue, PreparedChecks, Rule, RuleResult,
    ShellLine, Stop, Task,
};
pub use rebuild::rebuild;
pub use run_file::{FoundRun, RunFile, read_run};
pub use words::{Event, LineStatus, Phase, Severity, Status, Step, StopReason, Verdict, Vocabulary, Word};
