//! `apply` and `rollback`: a person brings a candidate into the target, or takes it out again.
//!
//! Both first look at what is there. When that is not what the run left, they stop, keep both, and say where.

use skilltune_orchestrator::promote::{self, Move, Promotion};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Journal;
use skilltune_phases::event::{PlacedBy, Signal};
use skilltune_phases::id::TreeId;
use skilltune_phases::loops::tune::{Event, Outcome, Run, Tune};

use crate::args::{ApplyArgs, RollbackArgs};
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::runs::{CHAMPION, Known, Runs};
use crate::session::{self, ours};

pub fn run(args: &ApplyArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around);
    let known = runs.find(args.run.run.as_deref())?;
    let candidate = known.candidate(args.candidate.as_deref().unwrap_or(CHAMPION))?.clone();
    let command = format!("skilltune apply {} {} --force", known.run.plan.run, candidate.id.short());
    let said = format!("candidate {} is in the target", candidate.id.short());
    let placing = Placing { to: candidate.trees, by: PlacedBy::Apply, force: args.force, said, command };
    place(&runs, &known, placing, around, printer)
}

pub fn rollback(args: &RollbackArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around);
    let known = runs.find(args.run.run.as_deref())?;
    let Some(placed) = last_placed(&known) else {
        printer.talk(&format!(
            "run {} has brought nothing into the target: nothing to roll back",
            known.run.plan.run
        ));
        return Ok(Exit::Reached);
    };
    let command = format!("skilltune rollback {} --force", known.run.plan.run);
    let said = "the target is again what it was before".to_owned();
    let placing = Placing { to: placed.from, by: PlacedBy::Rollback, force: args.force, said, command };
    place(&runs, &known, placing, around, printer)
}

struct Placing {
    to: Vec<TreeId>,
    by: PlacedBy,
    force: bool,
    /// What to say when it is done.
    said: String,
    /// What brings it about all the same.
    command: String,
}

/// What a run last brought into its target, and what stood there before.
struct Placed {
    from: Vec<TreeId>,
    to: Vec<TreeId>,
}

fn place(
    runs: &Runs,
    known: &Known<Tune>,
    placing: Placing,
    around: &Surroundings,
    printer: Printer,
) -> Result<Exit, Complaint> {
    Births::new(around).require(known)?;
    let targets = known.targets();
    let (locks, lock) = session::lock(around, printer, &targets, &known.run.plan.run.0)?;
    // The journal may have grown while we waited for the lock.
    let known = runs.load(&known.run.plan.run)?;
    let _in_use = runs.home.hold().map_err(ours)?;
    let objects = Objects::at(runs.home.objects());
    let left =
        last_placed(&known).map_or_else(|| known.run.course.candidates[0].trees.clone(), |placed| placed.to);
    let found = promote::found(&objects, &around.indexes(), &targets).map_err(ours)?;
    if found == placing.to {
        printer.talk("the target is just that already: nothing to do");
        // Unless it is there because a command that was to write it down has been killed.
        let placed = (found != left).then_some(Signal::Placed { from: left, to: found, by: placing.by });
        return tell(known, placed, runs, around, printer);
    }
    // A candidate of this run is in the store: whoever has put it there, nothing is lost.
    let known_here =
        found == left || known.run.course.candidates.iter().any(|candidate| candidate.trees == found);
    if !known_here && !placing.force {
        return Err(edited(&known, &found, &placing.command));
    }
    let moves = targets.iter().zip(found.iter().zip(&placing.to));
    let moves: Vec<_> = moves.map(|(path, (&from, &to))| Move { path: path.clone(), from, to }).collect();
    match promote::promote(&locks, &lock, &objects, &around.indexes(), &known.run.plan.run.0, &moves)
        .map_err(ours)?
    {
        Promotion::Conflict { found } => Err(edited(&known, &found, &placing.command)),
        Promotion::Done => {
            let placed = Signal::Placed { from: found, to: placing.to, by: placing.by };
            let id = known.run.plan.run.clone();
            let exit = tell(known, Some(placed), runs, around, printer)?;
            printer.talk(&format!("{}; `skilltune rollback {id}` undoes it", placing.said));
            Ok(exit)
        }
    }
}

/// Writes down what a person has done, if anything, and brings the run's pages up to it.
fn tell(
    mut known: Known<Tune>,
    placed: Option<Signal>,
    runs: &Runs,
    around: &Surroundings,
    printer: Printer,
) -> Result<Exit, Complaint> {
    if let Some(placed) = placed {
        let (mut journal, _) = Journal::resume::<Tune>(&known.folder.history()).map_err(ours)?;
        let record = journal.append(session::now(), Event::Noted(placed)).map_err(ours)?;
        journal.barrier().map_err(ours)?;
        known.run.apply(&record);
    }
    session::settle(around, printer, &runs.home, &known.run)?;
    Ok(Exit::Reached)
}

fn last_placed(known: &Known<Tune>) -> Option<Placed> {
    known.records.iter().rev().find_map(|record| match &record.event {
        Event::Noted(Signal::Placed { from, to, .. }) => Some(Placed { from: from.clone(), to: to.clone() }),
        Event::Done(done) if done.outcome == Outcome::Promoted => promoted(&known.run),
        Event::Done(_) | Event::Started(_) | Event::Decided(_) | Event::Noted(_) => None,
    })
}

fn promoted(run: &Run) -> Option<Placed> {
    let champion = run.candidate(run.course.shipment.as_ref()?.champion)?;
    Some(Placed { from: run.course.candidates[0].trees.clone(), to: champion.trees.clone() })
}

/// Both versions are kept: theirs where it stands and in the store, ours in the store.
fn edited(known: &Known<Tune>, found: &[TreeId], command: &str) -> Complaint {
    let kept: Vec<_> = found.iter().map(TreeId::short).collect();
    let targets: Vec<_> = known.targets().iter().map(|path| path.display().to_string()).collect();
    Complaint::conflict(format!("{} is not what run {} left there", targets.join(", "), known.run.plan.run))
        .caused_by(format!(
            "somebody has edited it since; it was left alone, and is kept in the store as {}",
            kept.join(", ")
        ))
        .hint(format!("to replace it all the same: {command}"))
        .hint(format!("to look first: skilltune export {} champion DIR", known.run.plan.run))
}
