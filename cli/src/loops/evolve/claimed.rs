//! A result with receipts: from a run of this project, or from a revision of its repository.
//!
//! ```text
//! run:      its own trees, oracles and receipts
//! revision: .evolve/NAME/receipts.json -> the commit that changed it last -> the first parent that its run did not make
//! ```

use std::path::{Path, PathBuf};

use skilltune_orchestrator::git::{
    self, Ancestor, ChangedError, Content, Git, GitError, Part, RangeError, RevisionError, commit, files_of,
    first_parents, last_change, own_branches, store_part,
};
use skilltune_orchestrator::snapshot::{Limits, Objects, RelPath};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::receipt::Receipts;
use skilltune_phases::loops::evolve::spec::is_id;
use skilltune_phases::loops::evolve::task::Verify;
use skilltune_phases::loops::evolve::{EVIDENCE, Evolve, Run};

use crate::casting;
use crate::loops::evolve::args::VerifyArgs;
use crate::loops::evolve::filed::{Filed, Files, RECEIPTS};
use crate::loops::review::subject::with_git;
use crate::runs::RunStatus;
use crate::runs::ownership::Ownership;
use crate::runs::scope::Scope;
use crate::terminal::complaint::{Complaint, ErrorKind, ours};
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;

/// The most results that one revision may have.
const MOST_NAMES: usize = 50;

/// A result with receipts.
#[derive(Debug)]
pub struct Claimed {
    /// Where it is, such as `skilltune/spec` or the id of a run.
    pub of: String,
    /// The file of the receipts, or of the specification.
    pub file: PathBuf,
    pub filed: Filed,
    trees: Trees,
}

/// Where the files of a result, and of the project before it, are.
#[derive(Debug)]
enum Trees {
    Stored { before: TreeId, result: TreeId },
    InGit(Box<Commits>),
}

/// The commits of a result.
#[derive(Clone, Debug)]
struct Commits {
    part: Part,
    before: String,
    result: String,
    /// The commit that has the receipts as they are.
    receipts: String,
}

/// What a revision has below `.evolve`.
struct Found {
    part: Part,
    commit: String,
    /// The result that is verified; none if there is no receipt, or if several are equally new.
    chosen: Option<Chosen>,
    names: Vec<String>,
    branches: Vec<String>,
}

struct Chosen {
    name: String,
    files: Files,
    /// The commit that last changed its receipts.
    receipts: String,
}

impl Claimed {
    /// Stores the project before the change and the result, and returns what is repeated.
    pub fn store(
        &self,
        objects: &Objects,
        limits: Limits,
        env: &Environment,
    ) -> Result<(TreeId, Verify), Complaint> {
        let (interface, oracles) = self.filed.store(objects).map_err(ours)?;
        let claim = Verify { interface, oracles, ..self.sketch() };
        let commits = match &self.trees {
            Trees::Stored { before, result } => return Ok((*before, Verify { result: *result, ..claim })),
            Trees::InGit(commits) => commits.clone(),
        };
        let work = {
            let objects = objects.clone();
            move |git: &Git<'_>| {
                let Commits { part, before, result, receipts } = &*commits;
                let store = |commit: &str| {
                    let manifest = store_part(git, part, commit, limits, &objects)?;
                    objects.put_manifest(&manifest).map_err(RangeError::from)
                };
                Ok((store(before)?, store(result)?, part.is_same(git, receipts, result)?))
            }
        };
        let (before, result, is_unchanged) =
            with_git(env, work)?.map_err(|error| refused(&self.of, &error))?;
        let is_same = is_unchanged || result == self.filed.receipts.tree;
        Ok((before, Verify { result, is_same, ..claim }))
    }

    /// Returns what is repeated, without the files.
    pub fn sketch(&self) -> Verify {
        let receipts = &self.filed.receipts;
        Verify {
            result: TreeId::EMPTY,
            is_same: true,
            interface: self.filed.interface.clone(),
            oracles: self.filed.oracles.clone(),
            words: receipts.criteria.iter().map(|one| (one.id.clone(), one.word)).collect(),
            commands: receipts.commands.clone(),
        }
    }
}

/// Returns the result of a run of this project, and the folder of the project.
pub fn of_run(args: &VerifyArgs, scope: &Scope<'_>) -> Result<(PathBuf, Claimed), Complaint> {
    let env = scope.env;
    let id = scope.named(Some(&args.of))?;
    if is_revision(args, env) {
        let other = one_line(&args.of);
        scope.printer.talk(&format!(
            "note: {other} is also a revision; run {id} is verified (pass refs/heads/{other} for a branch)"
        ));
    }
    let known = scope.runs.load::<Evolve>(&id)?;
    Ownership::new(env).require(&known)?;
    let run = &known.run;
    let cannot = |why: &str| Complaint::input(format!("cannot verify run {id}: {why}"));
    if scope.runs.status(run) != RunStatus::Ended {
        return Err(cannot("it has not ended").hint(format!("`skilltune resume {id}` continues it")));
    }
    let receipts = run.receipts().filter(|_| run.plan.task.verify.is_none());
    let receipts = receipts.ok_or_else(|| {
        cannot("it has no receipts").hint("pass a run whose result was judged, or a branch with receipts")
    })?;
    let trees = Trees::Stored { before: receipts.base, result: receipts.tree };
    let task = &run.plan.task;
    let filed = filed_of(run, receipts);
    let (of, file) = (format!("run {id}"), PathBuf::from(&task.file));
    Ok((PathBuf::from(&task.root), Claimed { of, file, filed, trees }))
}

fn filed_of(run: &Run, receipts: Receipts) -> Filed {
    let oracle = |id: &str| {
        let standing = run.stands(id)?;
        let probe = standing.probe().filter(|probe| !probe.is_check)?;
        Some((id.into(), (*probe.oracle).clone()))
    };
    let oracles = receipts.criteria.iter().filter_map(|one| oracle(&one.id)).collect();
    Filed::of_run(receipts, run.interface().cloned(), oracles)
}

fn is_revision(args: &VerifyArgs, env: &Environment) -> bool {
    let (of, cwd) = (args.of.clone(), env.cwd.clone());
    let work = move |git: &Git<'_>| commit(git, &cwd, &of).map_err(RangeError::from);
    casting::git(env).is_ok() && with_git(env, work).is_ok_and(|found| found.is_ok())
}

/// Returns the result of a revision of the repository around a project.
pub fn of_revision(args: &VerifyArgs, project: &Path, env: &Environment) -> Result<Claimed, Complaint> {
    let of = one_line(&args.of);
    casting::git(env).map_err(|_| {
        Complaint::input(format!("cannot read {of}: `git` is not installed"))
            .hint("install git, or pass the id of a run")
    })?;
    let found = found(args, project, env)?.map_err(|error| refused(&of, &error))?;
    let Found { part, commit, chosen, names, branches } = found;
    let Some(Chosen { name, files, receipts: at }) = chosen else {
        return Err(without_receipts(&of, args.name.as_deref(), &names, &branches));
    };
    let filed = Filed::read(&files).map_err(|why| {
        Complaint::input(format!("cannot use {of}:{EVIDENCE}/{name}")).caused_by(one_line(&why))
    })?;
    let before = commit_before(&part, &at, &filed.receipts, &of, env)?;
    let trees = Trees::InGit(Box::new(Commits { part, before, result: commit, receipts: at }));
    let file = PathBuf::from(format!("{of}:{EVIDENCE}/{name}/{RECEIPTS}"));
    Ok(Claimed { of, file, filed, trees })
}

/// Returns the commit of the project before the change.
fn commit_before(
    part: &Part,
    at: &str,
    receipts: &Receipts,
    of: &str,
    env: &Environment,
) -> Result<String, Complaint> {
    const FETCH: &str = "fetch the whole branch that skilltune made: `git fetch --unshallow`, or `git fetch REMOTE skilltune/NAME`";
    let (part, at, most) = (part.clone(), at.to_owned(), receipts.commits + 2);
    let read = with_git(env, move |git: &Git<'_>| {
        let parents = first_parents(git, &part.root, &at, most)?;
        let adds_only = match parents.get(1) {
            Some(parent) => part.is_same(git, &at, &parent.id)?,
            None => false,
        };
        Ok((parents, adds_only))
    })?;
    let (parents, adds_only) = read.map_err(|error| refused(of, &error))?;
    before(&parents, receipts, adds_only).map_err(|why| {
        let what = format!("cannot find the project as it was before {of}");
        Complaint::input(what).caused_by(why).hint(FETCH)
    })
}

/// Looks for receipts in a revision of the repository around a folder.
fn found(
    args: &VerifyArgs,
    project: &Path,
    env: &Environment,
) -> Result<Result<Found, RangeError>, Complaint> {
    let (of, name, project) = (args.of.clone(), args.name.clone(), project.to_owned());
    with_git(env, move |git: &Git<'_>| {
        let top = git::root(git, &project)?;
        let top = top.canonicalize().unwrap_or(top);
        let folder = project.strip_prefix(&top).unwrap_or(Path::new(""));
        let folder = RelPath::parse(folder.as_os_str().as_encoded_bytes()).ok();
        let without = RelPath::parse(EVIDENCE.as_bytes()).expect("our own name is plain");
        let part = Part { root: top, folder, without };
        let commit = commit(git, &part.root, &of)?;
        let below = in_repository(&part, EVIDENCE);
        let wanted = RelPath::parse(below.as_bytes()).map_err(|_| RevisionError::Garbled)?;
        let all = files_of(git, &part.root, &commit, &[wanted])?;
        let names = names(&all, &below, name.as_deref());
        let chosen = chosen(git, &part, &commit, &all, &names)?;
        let branches = own_branches(git, &part.root)?;
        Ok(Found { part, commit, chosen, names, branches })
    })
}

/// Returns a path of the project as git names it.
fn in_repository(part: &Part, path: &str) -> String {
    let folder = part.folder.as_ref().map(|folder| folder.as_path().to_string_lossy().into_owned());
    folder.map_or_else(|| path.to_owned(), |folder| format!("{folder}/{path}"))
}

/// Returns the names of results with receipts, or the wanted one alone.
fn names(all: &Files, below: &str, wanted: Option<&str>) -> Vec<String> {
    let name = |path: &RelPath| {
        let rest = path.as_path().strip_prefix(below).ok()?;
        let name = rest.parent()?.to_str().filter(|name| is_id(name))?;
        let is_wanted = wanted.is_none_or(|wanted| wanted == name);
        (is_wanted && rest.file_name()? == RECEIPTS).then(|| name.to_owned())
    };
    all.keys().filter_map(name).take(MOST_NAMES).collect()
}

/// Returns the result whose receipts changed last.
fn chosen(
    git: &Git<'_>,
    part: &Part,
    commit: &str,
    all: &Files,
    names: &[String],
) -> Result<Option<Chosen>, RangeError> {
    let file = |name: &String| in_repository(part, &format!("{EVIDENCE}/{name}/{RECEIPTS}"));
    let changed = |paths: &[String]| last_change(git, &part.root, commit, paths);
    let paths: Vec<String> = names.iter().map(file).collect();
    if paths.is_empty() {
        return Ok(None);
    }
    let Some(newest) = changed(&paths)? else { return Ok(None) };
    let mut chosen = None;
    for name in names {
        if names.len() > 1 && changed(&[file(name)])?.as_ref() != Some(&newest) {
            continue;
        }
        if chosen.replace(name).is_some() {
            return Ok(None);
        }
    }
    let Some(name) = chosen else { return Ok(None) };
    let below = in_repository(part, &format!("{EVIDENCE}/{name}"));
    let inner = |(path, content): (&RelPath, &Content)| {
        let rest = path.as_path().strip_prefix(&below).ok()?;
        Some((RelPath::parse(rest.as_os_str().as_encoded_bytes()).ok()?, content.clone()))
    };
    let files = all.iter().filter_map(inner).collect();
    Ok(Some(Chosen { name: name.clone(), files, receipts: newest }))
}

/// Returns the commit before the change: the first one that the run of the receipts did not make. Commits that name no
/// run are counted.
fn before(parents: &[Ancestor], receipts: &Receipts, adds_only: bool) -> Result<String, &'static str> {
    const MISSING: &str =
        "the history of the change is not here: the clone is shallow, or commits were squashed";
    let is_of_run = |one: &Ancestor| one.run == receipts.run.as_str();
    let (at, earlier) = parents.split_first().ok_or(MISSING)?;
    if is_of_run(at) {
        return earlier.iter().find(|one| !is_of_run(one)).map(|one| one.id.clone()).ok_or(MISSING);
    }
    if receipts.commits > 0 && !adds_only {
        return Err("the commits of the change were squashed: that of the receipts changes other files too");
    }
    earlier.get(receipts.commits).map(|one| one.id.clone()).ok_or(MISSING)
}

fn without_receipts(of: &str, wanted: Option<&str>, names: &[String], branches: &[String]) -> Complaint {
    let names = names.join(", ");
    if !names.is_empty() {
        return Complaint::input(format!("{of} has several results: {names}"))
            .hint("pass --name NAME to choose one");
    }
    let what = wanted.map_or_else(String::new, |name| format!("/{}", one_line(name)));
    let complaint = Complaint::input(format!("{of} has no receipts in {EVIDENCE}{what}"));
    let branches = one_line(&branches.join(", "));
    if branches.is_empty() {
        return complaint.hint(
            "there is no branch skilltune/NAME; `git fetch` gets those of a remote, and `skilltune evolve SPEC` makes one",
        );
    }
    complaint.hint(format!("pass a branch that skilltune made: {branches}"))
}

fn refused(of: &str, error: &RangeError) -> Complaint {
    let hint = match error {
        RangeError::Changed(ChangedError::NoRepository(_)) => {
            "pass --in DIR, a folder of the repository, or the id of a run"
        }
        RangeError::Changed(ChangedError::NoRevision(_)) => {
            "pass the id of a run that `skilltune list` shows, or a branch that `git branch --all` shows"
        }
        RangeError::LargePart(_) => "raise limits.artifact_files and limits.artifact_bytes",
        RangeError::Changed(ChangedError::Git(GitError::Failed { said, .. }))
        | RangeError::Revision(RevisionError::Git(GitError::Failed { said, .. }))
            if said.contains("dubious ownership") =>
        {
            "if you trust the repository, add it to safe.directory in your git configuration"
        }
        _ => "check that `git log` and `git ls-tree` can read it; a partial clone may lack files",
    };
    let what = format!("cannot read {}", one_line(of));
    let complaint = Complaint::of(ErrorKind::Input, error);
    let why = one_line(&error.to_string());
    Complaint { what, causes: [vec![why], complaint.causes].concat(), ..complaint }.hint(hint)
}

#[cfg(test)]
mod tests {
    use skilltune_orchestrator::git::Kind;

    use super::*;

    fn ancestors(all: &[(&str, &str)]) -> Vec<Ancestor> {
        let one = |(id, run): &(&str, &str)| Ancestor { id: (*id).to_owned(), run: (*run).to_owned() };
        all.iter().map(one).collect()
    }

    #[test]
    fn the_project_before_a_change_is_found_by_the_run_or_by_the_number_of_commits() {
        let mut receipts: Receipts = serde_json::from_value(serde_json::json!({
            "version": 1, "run": "c402", "name": "spec", "goal": "", "base": TreeId::EMPTY, "tree": TreeId::EMPTY,
            "commits": 2, "criteria": [], "commands": [], "not_looked_at": [],
        }))
        .unwrap();
        let with_run = ancestors(&[("e", "c402"), ("d", "c402"), ("c", ""), ("b", "")]);
        assert_eq!(before(&with_run, &receipts, true), Ok("c".to_owned()));
        let counted = ancestors(&[("e", ""), ("d", ""), ("c", ""), ("b", "")]);
        assert_eq!(before(&counted, &receipts, true), Ok("b".to_owned()));
        assert!(before(&counted, &receipts, false).unwrap_err().contains("squashed"));
        assert!(before(&counted[..3], &receipts, true).is_err());
        assert!(before(&with_run[..2], &receipts, true).is_err());
        assert!(before(&[], &receipts, true).is_err());
        receipts.commits = 0;
        assert_eq!(before(&counted, &receipts, false), Ok("d".to_owned()));
    }

    #[test]
    fn only_folders_with_receipts_are_results() {
        let paths = [
            ".evolve/spec/receipts.json",
            ".evolve/spec/oracles/A1/receipts.json",
            ".evolve/a b/receipts.json",
            ".evolve/other/spec.md",
            ".evolve/receipts.json",
            ".evolve/two/receipts.json",
        ];
        let content = || Content { bytes: Vec::new(), kind: Kind::Link };
        let all = paths.iter().map(|path| (RelPath::parse(path.as_bytes()).unwrap(), content())).collect();
        assert_eq!(names(&all, ".evolve", None), ["spec", "two"]);
        assert_eq!(names(&all, ".evolve", Some("two")), ["two"]);
        assert!(names(&all, ".evolve", Some("../spec")).is_empty());
    }
}
