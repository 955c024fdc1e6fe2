//! The file of a draft, an expert or a specification: the command checks before the call that it can be written, and it is
//! written after the end of the run. It replaces no file, and follows no symlink of the project.

use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::RelPath;
use skilltune_phases::experts::{self, Format};
use skilltune_phases::loops::expert::{Basis, Draft, Run};

use crate::loops::expert::args::NewArgs;
use crate::loops::expert::roster::Roster;
use crate::loops::expert::settings::ExpertSettings;
use crate::loops::expert::ui;
use crate::settings::Settings;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::{Environment, nearest_marked};
use crate::terminal::printer::Printer;
use crate::terminal::questions::Answers;
use crate::text::plain::{one_line, shell_path};

/// Returns which expert to draft, and its file. Outside of a project it has none.
pub fn plan(
    args: &NewArgs,
    roster: &Roster,
    settings: &Settings,
    env: &Environment,
) -> Result<Draft, Complaint> {
    let name = free_name(&args.name, roster)?;
    let project = env.project.clone().or_else(|| nearest_marked(&env.cwd));
    let Some(project) = project.filter(|_| !args.print) else {
        return Ok(Draft { name, file: None, specification: None });
    };
    let folder = project.join(settings.of::<ExpertSettings>().folder.value.as_path());
    let file = free(&project, &folder.join(file_name(&name)))?;
    Ok(Draft { name, file: Some(file), specification: None })
}

/// Returns a path of the project at which a file can be written.
pub fn free(project: &Path, file: &Path) -> Result<String, Complaint> {
    require_free(project, &below(project, file)?)?;
    Ok(file.to_string_lossy().into_owned())
}

/// Returns the name as a person types it. Fails if an expert has it already.
fn free_name(given: &str, roster: &Roster) -> Result<String, Complaint> {
    let another = "choose another name; `skilltune expert` lists all experts";
    let refused = |what: String| Complaint::input(one_line(&what)).hint(another);
    let cannot = || refused(format!("cannot name an expert {given:?}"));
    let name = experts::name(given).map_err(|why| cannot().caused_by(why))?;
    if Format::of(&file_name(&name)).is_none() {
        return Err(cannot().caused_by(format!("{} is never the file of an expert", file_name(&name))));
    }
    let Some(known) = roster.entries.iter().find(|entry| entry.expert.name == name) else { return Ok(name) };
    Err(match &known.file {
        None => refused(format!("{name} is a built-in expert")),
        Some(file) => refused(format!("there is already an expert named {name}: {}", file.path.display()))
            .hint("or remove or rename that file"),
    })
}

fn file_name(name: &str) -> String {
    format!("{name}.md")
}

/// Writes the draft of a run that has one to its file, unless it is there already. A person agrees to a specification.
pub fn save(
    run: &Run,
    project: &Path,
    person: Option<&dyn Answers>,
    printer: Printer,
) -> Result<(), Complaint> {
    let (Some(file), Some(answer)) = (ui::draft_file(run), run.answer()) else { return Ok(()) };
    let (id, kept) = (&run.plan.run, ui::answer_file(run).unwrap_or_default());
    let (file, basis) = (Path::new(file), run.plan.task.basis());
    let asked = person.filter(|_| basis.is_some() && !file.exists());
    let agreed = asked.map(|person| person.agree(&format!("Write it to {}?", file.display()))).transpose()?;
    if agreed == Some(false) {
        printer.talk(&format!("nothing was written; the draft is in {kept}"));
        return Ok(());
    }
    let path = write(project, file, &format!("{answer}\n")).map_err(|complaint| {
        complaint.hint(format!("the draft is in {kept}; `skilltune resume {id}` tries to write it again"))
    })?;
    let path = shell_path(&path);
    printer.talk(&format!("saved to {path}"));
    printer.talk(&match basis {
        None => format!("read it; it plays after `skilltune trust {path}`"),
        Some(Basis { root, .. }) => {
            let root = root.iter().map(|root| format!(" --in {}", shell_path(Path::new(root))));
            format!(
                "read it, and change it as you like; `skilltune evolve {path}{}` goes on",
                root.collect::<String>()
            )
        }
    });
    Ok(())
}

fn write(project: &Path, file: &Path, text: &str) -> Result<PathBuf, Complaint> {
    let below = below(project, file)?;
    let place = SafePath::below(project, below.as_path());
    if !place.holds(text.as_bytes()) {
        // It may have appeared during the call.
        require_free(project, &below)?;
        if let Some(folder) = below.parent() {
            let folder = SafePath::below(project, folder.as_path());
            folder.make().and_then(|()| folder.remove_unfinished()).map_err(ours)?;
        }
        place.create(text.as_bytes()).map_err(ours)?;
    }
    Ok(place.path().to_owned())
}

/// Returns the path below the project.
fn below(project: &Path, file: &Path) -> Result<RelPath, Complaint> {
    let below = file.strip_prefix(project).ok();
    let below = below.and_then(|below| RelPath::parse(below.as_os_str().as_bytes()).ok());
    below.ok_or_else(|| cannot_write(file, &format!("it is not in {}", project.display())))
}

/// Fails if something has this path, or if a symlink or a file is in the place of one of its folders.
fn require_free(project: &Path, file: &RelPath) -> Result<(), Complaint> {
    for part in file.lineage() {
        let path = project.join(part.as_path());
        let why = match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => error.to_string(),
            Ok(_) if part == *file => "it exists already".to_owned(),
            Ok(found) if found.is_dir() => continue,
            Ok(_) => format!("{} is a symlink, or not a folder", path.display()),
        };
        return Err(cannot_write(&project.join(file.as_path()), &why).hint("remove or rename it"));
    }
    Ok(())
}

fn cannot_write(file: &Path, why: &str) -> Complaint {
    Complaint::input(format!("cannot write {}: {why}", file.display()))
}
