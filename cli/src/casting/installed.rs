//! Agents that need no settings: found by their program, with the requested isolation and wrapper.

use std::collections::BTreeSet;
use std::path::PathBuf;

use skilltune_orchestrator::agent::{Agent, Real, Via, Wanted};
use skilltune_phases::base::role::Rights;
use skilltune_phases::runs::plan::Isolation;

use crate::casting::{Casting, on_path, wrap};
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::values::{AgentSpec, ViaName};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// The isolation and the wrapper for agents that need no settings.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub isolation: Isolation,
    pub via: Option<Via>,
}

impl Manner {
    pub fn of(settings: &Settings) -> Self {
        Self { isolation: settings.calls.isolation.value.into(), via: settings.calls.via.value.into() }
    }

    /// Returns what workers are asked for an agent.
    pub fn wanted(self, AgentSpec { agent, model }: &AgentSpec, rights: Rights) -> Wanted {
        let (agent, model, via) = (agent.clone(), model.clone(), self.via.map(|via| via.name().to_owned()));
        Wanted { agent, model, isolation: self.isolation, via, rights }
    }
}

/// Returns an agent that needs no settings, configured as a run would call it.
pub fn real(real: Real, settings: &Settings, env: &Environment) -> Result<Agent, Complaint> {
    let given = settings.roles.required().into_iter().filter_map(|role| role.value.clone());
    let named = given.into_iter().find(|spec| spec.agent == real.name());
    let spec = named.unwrap_or(AgentSpec { agent: real.name().to_owned(), model: None });
    wrap::wrapped(installed(real, &spec, Manner::of(settings), env)?, settings, env)
}

/// Returns an agent that needs no settings; only its program must be installed.
pub fn installed(
    real: Real,
    spec: &AgentSpec,
    manner: Manner,
    env: &Environment,
) -> Result<Agent, Complaint> {
    let name = real.name();
    if let Some(via) = manner.via.filter(|_| !Via::calls(real)) {
        return Err(not_through(via, name));
    }
    let found = on_path(name, env).map_err(|_| {
        Complaint::input(format!("cannot run agent `{name}`: program {name:?} not found"))
            .hint(format!("install it ({}), or describe it as [agents.{name}]", real.get()))
    })?;
    let agent = Agent::real(real, spec.model.clone(), found, &env.vars).isolated(manner.isolation);
    if let Some(variable) = agent.missing_key() {
        return Err(keyless(name, manner.isolation, variable));
    }
    Ok(match manner.via {
        Some(via) => agent.through(via, wrapper(via, name, env)?),
        None => agent,
    })
}

/// Reports an agent that does not work through a wrapper, before anything is paid for.
fn not_through(via: Via, agent: &str) -> Complaint {
    let (via, known) = (via.name(), Via::AGENTS);
    Complaint::input(format!("cannot call agent `{agent}` via {via}: only {} work so", known.join(" and ")))
        .hint(format!("use {}, or pass --via direct", known.join(" or ")))
}

fn wrapper(via: Via, agent: &str, env: &Environment) -> Result<PathBuf, Complaint> {
    let name = via.name();
    on_path(name, env).map_err(|_| {
        Complaint::input(format!("cannot call agent `{agent}` via {name}: program {name:?} not found"))
            .hint(format!("install it ({}), or pass --via direct", via.get()))
    })
}

/// Says that `--via` has no effect, if no agent of the run is called through a wrapper. It is a wish to workers, whose
/// agents may be commands.
pub fn idle_via(casting: &Casting, settings: &Settings) -> Option<String> {
    let via = &settings.calls.via;
    let is_asked = matches!(via.origin, Origin::Flag(_)) && via.value != ViaName::Direct;
    let heeds = |agent: &Agent| agent.is_elsewhere() || agent.via().is_some();
    if !is_asked || casting.values().any(|part| heeds(&part.agent)) {
        return None;
    }
    let why = |agent: &Agent| {
        let what = if agent.is_built_in() { "is built in" } else { "is a command of your settings" };
        format!("{} {what}", agent.name)
    };
    let agents: BTreeSet<String> = casting.values().map(|part| why(&part.agent)).collect();
    Some(format!("--via has no effect: {}", agents.into_iter().collect::<Vec<_>>().join(", ")))
}

/// Reports a missing API key: an empty folder has no login.
fn keyless(name: &str, isolation: Isolation, variable: &str) -> Complaint {
    let what = format!("no API key for agent `{name}`, which --isolation {} needs", isolation.word());
    Complaint::input(what).hint(format!("set {variable}, or pass --isolation partial to use your login"))
}
