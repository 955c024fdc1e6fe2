//! What a run is asked to do: frozen at its start, the first line of its journal.
//!
//! Everything that decides is here, so that a replay needs nothing else. Agents are only named: what their names mean
//! is looked up, and trusted, again each time a run is taken up.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::ceiling::Ceilings;
use crate::id::Digest;
use crate::judgement::VerdictShape;
use crate::name::{Name, NotAName};
use crate::offline;
use crate::role::{ByRole, Role, RoleSpec};
use crate::vocabulary::Vocabulary;

/// The version of the journal's format that this program writes.
pub const FORMAT: u32 = 1;

/// What every loop is told, and what this one is asked to do.
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
    #[serde(deserialize_with = "roles_of::<L, _>")]
    pub roles: Roles,
    /// A resumed run may have others.
    pub ceilings: Ceilings,
    pub seed: u64,
    /// Raised by `--fresh`, so that no stored answer fits.
    pub epoch: u64,
    /// It began with `--yes`: its questions are answered by their defaults whenever it is taken up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
}

/// A short name first, so that a few characters are a unique prefix; then when it began.
///
/// It names a folder, so it is plain whoever wrote it: ASCII letters and digits, `-`, `_` and `.`.
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

/// The one list of all loops, each a type and its module in `loops`. `all_loops!(make x)` calls `make!` with `[x]` and the list.
#[macro_export]
macro_rules! all_loops {
    ($make:ident $($with:tt)*) => {
        $make! {
            [$($with)*]
            Tune in tune,
            Reflex in reflex,
            Gan in gan,
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

/// Who does what.
pub type Roles = ByRole<Cast>;

/// Reads an agent for each role of the loop that a run cannot do without, and for none that it does not have.
fn roles_of<'de, L: Vocabulary, D: Deserializer<'de>>(from: D) -> Result<Roles, D::Error> {
    let mut casts = BTreeMap::<Role, Cast>::deserialize(from)?;
    let mut take = |RoleSpec { role, is_optional, .. }: &RoleSpec| match casts.remove(role) {
        Some(cast) => Some(Ok((role.clone(), cast))),
        None if *is_optional => None,
        None => Some(Err(D::Error::custom(format!("no agent for the role {role}")))),
    };
    let roles = L::ROLES.iter().filter_map(&mut take).collect::<Result<_, _>>()?;
    match casts.keys().next() {
        None => Ok(roles),
        Some(stranger) => Err(D::Error::custom(format!("the loop has no role {stranger}"))),
    }
}

/// An agent in a role: its name, and the hashes of all that it consists of, so that a changed agent is noticed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cast {
    pub agent: String,
    pub model: Option<String>,
    pub fingerprint: Fingerprint,
    pub timeout_seconds: u64,
    /// Whose models it asks, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    #[serde(default, skip_serializing_if = "Isolation::is_partial")]
    pub isolation: Isolation,
    /// The wrapper through which it is called, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The program of the user's own wrapper that it runs in, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap: Option<String>,
    #[serde(default)]
    pub rights: Enforced,
    /// How it answers as an evaluator.
    #[serde(default, skip_serializing_if = "VerdictShape::is_evidenced")]
    pub verdict: VerdictShape,
    /// Whether it can start no program, and so none of a skill's scripts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_shell: bool,
}

/// What makes an agent answer as it does, part by part, so that a change can be named: `program /usr/bin/claude`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(BTreeMap<String, Digest>);

impl Fingerprint {
    pub fn add(&mut self, part: impl Into<String>, content: &[u8]) {
        self.0.insert(part.into(), Digest::of(content));
    }

    /// One hash of all parts.
    pub fn digest(&self) -> Digest {
        Digest::of_parts(self.0.iter().flat_map(|(part, digest)| [part.as_bytes(), digest.as_bytes()]))
    }

    /// The parts in which the agent is another one now.
    pub fn changed(&self, now: &Self) -> Vec<String> {
        let differ = |old: &Self, new: &Self| -> Vec<String> {
            let parts = new.0.iter().filter(|(part, digest)| old.0.get(*part) != Some(digest));
            parts.map(|(part, _)| part.clone()).collect()
        };
        // A program that was moved is named where it is now.
        let (new, gone) = (differ(self, now), differ(now, self));
        if new.is_empty() { gone } else { new }
    }
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
    /// The user's own wrapper, as far as it does: skilltune cannot know, and confines nothing that runs in one.
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

    /// As people are told it, and scripts too.
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
    /// Whether any agent is in the user's own world.
    pub fn in_user_world(&self) -> bool {
        self.values().any(|cast| cast.isolation == Isolation::User)
    }

    /// The wrapper that stands between us and any of them.
    pub fn wrapper(&self) -> Option<&str> {
        self.values().find_map(|cast| cast.via.as_deref())
    }

    /// The program of the user's own wrapper that any of them runs in.
    pub fn wrap(&self) -> Option<&str> {
        self.values().find_map(|cast| cast.wrap.as_deref())
    }

    /// The family that does the work and judges it too.
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
    /// As people are told it.
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
