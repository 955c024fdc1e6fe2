//! The command of `review`.

use clap::Args;

use crate::args::examples;
use crate::args::shared::{AGENTS, CallFlags, RUN, RunFlags};
use crate::loops::review::settings::ReviewSettings;
use crate::settings::flags::{Flags, Given, Group, Placing};
use crate::settings::values::AgentSpec;

const REVIEW: &str = "Review";

/// Review a change: machines look first, reviewers follow, and a second agent checks each finding
#[derive(Clone, Debug, Args)]
#[command(after_help = examples::REVIEW)]
pub struct ReviewArgs {
    /// Folder or file, revision (everything since it), or FROM..TO [default: uncommitted changes]
    pub what: Option<String>,

    #[command(flatten)]
    pub how: Flags<Self, 0>,

    /// Agent of every role that no other flag names: NAME or NAME:MODEL
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub agent: Option<AgentSpec>,
    /// Agent that plays the reviewers [default: that of their tier, else the executor]
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub reviewer: Option<AgentSpec>,
    /// Agent that checks the findings, preferably of another family [default: the evaluator]
    #[arg(long, value_name = "AGENT", help_heading = AGENTS)]
    pub verifier: Option<AgentSpec>,
    #[command(flatten)]
    pub calls: CallFlags,
    /// Trust the project's experts, commands and agents for this run
    #[arg(long, help_heading = AGENTS)]
    pub trust: bool,

    /// Seed for the codes in prompts [default: a hash of the inputs]
    #[arg(long, value_name = "N", help_heading = RUN)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub run: RunFlags,
    #[command(flatten)]
    pub given: Given,
}

impl Placing for ReviewArgs {
    type Tables = ReviewSettings;

    const GROUPS: &'static [Group] =
        &[(Some(REVIEW), "review.with review.fail_on review.most review.commands")];
}
