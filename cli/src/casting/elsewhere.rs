//! Agents of workers: the calls of a run with workers are made by agents of their machines, and by none of this one.
//!
//! The settings of each worker describe its agents, so a run needs no trust for them.

use skilltune_orchestrator::agent::{AgentFacts, Real, Via, Wanted};
use skilltune_phases::base::role::{Role, RoleSpec};
use skilltune_phases::skills::offline;

use crate::casting::installed::Manner;
use crate::casting::workers::{self, Connected};
use crate::casting::{Casting, Choice, Part, part};
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::values::AgentSpec;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// The workers of a run, which know their agents.
pub trait Describe {
    /// Returns the description of each wanted agent, or the reason why no worker has it. All of them at once: each
    /// connection may wait in a queue.
    fn describe(&self, wanted: &[Wanted]) -> Result<Vec<Result<AgentFacts, String>>, Complaint>;
}

/// Returns whether workers make the calls.
pub fn is_chosen(settings: &Settings) -> bool {
    !settings.calls.workers.value.0.is_empty()
}

/// Connects to the chosen workers.
pub fn connect(settings: &Settings, env: &Environment) -> Result<Box<dyn Describe>, Complaint> {
    Ok(Box::new(Connected(workers::chosen(settings, env)?)))
}

/// Returns the parts of roles with agents of workers.
pub fn parts(
    choices: &[Choice<'_>],
    workers: &dyn Describe,
    settings: &Settings,
) -> Result<Casting, Complaint> {
    let wanted: Vec<Wanted> = choices.iter().map(wanted).collect();
    let mut described = workers.describe(&wanted)?.into_iter();
    let part = |(choice, wanted): (&Choice<'_>, &Wanted)| {
        let facts = described.next().unwrap_or_else(|| Err("no worker describes it".to_owned()));
        let agent = facts.and_then(|facts| facts.agent(wanted).map_err(|bad| bad.to_string()));
        let agent = agent.map_err(|why| uncallable(choice, &why))?;
        let part = Part::of(agent, choice.role, Origin::Default, settings);
        Ok((choice.role.role.clone(), part))
    };
    choices.iter().zip(&wanted).map(part).collect()
}

fn wanted(Choice { role, spec, manner, .. }: &Choice<'_>) -> Wanted {
    Wanted {
        agent: spec.agent.clone(),
        model: spec.model.clone(),
        isolation: manner.isolation,
        via: manner.via.map(|via| via.name().to_owned()),
        rights: role.rights,
    }
}

fn uncallable(Choice { role, spec, origin, .. }: &Choice<'_>, why: &str) -> Complaint {
    let what = format!("no worker can call agent `{spec}` as {} ({origin})", role.role);
    Complaint::input(what).caused_by(why).hint(
        "name another agent, or describe it in the settings of a worker; `skilltune doctor --workers` tries each worker",
    )
}

/// Says how to get an agent in a run with workers.
pub fn no_agent(role: &Role) -> Complaint {
    Complaint::input(format!("no agent for the role {role}"))
        .hint(format!("pass --agent NAME or --{role} NAME: a run with workers takes no agent by itself"))
}

/// Returns the agent of this machine that a run on another one wants: one of the user's settings, one that is installed,
/// or the built-in one. Its deadline is up to the run.
pub fn own_part(wanted: &Wanted, settings: &Settings, env: &Environment) -> Result<Part, Complaint> {
    if settings.project_file.is_some() {
        return Err(Complaint::ours("a worker must not read the settings of a project"));
    }
    let Wanted { agent, model, isolation, via, rights } = wanted;
    let spec = AgentSpec { agent: agent.clone(), model: model.clone() };
    let spec: AgentSpec = spec.to_string().parse().map_err(Complaint::input)?;
    if spec.agent != offline::NAME && !settings.agents.contains_key(agent) && Real::named(agent).is_none() {
        return Err(Complaint::input(format!("unknown agent `{spec}`")));
    }
    let via = via.as_ref().map(|name| {
        Via::named(name)
            .ok_or_else(|| Complaint::input(format!("unknown wrapper {name:?} of agent `{spec}`")))
    });
    let manner = Manner { isolation: *isolation, via: via.transpose()? };
    // Commands and messages have a role; the agent is the same in each.
    let role = RoleSpec::new(Role::EXECUTOR, *rights, false);
    part(&Choice { role: &role, spec, origin: &Origin::Run, manner }, settings, env)
}
