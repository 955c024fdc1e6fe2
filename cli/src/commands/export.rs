//! `export`: writes a version of a run's target as a folder.

use std::path::PathBuf;

use serde_json::json;
use skilltune_orchestrator::snapshot;

use crate::args::runs::ExportArgs;
use crate::loops::{LoopCommands, Version};
use crate::progress::bar::Bar;
use crate::report::outcome;
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
    let Version { name, id, trees } = L::version(known, &args.candidate)?;
    let dir = scope.env.named(&args.dir)?;
    if dir.symlink_metadata().is_ok() {
        return Err(Complaint::input(format!("{} already exists", dir.display()))
            .hint("pass a folder that does not exist"));
    }
    store_check::require(&objects, &trees)?;
    let members = L::members(&known.run.plan);
    let manifests = trees.iter().map(|&tree| objects.manifest(tree)).collect::<Result<Vec<_>, _>>();
    let manifests = manifests.map_err(ours)?;
    let bar = Bar::of(&manifests, scope.env, scope.printer);
    // A chain's members are next to each other; a single skill is the folder itself.
    let place = |member: &&str| if members.len() > 1 { dir.join(member) } else { dir.clone() };
    let places: Vec<PathBuf> = members.iter().map(place).collect();
    for (into, manifest) in places.iter().zip(&manifests) {
        snapshot::place(&objects, manifest, into, |entry| bar.add(entry)).map_err(ours)?;
    }
    drop(bar);
    let paths: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
    let run = &known.run.plan.run;
    let object = json!({ "run_id": run, "outcome": "copied", "version": id, "paths": paths });
    outcome::print(args.format, scope.printer, &[format!("copied {name} to {}", dir.display())], &object)
}
