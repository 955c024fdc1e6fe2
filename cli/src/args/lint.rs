//! The flags of `lint`.

use clap::{Args, ValueEnum};

#[derive(Clone, Debug, Args)]
pub struct LintArgs {
    /// Paths or names of skills, or folders that contain skills
    #[arg(value_name = "SKILL", required = true)]
    pub skills: Vec<String>,
    /// Fix problems that are safe to fix; --fix=all also shows each suggested fix as a diff and asks
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "safe")]
    pub fix: Option<Fix>,
    /// Exit with an error on warnings too
    #[arg(long)]
    pub strict: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: LintFormat,
}

/// How far `--fix` goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fix {
    /// Only fixes that cannot change what an agent or a script does
    Safe,
    /// Also each suggested fix that you accept
    All,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// Text
    #[default]
    Human,
    /// One JSON object
    Json,
    /// GitHub Actions annotations
    Github,
}
