//! The options of a run that are not part of its plan and are read again at each resume.

use std::collections::BTreeMap;

use skilltune_orchestrator::agent::Wrap;
use skilltune_orchestrator::engine::{CastAgents, Exports, Patience};
use skilltune_orchestrator::process::can_confine;
use skilltune_orchestrator::snapshot::Limits;
use skilltune_orchestrator::workers::Worker;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::plan::{Cast, Plan, RunId};
use skilltune_phases::runs::price::Prices;
use skilltune_phases::runs::run::Run;

use crate::args::runs::GoingArgs;
use crate::casting;
use crate::casting::{Casting, Part, priced, workers};
use crate::report::ui::Ui;
use crate::runs::versions;
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::trust::pinned::Pins;
use crate::trust::{self, Consent, TrustStore};

/// The options of a run from settings and flags that are not part of its plan.
#[derive(Clone, Debug)]
pub struct RuntimeOptions {
    pub cast: CastAgents,
    pub jobs: usize,
    pub at_once: BTreeMap<String, usize>,
    /// The machines that make the calls; none for this one.
    pub workers: Vec<Worker>,
    /// The folder of calls that another scheduler makes.
    pub exports: Option<Exports>,
    pub artifacts: Limits,
    pub output_bytes: u64,
    pub patience: Patience,
    pub prices: Prices,
    /// The trusted project files that calls run.
    pub pinned: Vec<Pins>,
}

impl RuntimeOptions {
    pub fn of(casting: &Casting, settings: &Settings, workers: Vec<Worker>, pinned: Vec<Pins>) -> Self {
        let limits = &settings.limits;
        Self {
            cast: casting.map(|part| part.agent.clone()),
            jobs: settings.jobs() as usize,
            at_once: settings.calls.at_once.value.0.clone(),
            workers,
            exports: None,
            artifacts: Self::artifacts(settings),
            output_bytes: limits.output_bytes.value,
            patience: settings.patience(),
            prices: settings.prices(),
            pinned,
        }
    }

    /// Returns the limits for the files that an agent gets and writes.
    pub fn artifacts(settings: &Settings) -> Limits {
        let limits = &settings.limits;
        Limits { files: limits.artifact_files.value, bytes: limits.artifact_bytes.value }
    }

    /// Finds and trusts the agents again: the journal names them, but cannot make skilltune run anything.
    ///
    /// If the rest of the run calls no agent, no trust is needed.
    pub fn again<L: Ui>(
        going: &GoingArgs,
        run: &Run<L>,
        settings: &Settings,
        env: &Environment,
        printer: Printer,
    ) -> Result<Self, Complaint> {
        let plan = &run.plan;
        let workers = workers::found(settings.chosen_workers()?, env)?;
        settings.overs().iter().for_each(|over| printer.talk(over));
        let casting = casting::recast(&L::callable(plan), &plan.roles, settings, env)?;
        if going.trust {
            casting::trust_for_run(&casting, settings, env, &plan.run)?;
        }
        let mut pinned = Vec::new();
        if L::may_call(run) || going.extend {
            let ceilings = going.ceilings().or(plan.ceilings);
            priced::require(&ceilings, settings, &casting, &L::most_calls(plan))?;
            let consent = Consent::of(going.trust, Person::present(env).filter(|_| !going.yes));
            pinned = Self::trusted_anew(&casting, settings, env, &plan.run, consent)?;
        }
        if workers.is_empty() {
            still_confined(plan)?;
        }
        still_wrapped(plan, &casting, settings)?;
        Ok(Self { exports: exports(going, &casting, env)?, ..Self::of(&casting, settings, workers, pinned) })
    }

    /// Returns the files that the current agents and other commands of the run use, with their current trust.
    fn trusted_anew(
        casting: &Casting,
        settings: &Settings,
        env: &Environment,
        run: &RunId,
        consent: Consent<'_>,
    ) -> Result<Vec<Pins>, Complaint> {
        let (own, store) = (TrustStore::of_run(env, run), TrustStore::new(env));
        let of_agents = casting::ensure_trusted(casting, settings, env, Some(run), consent)?;
        let is_settings =
            |pins: &Pins| settings.project_file.as_ref().is_some_and(|file| file.path == pins.named_in);
        let others = own.pinned()?.into_iter().filter(|pins| !is_settings(pins));
        let others = others.map(|pins| trust::renew(pins, &store, consent));
        let pinned = of_agents.into_iter().map(Ok).chain(others).collect::<Result<Vec<_>, _>>()?;
        own.pin(&pinned)?;
        Ok(pinned)
    }

    /// Returns the agents that differ from the plan, each with its role. Their rights stay the same.
    pub fn recasts<L: Loop>(&self, plan: &Plan<L>) -> Vec<(Role, Cast)> {
        let recast = |(role, known): (&Role, &Cast)| {
            let agent = self.cast.get(role)?;
            let fingerprint = agent.fingerprint();
            let is_changed = fingerprint != known.fingerprint;
            let wrap = agent.wrap().map(Wrap::name);
            let now = || Cast { fingerprint, verdict: agent.verdict(), wrap, ..known.clone() };
            is_changed.then(|| (role.clone(), now()))
        };
        plan.roles.iter().filter_map(recast).collect()
    }
}

/// Returns the folder of exported calls.
fn exports(going: &GoingArgs, casting: &Casting, env: &Environment) -> Result<Option<Exports>, Complaint> {
    let Some(folder) = going.export.as_ref().or(going.replies.as_ref()) else { return Ok(None) };
    let (folder, writes) = (env.named(folder)?, going.export.is_some());
    if writes {
        std::fs::create_dir_all(&folder).map_err(|error| {
            Complaint::input(format!("cannot write calls into {}", folder.display())).caused_by(error)
        })?;
    }
    let kept = env.cache.join("versions");
    let print = |part: &Part| {
        let version = versions::of(&part.agent, &kept, env);
        part.agent.portable_fingerprint(version.as_deref())
    };
    let agents = casting.iter().filter(|_| writes).map(|(role, part)| (role.clone(), print(part))).collect();
    Ok(Some(Exports { folder, writes, agents }))
}

/// Fails if this system cannot confine agents as the run's report says: this must stay true until the run ends.
fn still_confined<L: Loop>(plan: &Plan<L>) -> Result<(), Complaint> {
    let wants = plan.roles.values().any(|cast| cast.rights.by_system());
    if !wants || can_confine() {
        return Ok(());
    }
    Err(Complaint::input(format!("run {} needs a system that confines its agents", plan.run))
        .caused_by("this system cannot confine agents, unlike the one where the run started")
        .hint("start a new run; it reuses the cached answers"))
}

/// Fails if the use of a wrapper differs from the plan: skilltune confines only agents without a wrapper.
fn still_wrapped<L: Loop>(plan: &Plan<L>, casting: &Casting, settings: &Settings) -> Result<(), Complaint> {
    let is_wrapped = |role: &Role| plan.roles.of(role).rights.by_wrapper();
    let Some((role, part)) =
        casting.iter().find(|(role, part)| part.agent.wrap().is_some() != is_wrapped(role))
    else {
        return Ok(());
    };
    let (was, is, fix) = match part.agent.wrap() {
        Some(wrap) => {
            let origin = &settings.calls.wrap.origin;
            ("without a wrapper", format!("in {}", wrap.name()), format!("remove calls.wrap ({origin})"))
        }
        None => ("in a wrapper", "without one".to_owned(), "restore calls.wrap".to_owned()),
    };
    let run = &plan.run;
    Err(Complaint::input(format!("cannot resume run {run}: its {role} ran {was}, and would now run {is}"))
        .hint(format!("{fix}, or start a new run")))
}
