//! `export`: a version of what a run works on, as a folder.

use skilltune_orchestrator::snapshot;

use crate::args::runs::ExportArgs;
use crate::loops::{LoopCommands, Version};
use crate::report::ui::with_loop;
use crate::runs::scope::Scope;
use crate::runs::{Known, store_check};
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::exit::Exit;

pub fn run(args: &ExportArgs, scope: &Scope<'_>) -> Result<Exit, Complaint> {
    let id = scope.named(Some(&args.run))?;
    with_loop!(scope.runs.kind(&id), L => write::<L>(args, scope, &scope.runs.load(&id)?))
}

fn write<L: LoopCommands>(args: &ExportArgs, scope: &Scope<'_>, known: &Known<L>) -> Result<Exit, Complaint> {
    let objects = scope.objects();
    let Version { name, trees } = L::version(known, &args.candidate)?;
    let dir = scope.around.cwd.join(&args.dir);
    if dir.symlink_metadata().is_ok() {
        return Err(Complaint::input(format!("{} already exists", dir.display()))
            .hint("pass a folder that does not exist"));
    }
    store_check::require(&objects, &trees)?;
    let members = L::members(&known.run.plan);
    for (member, &tree) in members.iter().zip(&trees) {
        // A chain's members stand side by side; a single one is the folder itself.
        let into = if members.len() > 1 { dir.join(member) } else { dir.clone() };
        let manifest = objects.manifest(tree).map_err(ours)?;
        snapshot::place(&objects, &manifest, &into).map_err(ours)?;
    }
    scope.printer.talk(&format!("copied {name} to {}", dir.display()));
    Ok(Exit::Reached)
}
