//! Finds what enforces the rights of each agent's roles on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use skilltune_orchestrator::agent::{Agent, Real, Wrap};
use skilltune_orchestrator::process::{Containment, Guardian, become_driver, can_confine};
use skilltune_phases::base::role::ByRole;
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::skills::offline;

use crate::casting::OFFLINE;
use crate::nights::check::{About, Check, State};
use crate::report::words;
use crate::runs::under_guard::{GUARDIAN, GUARDS};
use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ours};
use crate::text::plain;

/// By role of `tune`, whose roles cover all rights.
pub type Rights = ByRole<&'static str>;

/// The state of the system's confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum System {
    Enforces,
    /// Turned off in the settings.
    TurnedOff,
    /// The kernel has no rules for it, or too few.
    Cannot,
}

impl System {
    pub fn of(settings: &Settings) -> Self {
        match (settings.limits.confine.value, can_confine()) {
            (false, _) => Self::TurnedOff,
            (true, true) => Self::Enforces,
            (true, false) => Self::Cannot,
        }
    }

    /// Returns the check of the system's confinement. The agents' own switches are in the check of each agent.
    pub fn check(self, is_wrapped: bool) -> Check {
        let text = match self {
            Self::Enforces if is_wrapped => {
                "left to the wrapper (calls.wrap); the kernel confines only the built-in agent and the commands of checks"
            }
            Self::Enforces => "the kernel confines agents to the folders of their roles",
            Self::TurnedOff => "not enforced by the kernel, because limits.confine is false",
            Self::Cannot => "not enforced by the kernel, which needs Landlock from Linux 6.2 or newer",
        };
        let is_enforced = self == Self::Enforces && !is_wrapped;
        let state = if is_enforced { State::Fine } else { State::Unknown };
        Check::new(About::Agents, state, format!("rights: {text}"))
    }
}

/// The mechanism that reliably ends the processes of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Ends {
    /// The kernel: each job has its own namespace.
    Kernel,
    /// skilltune searches for them; `why` says why there is no namespace.
    Search { why: String },
}

impl Ends {
    /// Checks this as a run would: starts a guardian and releases it.
    pub fn look() -> Result<Self, Complaint> {
        become_driver().map_err(ours)?;
        let exe = std::env::current_exe()
            .map_err(|error| Complaint::ours("cannot find the skilltune program").caused_by(error))?;
        let guardian = Guardian::start(&exe, GUARDIAN, (GUARDS, "doctor")).map_err(ours)?;
        let ends = match guardian.containment() {
            Containment::Namespace => Self::Kernel,
            Containment::Search { why } => Self::Search { why: plain::one_line(why) },
        };
        guardian.close();
        Ok(ends)
    }

    pub fn check(&self) -> Check {
        let Self::Search { why } = self else {
            return Check::fine(About::Agents, "processes: the kernel ends all processes of a call");
        };
        let text = format!(
            "processes: no namespace ({why}): an agent that kills skilltune and its guardian can leave processes running, and \
             an unconfined agent can read the environment of your other programs"
        );
        Check::new(About::Agents, State::Unknown, text)
    }
}

/// Returns none for an agent that is not described.
pub fn of(name: &str, settings: &Settings, system: System) -> Option<Rights> {
    let (program, env) = (PathBuf::from(name), BTreeMap::new());
    let agent = match settings.agents.get(name) {
        Some(entry) => Agent::new(name, None, entry.settings.clone(), program, &env),
        None if name == offline::NAME => Agent::built_in(program, OFFLINE, &env),
        None => Agent::real(Real::named(name)?, None, program, &env),
    };
    let wrap = &settings.calls.wrap.value.0;
    let agent = match wrap.first() {
        Some(name) => agent.wrapped(Wrap::new(wrap.clone(), name.into(), Path::new("/"))),
        None => agent,
    };
    let enforced = |rights| agent.enforced(rights, system == System::Enforces).words();
    let roles = Tune::ROLES.iter().filter(|spec| !spec.is_optional);
    Some(roles.map(|spec| (spec.role.clone(), enforced(spec.rights))).collect())
}

/// Formats the rights for people; once if they are the same in all roles.
pub fn describe(rights: &Rights) -> String {
    rights.same().map_or_else(|| words::each(rights, ", "), |words| (*words).to_owned())
}
