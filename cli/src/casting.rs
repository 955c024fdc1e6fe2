//! Resolves the agents of a run: from names in flags, settings or a plan to agents that are installed and trusted.

pub mod defaults;
pub mod elsewhere;
pub mod files;
pub mod installed;
pub mod priced;
pub mod workers;
pub mod wrap;

pub use crate::casting::defaults::fill;
pub use crate::casting::installed::{idle_via, real};

use std::path::{Path, PathBuf};

use skilltune_orchestrator::agent::{Agent, AgentSettings, Real, Via, Wrap};
use skilltune_orchestrator::git::Program;
use skilltune_orchestrator::process::can_confine;
use skilltune_phases::base::role::{ByRole, Role, RoleSpec};
use skilltune_phases::base::spelling::nearest;
use skilltune_phases::runs::plan::{Cast, Enforced, Roles, RunId};
use skilltune_phases::skills::offline;

use crate::casting::installed::{Manner, installed};
use crate::settings::Settings;
use crate::settings::agent_settings::AgentEntry;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::settings::table;
use crate::settings::values::{AgentSpec, UnpricedName};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::trust;
use crate::trust::file::TextFile;
use crate::trust::pinned::{Ground, Pinned, Pins, each_once};
use crate::trust::{Consent, Named, TrustError, TrustStore};

/// The hidden command that starts this program as the built-in agent.
pub const OFFLINE: &str = "offline";

/// An agent in a role.
#[derive(Clone, Debug)]
pub struct Part {
    pub agent: Agent,
    pub timeout_seconds: u64,
    /// What enforces the rights of its role on this machine.
    pub rights: Enforced,
    /// The settings that describe the agent.
    pub described: Origin,
}

pub type Casting = ByRole<Part>;

/// The agent that a role gets, by name.
struct Choice<'a> {
    role: &'a RoleSpec,
    spec: AgentSpec,
    /// The origin of the choice.
    origin: &'a Origin,
    manner: Manner,
}

/// Whether the built-in agent can take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    Knows,
    KnowsNothing,
}

/// Returns the parts of a loop's roles from the settings, flags included. Finds every program and runs none, except to
/// ask workers about their agents.
pub fn cast<'a>(
    roles: impl IntoIterator<Item = &'a RoleSpec>,
    settings: &Settings,
    env: &Environment,
    built_in: BuiltIn,
) -> Result<Casting, Complaint> {
    refuse_letting_go(settings)?;
    let chosen = |role: &'a RoleSpec| match (role.is_optional, settings.roles.of(&role.role)) {
        (true, _) => settings.roles.optional(&role.role).map(Ok),
        (false, Setting { value: Some(spec), origin, .. }) => Some(Ok((spec, origin))),
        (false, Setting { value: None, .. }) => Some(Err(no_agent(&role.role, settings, env, built_in))),
    };
    let choice = |role: &'a RoleSpec| {
        let chosen = chosen(role)?;
        let manner = Manner::of(settings);
        Some(chosen.map(|(spec, origin)| Choice { role, spec: spec.clone(), origin, manner }))
    };
    parts(roles.into_iter().filter_map(choice), settings, env)
}

/// Like [`cast`], for a loop in which the built-in agent, which knows only skills, cannot do this.
pub fn cast_models(
    roles: &[RoleSpec],
    settings: &Settings,
    env: &Environment,
    work: &str,
) -> Result<Casting, Complaint> {
    let casting = cast(roles, settings, env, BuiltIn::KnowsNothing)?;
    if casting.values().any(|part| part.agent.is_built_in()) {
        return Err(Complaint::input(format!("the built-in agent cannot {work}; it only checks skills"))
            .hint("pass another agent; `skilltune doctor` lists installed agents"));
    }
    Ok(casting)
}

/// Returns the parts of a resumed run: names from its plan, everything else from the current settings.
pub fn recast<'a>(
    roles: impl IntoIterator<Item = &'a RoleSpec>,
    planned: &Roles,
    settings: &Settings,
    env: &Environment,
) -> Result<Casting, Complaint> {
    refuse_letting_go(settings)?;
    let choice = |role: &'a RoleSpec| {
        let cast = planned.get(&role.role)?;
        let spec = AgentSpec { agent: cast.agent.clone(), model: cast.model.clone() };
        let manner = Manner { isolation: cast.isolation, via: cast.via.as_deref().and_then(Via::named) };
        Some(Ok(Choice { role, spec, origin: &Origin::Run, manner }))
    };
    let casting = parts(roles.into_iter().filter_map(choice), settings, env)?;
    let timeout = |role: &Role| planned.of(role).timeout_seconds;
    let parts = casting
        .iter()
        .map(|(role, part)| (role.clone(), Part { timeout_seconds: timeout(role), ..part.clone() }));
    Ok(parts.collect())
}

/// Fails if a project's settings weaken the sandbox or allow calls of unknown cost: only the user decides that.
fn refuse_letting_go(settings: &Settings) -> Result<(), Complaint> {
    let (confine, unpriced) = (&settings.limits.confine, &settings.budget.unpriced);
    let asked = [
        (&confine.origin, !confine.value, "limits.confine = false", "agents write anywhere"),
        (
            &unpriced.origin,
            unpriced.value == UnpricedName::Allow,
            "budget.unpriced = \"allow\"",
            "calls of unknown cost exceed a cost limit",
        ),
    ];
    for (origin, is_loose, setting, what) in asked {
        if let (Origin::Project(file), true) = (origin, is_loose) {
            let file = file.display();
            let text = format!("{file}: only your own settings may set `{setting}`, which lets {what}");
            return Err(Complaint::input(text).hint("remove it there, or set it in your own skilltune.toml"));
        }
    }
    Ok(())
}

/// The parts of a project that must be trusted before its agents run.
struct Claim<'a> {
    /// The project's settings.
    file: &'a TextFile,
    /// The files that the commands of its agents use.
    scripts: Pins,
    names: Vec<String>,
    /// Whether an agent is among the names, and not only settings.
    has_agent: bool,
}

impl<'a> Claim<'a> {
    /// Returns `None` if the run uses no agent that the project describes.
    fn of(casting: &Casting, settings: &'a Settings, env: &Environment) -> Result<Option<Self>, Complaint> {
        let foreign = casting.values().filter(|part| matches!(part.described, Origin::Project(_)));
        let mut names: Vec<String> = foreign.map(|part| part.agent.name.clone()).collect();
        names.sort();
        names.dedup();
        let has_agent = !names.is_empty();
        names.extend(settings.foreign_wishes());
        let Some(file) = settings.project_file.as_ref().filter(|_| !names.is_empty()) else {
            return Ok(None);
        };
        let used = settings.agents.iter().filter(|(name, _)| names.contains(name));
        let files = named_by(used.map(|(_, entry)| entry), settings, env)?;
        let root = file.path.parent().expect("a file is in a folder").to_owned();
        let scripts = Pins { named_in: file.path.clone(), root, files };
        Ok(Some(Self { file, scripts, names, has_agent }))
    }
}

/// Asks for trust if the project describes an agent of this run, unless trust was given for this run. Returns the files
/// that the agents run.
pub fn ensure_trusted(
    casting: &Casting,
    settings: &Settings,
    env: &Environment,
    run: Option<&RunId>,
    consent: Consent<'_>,
) -> Result<Option<Pins>, Complaint> {
    let Some(claim) = Claim::of(casting, settings, env)? else { return Ok(None) };
    let Claim { file, scripts, names, has_agent } = claim;
    let for_run = run.map(|run| TrustStore::of_run(env, run).trusts(file, &scripts.files)).transpose()?;
    if for_run != Some(true) {
        let named = if has_agent { Named::Agents(&names) } else { Named::Settings(&names) };
        trust::ensure(file, &scripts.files, named, &TrustStore::new(env), consent)?;
    }
    Ok(Some(scripts))
}

/// Trusts the project's agents for one run, with their current files, so that `resume` need not ask again.
pub fn trust_for_run(
    casting: &Casting,
    settings: &Settings,
    env: &Environment,
    run: &RunId,
) -> Result<(), Complaint> {
    match Claim::of(casting, settings, env)? {
        Some(claim) => Ok(TrustStore::of_run(env, run).record(claim.file, &claim.scripts.files)?),
        None => Ok(()),
    }
}

/// Returns the project files that its agents and other configured programs name, except those that an agent declares to
/// write.
pub fn scripts(settings: &Settings, env: &Environment) -> Result<Vec<Pinned>, TrustError> {
    named_by(settings.agents.values(), settings, env)
}

/// Returns the project files that its `[commands]` name. A run that starts none of them does not depend on these files.
pub fn command_scripts(settings: &Settings) -> Result<Vec<Pinned>, TrustError> {
    each_once(settings.commands.named().filter(|command| command.origin.is_projects()).map(scripts_named))
}

fn named_by<'a>(
    agents: impl Iterator<Item = &'a AgentEntry>,
    settings: &Settings,
    env: &Environment,
) -> Result<Vec<Pinned>, TrustError> {
    let theirs = agents.filter(|entry| entry.origin.is_projects());
    let others = settings.named_commands().filter(|command| command.origin.is_projects()).map(scripts_named);
    each_once(theirs.map(|entry| scripts_of(entry, env)).chain(others))
}

fn scripts_named(command: table::Named<'_>) -> Result<Vec<Pinned>, TrustError> {
    let Some(folder) = command.origin.file().and_then(Path::parent) else { return Ok(Vec::new()) };
    Ground::at(folder, Vec::new()).named_by(command.words)
}

fn scripts_of(entry: &AgentEntry, env: &Environment) -> Result<Vec<Pinned>, TrustError> {
    let ground = files::ground(entry, env);
    ground.map_or_else(|| Ok(Vec::new()), |ground| ground.named_by(&entry.settings.command))
}

/// Returns the settings of an agent as its calls use them.
pub fn described(name: &str, entry: &AgentEntry, env: &Environment) -> Result<AgentSettings, Complaint> {
    files::of_agent(entry, env).map_err(|bad| {
        Complaint::input(format!("cannot run agent `{name}`: {bad}")).hint(format!(
            "{} in agents.{name}.command ({})",
            files::FULL_PATH,
            entry.origin
        ))
    })
}

impl Part {
    fn of(
        agent: Agent,
        RoleSpec { role, rights, .. }: &RoleSpec,
        described: Origin,
        settings: &Settings,
    ) -> Self {
        let own = settings.timeouts.of(role);
        let by_flag = matches!(own.origin, Origin::Flag(_)).then_some(own.value);
        Self {
            timeout_seconds: by_flag.or(agent.timeout()).unwrap_or(own.value),
            rights: agent.enforced(*rights, system_confines(settings)),
            agent,
            described,
        }
    }

    /// Returns the record of this part for the plan.
    pub fn cast(&self) -> Cast {
        Cast {
            agent: self.agent.name.clone(),
            model: self.agent.model.clone(),
            fingerprint: self.agent.fingerprint(),
            timeout_seconds: self.timeout_seconds,
            family: self.agent.family().map(str::to_owned),
            isolation: self.agent.isolation(),
            via: self.agent.via().map(|via| via.name().to_owned()),
            wrap: self.agent.wrap().map(Wrap::name),
            rights: self.rights,
            verdict: self.agent.verdict(),
            lacks_shell: self.agent.lacks_shell(),
            opens_files: self.agent.opens_files(),
        }
    }
}

fn parts<'a>(
    choices: impl Iterator<Item = Result<Choice<'a>, Complaint>>,
    settings: &Settings,
    env: &Environment,
) -> Result<Casting, Complaint> {
    if elsewhere::is_chosen(settings) {
        let choices = choices.collect::<Result<Vec<_>, _>>()?;
        return elsewhere::parts(&choices, settings, env);
    }
    let part = |choice: Result<Choice<'a>, Complaint>| {
        let choice = choice?;
        Ok((choice.role.role.clone(), part(&choice, settings, env)?))
    };
    choices.map(part).collect()
}

/// Returns the part of an agent of this machine.
fn part(choice: &Choice<'_>, settings: &Settings, env: &Environment) -> Result<Part, Complaint> {
    let Choice { role, spec, origin: chosen, manner } = choice;
    let part = |agent, described| Part::of(agent, role, described, settings);
    let undescribed = |agent| part(agent, Origin::Default);
    if spec.agent == offline::NAME {
        return built_in(spec, chosen, &role.role, env).map(undescribed);
    }
    let Some(entry) = settings.agents.get(&spec.agent) else {
        return match Real::named(&spec.agent) {
            Some(real) => {
                let agent = installed(real, spec, *manner, env)?;
                Ok(undescribed(wrap::wrapped(agent, settings, env)?))
            }
            None => Err(unknown(spec, chosen, &role.role, settings)),
        };
    };
    let name = &spec.agent;
    let found = program(entry, env).map_err(|_| {
        let program = &entry.settings.command[0];
        Complaint::input(format!("cannot run agent `{name}`: program {program:?} not found"))
            .hint(format!("install it, or set agents.{name}.command ({})", entry.origin))
    })?;
    let agent = Agent::new(name, spec.model.clone(), described(name, entry, env)?, found, &env.vars);
    Ok(part(wrap::wrapped(agent, settings, env)?, entry.origin.clone()))
}

/// Returns true if the system can confine agents to their folders and the settings allow it.
pub fn system_confines(settings: &Settings) -> bool {
    settings.limits.confine.value && can_confine()
}

/// Finds a program in the absolute folders of PATH only, so that no program is run just because it is in a repository.
pub fn on_path(name: &str, env: &Environment) -> which::Result<PathBuf> {
    found_from("/".as_ref(), name, env)
}

/// Like `on_path`, but resolves a relative path against `base`.
fn found_from(base: &Path, name: &str, env: &Environment) -> which::Result<PathBuf> {
    which::which_in(name, Some(env.search_path()), base)
}

/// Returns the git of this machine.
pub fn git(env: &Environment) -> which::Result<Program> {
    let path = on_path("git", env)?;
    Ok(Program { path, gh: on_path("gh", env).ok(), env: env.vars.clone() })
}

/// Returns the built-in agent, which needs no model: it is this program, started again.
fn built_in(spec: &AgentSpec, chosen: &Origin, role: &Role, env: &Environment) -> Result<Agent, Complaint> {
    if spec.model.is_some() {
        return Err(Complaint::input(format!(
            "cannot use `{spec}` as {role} ({chosen}): the built-in agent has no models"
        ))
        .hint(format!("use `{}` without a model", offline::NAME)));
    }
    let program = std::env::current_exe()
        .map_err(|error| Complaint::ours("cannot find the skilltune program").caused_by(error))?;
    Ok(Agent::built_in(program, OFFLINE, &env.vars))
}

/// Finds an agent's program.
pub fn program(entry: &AgentEntry, env: &Environment) -> which::Result<PathBuf> {
    let path = env.vars.get("PATH").map_or("", String::as_str);
    which::which_in(&entry.settings.command[0], Some(path), base(entry, env))
}

/// Returns the folder that a relative program path starts from: the folder of its settings file.
fn base<'a>(entry: &'a AgentEntry, env: &'a Environment) -> &'a Path {
    entry.origin.file().and_then(Path::parent).unwrap_or(&env.cwd)
}

fn unknown(spec: &AgentSpec, chosen: &Origin, role: &Role, settings: &Settings) -> Complaint {
    let name = &spec.agent;
    let what = format!("unknown agent `{name}` as {role} ({chosen})");
    let known_names: Vec<&str> =
        settings.agents.keys().map(String::as_str).chain(Real::ALL.map(Real::name)).collect();
    let near = nearest(name, known_names);
    let near = near.map(|near| format!("did you mean `{near}`?"));
    let complaint = near.into_iter().fold(Complaint::input(what), Complaint::hint);
    complaint.hint(known(settings).unwrap_or_else(|| example("describe it", name)))
}

/// Says how to get an agent: first one that is there, then one to install, then the built-in one, then one's own.
fn no_agent(role: &Role, settings: &Settings, env: &Environment, built_in: BuiltIn) -> Complaint {
    if elsewhere::is_chosen(settings) {
        return elsewhere::no_agent(role);
    }
    let here = Real::ALL.into_iter().filter(|real| on_path(real.name(), env).is_ok());
    let here: Vec<String> = here.map(|real| format!("--agent {}", real.name())).collect();
    let known = known(settings);
    let is_none = here.is_empty() && known.is_none();
    let use_one = (!here.is_empty()).then(|| format!("use an installed agent: {}", here.join(" or ")));
    // Its tiers, else the executor, say who plays an expert.
    let name_one = if *role == Role::EXPERT {
        "pass --agent NAME, or set roles.executor".to_owned()
    } else {
        format!("pass --agent NAME or --{role} NAME, or set roles.{role}")
    };
    let name_one = known.is_some().then_some(name_one);
    let offline = (built_in == BuiltIn::Knows).then(|| BUILT_IN.to_owned());
    let hints = [
        use_one,
        name_one,
        known,
        is_none.then(install),
        offline,
        is_none.then(|| example("or describe your own", "mine")),
    ];
    let complaint = Complaint::input(format!("no agent for the role {role}"));
    hints.into_iter().flatten().fold(complaint, Complaint::hint)
}

fn known(settings: &Settings) -> Option<String> {
    let names: Vec<&str> = settings.agents.keys().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("agents in your settings: {}", names.join(", ")))
}

/// Returns a hint to install the agent that can fill most roles without settings.
fn install() -> String {
    let get = Real::ALL[0].get();
    format!("install claude and log in: {get}; `skilltune doctor` lists other agents")
}

const BUILT_IN: &str = "or pass --agent offline: it needs no model and checks structure only";

/// Returns the shortest settings that describe an agent.
fn example(what: &str, name: &str) -> String {
    format!(
        "{what} in skilltune.toml, then pass --agent {name}:\n\n    [agents.{name}]\n    command = [\"program\", \"argument\"]\n"
    )
}

#[cfg(test)]
mod tests;
