//! The arguments of `suite`.

use clap::{Args, Subcommand};

use crate::args::examples;
use crate::settings::values::Format;

#[derive(Clone, Debug, Args)]
pub struct SuiteArgs {
    #[command(subcommand)]
    pub command: SuiteCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum SuiteCommand {
    /// Show what is in a suite, what is lost of it, and which scenarios tell nothing
    #[command(after_help = examples::SUITE_CHECK)]
    Check(SuiteCheckArgs),
}

#[derive(Clone, Debug, Args)]
pub struct SuiteCheckArgs {
    /// Path of a suite, or path or name of a skill with evals/evals.json
    #[arg(value_name = "SUITE|SKILL")]
    pub suite: String,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}
