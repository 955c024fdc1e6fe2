//! `report`: prints the final report, or the progress of the run, or opens it as a page.

use crate::args::runs::ReportArgs;
use crate::loops::LoopCommands;
use crate::report::page::page;
use crate::report::ui::with_loop;
use crate::report::{html, json};
use crate::runs::Known;
use crate::runs::scope::Scope;
use crate::settings::values::Format;
use crate::terminal::browser;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::exit::Exit;
use crate::text::plain::shell_path;

pub fn run(args: &ReportArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.view.run.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(&scope.runs.load(&id)?, args, scope))
}

fn tell<L: LoopCommands>(known: &Known<L>, args: &ReportArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let (objects, printer) = (scope.objects(), scope.printer);
    if args.open {
        return open(known, scope);
    }
    match args.view.format {
        Format::Human => printer.data(page(&known.run, &objects).trim_end()),
        Format::Json => printer.json(&json::report(&known.run, &objects)),
    }?;
    Ok(Exit::Reached)
}

/// Writes the page anew: that of a run that has not ended changes.
fn open<L: LoopCommands>(known: &Known<L>, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let (objects, folder) = (scope.objects(), scope.runs.home.run(&known.run.plan.run));
    let report = json::report(&known.run, &objects);
    html::write(&objects, &folder, &known.run, &report).map_err(ours)?;
    let page = folder.page();
    browser::open(page.path(), scope.env);
    scope.printer.data(&shell_path(page.path()))?;
    Ok(Exit::Reached)
}
