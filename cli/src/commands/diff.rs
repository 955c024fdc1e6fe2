//! `diff`: shows how a version differs from the one that the run started from.

use skilltune_orchestrator::engine::{tree_dangers, tree_diff};

use crate::args::runs::DiffArgs;
use crate::loops::LoopCommands;
use crate::loops::tune::dangers;
use crate::report::ui::with_loop;
use crate::runs::scope::Scope;
use crate::runs::{CHAMPION, Known, store_check};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::style::Style;
use crate::text::plain;

pub fn run(args: &DiffArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    let name = args.candidate.as_deref().unwrap_or(CHAMPION);
    with_loop!(scope.runs.kind(&id), L => tell::<L>(scope, &scope.runs.load(&id)?, name))
}

fn tell<L: LoopCommands>(scope: &Scope<'_>, known: &Known<L>, name: &str) -> Result<Exit, Complaint> {
    let (objects, printer) = (scope.objects(), scope.printer);
    let (start, version) = (L::start(known)?, L::version(known, name)?);
    if version.trees == start.trees {
        printer.talk("no changes: this is the original version");
        return Ok(Exit::Reached);
    }
    store_check::require(&objects, &start.trees)?;
    store_check::require(&objects, &version.trees)?;
    for (member, (&from, &to)) in
        L::members(&known.run.plan).iter().zip(start.trees.iter().zip(&version.trees))
    {
        if from != to {
            let diff = tree_diff(&objects, from, to).map_err(ours)?;
            for danger in tree_dangers(&objects, from, to).map_err(ours)? {
                printer.talk(&format!("dangerous: {}", dangers::line("", &danger)));
            }
            printer.talk(&format!("{member}: {}", diff.files.join(", ")));
            let unified = diff.unified.strip_suffix('\n').unwrap_or(&diff.unified);
            if scope.env.terminal.stdout {
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

/// Writes a patch that can be applied into a pipe, unless it contains characters that a reader would not see.
fn send(unified: &str, printer: Printer) -> Result<(), Complaint> {
    let patch = plain::patch(unified);
    if patch != unified {
        printer.talk(
            "the diff shows control characters as symbols and cannot be applied; `skilltune export` copies the files unchanged",
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
