//! `show`: replays a run, or one part of it: a round or an iteration, a candidate or a text.

use crate::args::runs::ShowArgs;
use crate::loops::LoopCommands;
use crate::progress;
use crate::report::ui::with_loop;
use crate::runs::Known;
use crate::runs::scope::Scope;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;

pub fn run(args: &ShowArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(args.run.run.as_deref())?;
    with_loop!(scope.runs.kind(&id), L => tell::<L>(scope, &scope.runs.load(&id)?, args.part.as_deref()))
}

fn tell<L: LoopCommands>(scope: &Scope<'_>, known: &Known<L>, part: Option<&str>) -> Result<Exit, Complaint> {
    match part {
        None => progress::retell(&known.records, scope.objects(), scope.env, scope.printer)?,
        Some(part) => scope.printer.data(L::part(known, part, &scope.objects())?.trim_end())?,
    }
    Ok(Exit::Reached)
}
