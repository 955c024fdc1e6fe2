//! Agents of workers: the calls of a run with workers are made by agents of their machines, and by none of this one.
//!
//! The settings of each worker describe its agents, so a run needs no trust for them.

use skilltune_orchestrator::agent::{Agent, Real, Via, Wanted};
use skilltune_phases::base::role::{Role, RoleSpec};
use skilltune_phases::skills::offline;

use crate::casting::installed::Manner;
use crate::casting::{Casting, Choice, Part, part, workers};
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::values::AgentSpec;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// Returns whether workers make the calls.
pub fn is_chosen(settings: &Settings) -> bool {
    !settings.calls.workers.value.0.is_empty()
}

/// Returns the parts of roles with agents of workers.
pub(super) fn parts(
    choices: &[Choice<'_>],
    settings: &Settings,
    env: &Environment,
) -> Result<Casting, Complaint> {
    let described =
        workers::describe_all(&workers::found(settings.chosen_workers()?, env)?, &all_wanted(choices))?;
    described_parts(choices, described, settings)
}

fn all_wanted(choices: &[Choice<'_>]) -> Vec<Wanted> {
    choices.iter().map(|choice| choice.manner.wanted(&choice.spec, choice.role.rights)).collect()
}

fn described_parts(
    choices: &[Choice<'_>],
    described: Vec<Result<Agent, String>>,
    settings: &Settings,
) -> Result<Casting, Complaint> {
    let part = |(choice, agent): (&Choice<'_>, Result<Agent, String>)| {
        let agent = agent.map_err(|why| uncallable(choice, &why))?;
        Ok((choice.role.role.clone(), Part::of(agent, choice.role, Origin::Default, settings)))
    };
    choices.iter().zip(described).map(part).collect()
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
        .hint("pass --agent NAME: a run with workers takes no agent by itself")
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
    let unknown = |name| Complaint::input(format!("unknown wrapper {name:?} of agent `{spec}`"));
    let via = via.as_ref().map(|name| Via::named(name).ok_or_else(|| unknown(name))).transpose()?;
    let manner = Manner { isolation: *isolation, via };
    // Commands and messages have a role; the agent is the same in each.
    let role = RoleSpec::new(Role::EXECUTOR, *rights, false);
    part(&Choice { role: &role, spec, origin: &Origin::Run, manner }, settings, env)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use skilltune_orchestrator::agent::CostReport;
    use skilltune_phases::base::role::Rights;
    use skilltune_phases::runs::plan::{Enforced, Isolation};

    use super::*;
    use crate::casting::{BuiltIn, cast, fill, idle_via, system_confines};
    use crate::settings::agent_settings::AgentEntry;
    use crate::settings::values::ViaName;
    use crate::settings::worker_settings::WorkerNames;
    use crate::terminal::columns::UNBOUNDED;
    use crate::terminal::style::Style;
    use crate::trust::file::TextFile;

    /// The machine of a worker, which has one agent.
    struct Worker {
        settings: Settings,
        env: Environment,
    }

    impl Worker {
        fn new() -> Self {
            let mut settings = crate::loops::default_settings();
            let described = serde_json::json!({
                "command": ["sh", "{prompt_file}"], "timeout": 9, "cost": { "usd": "/usd" },
                "env": { "set": { "KEY": "secret" } }, "writes": [],
            });
            let described = serde_json::from_value(described).unwrap();
            let origin = Origin::User("/w/home/skilltune.toml".into());
            settings.agents = BTreeMap::from([("a".to_owned(), AgentEntry { settings: described, origin })]);
            Self { settings, env: Environment::fake("/w", &[]) }
        }

        fn part(&self, wanted: &Wanted) -> Result<Part, String> {
            own_part(wanted, &self.settings, &self.env).map_err(|complaint| complaint.what)
        }

        /// Returns the parts of a run that has this worker.
        fn parts(&self, choices: &[Choice<'_>], settings: &Settings) -> Result<Casting, Complaint> {
            let confines = system_confines(&self.settings);
            let agent = |wanted| Ok(self.part(wanted)?.agent.facts(None, confines).agent(wanted).unwrap());
            described_parts(choices, all_wanted(choices).iter().map(agent).collect(), settings)
        }
    }

    const ROLES: [RoleSpec; 2] = [
        RoleSpec::new(Role::EXECUTOR, Rights::Work, true),
        RoleSpec::new(Role::EVALUATOR, Rights::Read, true),
    ];

    fn choices(agent: &str) -> Vec<Choice<'static>> {
        static FLAG: Origin = Origin::Flag("--agent");
        static ROLES_OF_A_RUN: [RoleSpec; 2] = ROLES;
        let manner = Manner { isolation: Isolation::Partial, via: None };
        let choice = |role| Choice { role, spec: agent.parse().unwrap(), origin: &FLAG, manner };
        ROLES_OF_A_RUN.iter().map(choice).collect()
    }

    fn wanted_agent(agent: &str) -> Wanted {
        let (agent, isolation) = (agent.to_owned(), Isolation::Partial);
        Wanted { agent, model: None, isolation, via: None, rights: Rights::Work }
    }

    #[test]
    fn the_agents_of_a_run_with_workers_are_theirs_and_have_its_deadlines() {
        let (worker, mut settings) = (Worker::new(), crate::loops::default_settings());
        settings.timeouts.evaluator.set(5, Origin::Flag("--timeout"));
        let casting = worker.parts(&choices("a:large"), &settings).unwrap();
        let part = casting.of(&Role::EXECUTOR);
        assert!(part.agent.is_elsewhere() && part.described == Origin::Default);
        assert_eq!(part.agent.cost_report(), CostReport::Dollars);
        let timeouts: Vec<u64> = casting.values().map(|part| part.timeout_seconds).collect();
        assert_eq!(timeouts, [9, 5]);
        let own = worker.part(&Wanted { model: Some("large".into()), ..wanted_agent("a") }).unwrap();
        assert_eq!(part.cast().fingerprint, own.agent.portable_fingerprint(None));
        assert_eq!(part.cast().rights, own.rights);
        let offline = worker.parts(&choices("offline"), &settings).unwrap();
        assert!(offline.values().all(|part| part.agent.is_elsewhere() && part.agent.is_built_in()));
        let rights: Vec<Rights> = all_wanted(&choices("a")).iter().map(|one| one.rights).collect();
        assert_eq!(rights, [Rights::Work, Rights::Read]);
    }

    #[test]
    fn the_limits_of_this_machine_are_not_those_of_a_worker() {
        let (mut worker, settings) = (Worker::new(), crate::loops::default_settings());
        worker.settings.limits.confine.set(false, Origin::User("/w/home/skilltune.toml".into()));
        let casting = worker.parts(&choices("a"), &settings).unwrap();
        assert!(casting.values().all(|part| part.rights == Enforced::Nobody));
    }

    #[test]
    fn an_agent_that_no_worker_has_is_named_with_the_reason() {
        let refused = Worker::new().parts(&choices("clyde:large"), &crate::loops::default_settings());
        insta::assert_snapshot!(refused.unwrap_err().render(Style::PLAIN, UNBOUNDED), @r"
        error: no worker can call agent `clyde:large` as executor (flag --agent)
        caused by: unknown agent `clyde:large`
        hint: name another agent, or describe it in the settings of a worker; `skilltune doctor --workers` tries each worker
        ");
    }

    #[test]
    fn a_worker_has_only_agents_of_its_user() {
        let mut worker = Worker::new();
        assert_eq!(worker.part(&wanted_agent("a")).unwrap().agent.name, "a");
        assert!(worker.part(&wanted_agent("offline")).unwrap().agent.is_built_in());
        let why = |wanted: Wanted| worker.part(&wanted).unwrap_err();
        assert_eq!(why(wanted_agent("b")), "unknown agent `b`");
        let missing = why(wanted_agent("claude"));
        assert!(missing.starts_with("cannot run agent `claude`: program \"claude\" not found"));
        let flag = Wanted { model: Some("--flag".into()), ..wanted_agent("a") };
        assert_eq!(why(flag), "a model name must not be empty or start with `-`");
        let via = Wanted { via: Some("mine".into()), ..wanted_agent("claude") };
        assert_eq!(why(via), "unknown wrapper \"mine\" of agent `claude`");
        let file = tempfile::NamedTempFile::new().unwrap();
        let file = TextFile::read(file.path()).unwrap().unwrap();
        worker.settings.project_file = Some(file);
        assert!(worker.part(&wanted_agent("a")).is_err());
    }

    #[test]
    fn a_run_with_workers_takes_no_agent_of_this_machine() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("claude");
        fs::write(&program, "#!/bin/true\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let env = Environment::fake("/w", &[("PATH", root.path().to_str().unwrap())]);
        let mut settings = crate::loops::default_settings();
        settings.calls.workers.set(WorkerNames(vec!["far".to_owned()]), Origin::Flag("--workers"));
        fill(&mut settings, &env);
        assert!(settings.roles.required().into_iter().all(|role| role.value.is_none()));
        let refusal = |settings: &Settings| {
            let refused = cast(&ROLES, settings, &env, BuiltIn::Knows).unwrap_err();
            refused.render(Style::PLAIN, UNBOUNDED)
        };
        insta::assert_snapshot!(refusal(&settings), @r"
        error: no agent for the role executor
        hint: pass --agent NAME: a run with workers takes no agent by itself
        ");
        // An agent that is installed here does not help either.
        for role in settings.roles.required_mut() {
            role.set(Some("claude".parse().unwrap()), Origin::Flag("--agent"));
        }
        let unknown = refusal(&settings);
        assert!(unknown.starts_with("error: unknown worker `far` (flag --workers)"), "{unknown}");
    }

    #[test]
    fn a_wish_for_a_wrapper_goes_to_the_workers() {
        let mut settings = crate::loops::default_settings();
        settings.calls.via.set(ViaName::Ccw, Origin::Flag("--via"));
        let casting = Worker::new().parts(&choices("a"), &settings).unwrap();
        assert_eq!(idle_via(&casting, &settings), None);
    }
}
