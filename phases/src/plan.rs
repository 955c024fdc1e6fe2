//! What a run is asked to do: frozen at its start, the first line of its journal.
//!
//! Everything that decides is here, so that a replay needs nothing else. Agents are only named: what their names mean
//! is looked up, and trusted, again each time a run is taken up.

use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::contract::Contract;
use crate::delivery::Delivery;
use crate::id::{CandidateId, Digest, TreeId};
use crate::offline;
use crate::scenario::Scenario;
use crate::score::Score;
use crate::step::Role;

/// The version of the journal's format that this program writes.
pub const FORMAT: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub format: u32,
    /// The version of skilltune that made the plan.
    pub program: String,
    pub run: RunId,
    #[serde(rename = "loop")]
    pub kind: LoopKind,
    /// The run's own folder, for the paths shown in its state and report.
    pub folder: String,
    pub target: Target,
    pub scenarios: Vec<Scenario>,
    pub contract: Contract,
    pub rules: Rules,
    pub roles: Roles,
    /// Older journals know only the first way.
    #[serde(default)]
    pub delivery: Delivery,
    pub apply: Apply,
    pub seed: u64,
    /// Raised by `--fresh`, so that no stored answer fits.
    pub epoch: u64,
}

/// A short name first, so that a few characters are a unique prefix; then when it began.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    Tune,
}

/// The folders that may change, in the order in which they run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    pub mode: Mode,
    pub members: Vec<Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Single,
    Chain,
}

/// One skill of the target, as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    /// The real path of the skill's folder.
    pub path: String,
    pub start: TreeId,
    /// The Markdown files of the skill, relative, as the original lists them.
    pub files: Vec<String>,
}

/// A member's place in the chain, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(pub usize);

/// The numbers that the run's decisions are judged against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    pub max_iterations: u32,
    pub threshold: Score,
    /// A draft that falls by more than this below the best is dropped at once.
    pub regress: f64,
    /// Stalled when the best has risen by no more than `gain` over `window` rounds.
    pub stall: Stall,
    /// Failed rounds in a row that end the run.
    pub max_errors: u32,
    /// Fresh trials of each contestant in the final comparison; none means that the search's own scores decide.
    pub confirm: u32,
    /// The share of scenarios that must have been judged for a round to have a score.
    pub coverage: f64,
    pub budget: Budget,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    pub window: usize,
    pub gain: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    pub usd: Option<f64>,
    /// Seconds of agents' work, added up over all calls.
    pub seconds: Option<u64>,
}

/// Who does what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roles {
    pub executor: Cast,
    pub evaluator: Cast,
    pub improver: Cast,
}

/// An agent in a role: its name, and the hash of all its settings, so that a changed agent is noticed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cast {
    pub agent: String,
    pub model: Option<String>,
    pub settings: Digest,
    pub timeout_seconds: u64,
    /// Whose models it asks, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    #[serde(default, skip_serializing_if = "Isolation::is_partial")]
    pub isolation: Isolation,
    /// The wrapper through which it is called, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    #[serde(default)]
    pub rights: Enforced,
}

/// How much of the user's own world an agent that needs no settings is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Their login, and as little else as its switches allow.
    #[default]
    Partial,
    /// Nothing: an empty configuration folder, and a key of the environment.
    Fresh,
    /// All of it: settings, memory, hooks, servers, skills.
    User,
}

/// Who keeps an agent to the rights of its role, while it works. What it was to leave alone is looked at afterwards in
/// any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforced {
    SystemAndAgent,
    System,
    /// The agent itself, by the switches that it was started with.
    Agent,
    #[default]
    Nobody,
}

impl Enforced {
    pub fn by(system: bool, agent: bool) -> Self {
        match (system, agent) {
            (true, true) => Self::SystemAndAgent,
            (true, false) => Self::System,
            (false, true) => Self::Agent,
            (false, false) => Self::Nobody,
        }
    }

    pub fn by_system(self) -> bool {
        match self {
            Self::SystemAndAgent | Self::System => true,
            Self::Agent | Self::Nobody => false,
        }
    }

    /// As people are told it, and scripts too.
    pub fn words(self) -> &'static str {
        match self {
            Self::SystemAndAgent => "system + agent",
            Self::System => "system",
            Self::Agent => "agent",
            Self::Nobody => "not enforced",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apply {
    Auto,
    Ask,
    Never,
}

impl Roles {
    pub fn of(&self, role: Role) -> &Cast {
        match role {
            Role::Executor => &self.executor,
            Role::Evaluator => &self.evaluator,
            Role::Improver => &self.improver,
        }
    }

    /// Whether any agent is in the user's own world.
    pub fn in_user_world(&self) -> bool {
        [&self.executor, &self.evaluator, &self.improver].iter().any(|cast| cast.isolation == Isolation::User)
    }

    /// The wrapper that stands between us and any of them.
    pub fn wrapper(&self) -> Option<&str> {
        [&self.executor, &self.evaluator, &self.improver].into_iter().find_map(|cast| cast.via.as_deref())
    }

    /// The family that does the work and judges it too.
    pub fn own_judge(&self) -> Option<&str> {
        self.executor.family.as_deref().filter(|_| self.executor.family == self.evaluator.family)
    }
}

impl Isolation {
    pub fn word(self) -> &'static str {
        match self {
            Self::Partial => "partial",
            Self::Fresh => "fresh",
            Self::User => "user",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
    fn is_partial(&self) -> bool {
        *self == Self::Partial
    }
}

impl Cast {
    /// As people are told it.
    pub fn shown(&self) -> String {
        let agent = offline::shown(&self.agent);
        let agent = self.model.as_ref().map_or_else(|| agent.to_owned(), |model| format!("{agent}:{model}"));
        self.via.as_ref().map_or(agent.clone(), |via| format!("{agent} via {via}"))
    }
}

impl Plan {
    /// The target as it was found.
    pub fn start(&self) -> Candidate {
        let trees = self.target.members.iter().map(|member| member.start).collect();
        Candidate::original(trees)
    }

    pub fn start_id(&self) -> CandidateId {
        self.start().id
    }

    pub fn is_chain(&self) -> bool {
        self.target.members.len() > 1
    }

    pub fn member(&self, place: Place) -> &Member {
        &self.target.members[place.0]
    }

    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        (0..self.target.members.len()).map(Place)
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_of_before_claims_no_rights_and_every_claim_is_read_as_it_was_written() {
        let cast = Cast {
            agent: "claude".into(),
            model: None,
            settings: Digest::of(b"claude"),
            timeout_seconds: 1,
            family: None,
            isolation: Isolation::Partial,
            via: None,
            rights: Enforced::SystemAndAgent,
        };
        let mut text = serde_json::to_value(&cast).unwrap();
        assert_eq!(serde_json::from_value::<Cast>(text.clone()).unwrap(), cast);
        text.as_object_mut().unwrap().remove("rights");
        assert_eq!(serde_json::from_value::<Cast>(text).unwrap().rights, Enforced::Nobody);
        for (system, agent) in [(true, true), (true, false), (false, true), (false, false)] {
            let words = Enforced::by(system, agent).words();
            assert_eq!(Enforced::by(system, agent).by_system(), system);
            assert_eq!((words.contains("system"), words.contains("agent")), (system, agent));
        }
    }
}
