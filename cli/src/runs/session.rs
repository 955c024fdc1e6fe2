//! An active run: its lock, its engine, the signals that stop it, and its reporters.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use skilltune_orchestrator::agent::Agent;
use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::engine::{
    Caches, CallLimits, Context, Drive, EngineError, Extent, Halt, Observer, Person, Ports, Services,
    Stopped, is_published, publish,
};
use skilltune_orchestrator::process::{GuardianPool, await_marked, become_driver, sweep_marked};
use skilltune_orchestrator::promote::{self, PromoteError, Promotion};
use skilltune_orchestrator::snapshot::{IgnoreRules, Limits, Objects, capture};
use skilltune_orchestrator::store::{
    AnswerCache, Holder, Home, Journal, LockError, Locks, RunFolder, TargetLock,
};
use skilltune_orchestrator::workers::Workers;
use skilltune_phases::base::role::Role;
use skilltune_phases::runs::event::{Done, Event, Pause, Record, Signal};
use skilltune_phases::runs::plan::{Cast, Plan, RunId};
use skilltune_phases::runs::run::Run;
use skilltune_phases::skills::candidate::Candidate;
use skilltune_phases::skills::keys::Keys;
use tokio::sync::watch;

use crate::args::runs::GoingArgs;
use crate::casting::git;
use crate::progress::reporter::Reporter;
use crate::report::ui::Ui;
use crate::report::{advice, files};
use crate::runs::Known;
use crate::runs::ownership::Ownership;
use crate::runs::runtime_options::RuntimeOptions;
use crate::runs::scope::Scope;
use crate::runs::under_guard::{GUARDIAN, GUARDS};
use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::{Printer, unwritten};
use crate::terminal::signals::{self, Stopping};
use crate::trust::TrustStore;
use crate::trust::guard::Watch;
use crate::trust::pinned::Pins;

/// The variable by which a later command finds leftover agents of a run.
const RUN: &str = "SKILLTUNE_RUN";

/// The variable by which a night tells its runs which models answer now: JSON, by role.
pub const MODELS: &str = "SKILLTUNE_NIGHT_MODELS";

/// The message for a folder whose lock is held.
pub const IN_USE: &str = "is in use by another skilltune";

/// The time limit for the guardians of a killed program; they need a hundredth of it.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// The time limit for a child that was asked to exit.
const GRACE: Duration = Duration::from_secs(3);
/// The threads for work besides calls.
const OTHERS: usize = 16;
/// The open files of a call, and all others.
const FILES: u64 = 8;
const OTHER_FILES: u64 = 256;
/// The most calls that wait for replies at once.
const MOST_EXPORTED: usize = 20_000;

/// Locks these skills, and first repairs what a killed promotion left there.
pub fn lock(
    env: &Environment,
    printer: Printer,
    targets: &[PathBuf],
    doing: &str,
) -> Result<(Locks, TargetLock), Complaint> {
    let locks = Locks::at(&env.state);
    let holder = Holder {
        pid: std::process::id(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        since: Timestamp::now(),
        doing: doing.to_owned(),
    };
    let mut lock = locks.acquire(targets, &holder).map_err(held)?;
    for repair in promote::recover(&locks, &mut lock, &holder, &env.indexes()).map_err(unrepaired)? {
        let paths: Vec<_> = repair.moves.iter().map(|one| one.path.display().to_string()).collect();
        let paths = paths.join(", ");
        printer.warn(&match repair.result {
            Promotion::Done => {
                let displaced = Candidate::original(repair.moves.iter().map(|one| one.from).collect());
                format!(
                    "recovered: completed the interrupted replacement of {paths} by run {}, which keeps the replaced version as {}",
                    repair.run,
                    displaced.id.short()
                )
            }
            Promotion::Conflict { .. } => format!(
                "recovered: undid the interrupted replacement of {paths} by run {}, and kept your edits",
                repair.run
            ),
        });
    }
    Ok((locks, lock))
}

/// A run that is ready to be driven, and its first records.
pub struct Begun<L: Ui> {
    journal: Journal,
    run: Run<L>,
    records: Vec<Record<L>>,
}

/// Begins a new run: records the files that it may run, creates its folder and journal, and writes the first line and
/// the answers taken from another run.
pub fn begin<L: Ui>(
    env: &Environment,
    home: &Home,
    plan: Plan<L>,
    answers: Vec<Done<L>>,
    pinned: &[Pins],
) -> Result<Begun<L>, Complaint> {
    let folder = home.run(&plan.run);
    Ownership::new(env).record(&plan.run, folder.root())?;
    TrustStore::of_run(env, &plan.run).pin(pinned)?;
    folder.create().map_err(ours)?;
    let started = Event::Started(Box::new(plan));
    let answers = answers.into_iter().map(|done| Event::Done(Box::new(done)));
    let events = std::iter::once(started).chain(answers);
    let (journal, records) = Journal::begin(&folder.history(), now(), events).map_err(ours)?;
    let run = Run::replay(&records).map_err(ours)?;
    Ok(Begun { journal, run, records })
}

/// Resumes a run: opens its journal, ends its leftover processes, and uses the current agents.
fn take_up<L: Ui>(
    folder: &RunFolder,
    printer: Printer,
    options: &RuntimeOptions,
    (going, first): (&GoingArgs, Option<L::Decision>),
) -> Result<Begun<L>, Complaint> {
    end_leftovers(folder, printer);
    folder.sweep().map_err(ours)?;
    let (mut journal, history) = Journal::resume(&folder.history()).map_err(ours)?;
    if history.torn > 0 {
        printer.talk(&format!("removed an incomplete journal line of {} bytes", history.torn));
    }
    let mut run = Run::replay(&history.records).map_err(ours)?;
    let reopening = first.or_else(|| L::reopening(&run).filter(|_| going.extend));
    // If no agent is called any more, changed agents do not matter.
    let may_call = L::may_call(&run) || reopening.is_some();
    let recasts = if may_call { options.recasts(&run.plan) } else { Vec::new() };
    if let Some((role, cast)) = recasts.first().filter(|_| going.strict_agents) {
        return Err(changed(&run, role, cast));
    }
    // The decision follows the resumption, because the time before that was no work of the run.
    let resumed = Event::Noted(Signal::Resumed { program: env!("CARGO_PKG_VERSION").to_owned() });
    let mut events: Vec<Event<L>> = vec![resumed];
    events.extend(reopening.map(Event::Decided));
    events.extend(recasts.into_iter().map(|(role, cast)| Event::Noted(Signal::Recast { role, cast })));
    let ceilings = going.ceilings().or(run.plan.ceilings);
    events.extend((ceilings != run.plan.ceilings).then_some(Event::Noted(Signal::Ceilings(ceilings))));
    let workers: Vec<String> = options.workers.iter().map(|worker| worker.name.clone()).collect();
    events.extend((workers != run.plan.workers).then_some(Event::Noted(Signal::Workers(workers))));
    let mut records = Vec::new();
    for event in events {
        let record = journal.append(now(), event).map_err(ours)?;
        run.apply(&record);
        records.push(record);
    }
    Ok(Begun { journal, run, records })
}

fn changed<L: Ui>(run: &Run<L>, role: &Role, now: &Cast) -> Complaint {
    let known = run.plan.roles.of(role);
    let parts = known.fingerprint.changed(&now.fingerprint).join(", ");
    Complaint::input(format!("the {role} ({}) changed since run {} began", known.agent, run.plan.run))
        .caused_by(format!("changed: {parts}"))
        .hint("undo the change, or drop --strict-agents to continue and note the change in the report")
}

/// Fails if the run was not started by this user, or does not wait for the given answer: a user must not believe that
/// an answer was used, even after the run has ended.
pub fn may_go_on<L: Ui>(known: &Known<L>, has_answer: bool, env: &Environment) -> Result<(), Complaint> {
    if has_answer && !known.run.held {
        let id = &known.run.plan.run;
        return Err(Complaint::input(format!("run {id} is not waiting for an answer")).hint("omit --answer"));
    }
    Ownership::new(env).require(known)
}

/// Resumes a run. Its first decision, if there is one, was made outside of it: a person may have ended it.
pub fn go_on<L: Ui>(
    (going, first): (&GoingArgs, Option<L::Decision>),
    scope: &Scope<'_>,
    known: &Known<L>,
    settings: &Settings,
    reporter: Box<dyn Reporter<L>>,
    person: &mut dyn Person<L>,
) -> Result<Exit, Complaint> {
    let (runs, env, printer) = (&scope.runs, scope.env, scope.printer);
    let plan = &known.run.plan;
    let options = RuntimeOptions::again(going, &known.run, settings, env, printer)?;
    let locks = lock(env, printer, &known.targets(), plan.run.as_str())?;
    let _in_use = runs.home.hold().map_err(ours)?;
    let taken = take_up(&known.folder, printer, &options, (going, first))?;
    drive(env, &runs.home, taken, locks, options, reporter, person)
}

/// Reports an ended run again, because it may have been killed before it could report.
pub fn tell_again<L: Ui>(
    scope: &Scope<'_>,
    known: &Known<L>,
    words: &str,
    mut reporter: Box<dyn Reporter<L>>,
) -> Result<Exit, Complaint> {
    let (runs, env, printer) = (&scope.runs, scope.env, scope.printer);
    let _locks = lock(env, printer, &known.targets(), known.run.plan.run.as_str())?;
    settle(env, printer, &runs.home, &known.run)?;
    printer.talk(words);
    reporter.finished(&known.run).map_err(unwritten)?;
    Ok(L::exit(&known.run))
}

/// Ends the leftover processes of a run that no program is working on.
pub fn end_leftovers(folder: &RunFolder, printer: Printer) {
    let mark = folder.mark();
    // The guardians of a killed program end by themselves. A guardian that is storing an answer may finish: the answer
    // is kept, and it writes nothing more where the run continues.
    let guards = format!("{GUARDS}={mark}");
    await_marked(&guards, LAST_WORDS);
    let swept = sweep_marked(&guards) + sweep_marked(&format!("{RUN}={mark}"));
    if swept > 0 {
        printer.talk(&format!("ended {} left over from the run", processes(swept)));
    }
}

/// Updates the pages of an inactive run to its journal, in case the program was killed before it did.
pub fn settle<L: Ui>(
    env: &Environment,
    printer: Printer,
    home: &Home,
    run: &Run<L>,
) -> Result<(), Complaint> {
    let folder = home.run(&run.plan.run);
    end_leftovers(&folder, printer);
    folder.sweep().map_err(ours)?;
    if !is_published(&folder, run) {
        let objects = Objects::at(home.objects());
        let write_pages = || files::write::<L>(&objects, &folder, run, Extent::All);
        publish(&objects, &folder, run, Extent::All, write_pages).map_err(ours)?;
    }
    if run.closed_at.is_some() {
        // A leftover workspace does no harm.
        let _ = work(env, &run.plan.run).remove();
    }
    Ok(())
}

/// Returns the folder of a run's workspaces.
pub fn work(env: &Environment, id: &RunId) -> SafePath {
    SafePath::below(&env.cache, "work").join(id.as_str())
}

fn processes(number: u32) -> String {
    if number == 1 { "1 process".to_owned() } else { format!("{number} processes") }
}

/// Returns the longest time in seconds that a call of this run may take, without its grace period.
fn longest_call<L: Ui>(run: &Run<L>) -> u64 {
    let calls = run.plan.roles.values().map(|cast| cast.timeout_seconds);
    calls.fold(L::command_seconds(&run.plan), u64::max)
}

/// Drives the engine until the run ends, waits or is stopped. Returns the exit code.
pub fn drive<L: Ui>(
    env: &Environment,
    home: &Home,
    Begun { journal, run, records }: Begun<L>,
    (locks, lock): (Locks, TargetLock),
    options: RuntimeOptions,
    reporter: Box<dyn Reporter<L>>,
    person: &mut dyn Person<L>,
) -> Result<Exit, Complaint> {
    become_driver().map_err(ours)?;
    // An exported call takes no slot: another scheduler has them.
    let exports = options.exports.as_ref().is_some_and(|exports| exports.writes);
    let (jobs, patience) = (if exports { MOST_EXPORTED } else { options.jobs }, options.patience);
    let resume = advice::resume(&run);
    let failed = |error| failed(error, &resume);
    let at_once = options.at_once.clone();
    let services = services(env, home, &run.plan, options)?;
    repair(&services.objects, &run)?;
    let pool = services.pool.clone();
    let context = Context {
        services: Arc::new(services),
        journal,
        locks,
        lock,
        indexes: env.indexes(),
        jobs,
        at_once,
        patience,
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // Each call blocks a thread, and one of a worker holds pipes.
    let threads = if exports { OTHERS } else { jobs };
    allow_files(threads);
    let runtime = runtime.enable_all().max_blocking_threads(threads + OTHERS).build();
    let runtime = runtime.map_err(|error| Complaint::ours("cannot start the runtime").caused_by(error))?;
    let (halt, halts) = watch::channel(None::<Halt>);
    let reporter = RefCell::new(reporter);
    for record in &records {
        reporter.borrow_mut().recorded(&run, record);
    }
    let longest = GRACE + Duration::from_secs(longest_call(&run));
    let stopping = Stopping { longest, is_final: L::on_stop(&run, None).is_some() };
    let mut glue = Glue(&reporter);
    let engine = Drive::new(run, context, &mut glue, person, halts).map_err(failed)?;
    let left = runtime.block_on(async {
        // On one task with the engine, so that messages about signals never mix with the live line.
        tokio::select! {
            went = engine.run() => went,
            never = signals::watch(halt, stopping, |words| reporter.borrow_mut().remark(words)) => match never {},
        }
    });
    pool.close();
    let (run, left) = left.map_err(failed)?;
    reporter.into_inner().finished(&run).map_err(unwritten)?;
    Ok(match left {
        Stopped::Ended | Stopped::Held => L::exit(&run),
        Stopped::Paused(Pause::Blocked) => Exit::Unjudged,
        Stopped::Paused(Pause::Ceiling(_) | Pause::Exported) => Exit::Paused,
        Stopped::Paused(Pause::Terminated) => Exit::Terminated,
        Stopped::Paused(Pause::Interrupted | Pause::Stopped) => Exit::Interrupted,
    })
}

/// Raises the limit of open files so that this many calls can run, as far as the system allows. Child processes inherit it.
fn allow_files(calls: usize) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = (calls as u64 * FILES + OTHER_FILES).min(limit.maximum.unwrap_or(u64::MAX));
    if limit.current.is_some_and(|current| current < wanted) {
        // With fewer files, calls fail and are made again.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}

/// Captures the target again if the store has lost part of what the run started from.
fn repair<L: Ui>(objects: &Objects, run: &Run<L>) -> Result<(), Complaint> {
    if L::run_trees(run).into_iter().all(|tree| objects.contains_tree(tree)) {
        return Ok(());
    }
    for target in L::targets(&run.plan).iter().filter(|target| target.is_dir()) {
        // Without an index, which may list exactly the lost files.
        let rules = IgnoreRules::of(target).map_err(ours)?;
        capture(objects, target, Some(rules), Limits::default()).map_err(ours)?;
    }
    Ok(())
}

pub fn services<L: Ui>(
    env: &Environment,
    home: &Home,
    plan: &Plan<L>,
    options: RuntimeOptions,
) -> Result<Services, Complaint> {
    let exe = std::env::current_exe()
        .map_err(|error| Complaint::ours("cannot find the skilltune program").caused_by(error))?;
    let (folder, objects) = (home.run(&plan.run), Objects::at(home.objects()));
    let mark = (GUARDS.to_owned(), folder.mark());
    let secrets = L::secrets(plan, &objects);
    Ok(Services {
        objects,
        folder,
        cache: AnswerCache::of(home, &env.state).map_err(ours)?,
        models: env.vars.get(MODELS).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
        work: work(env, &plan.run),
        own: [home.root().to_owned(), env.cache.clone()].into_iter().chain(L::hidden(plan)).collect(),
        keys: Keys::new(options.cast.values().flat_map(Agent::keys).chain(secrets)),
        cast: options.cast,
        pool: GuardianPool::new(exe, GUARDIAN, mark, options.jobs),
        limits: CallLimits { output_bytes: options.output_bytes, artifacts: options.artifacts, grace: GRACE },
        prices: options.prices,
        workers: Workers::of(options.workers, options.patience.backoff),
        exports: options.exports,
        git: git(env).ok(),
        caches: Caches::default(),
        ports: Ports::default(),
        guard: Watch::of(&options.pinned),
    })
}

/// Forwards events to a reporter, and writes the pages.
struct Glue<'a, L: Ui>(&'a RefCell<Box<dyn Reporter<L>>>);

impl<L: Ui> Observer<L> for Glue<'_, L> {
    fn write_pages(&mut self, services: &Services, run: &Run<L>, extent: Extent) -> Result<(), EngineError> {
        files::write::<L>(&services.objects, &services.folder, run, extent)
    }

    fn recorded(&mut self, run: &Run<L>, record: &Record<L>) {
        self.0.borrow_mut().recorded(run, record);
    }

    fn began(&mut self, run: &Run<L>, step: &L::Step) {
        self.0.borrow_mut().began(run, step);
    }

    fn ended(&mut self, run: &Run<L>, step: &L::Step) {
        self.0.borrow_mut().ended(run, step);
    }
}

pub fn now() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).expect("now is a time")
}

fn failed(error: EngineError, resume: &str) -> Complaint {
    ours(error).hint(format!("progress is saved; fix the cause, then run `{resume}`"))
}

fn held(error: LockError) -> Complaint {
    let LockError::Held { path, holder } = &error else { return ours(error) };
    let complaint = Complaint::input(format!("{} {IN_USE}", path.display()));
    let Some(holder) = holder else { return complaint.hint("retry when it has finished") };
    // A command's name contains spaces and cannot be stopped by name; only a run can.
    let hint = if holder.doing.contains(' ') {
        "wait for it; it takes a moment".to_owned()
    } else {
        format!("wait for it, or run `skilltune stop {}`", holder.doing)
    };
    complaint
        .caused_by(format!(
            "process {} on {} has held the lock since {} ({})",
            holder.pid,
            holder.host,
            holder.since.strftime("%Y-%m-%d %H:%M:%S UTC"),
            holder.doing
        ))
        .hint(hint)
}

fn unrepaired(error: PromoteError) -> Complaint {
    match error {
        PromoteError::Lock(error) => held(error),
        error => ours(error).hint(
            "skilltune must first recover an interrupted replacement of this skill; fix the cause and retry",
        ),
    }
}
