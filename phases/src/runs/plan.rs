//! The plan of a run: frozen at the start, the first line of the journal.
//!
//! The plan holds everything that influences decisions, so a replay needs nothing else. It only names the agents: each
//! resume looks their names up again and checks that they are trusted.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::ceiling::Ceilings;
use crate::base::id::Digest;
use crate::base::name::{Name, NotAName};
use crate::base::role::{ByRole, Role};
use crate::base::vocabulary::Vocabulary;
use crate::judging::judgement::VerdictShape;
use crate::skills::offline;

/// The version of the journal's format that this program writes.
pub const FORMAT: u32 = 1;

/// The settings that every loop has, and the task of this loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Plan<L: Vocabulary> {
    pub format: u32,
    /// The version of skilltune that made the plan.
    pub program: String,
    pub run: RunId,
    #[serde(rename = "loop")]
    pub kind: LoopKind,
    /// The run's own folder, for the paths shown in its state and report.
    pub folder: String,
    #[serde(flatten)]
    pub task: L::Task,
    pub roles: Roles,
    /// A resumed run may have other ceilings.
    pub ceilings: Ceilings,
    pub seed: u64,
    /// Raised by `--fresh`, so that no stored answer is used.
    pub epoch: u64,
    /// The run began with `--yes`: each question gets its default answer, also after a resume.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    /// The names of the machines that make the calls; empty for this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<String>,
}

/// The id of a run: a short name first, so that a few characters are a unique prefix, then the start time.
///
/// It names a folder, so it has only ASCII letters and digits, `-`, `_` and `.`, also in a journal from another person.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(Name);

impl RunId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if !text.bytes().all(is_plain) {
            return Err(NotAName(text.to_owned()));
        }
        text.parse().map(Self)
    }
}

impl TryFrom<String> for RunId {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0.into()
    }
}

/// The list of all loops, each a type and its module in `loops`. `all_loops!(make x)` calls `make!` with `[x]` and it.
#[macro_export]
macro_rules! all_loops {
    ($make:ident $($with:tt)*) => {
        $make! {
            [$($with)*]
            Tune in tune,
            Reflex in reflex,
            Gan in gan,
            Expert in expert,
            Review in review,
            Evolve in evolve,
        }
    };
}

macro_rules! kinds {
    ([] $($loop:ident in $module:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum LoopKind {
            $($loop,)*
        }

        impl LoopKind {
            pub const ALL: &'static [Self] = &[$(Self::$loop,)*];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$loop => stringify!($module),)*
                }
            }
        }
    };
}

all_loops!(kinds);

/// The agent of each role.
pub type Roles = ByRole<Cast>;

/// An agent in a role: its name, and the hashes of all its parts, so that a change is noticed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cast {
    pub agent: String,
    pub model: Option<String>,
    pub fingerprint: Fingerprint,
    pub timeout_seconds: u64,
    /// The family of the models that the agent uses, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    #[serde(default, skip_serializing_if = "Isolation::is_partial")]
    pub isolation: Isolation,
    /// The wrapper used to call the agent, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The program of the user's own wrapper in which the agent runs, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap: Option<String>,
    #[serde(default)]
    pub rights: Enforced,
    /// The shape in which it answers as an evaluator.
    #[serde(default, skip_serializing_if = "VerdictShape::is_evidenced")]
    pub verdict: VerdictShape,
    /// Whether it cannot start programs, and so none of a skill's scripts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_shell: bool,
    /// Whether it is known to have tools that open files of its workspace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opens_files: bool,
}

/// The parts that determine an agent's answers. A change can be named by its part: `program /usr/bin/claude`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(BTreeMap<String, Digest>);

impl Fingerprint {
    pub fn add(&mut self, part: impl Into<String>, content: &[u8]) {
        self.0.insert(part.into(), Digest::of(content));
    }

    /// Returns one hash of all parts.
    pub fn digest(&self) -> Digest {
        Digest::of_parts(self.0.iter().flat_map(|(part, digest)| [part.as_bytes(), digest.as_bytes()]))
    }

    /// Returns the parts that have changed.
    pub fn changed(&self, now: &Self) -> Vec<String> {
        let differ = |old: &Self, new: &Self| -> Vec<String> {
            let parts = new.0.iter().filter(|(part, digest)| old.0.get(*part) != Some(digest));
            parts.map(|(part, _)| part.clone()).collect()
        };
        // A program that was moved is named by its new path.
        let (new, gone) = (differ(self, now), differ(now, self));
        if new.is_empty() { gone } else { new }
    }
}

/// How much of the user's own environment an agent that needs no settings gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// The user's login, and as little else as the agent's switches allow.
    #[default]
    Partial,
    /// Nothing: an empty configuration folder, and a key from the environment.
    Fresh,
    /// Everything: settings, memory, hooks, servers, skills.
    User,
}

/// Who enforces the rights of an agent's role while the agent works. In any case, skilltune checks protected files
/// afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforced {
    SystemAndAgent,
    System,
    /// The agent itself, by its command line switches.
    Agent,
    /// The user's own wrapper. skilltune cannot know how far it does, and confines nothing that runs in one.
    Wrapper,
    WrapperAndAgent,
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

    pub fn within_wrapper(agent: bool) -> Self {
        if agent { Self::WrapperAndAgent } else { Self::Wrapper }
    }

    pub fn by_system(self) -> bool {
        match self {
            Self::SystemAndAgent | Self::System => true,
            Self::Agent | Self::Wrapper | Self::WrapperAndAgent | Self::Nobody => false,
        }
    }

    pub fn by_wrapper(self) -> bool {
        match self {
            Self::Wrapper | Self::WrapperAndAgent => true,
            Self::SystemAndAgent | Self::System | Self::Agent | Self::Nobody => false,
        }
    }

    /// Returns the text for people and for scripts.
    pub fn words(self) -> &'static str {
        match self {
            Self::SystemAndAgent => "system + agent",
            Self::System => "system",
            Self::Agent => "agent",
            Self::Wrapper => "wrapper",
            Self::WrapperAndAgent => "wrapper + agent",
            Self::Nobody => "not enforced",
        }
    }
}

impl Roles {
    /// Returns whether any agent uses the user's own configuration.
    pub fn in_user_world(&self) -> bool {
        self.values().any(|cast| cast.isolation == Isolation::User)
    }

    /// Returns the first wrapper used to call any of the agents.
    pub fn wrapper(&self) -> Option<&str> {
        self.values().find_map(|cast| cast.via.as_deref())
    }

    /// Returns the first program of the user's own wrapper in which any of the agents runs.
    pub fn wrap(&self) -> Option<&str> {
        self.values().find_map(|cast| cast.wrap.as_deref())
    }

    /// Returns the model family of the executor if the evaluator has the same one.
    pub fn own_judge(&self) -> Option<&str> {
        let family = |role| self.get(role)?.family.as_deref();
        family(&Role::EXECUTOR).filter(|own| family(&Role::EVALUATOR) == Some(own))
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
    /// Returns the text for people.
    pub fn shown(&self) -> String {
        let agent = offline::shown(&self.agent);
        let agent = self.model.as_ref().map_or_else(|| agent.to_owned(), |model| format!("{agent}:{model}"));
        let agent = self.via.as_ref().map_or(agent.clone(), |via| format!("{agent} via {via}"));
        self.wrap.as_ref().map_or(agent.clone(), |wrap| format!("{agent} in {wrap}"))
    }
}

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_part_is_named_and_changes_the_whole() {
        let of = |parts: &[(&str, &str)]| {
            let mut fingerprint = Fingerprint::default();
            for (part, content) in parts {
                fingerprint.add(*part, content.as_bytes());
            }
            fingerprint
        };
        let before = of(&[("program /a", "1"), ("settings", "s")]);
        assert_eq!(before.changed(&before), [""; 0]);
        let changes = [
            (of(&[("program /a", "2"), ("settings", "s")]), "program /a"),
            (of(&[("program /b", "1"), ("settings", "s")]), "program /b"),
            (of(&[("settings", "s")]), "program /a"),
        ];
        for (now, part) in changes {
            assert_eq!(before.changed(&now), [part]);
            assert_ne!(before.digest(), now.digest());
        }
    }

    #[test]
    fn a_plan_of_before_claims_no_rights_and_every_claim_is_read_as_it_was_written() {
        let cast = Cast {
            agent: "claude".into(),
            model: None,
            fingerprint: Fingerprint::default(),
            timeout_seconds: 1,
            family: None,
            isolation: Isolation::Partial,
            via: None,
            wrap: None,
            rights: Enforced::SystemAndAgent,
            verdict: VerdictShape::Evidenced,
            lacks_shell: true,
            opens_files: true,
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
