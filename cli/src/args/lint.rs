//! The flags of `lint`.

use clap::{Args, ValueEnum};

#[derive(Clone, Debug, Args)]
pub struct LintArgs {
    /// Paths or names of skills, or folders that hold skills
    #[arg(value_name = "SKILL", required = true)]
    pub skills: Vec<String>,
    /// Fix what is safe to fix; =all asks about every suggestion as well, with its diff
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "safe")]
    pub fix: Option<Fix>,
    /// Let warnings fail, as strict validators do
    #[arg(long)]
    pub strict: bool,
    /// How findings are told
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: LintFormat,
}

/// How far `--fix` goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fix {
    /// What changes nothing that an agent or a script could miss
    Safe,
    /// Each suggestion as well to which a person says yes
    All,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// Lines for people
    #[default]
    Human,
    /// One object
    Json,
    /// Commands that GitHub's workflows show beside the lines they are about
    Github,
}
