//! `reflex stop`: ends a run for good, in a person's words. The steps under way are let finish: they are paid for.

use skilltune_orchestrator::store::Journal;
use skilltune_phases::event::Event;
use skilltune_phases::loops::reflex::{Decision, Reason, Reflex, Run, Stop};

use super::find::find;
use crate::args::ReflexStopArgs;
use crate::births::Births;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::reach::Reached;
use crate::runs::{Known, Runs, Standing};
use crate::session::{self, ours};

pub fn run(args: &ReflexStopArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let (alias, reason) = args.parts();
    let known = find(&runs, alias)?;
    let id = known.run.plan.run.clone();
    Births::new(around).require(&known)?;
    match runs.standing(&known.run) {
        Standing::Ended => {
            printer.talk(&format!("run {id} has ended: nothing to stop"));
            return Ok(Exit::Reached);
        }
        Standing::Running { pid } => {
            printer.talk(&format!("run {id} finishes what is under way"));
            if let Some(process) = Reached::by(pid)? {
                process.ask_to_finish()?;
                process.see_off()?;
            }
        }
        Standing::Held | Standing::Open => {}
    }
    let _locks = session::lock(around, printer, &known.targets(), id.as_str())?;
    let run = close(&known, reason.map(str::to_owned))?;
    session::settle(around, printer, &runs.home, &run)?;
    printer.talk(&format!("run {id} is stopped, and is not taken up again"));
    Ok(Exit::Reached)
}

/// Writes the person's decision down, unless the run has come to its own end meanwhile.
fn close(known: &Known<Reflex>, note: Option<String>) -> Result<Run, Complaint> {
    let (mut journal, history) = Journal::resume::<Reflex>(&known.folder.history()).map_err(ours)?;
    let mut run = Run::replay(&history.records).map_err(ours)?;
    let stop = Decision::Stop(Stop { reason: Reason::UserStop, note });
    let due = [run.course.stop.is_none().then_some(stop), run.closed_at.is_none().then_some(Decision::Close)];
    for decision in due.into_iter().flatten() {
        let record = journal.append(session::now(), Event::Decided(decision)).map_err(ours)?;
        run.apply(&record);
    }
    journal.barrier().map_err(ours)?;
    Ok(run)
}
