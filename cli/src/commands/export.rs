//! `export`: a candidate as a folder.

use skilltune_orchestrator::snapshot::{self, Objects};

use crate::args::ExportArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::kept;
use crate::printer::Printer;
use crate::runs::Runs;
use crate::session::ours;

pub fn run(args: &ExportArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let known = runs.find(Some(&args.run))?;
    let candidate = known.version(&args.candidate)?;
    let dir = around.cwd.join(&args.dir);
    if dir.symlink_metadata().is_ok() {
        return Err(
            Complaint::input(format!("{} is there already", dir.display())).hint("name a folder that is not")
        );
    }
    let objects = Objects::at(runs.home.objects());
    kept::require(&objects, &candidate.trees)?;
    for (member, &tree) in known.run.plan.task.target.members.iter().zip(&candidate.trees) {
        // A chain's members stand side by side; a single skill is the folder itself.
        let into = if known.run.plan.is_chain() { dir.join(member.name.as_str()) } else { dir.clone() };
        let manifest = objects.manifest(tree).map_err(ours)?;
        snapshot::place(&objects, &manifest, &into).map_err(ours)?;
    }
    printer.talk(&format!("candidate {} is in {}", candidate.id.short(), dir.display()));
    Ok(Exit::Reached)
}
