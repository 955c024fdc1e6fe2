//! `suite convert`: writes a suite to a new file or folder in another format, and lists the parts that this format cannot hold.

use std::path::Path;

use serde_json::json;
use skilltune_orchestrator::disk::SafePath;
use skilltune_phases::base::name::Name;

use crate::args::suite::{SuiteConvertArgs, Target};
use crate::inputs::suite::{Format, Note, Suite, Written};
use crate::report::outcome;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::figures::count;

pub(super) fn run(args: &SuiteConvertArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let suite = super::load(&args.from, env)?;
    let out = env.named(&args.out)?;
    // A dangling symlink counts as existing.
    if out.symlink_metadata().is_ok() {
        return Err(
            Complaint::input(format!("{} already exists", out.display())).hint("pass a new path to --out")
        );
    }
    if !out.parent().is_some_and(Path::is_dir) {
        return Err(Complaint::input(format!("the folder of {} does not exist", out.display()))
            .hint("pass a path in an existing folder"));
    }
    let written = suite.written(args.to.into(), &out);
    if written.scenarios == 0 {
        return Err(nothing(&suite, &written));
    }
    place(&written, &out).map_err(|cause| {
        Complaint::input(format!("cannot write {}", out.display()))
            .caused_by(cause)
            .hint("pass a path in an existing folder")
    })?;
    let notes: Vec<String> = notes(&suite, &written).map(ToString::to_string).collect();
    let object = json!({ "outcome": "written", "paths": [out.display().to_string()], "notes": notes });
    outcome::print(args.format, printer, &[message(written.scenarios, &notes, &args.out)], &object)
}

fn place(Written { files, .. }: &Written, out: &Path) -> Result<(), String> {
    for (name, text) in files {
        let path = SafePath::from(out).join(name);
        if let Some((folder, _)) = name.rsplit_once('/') {
            SafePath::from(out).join(folder).make().map_err(|error| error.to_string())?;
        }
        path.create(text.as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Returns what is lost. A note that is only about drafts reports no loss.
fn notes<'a>(suite: &'a Suite, written: &'a Written) -> impl Iterator<Item = &'a Note> {
    let is_draft = move |name: &Name| suite.drafts.iter().any(|draft| draft.id == *name);
    let is_of_drafts = move |note: &&Note| !note.scenarios.is_empty() && note.scenarios.iter().all(is_draft);
    suite.notes.iter().filter(move |note| !is_of_drafts(note)).chain(&written.lost)
}

/// Reports a suite of which this format would hold nothing.
fn nothing(suite: &Suite, written: &Written) -> Complaint {
    let complaint = Complaint::input("nothing to write: no scenario of the suite is converted");
    let complaint = notes(suite, written).map(ToString::to_string).fold(complaint, Complaint::caused_by);
    let is_of_drafts = suite.scenarios.is_empty();
    let hint = "complete the drafts, and remove `draft = true`; only `--to toml` keeps drafts";
    if is_of_drafts { complaint.hint(hint) } else { complaint }
}

fn message(scenarios: usize, notes: &[String], out: &Path) -> String {
    let mut lines = vec![format!("wrote {} with {}", out.display(), count(scenarios, "scenario"))];
    if !notes.is_empty() {
        lines.push("notes:".to_owned());
        lines.extend(notes.iter().map(|note| format!("  {note}")));
    }
    lines.join("\n")
}

impl From<Target> for Format {
    fn from(target: Target) -> Self {
        match target {
            Target::Toml => Self::Toml,
            Target::Evals => Self::Evals,
            Target::Triggers => Self::Triggers,
            Target::Promptfoo => Self::Promptfoo,
            Target::Plugin => Self::Plugin,
        }
    }
}
