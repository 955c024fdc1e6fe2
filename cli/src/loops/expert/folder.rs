//! The folder that an expert reads: which it is, and its copy.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::snapshot::{CaptureError, Entry, IgnoreRules, Limits, Manifest, Objects};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::skills::edit::acts_by_itself;

use crate::inputs::links;
use crate::loops::expert::args::AskArgs;
use crate::report::words::not_placed;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::{Environment, nearest_marked};
use crate::text::figures::count;
use crate::text::plain::one_line;

/// Each call gets a copy of the folder.
const LIMITS: Limits = Limits { files: 20_000, bytes: 256 << 20 };

/// A copy of the folder in the store, and what a person should know about it.
#[derive(Debug)]
pub struct Stored {
    pub tree: TreeId,
    pub remarks: Vec<String>,
}

/// Returns the folder that the expert reads: the one that is named, or else the project.
pub fn chosen(args: &AskArgs, env: &Environment) -> Result<Option<PathBuf>, Complaint> {
    let folder = match &args.folder {
        _ if args.no_folder => return Ok(None),
        Some(folder) => env.named(folder)?,
        None => match env.project.clone().or_else(|| nearest_marked(&env.cwd)) {
            Some(project) => project,
            None => return Ok(None),
        },
    };
    let cannot = |why: &str| Complaint::input(format!("cannot read {}: {why}", folder.display()));
    let real = folder.canonicalize().map_err(|error| cannot("it cannot be opened").caused_by(error))?;
    if !real.is_dir() {
        return Err(cannot("it is not a folder").hint("pass a folder to --folder"));
    }
    if env.holds_everything(&real) {
        return Err(cannot("it holds all of your files").hint("pass --folder DIR, or --no-folder"));
    }
    Ok(Some(real))
}

/// Stores a copy without ignored files, and without those that would instruct the agent or hold its keys.
pub fn store(folder: &Path, objects: &Objects, env: &Environment) -> Result<Stored, Complaint> {
    let read = IgnoreRules::of(folder).map_err(CaptureError::from);
    let read = read.and_then(|rules| env.indexes().capture(objects, folder, Some(rules), LIMITS));
    let captured = read.map_err(|error| unreadable(folder, error))?;
    let acts = |Entry { path, node }: &Entry| {
        acts_by_itself(&if node.is_folder() { format!("{path}/") } else { path.to_string() })
    };
    let (left_out, kept): (Vec<Entry>, Vec<Entry>) =
        captured.manifest.entries().iter().cloned().partition(acts);
    let manifest = Manifest::new(kept).map_err(ours)?;
    let links = not_placed("the folder", &links::outside(&manifest));
    let remarks = instructing(&left_out).into_iter().chain(links).collect();
    Ok(Stored { tree: objects.put_manifest(&manifest).map_err(ours)?, remarks })
}

/// Names the files that agents would read by themselves.
fn instructing(left_out: &[Entry]) -> Option<String> {
    const MOST: usize = 3;
    let files: Vec<_> = left_out.iter().filter(|entry| !entry.node.is_folder()).collect();
    let named: Vec<_> = files.iter().take(MOST).map(|entry| entry.path.to_string()).collect();
    let others = files.len().saturating_sub(MOST);
    let more = if others == 0 { String::new() } else { format!(" and {}", count(others, "other")) };
    let why = "agents, editors or shells read such files by themselves";
    let text = format!("its copy of the project lacks {}{more}: {why}", named.join(", "));
    (!files.is_empty()).then(|| one_line(&text))
}

fn unreadable(folder: &Path, error: CaptureError) -> Complaint {
    let is_too_large = matches!(error, CaptureError::TooLarge(_));
    let cannot = Complaint::input(format!("cannot read {}", folder.display())).caused_by(error);
    if !is_too_large {
        return cannot;
    }
    cannot.hint("pass --folder DIR with the part that the expert needs, or add files to .gitignore")
}
