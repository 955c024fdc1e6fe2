//! A run that tries a skill and changes nothing, from its flags to its end: `compare`, `calibrate`. `suite check --try`
//! makes its own request.

use crate::args::overrides::{apply_shared_flags, override_with};
use crate::settings::values::Panel;
use std::path::Path;

use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::{Aim, Rules, Tune};
use skilltune_phases::skills::offline;

use crate::casting::{self, BuiltIn};
use crate::inputs::find::Skill;
use crate::inputs::suite::Suite;
use crate::loops::start::{self, Common, Start};
use crate::loops::tune::delivery::delivery;
use crate::loops::tune::invocation::{self, Invocation};
use crate::loops::tune::prompts::Pages;
use crate::loops::tune::scenarios::{TaskSet, allow_shell};
use crate::loops::tune::settings::TuneSettings;
use crate::loops::tune::trial_flags::TrialFlags;
use crate::loops::tune::versions::Version;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

/// Returns the named suite, or else the first that one of these skills brings along.
pub fn suite(flags: &TrialFlags, skills: &[&Path], env: &Environment) -> Result<(Suite, bool), Complaint> {
    if let Some(path) = &flags.suite {
        return Ok((Suite::read(&env.cwd.join(path))?, false));
    }
    for skill in skills {
        if let Some(own) = Suite::beside(skill)? {
            return Ok((own, true));
        }
    }
    Err(Complaint::input("no suite of tasks").hint("pass --suite FILE; `skilltune suite new` drafts one"))
}

/// Trusts what the request still needs: the project's agents, its prompts, and the suite's programs.
pub fn trusted(mut invocation: Invocation, start: &Start<'_>) -> Result<Invocation, Complaint> {
    let Some(untrusted) = invocation.untrusted.take() else { return Ok(invocation) };
    let (pages, suite) = *untrusted;
    let (env, consent) = (start.env, start.consent());
    let Common { casting, settings, .. } = &invocation.common;
    let of_agents = casting::ensure_trusted(casting, settings, env, None, consent)?;
    pages.ensure_trusted(settings, env, consent)?;
    let of_suite = suite.map(|suite| invocation::ensure_trusted(&suite, env, consent)).transpose()?.flatten();
    invocation.common.pinned = of_agents.into_iter().chain(of_suite).collect();
    Ok(Invocation { prompts: pages.checked()?, ..invocation })
}

/// Returns why the run would be refused: the agents, the prompts or the suite's programs are not trusted.
pub fn missing(invocation: &Invocation, start: &Start<'_>) -> Vec<Complaint> {
    let (env, consent) = (start.env, start.unasked().consent());
    let untrusted = invocation.untrusted.as_deref();
    let pages = untrusted
        .and_then(|(pages, _)| pages.ensure_trusted(&invocation.common.settings, env, consent).err());
    let suite = untrusted.and_then(|(_, suite)| suite.as_ref());
    let suite = suite.and_then(|suite| invocation::ensure_trusted(suite, env, consent).err());
    start::agents_missing(&invocation.common, start).into_iter().chain(pages).chain(suite).collect()
}

/// The aim of a run, the versions on trial, and their tasks.
pub struct What {
    pub aim: Aim,
    pub versions: Vec<Version>,
    /// The name of each skill, and its path for lists and locks: nothing is ever written there.
    pub skills: Vec<Skill>,
    pub task_set: TaskSet,
    /// Fresh trials of each version in a comparison, if set.
    pub confirm: Option<u32>,
}

/// The parts of a run besides its skill and its scenarios.
pub struct TrialRun<'a> {
    pub flags: &'a TrialFlags,
    pub env: &'a Environment,
    pub printer: Printer,
    common: Common,
    delivery: Delivery,
    pages: Pages,
}

impl<'a> TrialRun<'a> {
    pub fn new(
        flags: &'a TrialFlags,
        panel: Option<&Panel>,
        project: &Path,
        env: &'a Environment,
        printer: Printer,
    ) -> Result<Self, Complaint> {
        let mut settings = crate::loops::settings(project, env)?;
        apply_shared_flags(&mut settings, flags.agent.as_ref(), flags.calls.timeout, &flags.given);
        override_with(&mut settings.roles.panel, panel.cloned(), "--panel");
        casting::fill(&mut settings, env);
        // Nothing is improved: that role gets the executor's agent, so that no other agent is needed.
        settings.roles.improver = settings.roles.executor.clone();
        let casting = casting::cast(Tune::ROLES, &settings, env, BuiltIn::Knows)
            .map_err(|complaint| invocation::naming(complaint, project, env))?;
        let delivery = delivery(&settings.of::<TuneSettings>().delivery, &casting.of(&Role::EXECUTOR).agent)?;
        let pages = Pages::read(&settings)?;
        let (project, epoch) = (project.to_owned(), flags.run.epoch());
        let common = Common { project, settings, casting, pinned: Vec::new(), epoch };
        Ok(Self { flags, env, printer, common, delivery, pages })
    }

    /// Returns whether executors look for the skill by themselves.
    pub fn is_installed(&self) -> bool {
        self.delivery.at().is_some()
    }

    /// Returns whether the built-in agent, which only looks at skills, would do any of the work.
    pub fn is_built_in(&self) -> bool {
        self.common.casting.values().any(|part| part.agent.name == offline::NAME)
    }

    /// Creates the run, and drives it until it ends or has to wait.
    pub fn run(self, what: What, suite: Suite) -> Result<Exit, Complaint> {
        let start = Start::of(&self.flags.run, self.flags.trust, self.env, self.printer);
        start::start::<Tune>(self.invocation(what, suite)?, &start)
    }

    /// Builds the request. The user's own pages are read later: they are not trusted yet.
    fn invocation(mut self, what: What, suite: Suite) -> Result<Invocation, Complaint> {
        let What { aim, versions, skills: members, task_set, confirm } = what;
        let mut scenarios = task_set.scenarios;
        if self.flags.given.has("tune.tools") {
            // A flag overrides files.
            for scenario in &mut scenarios {
                scenario.tools = None;
            }
        }
        let task_set = TaskSet { scenarios, ..task_set }.of_skills(&members);
        task_set.check(&members, &self.delivery, self.env)?;
        allow_shell(&mut self.common, &task_set.scenarios)?;
        let held_out = self.common.settings.of::<TuneSettings>().held_out.value;
        let (tried, common, delivery) = ((aim, versions), self.common, self.delivery);
        let trials =
            Invocation::of_trials(tried, common, delivery, members, task_set, (self.pages, Some(suite)));
        Ok(Invocation {
            held_out,
            rules: Rules { confirm: confirm.unwrap_or(trials.rules.confirm), ..trials.rules },
            seed: self.flags.seed,
            ..trials
        })
    }
}
