//! The roles of agents and their rights. Each loop declares its own roles: their names, and what they may write.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The name of a role, such as `executor`. It is shown to people and is a key in JSON, so only plain names are valid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Role(Cow<'static, str>);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a valid name for a role")]
pub struct NotARole;

const LONGEST: usize = 32;

impl Role {
    pub const EXECUTOR: Self = Self(Cow::Borrowed("executor"));
    pub const EVALUATOR: Self = Self(Cow::Borrowed("evaluator"));
    /// Does alone what executors do task by task, to compare the two.
    pub const CONTROL: Self = Self(Cow::Borrowed("control"));
    /// Builds what a brief asks for.
    pub const BUILDER: Self = Self(Cow::Borrowed("builder"));
    /// Answers a question as the persona of a file asks for.
    pub const EXPERT: Self = Self(Cow::Borrowed("expert"));
    /// Looks for faults in a change.
    pub const REVIEWER: Self = Self(Cow::Borrowed("reviewer"));
    /// Checks what a reviewer has found.
    pub const VERIFIER: Self = Self(Cow::Borrowed("verifier"));
    pub const IMPROVER: Self = Self(Cow::Borrowed("improver"));
    pub const SECOND_IMPROVER: Self = Self(Cow::Borrowed("improver-2"));
    /// The other judges of a panel.
    pub const SECOND_EVALUATOR: Self = Self(Cow::Borrowed("evaluator-2"));
    pub const THIRD_EVALUATOR: Self = Self(Cow::Borrowed("evaluator-3"));

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Role {
    type Error = NotARole;

    fn try_from(text: String) -> Result<Self, NotARole> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_short = (1..=LONGEST).contains(&text.len());
        if is_short && text.bytes().all(is_plain) { Ok(Self(text.into())) } else { Err(NotARole) }
    }
}

impl From<Role> for String {
    fn from(role: Role) -> Self {
        role.0.into()
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A loop's specification of one of its roles.
#[derive(Clone, Debug)]
pub struct RoleSpec {
    pub role: Role,
    pub rights: Rights,
    /// Whether scores depend on the role's agent. If it changes, scores before and after are not compared.
    pub is_measure: bool,
    /// Whether a run may have no agent for it.
    pub is_optional: bool,
    /// The role whose settings it uses if it has none of its own.
    pub like: Option<Role>,
}

impl RoleSpec {
    pub const fn new(role: Role, rights: Rights, is_measure: bool) -> Self {
        Self { role, rights, is_measure, is_optional: false, like: None }
    }

    pub const fn like(like: Role, role: Role, rights: Rights, is_measure: bool) -> Self {
        Self { role, rights, is_measure, is_optional: false, like: Some(like) }
    }

    pub const fn optional(like: Role, role: Role, rights: Rights, is_measure: bool) -> Self {
        Self { role, rights, is_measure, is_optional: true, like: Some(like) }
    }
}

/// What an agent may write during a call, and whether it may run commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rights {
    Work,
    Read,
    Edit,
    /// Like `Work`, with commands.
    Shell,
    /// Like `Edit`, with commands: a builder of code runs its tests.
    Build,
}

/// What an agent may write during a call, besides its temporary folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// The whole workspace.
    Workspace,
    /// The draft given to the agent.
    Draft,
    Nothing,
}

impl Rights {
    pub const ALL: [Self; 5] = [Self::Work, Self::Read, Self::Edit, Self::Shell, Self::Build];

    pub fn writes(self) -> Writes {
        match self {
            Self::Work | Self::Shell => Writes::Workspace,
            Self::Edit | Self::Build => Writes::Draft,
            Self::Read => Writes::Nothing,
        }
    }

    /// Whether the agent may run commands. They may write what the agent may, and use the network.
    pub fn has_shell(self) -> bool {
        match self {
            Self::Shell | Self::Build => true,
            Self::Work | Self::Read | Self::Edit => false,
        }
    }

    /// Returns the name of the rights, which is part of the key of a stored answer.
    pub fn word(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Shell => "shell",
            Self::Build => "build",
        }
    }
}

/// One value for each role of a run, in the order in which its loop names them.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRole<T>(Vec<(Role, T)>);

impl<T> ByRole<T> {
    pub fn get(&self, role: &Role) -> Option<&T> {
        self.iter().find(|(known, _)| *known == role).map(|(_, one)| one)
    }

    /// Returns the value of a role that the run has.
    pub fn of(&self, role: &Role) -> &T {
        self.get(role).expect("a run has a value for each of its roles")
    }

    /// Returns the value of a role that the run has.
    pub fn of_mut(&mut self, role: &Role) -> &mut T {
        let mut all = self.0.iter_mut();
        let found = all.find(|(known, _)| known == role);
        found.map(|(_, one)| one).expect("a run has a value for each of its roles")
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Role, &T)> {
        self.0.iter().map(|(role, one)| (role, one))
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, one)| one)
    }

    pub fn map<'a, U>(&'a self, make: impl Fn(&'a T) -> U) -> ByRole<U> {
        self.iter().map(|(role, one)| (role.clone(), make(one))).collect()
    }

    /// Returns the value that all roles share, if there are several roles.
    pub fn same(&self) -> Option<&T>
    where
        T: PartialEq,
    {
        let (first, mut others) = (self.values().next()?, self.values().skip(1).peekable());
        (others.peek().is_some() && others.all(|one| one == first)).then_some(first)
    }
}

impl<T> FromIterator<(Role, T)> for ByRole<T> {
    fn from_iter<I: IntoIterator<Item = (Role, T)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl<T, const N: usize> From<[(Role, T); N]> for ByRole<T> {
    fn from(all: [(Role, T); N]) -> Self {
        Self(all.into())
    }
}

impl<T: Serialize> Serialize for ByRole<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter())
    }
}

/// Keeps the order of the text.
impl<'de, T: DeserializeOwned> Deserialize<'de> for ByRole<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let one = |(role, value): (String, Value)| {
            let role = Role::try_from(role).map_err(D::Error::custom)?;
            Ok((role, serde_json::from_value(value).map_err(D::Error::custom)?))
        };
        Map::deserialize(from)?.into_iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_from_a_journal_has_a_plain_short_name() {
        let long = "x".repeat(LONGEST + 1);
        for bad in ["", "Executor", "a b", "a\nb", "a/b", "\u{1b}[31m", "rôle", "`sh`", &long] {
            assert!(serde_json::from_value::<Role>(bad.into()).is_err(), "{bad:?}");
        }
        for good in ["executor", "red-team", "judge-2"] {
            assert_eq!(serde_json::from_value::<Role>(good.into()).unwrap().as_str(), good);
        }
    }
}
