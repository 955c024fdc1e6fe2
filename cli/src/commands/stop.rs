//! `stop`: asks a running run to finish what is under way, and to save.

use skilltune_phases::loops::tune::Tune;

use crate::args::RunArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::reach::Reached;
use crate::runs::{Runs, Standing};

pub fn run(args: &RunArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let known = runs.find::<Tune>(args.run.as_deref())?;
    let id = &known.run.plan.run;
    let process = match runs.standing(&known.run) {
        Standing::Running { pid } => Reached::by(pid)?,
        Standing::Ended | Standing::Held | Standing::Open => None,
    };
    let Some(process) = process else {
        printer.talk(&format!("run {id} is not running: nothing to stop"));
        return Ok(Exit::Reached);
    };
    process.ask_to_finish()?;
    printer.talk(&format!(
        "run {id} finishes what is under way and saves; `skilltune resume {id}` takes it up again"
    ));
    Ok(Exit::Reached)
}
