//! `status`: where a run stands, and what to type next.

use skilltune_phases::loops::tune::Run;

use crate::args::RunArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::report::advice::{self, Next};
use crate::report::{figures, plain, words};
use crate::runs::{Runs, Standing};

pub fn run(args: &RunArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let known = runs.find(args.run.as_deref())?;
    let (run, standing) = (&known.run, runs.standing(&known.run));
    printer.data(&lines(run, standing).join("\n"))?;
    if known.torn > 0 && standing == Standing::Open {
        printer.talk(&format!(
            "its journal ends in a torn line of {} bytes, which `resume` will cut",
            known.torn
        ));
    }
    Ok(Exit::Reached)
}

fn lines(run: &Run, standing: Standing) -> Vec<String> {
    let mut lines = vec![
        format!(
            "run      {}  {} of {}",
            run.plan.run,
            run.plan.kind.word(),
            plain::one_line(&words::target(run))
        ),
        format!("status   {}", word(run, standing)),
        format!("round    {} of {}", run.round_number(), run.plan.task.rules.max_iterations),
    ];
    if let Some((best, score)) = run.best() {
        lines.push(format!(
            "best     {score}, goal {}  (candidate {})",
            run.plan.task.rules.threshold,
            best.short()
        ));
    }
    if let (Some(mishap), None) = (&run.blocked, run.course.closed) {
        let told = format!("{}: {}", words::failure(mishap.failure.kind), mishap.failure.why);
        lines.push(format!("blocked  {}: {}", words::step(run, &mishap.step), plain::one_line(&told)));
        lines.push(format!("hint     {}", advice::mend(run, mishap, false)));
    }
    if !run.errors.is_empty() {
        lines.push(format!("errors   {}", figures::count(run.errors.len(), "failed call")));
    }
    lines.extend(run.placed.map(|by| format!("since    {}", words::placed(by))));
    lines.extend(
        next(run, standing).iter().map(|next| format!("next     {}   ({})", next.command, next.purpose)),
    );
    lines
}

fn word(run: &Run, standing: Standing) -> String {
    match standing {
        Standing::Running { pid } => match run.waits.until {
            Some(until) => format!("waits until {} (process {pid})", figures::moment(until)),
            None => format!("running (process {pid})"),
        },
        Standing::Held => "waits for an answer: may the champion replace the target?".to_owned(),
        Standing::Open if run.paused.is_some() => "stopped, and can be taken up".to_owned(),
        Standing::Open => "was cut off, and can be taken up".to_owned(),
        Standing::Ended => words::became(run).to_owned(),
    }
}

fn next(run: &Run, standing: Standing) -> Vec<Next> {
    match standing {
        Standing::Running { .. } => {
            let command = format!("skilltune stop {}", run.plan.run);
            vec![Next { command, purpose: "let it finish what is under way, and save", calls: false }]
        }
        Standing::Held | Standing::Open | Standing::Ended => advice::next(run),
    }
}
