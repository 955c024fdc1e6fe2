//! The JSON schemas of the files that people and agents write, and of what scripts read. They are in `docs/schemas`.

use clap::ValueEnum;

macro_rules! schemas {
    ($($(#[$meta:meta])* $name:ident = $file:literal;)*) => {
        /// A schema by its name.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
        pub enum SchemaName {
            /// skilltune.toml
            #[default]
            Settings,
            $($(#[$meta])* $name,)*
        }

        impl SchemaName {
            /// Returns its text, unless it is made of the option tables.
            pub fn stored(self) -> Option<&'static str> {
                match self {
                    Self::Settings => None,
                    $(Self::$name => Some(include_str!(concat!("../../../docs/schemas/", $file))),)*
                }
            }
        }
    };
}

schemas! {
    /// suite.toml
    Suite = "suite.schema.json";
    /// report.json, and the last output of a run with --format json
    Report = "report.schema.json";
    /// What report.json of a review has besides
    Review = "review.schema.json";
    /// A table [agents.NAME] of skilltune.toml
    Agent = "agent.schema.json";
    /// The answer of an evaluator
    Verdict = "verdict.schema.json";
    /// The answer of an improver that does not edit files in place
    Edits = "edits.schema.json";
    /// sprints/sprint-N.json of a gan run
    Sprint = "sprint.schema.json";
    /// iterations/iteration-N/evaluation-report-N.json of a gan run
    EvaluationReport = "evaluation-report.schema.json";
    /// plan.json of an evolve run, and what --plan reads
    EvolvePlan = "evolve-plan.schema.json";
    /// receipts.json, which an evolve run commits
    EvolveReceipts = "evolve-receipts.schema.json";
}
