//! A run of the real engine: journal, store, guardians, cache, prompts and workspaces, with the loop `tune`.
//!
//! It is one round of many scenarios without an edit, or a comparison of two versions: every trial is one call of the
//! executor and one of the evaluator.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use skilltune_orchestrator::agent::{Agent, AgentSettings};
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::engine::{
    Caches, CallLimits, Context, Drive, EngineError, Extent, Observer, Patience, Person, Ports, Services,
    Stopped, edit_diff,
};
use skilltune_orchestrator::process::{GuardianPool, become_driver};
use skilltune_orchestrator::snapshot::{Indexes, Limits, Objects, capture};
use skilltune_orchestrator::store::{AnswerCache, Holder, Home, Journal, Locks};
use skilltune_orchestrator::workers::Workers;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::rubric;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::tune::results::state_file;
use skilltune_phases::loops::tune::{
    Aim, Answer, Apply, Event, Plan, Record, Rules, Run, Sides, Step, Task, Tune,
};
use skilltune_phases::runs::plan::Cast;
use skilltune_phases::skills::keys::Keys;
use skilltune_phases::skills::target::Member;
use skilltune_phases::suites::scenario::Scenario;
use skilltune_worlds::{drive, tune};
use tokio::sync::watch;

/// The kind of run.
#[derive(Clone, Copy)]
pub(crate) enum What {
    /// One round: each scenario once.
    Round { scenarios: usize },
    /// Two versions with this many trials for each scenario, and their statistics. They differ, but neither is better.
    Comparison { scenarios: usize, trials: usize },
}

impl What {
    /// Returns one round with this many calls.
    pub(crate) fn round(calls: usize) -> Self {
        Self::Round { scenarios: calls / 2 }
    }

    pub(crate) fn calls(self) -> usize {
        match self {
            Self::Round { scenarios } => 2 * scenarios,
            Self::Comparison { scenarios, trials } => 2 * 2 * scenarios * trials,
        }
    }
}

/// Creates a project and runs there; returns the time from the first record to the last sync.
pub(crate) async fn run(
    programs: Programs,
    places: Places<'_>,
    what: What,
    jobs: usize,
) -> Result<Duration, Box<dyn Error>> {
    become_driver()?;
    let home = Home::of(places.project);
    home.create()?;
    let objects = Objects::at(home.objects());
    let skill = skill_at(&places.project.join("writer"))?;
    let tree = || capture(&objects, &skill, None, Limits::default()).map(|captured| captured.tree);
    let start = tree()?;
    fs::write(skill.join("version.md"), "This is version B.\n")?;
    let challenger = tree()?;
    let agent = agent(programs.agent);
    let plan = plan(&skill, (start, challenger), what, &agent);
    let folder = home.run(&plan.run);
    folder.create()?;
    let pool =
        GuardianPool::new(programs.guardian, "guardian", ("GUARDS".to_owned(), "a bench".to_owned()), jobs);
    let services = Services {
        objects,
        folder,
        cache: AnswerCache::of(&home, &places.work.join("state"))?,
        models: BTreeMap::new(),
        work: places.work.join("run").into(),
        own: Vec::new(),
        cast: plan.roles.map(|_| agent.clone()),
        pool: pool.clone(),
        limits: LIMITS,
        keys: Keys::default(),
        prices: BTreeMap::new(),
        git: None,
        caches: Caches::default(),
        ports: Ports::default(),
        workers: Workers::of(Vec::new(), Duration::ZERO),
        exports: None,
        guard: None,
    };
    let locks = Locks::at(&places.project.join("state"));
    let lock = locks.acquire(std::slice::from_ref(&skill), &holder())?;
    let began = Instant::now();
    let started = Event::Started(Box::new(plan));
    let (journal, records) = Journal::begin(&services.folder.history(), Timestamp::now(), [started])?;
    let indexes = Indexes::at(&places.work.join("indexes"));
    let context = Context {
        services: Arc::new(services),
        journal,
        locks,
        lock,
        indexes,
        jobs,
        at_once: BTreeMap::new(),
        patience: Patience::default(),
    };
    let (_nobody_stops, halt) = watch::channel(None);
    let (mut observer, mut person) = (Silent, Nobody);
    let run = Run::replay(&records)?;
    drop(records);
    let drive = Drive::new(run, context, &mut observer, &mut person, halt)?;
    let (run, left) = drive.run().await?;
    let took = began.elapsed();
    pool.close();
    let total = run.ledger.total();
    if left != Stopped::Ended || total.calls as usize != what.calls() || total.failed + total.cached > 0 {
        return Err(format!("the run went astray: {left:?}, {total:?}").into());
    }
    Ok(took)
}

/// The programs that a run starts.
#[derive(Clone, Copy)]
pub(crate) struct Programs {
    pub(crate) agent: &'static str,
    pub(crate) guardian: &'static str,
}

#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) project: &'a Path,
    /// The folder of the workspaces.
    pub(crate) work: &'a Path,
}

/// Returns the prompts of an earlier run at `root`.
pub(crate) fn prompts_in(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let folder = Home::of(root).run(&RUN.parse().expect("a plain name")).agents();
    let calls = fs::read_dir(folder.path())?.collect::<Result<Vec<_>, _>>()?;
    Ok(calls.into_iter().map(|call| call.path().join("prompt.md")).collect())
}

const RUN: &str = "bench";

const LIMITS: CallLimits = CallLimits {
    output_bytes: 8 << 20,
    artifacts: Limits { files: 10_000, bytes: 1 << 30 },
    grace: Duration::from_secs(5),
};

struct Silent;

impl Observer<Tune> for Silent {
    /// Writes as many pages as skilltune does.
    fn write_pages(&mut self, services: &Services, run: &Run, extent: Extent) -> Result<(), EngineError> {
        let text = state_file::text(run);
        for round in extent.of(&run.state.rounds).iter().filter(|round| round.measured.is_some()) {
            let place = services.folder.iteration(round.number);
            place.make()?;
            place.join("eval.md").replace(text.as_bytes(), Durability::Order)?;
            if round.edit.is_some() {
                let diff = edit_diff(&services.objects, run, round)?.unified;
                place.join("changes.md").replace(diff.as_bytes(), Durability::Order)?;
            }
        }
        if extent == Extent::All && run.closed_at.is_some() {
            services.folder.report().replace(text.as_bytes(), Durability::Order)?;
            services.folder.report_json().replace(text.as_bytes(), Durability::Order)?;
        }
        Ok(())
    }

    fn recorded(&mut self, _: &Run, _: &Record) {}
    fn began(&mut self, _: &Run, _: &Step) {}
    fn ended(&mut self, _: &Run, _: &Step) {}
}

struct Nobody;

impl Person<Tune> for Nobody {
    fn ask(&mut self, _: &Run, _: &Step) -> Option<Answer> {
        None
    }
}

/// Creates a skill of a typical size: a page, two references, a script.
fn skill_at(folder: &Path) -> std::io::Result<PathBuf> {
    fs::create_dir_all(folder.join("references"))?;
    let head = "---\nname: writer\ndescription: Writes short texts about anything.\n---\n\n# Writer\n\n";
    let page = |lines: usize| "1. Read the task, and write down what it asks for, in a line.\n".repeat(lines);
    fs::write(folder.join("SKILL.md"), format!("{head}{}", page(40)))?;
    fs::write(folder.join("references/style.md"), page(20))?;
    fs::write(folder.join("references/examples.md"), page(30))?;
    fs::write(folder.join("check.sh"), "#!/bin/sh\nexec wc -w \"$@\"\n")?;
    folder.canonicalize()
}

fn agent(program: &str) -> Agent {
    let settings = AgentSettings { command: vec!["agent".into()], ..AgentSettings::default() };
    Agent::new("agent", None, settings, program.into(), &BTreeMap::new())
}

fn plan(skill: &Path, (start, challenger): (TreeId, TreeId), what: What, agent: &Agent) -> Plan {
    let (scenarios, trials) = match what {
        What::Round { scenarios } => (scenarios, 1),
        What::Comparison { scenarios, trials } => (scenarios, trials),
    };
    let sides = Sides { start: "A".into(), challenger: "B".into(), trees: vec![challenger], regraded: None };
    let cast = Cast {
        fingerprint: agent.fingerprint(),
        timeout_seconds: 600,
        verdict: agent.verdict(),
        lacks_shell: agent.lacks_shell(),
        opens_files: agent.opens_files(),
        ..drive::cast(&agent.name)
    };
    let member = Member { has_scripts: true, ..tune::member("writer", &skill.to_string_lossy(), start) };
    let task = tune::task(vec![member], (0..scenarios).map(scenario).collect());
    let task = Task {
        aim: match what {
            What::Round { .. } => Aim::Improve,
            What::Comparison { .. } => Aim::Compare(Box::new(sides)),
        },
        contract: rubric::tune(),
        rules: Rules {
            // One round without an edit.
            max_iterations: 1,
            threshold: Score::FULL,
            confirm: u32::try_from(trials).expect("few trials"),
            ..task.rules
        },
        apply: Apply::Never,
        ..task
    };
    let roles = [Role::EXECUTOR, Role::EVALUATOR, Role::IMPROVER].map(|role| (role, cast.clone())).into();
    drive::plan_of(".", RUN, task, roles)
}

fn scenario(nth: usize) -> Scenario {
    let task = format!("Write a text of {nth} words about the number {nth}.");
    tune::scenario(&format!("task-{nth}"), &task)
}

fn holder() -> Holder {
    Holder { pid: std::process::id(), host: "bench".into(), since: Timestamp::now(), doing: RUN.into() }
}
