//! `[experts]`: where a project's experts are, and which agents play them.

use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::experts::Tier;

use crate::settings::setting::Setting;
use crate::settings::table::{Table, options};
use crate::settings::values::AgentSpec;

options! {
    ExpertSettings, "experts";
    folder: RelPath = Setting::new(usual_folder()),
        "Folder of the project's own experts.";
    frugal: Option<AgentSpec> = Setting::new(None),
        "Agent and model for experts of tier frugal, such as `frugal = \"claude:haiku\"`; roles.executor if unset.";
    standard: Option<AgentSpec> = Setting::new(None),
        "Agent and model for experts of tier standard, such as `standard = \"claude:sonnet\"`; roles.executor if unset.";
    frontier: Option<AgentSpec> = Setting::new(None),
        "Agent and model for experts of tier frontier, such as `frontier = \"claude:opus\"`; roles.executor if unset.";
}

impl ExpertSettings {
    /// Returns the agent of a tier, if one is set.
    pub fn of_tier(&self, tier: Tier) -> Option<&Setting<Option<AgentSpec>>> {
        let setting = match tier {
            Tier::Frugal => &self.frugal,
            Tier::Standard => &self.standard,
            Tier::Frontier => &self.frontier,
        };
        setting.value.is_some().then_some(setting)
    }
}

impl Table for ExpertSettings {}

fn usual_folder() -> RelPath {
    RelPath::parse(b".agents/experts").expect("it is written as a path")
}

/// A value of each key that differs from its default.
#[cfg(test)]
pub fn changes() -> Vec<(&'static str, &'static str)> {
    vec![
        ("experts.folder", "\"tools/experts\""),
        ("experts.frugal", "\"claude:haiku\""),
        ("experts.standard", "\"claude:sonnet\""),
        ("experts.frontier", "\"codex\""),
    ]
}
