//! `diff`: shows how a version differs from the one that the run started from.

use serde::Serialize;
use serde_json::json;
use skilltune_orchestrator::engine::{tree_dangers, tree_diff};
use skilltune_orchestrator::snapshot::ObjectError;

use crate::args::runs::DiffArgs;
use crate::loops::LoopCommands;
use crate::loops::tune::dangers;
use crate::report::ui::with_loop;
use crate::runs::scope::Scope;
use crate::runs::{CHAMPION, Known, store_check};
use crate::settings::values::Format;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::style::Style;
use crate::text::plain;

pub fn run(args: &DiffArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    let name = args.candidate.as_deref().unwrap_or(CHAMPION);
    with_loop!(scope.runs.kind(&id), L => tell::<L>(scope, &scope.runs.load(&id)?, name, args.format))
}

/// The changes of one member.
#[derive(Serialize)]
struct Changed<'a> {
    name: &'a str,
    files: Vec<String>,
    dangers: Vec<String>,
    diff: String,
}

fn tell<L: LoopCommands>(
    scope: &Scope<'_>,
    known: &Known<L>,
    name: &str,
    format: Format,
) -> Result<Exit, Complaint> {
    let (objects, printer) = (scope.objects(), scope.printer);
    let (start, version) = (L::start(known)?, L::version(known, name)?);
    if version.trees != start.trees {
        store_check::require(&objects, &start.trees)?;
        store_check::require(&objects, &version.trees)?;
    }
    let members = L::members(&known.run.plan);
    let members = members.iter().zip(start.trees.iter().zip(&version.trees));
    let changed = members.filter(|(_, (from, to))| from != to).map(|(name, (&from, &to))| {
        let diff = tree_diff(&objects, from, to)?;
        let dangers = tree_dangers(&objects, from, to)?;
        let dangers = dangers.iter().map(|danger| dangers::line("", danger)).collect();
        Ok(Changed { name, files: diff.files, dangers, diff: diff.unified })
    });
    let changed = changed.collect::<Result<Vec<_>, ObjectError>>().map_err(ours)?;
    if format == Format::Json {
        let run = &known.run.plan.run;
        let object = json!({ "run_id": run, "from": start.id, "to": version.id, "changed": changed });
        printer.json(&object)?;
    } else if changed.is_empty() {
        printer.talk("no changes: this is the original version");
    } else {
        changed.iter().try_for_each(|one| show(one, scope))?;
    }
    Ok(Exit::Reached)
}

fn show(Changed { name, files, dangers, diff }: &Changed<'_>, scope: &Scope<'_>) -> Result<(), Complaint> {
    let printer = scope.printer;
    for danger in dangers {
        printer.warn(&format!("dangerous: {danger}"));
    }
    printer.talk(&format!("{name}: {}", files.join(", ")));
    let unified = diff.strip_suffix('\n').unwrap_or(diff);
    if !scope.env.terminal.stdout {
        return send(unified, printer);
    }
    let lines = plain::pictured(unified);
    let painted: Vec<_> = lines.lines().map(|line| painted(line, printer.data)).collect();
    printer.data(&painted.join("\n"))
}

/// Writes a patch that can be applied into a pipe, unless it contains characters that a reader would not see.
fn send(unified: &str, printer: Printer) -> Result<(), Complaint> {
    let patch = plain::patch(unified);
    if patch != unified {
        printer.warn(
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
