//! `stop`: asks a running run to finish what is under way, and to save.

use rustix::process::{Pid, Signal, kill_process};
use skilltune_phases::loops::tune::Tune;

use crate::args::RunArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::runs::{Runs, Standing};

pub fn run(args: &RunArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around);
    let known = runs.find::<Tune>(args.run.as_deref())?;
    let id = &known.run.plan.run;
    let Standing::Running { pid } = runs.standing(&known.run) else {
        printer.talk(&format!("run {id} is not running: nothing to stop"));
        return Ok(Exit::Reached);
    };
    // A number below one is not one process: a signal to it would go to many.
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let asked = process.map(|pid| kill_process(pid, Signal::USR1));
    match asked {
        Some(Ok(())) => {
            printer.talk(&format!(
                "run {id} finishes what is under way and saves; `skilltune resume {id}` takes it up again"
            ));
            Ok(Exit::Reached)
        }
        Some(Err(error)) => Err(Complaint::ours(format!("could not reach process {pid}")).caused_by(error)),
        None => Err(Complaint::ours(format!("the lock names no process: {pid}"))),
    }
}
