//! `clean`: deletes runs, and the stored files that only they need. Plan, show, apply.

use std::collections::BTreeSet;

use fs_extra::dir::get_size;
use serde::Serialize;
use serde_json::json;
use skilltune_orchestrator::store::Needed;
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::nights::night::History;
use skilltune_phases::runs::plan::{LoopKind, RunId};

use crate::args::runs::CleanArgs;
use crate::loops::LoopCommands;
use crate::loops::tune::winner::{Fate, Winner};
use crate::nights::book::Shelf;
use crate::report::outcome;
use crate::report::ui::with_loop;
use crate::runs::ownership::Ownership;
use crate::runs::scope::Scope;
use crate::runs::{Known, Outline, RunStatus, Runs, session};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::text::{figures, plain};
use crate::trust::TrustStore;

/// Why the run that a morning names as the way back is kept.
const BEFORE_AN_EDIT: &str = "it has the version before an edit that made a skill worse";

pub fn run(args: &CleanArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let printer = scope.printer;
    let plan = plan(args, scope)?;
    for Planned { id, why, .. } in &plan.kept {
        printer.talk(&format!(
            "keeping {id}: {} (`skilltune clean {id}` deletes it)",
            why.as_deref().unwrap_or("")
        ));
    }
    if plan.resumable > 0 {
        let runs = figures::count(plan.resumable, "run");
        printer.talk(&format!(
            "keeping {runs} that can be resumed (`skilltune clean --all` deletes all runs, `skilltune clean RUN` one)"
        ));
    }
    let print = |outcome: &str, line: String| {
        let object =
            json!({ "outcome": outcome, "runs": plan.goes, "kept": plan.kept, "resumable": plan.resumable });
        outcome::print(args.format, printer, &[line], &object)
    };
    if plan.goes.is_empty() {
        return print("unchanged", "nothing to clean".to_owned());
    }
    // A person is asked about these lines.
    let list = if args.yes { Printer::talk } else { Printer::warn };
    for Planned { id, bytes, why } in &plan.goes {
        let why = why.as_ref().map(|why| format!("  ({why})")).unwrap_or_default();
        list(printer, &format!("{id}  {} KiB{why}", bytes.div_ceil(1024)));
    }
    let gone_for_good = plan.goes.iter().filter(|planned| planned.why.is_some()).count();
    let runs = figures::count(plan.goes.len(), "run");
    if args.dry_run {
        let line = format!("would delete {runs} and the stored files that only they need");
        return print("would_delete", line);
    }
    agree(&question(gone_for_good), args.yes, scope.env)?;
    let ids: Vec<RunId> = plan.goes.iter().map(|planned| planned.id.clone()).collect();
    for id in &ids {
        with_loop!(scope.runs.kind(id), L => tidy::<L>(scope, id))?;
    }
    let swept = figures::count(delete(&ids, scope)?, "stored object");
    print("deleted", format!("deleted {runs} and {swept}"))
}

fn question(lost: usize) -> String {
    match lost {
        0 => "Delete them?".to_owned(),
        lost => format!("{} cannot be restored afterwards. Delete them?", figures::count(lost, "run")),
    }
}

/// Fails unless the user or a flag agrees.
fn agree(question: &str, yes: bool, env: &Environment) -> Result<(), Complaint> {
    let agreed = match Person::present(env) {
        _ if yes => true,
        Some(person) => person.agree(question)?,
        None => false,
    };
    let refused = || Complaint::input("nothing was deleted").hint("pass --yes to delete without asking");
    if agreed { Ok(()) } else { Err(refused()) }
}

/// Removes the files of a run that are outside its folder. Skips runs of other users: a journal from a repository could
/// name any folder.
fn tidy<L: LoopCommands>(scope: &Scope<'_>, id: &RunId) -> Result<(), Complaint> {
    match scope.runs.load::<L>(id) {
        Ok(known) if Ownership::new(scope.env).require(&known).is_ok() => L::tidy(&known, scope.printer),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Deletes runs and the stored files that only they need, and returns the number of these.
pub fn delete(ids: &[RunId], scope: &Scope<'_>) -> Result<usize, Complaint> {
    let (runs, env) = (&scope.runs, scope.env);
    for id in ids {
        runs.home.run(id).place().remove().map_err(ours)?;
        Ownership::new(env).forget(id);
        TrustStore::of_run(env, id).forget();
        // The workspaces of a run that never ended. A failure to remove them is harmless.
        let _ = session::work(env, id).remove();
    }
    sweep(runs)
}

/// The runs to delete, and the runs to keep unless the user asks for them explicitly.
struct CleanPlan {
    goes: Vec<Planned>,
    kept: Vec<Planned>,
    /// The number of runs that are kept because they can be resumed.
    resumable: usize,
}

#[derive(Serialize)]
struct Planned {
    #[serde(rename = "run_id")]
    id: RunId,
    bytes: u64,
    /// Why deleting this run loses something.
    why: Option<String>,
}

fn plan(args: &CleanArgs, scope: &Scope<'_>) -> Result<CleanPlan, Complaint> {
    let runs = &scope.runs;
    let mut resumable = 0;
    let ids = match (&args.run, args.keep) {
        (Some(prefix), _) => {
            let id = scope.named(Some(prefix))?;
            if let Ok(Outline { status: RunStatus::Running { pid }, .. }) = runs.outline(&id) {
                return Err(Complaint::input(format!("run {id} is running in process {pid}"))
                    .hint(format!("run `skilltune stop {id}` first")));
            }
            vec![id]
        }
        (None, keep) => {
            let old = runs.ids(scope.only).into_iter().skip(keep.unwrap_or(0));
            let (goes, stays): (Vec<_>, _) = old.partition(|id| may_go(runs, id, args.all));
            resumable = stays.iter().filter(|id| runs.is_resumable(id)).count();
            goes
        }
    };
    let nights: Vec<History> =
        Shelf::all(&runs.home).into_iter().filter_map(|shelf| shelf.read().ok()).collect();
    let dismissed: BTreeSet<&RunId> =
        nights.iter().flat_map(History::dismissed).map(|(_, run)| run).collect();
    let before_edits: BTreeSet<&RunId> = nights.iter().flat_map(History::runs_before_edits).collect();
    let lost = |id: &RunId| {
        let only_copy = with_loop!(runs.kind(id), L => only_copy::<L>(scope, id));
        let only_copy = only_copy.or_else(|| unapplied(scope, id, &dismissed));
        let is_named = || before_edits.contains(id).then(|| BEFORE_AN_EDIT.to_owned());
        let named = only_copy.or_else(is_named);
        named.or_else(|| runs.is_resumable(id).then(|| "it can be resumed".to_owned()))
    };
    let planned = ids.into_iter().map(|id| Planned {
        bytes: get_size(runs.home.run(&id).root()).unwrap_or(0),
        why: lost(&id),
        id,
    });
    // Naming a run or its loop, or `--all`, includes runs whose deletion loses something.
    let is_told = args.run.is_some() || args.all || scope.only.is_some();
    let (goes, kept) = planned.partition(|planned| is_told || planned.why.is_none());
    Ok(CleanPlan { goes, kept, resumable })
}

fn only_copy<L: LoopCommands>(scope: &Scope<'_>, id: &RunId) -> Option<String> {
    L::only_copy(&load_own::<L>(scope, id)?, &scope.objects())
}

/// Reads a run if it is the user's own.
fn load_own<L: LoopCommands>(scope: &Scope<'_>, id: &RunId) -> Option<Known<L>> {
    let is_ours = |known: &Known<L>| Ownership::new(scope.env).require(known).is_ok();
    scope.runs.load::<L>(id).ok().filter(is_ours)
}

/// Returns why a search holds a winner that a person has not decided about. One that does not merge now counts too: the
/// edit in its way may go again.
fn unapplied(scope: &Scope<'_>, id: &RunId, dismissed: &BTreeSet<&RunId>) -> Option<String> {
    if scope.runs.kind(id) != LoopKind::Tune || dismissed.contains(id) {
        return None;
    }
    let known = load_own::<Tune>(scope, id)?;
    match Winner::of(&known)?.fate(&scope.objects(), scope.env) {
        Fate::Waits | Fate::Branchless | Fate::Outdated => {
            let names = plain::one_line(&Tune::members(&known.run.plan).join(", "));
            Some(format!("its winner is not applied to {names}"))
        }
        Fate::Taken | Fate::Declined => None,
    }
}

/// Returns whether a run may be deleted. A resumable run must be named, or `--all` given.
fn may_go(runs: &Runs, id: &RunId, all: bool) -> bool {
    match runs.outline(id).map(|outline| outline.status) {
        Ok(RunStatus::Ended) => true,
        Ok(RunStatus::Open | RunStatus::Held) | Err(_) => all,
        Ok(RunStatus::Running { .. }) => false,
    }
}

/// Removes objects and answers that no remaining run refers to.
fn sweep(runs: &Runs) -> Result<usize, Complaint> {
    let known: Result<Vec<_>, _> = runs.ids(None).iter().map(|id| runs.outline(id)).collect();
    // An unreadable run may need any object.
    let Ok(known) = known else { return Ok(0) };
    let needed = Needed {
        calls: known.iter().flat_map(|outline| &outline.calls).copied().collect(),
        trees: known.iter().flat_map(|outline| &outline.trees).copied().collect(),
    };
    runs.home.sweep(&needed).map_err(ours)
}
