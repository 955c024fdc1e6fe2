//! `diff`: what a candidate changes of the target as it was found.

use skilltune_orchestrator::engine::tree_diff;
use skilltune_orchestrator::snapshot::Objects;

use crate::args::DiffArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::kept;
use crate::printer::Printer;
use crate::report::plain;
use crate::runs::{CHAMPION, Runs};
use crate::session::ours;
use crate::style::Style;

pub fn run(args: &DiffArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let known = runs.find(args.run.run.as_deref())?;
    let objects = Objects::at(runs.home.objects());
    let candidate = known.version(args.candidate.as_deref().unwrap_or(CHAMPION))?;
    let start = &known.run.course.candidates[0];
    if candidate.id == start.id {
        printer.talk("that is the target as it was found: nothing differs");
        return Ok(Exit::Reached);
    }
    kept::require(&objects, &start.trees)?;
    kept::require(&objects, &candidate.trees)?;
    for (member, (&from, &to)) in
        known.run.plan.task.target.members.iter().zip(start.trees.iter().zip(&candidate.trees))
    {
        if from != to {
            let diff = tree_diff(&objects, from, to).map_err(ours)?;
            printer.talk(&format!("{}: {}", member.name, diff.files.join(", ")));
            let unified = diff.unified.strip_suffix('\n').unwrap_or(&diff.unified);
            if around.terminal.stdout {
                let lines = plain::pictured(unified);
                let painted: Vec<_> = lines.lines().map(|line| painted(line, printer.data)).collect();
                printer.data(&painted.join("\n"))?;
            } else {
                send(unified, printer)?;
            }
        }
    }
    Ok(Exit::Reached)
}

/// Into a pipe: a patch that can be applied, unless there are characters in it that whoever reads it would not see.
fn send(unified: &str, printer: Printer) -> Result<(), Complaint> {
    let patch = plain::patch(unified);
    if patch != unified {
        printer.talk(
            "control characters are shown as pictures, and cannot be applied; `skilltune export` writes the files as they are",
        );
    }
    printer.bytes(&patch)
}

fn painted(line: &str, style: Style) -> String {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => style.bold(line),
        [b'+', ..] => style.green(line),
        [b'-', ..] => style.red(line),
        [b'@', ..] => style.cyan(line),
        _ => line.to_owned(),
    }
}
