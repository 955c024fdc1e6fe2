//! The flags of `lint`.

use clap::{Args, ValueEnum};
use skilltune_phases::lint::Reach;

#[derive(Clone, Debug, Args)]
pub struct LintArgs {
    /// Paths or names of skills, or folders that hold skills
    #[arg(value_name = "SKILL", required = true)]
    pub skills: Vec<String>,
    /// Mend what keeps its meaning; with =all what only moves text, too
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
    /// What keeps the meaning of every word
    Safe,
    /// What moves text to another place as well
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

impl From<Fix> for Reach {
    fn from(fix: Fix) -> Self {
        match fix {
            Fix::Safe => Self::Keeps,
            Fix::All => Self::Moves,
        }
    }
}
