//! The flags of `lint`.

use clap::{Args, ValueEnum};

#[derive(Clone, Debug, Args)]
pub struct LintArgs {
    /// Names, paths or files of skills, or folders that contain skills; without any, the skill of the current folder, or all skills here and in your home
    #[arg(value_name = "SKILL")]
    pub skills: Vec<String>,
    /// Fix problems that are safe to fix; --fix=all also shows each suggested fix as a diff and asks
    #[arg(long, value_enum, value_name = "WHAT", requires = "skills", num_args = 0..=1, require_equals = true, default_missing_value = "safe")]
    pub fix: Option<Fix>,
    /// Report only what the reference validator of the Agent Skills specification rejects
    #[arg(long, conflicts_with_all = ["fix", "rule"])]
    pub spec: bool,
    /// Also check a rule that is off by default
    #[arg(long, value_enum, value_name = "RULE")]
    pub rule: Vec<Optional>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: LintFormat,
}

/// The rules that are off by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Optional {
    /// Long files without a table of contents
    ContentsMissing,
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
