//! Adds a scenario of a run as a draft to the end of a `suite.toml`. The user's text stays unchanged, including
//! comments and order.
//!
//! ```text
//! scenario + store --> cases/ID beside the suite --> the new text --> read again --> the file, in one step
//! ```
//!
//! The run may be untrusted: symlinks are not followed or copied, and existing files are not overwritten.

use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::snapshot::{Gathering, Limits, Node, Objects, RelPath, place_at};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::name::Name;
use skilltune_phases::suites::checks::{Check, How};
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::Scenario;

use super::assemble::{LONGEST_ID, is_plain, kind, plain};
use super::files::{Starts, flat};
use super::{Format, Suite};
use crate::terminal::complaint::{Complaint, ErrorKind, ours};
use crate::text::plain::one_line;
use crate::trust::file::TextFile;

/// The result of adding a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Appended {
    Added(Name),
    /// The suite already has it, under this id.
    Known(Name),
}

/// The folder with the files of scenarios from runs.
pub const CASES: &str = "cases";

pub(super) const HEAD: &str = "# Tasks to try a skill on: `skilltune tune SKILL --suite suite.toml`.\n";

/// Returns the id of a scenario derived from another; the mark distinguishes two trials.
pub fn derived_id(from: &Name, mark: &str) -> Name {
    let stem = plain(from).unwrap_or_else(|| "scenario".to_owned());
    let room = stem.len().min(LONGEST_ID - mark.len() - 1);
    format!("{}-{mark}", &stem[..room]).parse().expect("its parts are plain")
}

/// Reads the suite at a path that a user or a run named. Fails if no scenario can be added to it.
pub fn appendable(path: &Path) -> Result<(PathBuf, Option<Suite>), Complaint> {
    let shown = path.display();
    if path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
        return Err(Complaint::input(format!("{shown} is a symlink"))
            .hint("pass the path of the file itself to --to"));
    }
    let (folder, name) = path.parent().zip(path.file_name()).unzip();
    let folder = folder.and_then(|folder| folder.canonicalize().ok()).filter(|folder| folder.is_dir());
    let (Some(folder), Some(name)) = (folder, name) else {
        return Err(Complaint::input(format!("the folder of {shown} does not exist"))
            .hint("pass a path in an existing folder to --to"));
    };
    let path = folder.join(name);
    let Some(file) = TextFile::read(&path)? else { return Ok((path, None)) };
    let suite = Suite::of_file(file)?;
    if suite.format != Format::Toml {
        return Err(Complaint::input(format!("{shown} is a suite of the format {}", suite.format.name()))
            .hint("run `skilltune suite convert SUITE --to toml --out suite.toml`, and add to that file"));
    }
    Ok((path, Some(suite)))
}

/// Adds a scenario of a run as a draft. Its files and graders come from the run's store; `origin` is written as a
/// comment.
pub fn append(
    (path, suite): &(PathBuf, Option<Suite>),
    scenario: &Scenario,
    origin: &str,
    objects: &Objects,
) -> Result<Appended, Complaint> {
    if let Some(known) = suite.as_ref().and_then(|suite| known(suite, scenario)) {
        return Ok(Appended::Known(known));
    }
    let scenario = renumbered(scenario.clone());
    let base = path.parent().expect("a file is in a folder");
    let cases = SafePath::below(base, CASES);
    let folder = cases.join(&*scenario.id);
    let made = [&cases, &folder].into_iter().find(|place| !place.exists());
    let done = brought(&scenario, base, &folder, objects)
        .and_then(|starts| composed(path, suite.as_ref(), &scenario, starts, origin))
        .and_then(|text| write(path, suite.as_ref(), &text));
    if let (Err(_), Some(made)) = (&done, made) {
        // The error is reported; a leftover copy would block the next attempt.
        let _ = made.remove();
    }
    done.map(|()| Appended::Added(scenario.id))
}

/// Returns the scenario of a suite that comes from the same trial, or that has the same task and all demands of the new
/// one.
fn known(suite: &Suite, new: &Scenario) -> Option<Name> {
    let asks = |one: &Scenario, demand: &Demand| {
        one.demands.iter().any(|own| Demand { id: demand.id.clone(), ..own.clone() } == *demand)
    };
    let is_same = |one: &&Scenario| {
        let one = of_task(suite, one, new);
        one.is_some_and(|one| new.demands.iter().all(|demand| asks(&one, demand)))
    };
    let mut all = suite.scenarios.iter().chain(&suite.drafts);
    let same = all.clone().find(|one| one.id == new.id).or_else(|| all.find(is_same));
    same.map(|one| one.id.clone())
}

/// Returns whether a suite has this task, whatever its demands.
pub fn has_task(suite: &Suite, new: &Scenario) -> bool {
    suite.scenarios.iter().chain(&suite.drafts).any(|one| of_task(suite, one, new).is_some())
}

/// Returns a scenario of a suite as a run would plan it, if it has the task of the new one.
fn of_task(suite: &Suite, one: &Scenario, new: &Scenario) -> Option<Scenario> {
    // Files are read only if the rest is equal.
    let is_near = one.description == new.description && one.input_args == new.input_args;
    is_near.then(|| suite.starts.as_planned(one)).filter(|one| one.has_task_of(new))
}

/// Gives demands ids that a suite accepts. Ids that were numbered by position are numbered again.
fn renumbered(mut scenario: Scenario) -> Scenario {
    let kinds: Vec<&str> = scenario.demands.iter().map(|demand| kind(&demand.how)).collect();
    for (nth, demand) in scenario.demands.iter_mut().enumerate() {
        let is_numbered = |id: &str| {
            let end = id.strip_prefix(kinds[nth]).and_then(|end| end.strip_prefix('-'));
            end.is_some_and(|end| end.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if !is_plain(&demand.id) || is_numbered(&demand.id) {
            let number = kinds[..=nth].iter().filter(|kind| **kind == kinds[nth]).count();
            demand.id = format!("{}-{number}", kinds[nth]).parse().expect("a kind and a number are plain");
        }
    }
    scenario
}

/// Copies the scenario's files to a folder beside the suite.
fn brought(
    scenario: &Scenario,
    base: &Path,
    folder: &SafePath,
    objects: &Objects,
) -> Result<Starts, Complaint> {
    let mut starts = Starts { base: base.to_owned(), ..Starts::default() };
    let place = |tree: TreeId, name: &str| copied(tree, base, &folder.join(name), objects);
    if let Some(tree) = scenario.files {
        starts.files.insert(scenario.id.clone(), flat(&place(tree, "files")?));
    }
    for demand in &scenario.demands {
        let How::Check(Check::Command { grader: Some(tree), .. }) = &demand.how else { continue };
        let paths = place(*tree, &format!("graders/{}", demand.id))?;
        let added = starts.add_grader(&scenario.id, &demand.id, paths);
        added.map_err(|error| Complaint::of(ErrorKind::Input, &error))?;
    }
    Ok(starts)
}

/// Copies the files of a tree and returns the paths from the suite's folder. Reuses an identical copy.
fn copied(tree: TreeId, base: &Path, into: &SafePath, objects: &Objects) -> Result<Vec<RelPath>, Complaint> {
    let manifest = objects.manifest(tree).map_err(|error| Complaint::of(ErrorKind::Input, &error))?;
    let refused = |entry: &RelPath, why: &str| {
        Err(Complaint::input(format!("cannot copy {entry} from the run: {why}")))
    };
    let below = into.path().strip_prefix(base).expect("it is below the suite's folder");
    let mut paths = Vec::new();
    for entry in manifest.entries() {
        let is_git = |part: std::path::Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
        match entry.node {
            Node::Link { .. } => return refused(&entry.path, "it is a symlink"),
            // Its hooks and settings would create a repository inside the user's own.
            Node::File { .. } | Node::Folder { .. } if entry.path.as_path().components().any(is_git) => {
                return refused(&entry.path, "it belongs to a git repository");
            }
            Node::File { .. } | Node::Folder { .. } => {}
        }
        if entry.path.parent().is_none() {
            let Some(path) = below.join(entry.path.as_path()).to_str().map(str::to_owned) else {
                return refused(&entry.path, "its name is not UTF-8");
            };
            paths.push(RelPath::parse(path.as_bytes()).map_err(ours)?);
        }
    }
    if into.exists() {
        let there = Gathering { base, brought: &flat(&paths), omitted: &[], limits: Limits::default() };
        let is_same = there.manifest().is_ok_and(|there| there.tree() == tree);
        if !is_same {
            return Err(Complaint::input(format!("{} already exists", into.path().display()))
                .hint("move it away, then run the command again"));
        }
        return Ok(paths);
    }
    place_at(objects, &manifest, into, |_| {}).map_err(|error| Complaint::of(ErrorKind::Input, &error))?;
    Ok(paths)
}

/// Returns the text of the suite with the scenario at its end. Fails unless it reads back as the old content and the
/// new scenario only.
fn composed(
    path: &Path,
    old: Option<&Suite>,
    scenario: &Scenario,
    starts: Starts,
    origin: &str,
) -> Result<String, Complaint> {
    let unwritable = |cause: String| {
        Complaint::input(format!("cannot add `{}` to {}", scenario.id, path.display()))
            .caused_by(cause)
            .hint("nothing was changed")
    };
    let new = Suite {
        path: path.to_owned(),
        format: Format::Toml,
        file: None,
        scenarios: Vec::new(),
        drafts: vec![scenario.clone()],
        starts,
        notes: Vec::new(),
    };
    let written = new.written(Format::Toml, path);
    if let Some(lost) = written.lost.first() {
        return Err(unwritable(lost.to_string()));
    }
    let block: String = written.files.into_iter().map(|(_, text)| text).collect();
    let before = old.and_then(|old| old.file.as_ref()).map_or(HEAD, TextFile::text);
    let end = if before.ends_with('\n') { "" } else { "\n" };
    let text = format!("{before}{end}\n# {}\n{block}", one_line(origin));
    let read = Suite::of_file(TextFile::drafted(path, text.clone()));
    let read = read.map_err(|complaint| unwritable(complaint.what))?;
    let (counted, drafts) = old.map_or((&[][..], &[][..]), |old| (&old.scenarios[..], &old.drafts[..]));
    let is_whole = read.scenarios == counted
        && read.drafts.split_last().is_some_and(|(last, before)| {
            before == drafts && as_written(last.clone()) == as_written(scenario.clone())
        });
    if is_whole { Ok(text) } else { Err(unwritable("the file would read back differently".to_owned())) }
}

/// Removes the parts that the text does not contain, and sorts the demands.
fn as_written(mut scenario: Scenario) -> Scenario {
    (scenario.files, scenario.of_skill) = (None, Vec::new());
    for demand in &mut scenario.demands {
        if let How::Check(Check::Command { grader, expected, .. }) = &mut demand.how {
            (*grader, *expected) = (None, Box::default());
        }
    }
    scenario.demands.sort_by(|a, b| a.id.cmp(&b.id));
    scenario
}

fn write(path: &Path, old: Option<&Suite>, text: &str) -> Result<(), Complaint> {
    let (folder, name) = path.parent().zip(path.file_name()).expect("a file is in a folder");
    let place = SafePath::below(folder, name);
    let Some(old) = old.and_then(|old| old.file.as_ref()) else {
        return place.create(text.as_bytes()).map_err(ours);
    };
    if !place.holds(old.text().as_bytes()) {
        return Err(Complaint::conflict(format!("{} changed while it was read", path.display()))
            .hint("run the command again"));
    }
    place.replace(text.as_bytes(), Durability::Barrier).map_err(ours)
}
