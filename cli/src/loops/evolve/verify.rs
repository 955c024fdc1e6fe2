//! `evolve verify`: repeats the commands and the oracles of a result. No agent takes part.

use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::task::{AdviceRules, Apply, Rules};
use skilltune_phases::loops::evolve::{Evolve, Plan, Task};
use skilltune_phases::runs::plan::LoopKind;
use skilltune_phases::suites::checks::{Commands, RunThem};

use crate::casting::{Casting, system_confines};
use crate::loops::LoopCommands as _;
use crate::loops::evolve::advisers::Advisers;
use crate::loops::evolve::args::VerifyArgs;
use crate::loops::evolve::bring::bring;
use crate::loops::evolve::claimed::{Claimed, of_revision, of_run};
use crate::loops::evolve::invocation::{Invocation, SetCommands, UNCONFINED, root, set};
use crate::loops::evolve::settings::EvolveSettings;
use crate::loops::start::{Common, Show, Start};
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::scope::Scope;
use crate::runs::{new_run_id, seed};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::text::plain::one_line;

impl VerifyArgs {
    pub fn start<'a>(&self, env: &'a Environment, printer: Printer) -> Start<'a> {
        let show = self.dry_run.then_some(Show::Plan);
        Start { yes: self.yes, trust: self.trust, format: self.format, show, env, printer }
    }
}

/// Returns the request to verify a result. Nothing runs and nothing is written.
pub fn invocation(args: &VerifyArgs, env: &Environment, printer: Printer) -> Result<Invocation, Complaint> {
    if args.of.is_empty() || args.of.starts_with('-') {
        return Err(Complaint::input(format!("{:?} is neither a run nor a revision", args.of))
            .hint("pass the id of a run, or a branch such as skilltune/spec"));
    }
    let scope = Scope::here(Some(LoopKind::Evolve), env, printer)?;
    let is_run = scope.runs.ids(scope.only).iter().any(|id| id.as_str().starts_with(&args.of));
    if is_run {
        let (folder, claimed) = of_run(args, &scope)?;
        return assembled(root(Some(&folder), env)?, claimed, env);
    }
    let root = root(args.root.as_deref(), env)?;
    let claimed = of_revision(args, &root, env)?;
    assembled(root, claimed, env)
}

fn assembled(root: PathBuf, claimed: Claimed, env: &Environment) -> Result<Invocation, Complaint> {
    let project = env.project_here();
    let mut settings = crate::loops::settings(&project, env)?;
    Evolve::set_defaults(&mut settings);
    let own = settings.of::<EvolveSettings>();
    let SetCommands { setup, mut remarks, .. } = set(&settings, &root, &project);
    remarks.extend(own.not_brought());
    let confined = system_confines(&settings);
    if settings.limits.confine.value && !confined {
        return Err(Complaint::input("cannot run the commands of receipts: this system cannot confine them")
            .hint(UNCONFINED));
    }
    let retries = own.retries.value;
    let casting: Casting = [].into();
    Ok(Invocation {
        has_oracles: false,
        has_strength: false,
        has_control: false,
        common: Common { project, settings, casting, pinned: Vec::new(), epoch: 0 },
        advisers: Advisers::default(),
        name: one_line(&claimed.filed.receipts.name).chars().take(60).collect(),
        file: claimed.file.clone(),
        spec: claimed.filed.specification(),
        plan: None,
        plan_only: false,
        rerun: None,
        verify: Some(Box::new(claimed)),
        root,
        set: Vec::new(),
        setup,
        found: Vec::new(),
        finds: Some(false),
        checks: Commands { run: RunThem::Ask, confined },
        has_shell: false,
        apply: Apply::Never,
        rules: Rules::default(),
        retries,
        remarks,
        seed: None,
    })
}

/// Decides whether the commands may run: others may have written them.
pub fn agree(invocation: &mut Invocation, start: &Start<'_>) -> Result<(), Complaint> {
    invocation.checks.run = match (start.trust, start.person()) {
        (true, _) => RunThem::Always,
        (false, Some(_)) => RunThem::Ask,
        (false, None) => {
            let file = one_line(&invocation.file.to_string_lossy());
            return Err(Complaint::input("cannot run the commands of receipts without asking")
                .caused_by("somebody else may have written them")
                .hint(format!("read {file} and the oracles beside it, then pass --trust")));
        }
    };
    Ok(())
}

/// Makes the plan. Without a sketch, it makes one and reads no project; with one, it stores the files.
pub fn plan(
    invocation: &Invocation,
    claimed: &Claimed,
    home: &Home,
    env: &Environment,
    sketch: Option<&Plan>,
) -> Result<Plan, Complaint> {
    let settings = &invocation.common.settings;
    let objects = Objects::at(home.objects());
    let own = settings.of::<EvolveSettings>();
    let names = if sketch.is_some() { own.brought() } else { &[] };
    let brought = bring(&objects, &invocation.root, names)?;
    let limits = RuntimeOptions::artifacts(settings);
    let stored = sketch.map(|_| claimed.store(&objects, limits, env)).transpose()?;
    let (before, verify) = stored.unwrap_or_else(|| (TreeId::EMPTY, claimed.sketch()));
    let changed = sketch.is_some() && !verify.is_same;
    let changed = changed.then(|| format!("{} has changed since the receipts were made", claimed.of));
    let task = Task {
        name: invocation.name.clone(),
        file: invocation.file.to_string_lossy().into_owned(),
        spec: invocation.spec.clone(),
        root: invocation.root.to_string_lossy().into_owned(),
        start: before,
        committed: None,
        hidden: Vec::new(),
        apart: Vec::new(),
        plan: None,
        outdated: Vec::new(),
        only: Vec::new(),
        built_on: Vec::new(),
        plan_only: false,
        set: claimed.filed.commands(),
        finds: false,
        checks: invocation.checks,
        has_oracles: false,
        has_strength: false,
        has_control: false,
        verify: Some(Box::new(verify)),
        command_seconds: settings.commands.seconds.value,
        brought,
        setup: invocation.setup.clone(),
        has_shell: false,
        apply: Apply::Never,
        rules: invocation.rules,
        experts: Vec::new(),
        advice: AdviceRules::default(),
        retries: invocation.retries,
        remarks: invocation.remarks.iter().cloned().chain(changed).collect(),
    };
    // The author of an oracle must not know its codes, so they do not follow from the files.
    let unknown = || seed(&RandomState::new().hash_one(std::process::id()));
    let seed = sketch.map_or_else(unknown, |sketch| sketch.seed);
    let run = sketch.map_or_else(|| new_run_id(seed, Timestamp::now()), |sketch| sketch.run.clone());
    Ok(invocation.common.plan(run, seed, task))
}
