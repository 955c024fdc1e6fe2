//! The engine's part for evidence: stores the files of oracles, reads how an oracle ended, makes wrong versions of a result,
//! and adds receipts to it.

use std::collections::HashSet;

use skilltune_phases::asking::order::{Placement, Planted, with_codes};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::json;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::oracle::{GREEN, Interface, Light, Oracle, Probed, Proposal, RED};
use skilltune_phases::loops::evolve::step::Wrong;
use skilltune_phases::loops::evolve::{
    AgentRequest, Answer, EVIDENCE, Edits, Evolve, File, OracleBrief, ProbeBrief, RawInterface, RawOracle,
    Run,
};
use skilltune_phases::loops::shared::test_results::{counts_tests, test_results};
use skilltune_phases::runs::event::Failure;
use skilltune_phases::suites::checks::output_end;

use super::super::edited_copy::gate;
use super::super::refusal::{link_outside, new_repository, new_settings};
use super::super::{CommandOutput, EngineError, ReadError, Services};
use super::{in_project, text_of};
use crate::checks::{end_of, exit_code};
use crate::snapshot::{Entry, Manifest, Node, ObjectError, Objects, RelPath, changes};

/// Stores the stub of the names that work has to provide.
pub(super) fn interface(
    services: &Services,
    request: &AgentRequest,
    answer: &str,
) -> Result<Answer, ReadError> {
    let RawInterface { note, stub } = request.raw_interface(answer)?;
    Ok(Answer::Interface(Box::new(Interface { note, stub: stored(services, &stub)? })))
}

/// Stores the files of an oracle.
pub(super) fn oracle(
    services: &Services,
    request: &AgentRequest,
    brief: &OracleBrief,
    answer: &str,
) -> Result<Answer, ReadError> {
    let proposal = match request.raw_oracle(brief, answer)? {
        RawOracle::Judge { why } => Proposal::Judge { why },
        RawOracle::Oracle { argv, files, uses_names, shows } => {
            Proposal::Oracle(Oracle { argv, files: stored(services, &files)?, uses_names, shows })
        }
    };
    Ok(Answer::Proposed(Box::new(proposal)))
}

/// Checks the trees of an answer, by what the project has at their paths.
pub(super) fn check(objects: &Objects, placed: &[Placement], answer: &Answer) -> Result<(), ReadError> {
    for tree in Evolve::trees(answer) {
        let (base, made) = (project(objects, placed)?, objects.manifest(tree)?);
        match answer {
            Answer::Interface(_) => check_stub(objects, &base, &made)?,
            Answer::Proposed(_) => check_taken(&base, &made)?,
            _ if made == base => return Err(gate("a version changes nothing").into()),
            _ => {}
        }
        check_added(&base, &made)?;
    }
    Ok(())
}

/// Returns the project that an evaluator reads.
fn project(objects: &Objects, placed: &[Placement]) -> Result<Manifest, EngineError> {
    Ok(objects.manifest(placed.first().ok_or(EngineError::Stuck)?.tree)?)
}

/// Fails if a stub drops lines of the project. Without a part of it, an oracle would fail for another reason.
fn check_stub(objects: &Objects, base: &Manifest, stub: &Manifest) -> Result<(), ReadError> {
    for Entry { path, .. } in stub.entries() {
        let path = path.to_string();
        let Some(before) = text_of(objects, base, &path)? else { continue };
        let after = text_of(objects, stub, &path)?;
        if !after.is_some_and(|after| keeps_lines(&before, &after)) {
            let why = format!("the stub drops lines of {path}; keep all of them, in their order");
            return Err(gate(why).into());
        }
    }
    Ok(())
}

/// Fails if files replace some of the project.
fn check_taken(base: &Manifest, made: &Manifest) -> Result<(), Failure> {
    let is_file = |path: RelPath| base.get(&path).is_some_and(|node| !node.is_folder());
    let is_taken = |entry: &&Entry| {
        let is_there = !entry.node.is_folder() && base.get(&entry.path).is_some();
        is_there || entry.path.lineage().any(is_file)
    };
    // A folder in the place of a file is named only if it has no file.
    let (folders, files): (Vec<_>, Vec<_>) = made.entries().iter().partition(|entry| entry.node.is_folder());
    match files.into_iter().chain(folders).find(is_taken) {
        None => Ok(()),
        Some(Entry { path, .. }) => {
            Err(gate(format!("the project has {path} already, or a file above it; use another path")))
        }
    }
}

/// Fails if files make a git repository, lead out of their folder, or are settings.
fn check_added(base: &Manifest, made: &Manifest) -> Result<(), Failure> {
    if let Some(path) = new_repository(base, made) {
        return Err(gate(format!("{path} would make a git repository; use another path")));
    }
    if let Some(path) = link_outside(base, made) {
        return Err(gate(format!("the link {path} leads outside of its folder")));
    }
    match new_settings(base, made) {
        None => Ok(()),
        Some(path) => {
            Err(gate(format!("agents, editors or shells read {path} by themselves; use another path")))
        }
    }
}

/// Stores the files of an answer, without keys; none if there are none.
fn stored(services: &Services, files: &[File]) -> Result<Option<TreeId>, ReadError> {
    if files.is_empty() {
        return Ok(None);
    }
    let mut nodes = Vec::new();
    for File { path, text } in files {
        let at = RelPath::parse(path.as_bytes()).map_err(|why| gate(format!("{path:?}: {why}")))?;
        nodes.push((at, written(&services.objects, &services.keys.hide(text))?));
    }
    let count = nodes.len();
    let made = Manifest::of_files(nodes);
    if made.entries().iter().filter(|entry| !entry.node.is_folder()).count() < count {
        return Err(gate("one of its files is where another one has a folder").into());
    }
    Ok(Some(services.objects.put_manifest(&made)?))
}

fn written(objects: &Objects, text: &str) -> Result<Node, ObjectError> {
    Ok(Node::File { blob: objects.put(text.as_bytes())?, size: text.len() as u64, mode: 0o644 })
}

/// Whether a text has all lines of another one, in their order.
fn keeps_lines(before: &str, after: &str) -> bool {
    let mut after = after.lines();
    before.lines().filter(|line| !line.trim().is_empty()).all(|line| after.any(|one| one == line))
}

/// Returns the first path of an edit that only skilltune writes: oracles and receipts, also those of earlier runs.
pub(super) fn touched(base: &Manifest, made: &Manifest) -> Option<RelPath> {
    let is_ours = |path: &RelPath| {
        let top = path.lineage().next();
        top.is_some_and(|top| top.as_bytes().eq_ignore_ascii_case(EVIDENCE.as_bytes()))
    };
    changes(base, made).into_iter().map(|change| change.path).find(is_ours)
}

/// Reads how an oracle ended, with its files as they were planted.
pub(super) fn probed(
    services: &Services,
    request: &AgentRequest,
    brief: &ProbeBrief,
    ran: &CommandOutput<'_>,
) -> Result<Answer, ObjectError> {
    let order = request.as_ref();
    let mut sources = String::new();
    for Planted { tree, words } in &order.planted {
        let files = services.objects.manifest(*tree)?;
        for Entry { path, .. } in files.entries() {
            let text = text_of(&services.objects, &files, &path.to_string())?.unwrap_or_default();
            sources.push_str(&with_codes(&text, words));
            sources.push('\n');
        }
    }
    let argv = order.command.as_ref().map_or(&[][..], |command| &command.argv);
    Ok(read(brief, argv, &sources, ran))
}

/// Reads how an oracle ended. Only the codes that it printed tell whether an assertion failed or all have held. An error
/// message that quotes a line of the oracle says neither.
fn read(brief: &ProbeBrief, argv: &[String], sources: &str, ran: &CommandOutput<'_>) -> Answer {
    let [stdout, stderr] = [ran.stdout, ran.stderr].map(|said| in_project(said, ran.space));
    let exit = exit_code(ran.how);
    let bare = |line: &str| line.trim_start_matches([' ', '\t', '>', '|', '+']).trim_end().to_owned();
    let sources: HashSet<String> = sources.lines().map(bare).collect();
    let prints = |code: &str| {
        let mut lines = stdout.lines().chain(stderr.lines());
        lines.any(|line| line.contains(code) && !sources.contains(&bare(line)))
    };
    let tests = test_results(&stdout, &stderr);
    let says_none = || stdout.lines().chain(stderr.lines()).any(|line| line.starts_with("Ran 0 tests in "));
    let is_empty =
        || says_none() || counts_tests(argv) && tests.as_ref().is_none_or(|tests| tests.ran() == 0);
    let mut ending = end_of(ran.how, ran.seconds);
    let light = match (&brief.codes, exit) {
        (Some([red, green]), Some(0)) if prints(green) && !prints(red) => Light::Green,
        (Some([red, _]), Some(exit)) if exit != 0 && prints(red) => Light::Red,
        (Some(_), _) | (None, None) => Light::Neither,
        (None, Some(0)) if is_empty() => {
            ending.push_str(", and it says of no test that it has run");
            Light::Neither
        }
        (None, Some(0)) => Light::Green,
        (None, Some(_)) => Light::Red,
    };
    let hidden = |said: &String| match &brief.codes {
        Some([red, green]) => said.replace(red.as_str(), RED).replace(green.as_str(), GREEN),
        None => said.clone(),
    };
    let ends = [&stdout, &stderr].map(|said| output_end(&hidden(said)));
    let said =
        ends.into_iter().filter(|said| !said.is_empty()).chain([ending]).collect::<Vec<_>>().join("\n");
    Answer::Probed(Box::new(Probed { light, exit, said: said.into() }))
}

/// Makes wrong versions of a result from the edits of an answer.
pub(super) fn spoiled(
    services: &Services,
    request: &AgentRequest,
    answer: &str,
) -> Result<Answer, ReadError> {
    let result = project(&services.objects, &request.as_ref().placements)?;
    let versions = request.raw_versions(answer)?;
    let wrong = versions.into_iter().map(|one| version(&services.objects, &result, one));
    Ok(Answer::Spoiled(wrong.collect::<Result<_, _>>()?))
}

fn version(objects: &Objects, result: &Manifest, Edits { what, edits }: Edits) -> Result<Wrong, ReadError> {
    let mut files: Vec<(String, String)> = Vec::new();
    for edit in edits {
        let at = files.iter().position(|(path, _)| *path == edit.path);
        let at = if let Some(at) = at {
            at
        } else {
            let text = text_of(objects, result, &edit.path)?;
            let text = text.ok_or_else(|| gate(format!("there is no text file {:?}", edit.path)))?;
            files.push((edit.path.clone(), text));
            files.len() - 1
        };
        let text = &mut files[at].1;
        if edit.old.is_empty() || text.matches(&edit.old).count() != 1 {
            let why = format!("{} does not have the text of `old` exactly once: {:?}", edit.path, edit.old);
            return Err(gate(why).into());
        }
        *text = text.replacen(&edit.old, &edit.new, 1);
    }
    let mut nodes = Vec::new();
    for (path, text) in files {
        let at = RelPath::parse(path.as_bytes()).map_err(|why| gate(format!("{path:?}: {why}")))?;
        let mode = result.get(&at).and_then(Node::mode).unwrap_or(0o644);
        let node = match written(objects, &text)? {
            Node::File { blob, size, .. } => Node::File { blob, size, mode },
            node => node,
        };
        nodes.push((at, node));
    }
    let made = Manifest::of_files(nodes).over(result);
    Ok(Wrong { what: what.into(), tree: objects.put_manifest(&made)? })
}

/// Adds receipts, the specification and the oracles to a result.
pub(super) fn filed(objects: &Objects, run: &Run, tree: TreeId) -> Result<Option<Answer>, EngineError> {
    let Some(receipts) = run.receipts() else { return Ok(None) };
    let folder = run.evidence_folder();
    let texts = [("receipts.json", json::page(&receipts)), ("spec.md", run.plan.task.spec.markdown())];
    let mut nodes = Vec::new();
    for (name, text) in texts {
        nodes.push((below(&folder, name), written(objects, &text)?));
    }
    let stub = run.interface().and_then(|interface| interface.stub);
    let mut trees: Vec<(String, TreeId)> =
        stub.map(|tree| (format!("{folder}/stub"), tree)).into_iter().collect();
    for criterion in &run.plan.task.spec.criteria {
        let standing = run.stands(&criterion.id);
        let probe = standing.as_ref().and_then(|standing| standing.probe());
        let files = probe.and_then(|probe| probe.oracle.files);
        trees.extend(files.map(|files| (format!("{folder}/oracles/{}", criterion.id), files)));
    }
    for (at, tree) in trees {
        for Entry { path, node } in objects.manifest(tree)?.entries() {
            if !node.is_folder() {
                nodes.push((below(&at, &path.to_string()), node.clone()));
            }
        }
    }
    // Those of an earlier run for the same specification are replaced.
    let (others, _) = objects.manifest(tree)?.split(&[below("", &folder)]);
    let made = Manifest::of_files(nodes).over(&others);
    Ok(Some(Answer::Filed(objects.put_manifest(&made)?)))
}

fn below(folder: &str, path: &str) -> RelPath {
    let path = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    RelPath::parse(path.as_bytes()).expect("names of ours and of stored files are plain")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use skilltune_phases::loops::evolve::Edit;

    use super::super::super::edited_copy::tests::draft;
    use super::*;
    use crate::process::How;

    /// Returns how an oracle ended, with the codes `no-1` and `yes-1`, or a check of the specification.
    fn light(is_check: bool, argv: &[&str], how: &How, stdout: &str) -> (Light, String) {
        let codes = (!is_check).then(|| ["no-1", "yes-1"].map(str::to_owned));
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let ran = CommandOutput { how, seconds: 9, stdout, stderr: "", space: Path::new("/space") };
        match read(&ProbeBrief { codes }, &argv, "    assert ok, 'no-1'\n", &ran) {
            Answer::Probed(end) => (end.light, end.said.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_the_codes_of_an_oracle_make_it_red_or_green() {
        let script = &["sh", "a.sh"];
        for (exit, said, expected) in [
            (1, "value is 3: no-1", Light::Red),
            (0, "all held: yes-1", Light::Green),
            (0, "", Light::Neither),
            (0, "SKILLTUNE_GREEN", Light::Neither),
            (0, "no-1", Light::Neither),
            (0, "yes-1, no-1", Light::Neither),
            (1, ">   assert ok, 'no-1'\nNameError: ok", Light::Neither),
            (1, "    assert ok, 'no-1'\nAssertionError: no-1", Light::Red),
            (1, "", Light::Neither),
            (1, "yes-1", Light::Neither),
            (101, "error: could not compile", Light::Neither),
        ] {
            assert_eq!(light(false, script, &How::Exited(exit), said).0, expected, "{exit} {said}");
        }
        assert_eq!(
            light(false, script, &How::TimedOut, "no-1").0,
            Light::Red,
            "it was cut off after an assertion"
        );
        assert_eq!(light(false, script, &How::Signalled(9), "").0, Light::Neither);
        let (_, said) = light(false, script, &How::Exited(1), "at /space/a.sh: no-1");
        assert_eq!(said, "at a.sh: SKILLTUNE_RED\nexit code 1", "no code and no workspace is told to others");
    }

    #[test]
    fn a_check_decides_by_its_exit_code_but_for_a_runner_that_ran_no_test() {
        let pytest = &["python3", "-m", "pytest", "-q"];
        for (argv, exit, said, expected) in [
            (&["make", "check"][..], 0, "", Light::Green),
            (&["make", "check"], 2, "", Light::Red),
            (pytest, 0, "3 passed in 0.01s", Light::Green),
            (pytest, 0, "", Light::Neither),
            (pytest, 0, "no tests ran in 0.00s", Light::Neither),
            (&["python3", "-m", "unittest"], 0, "Ran 0 tests in 0.000s\n\nOK", Light::Neither),
            (&["python3", "-m", "unittest"], 0, "Ran 2 tests in 0.000s\n\nOK", Light::Green),
            (pytest, 1, "", Light::Red),
        ] {
            assert_eq!(light(true, argv, &How::Exited(exit), said).0, expected, "{argv:?} {exit} {said}");
        }
        let missing = How::NotStarted { why: "no such program".to_owned() };
        assert_eq!(light(true, &["area"], &missing, ""), (Light::Neither, "no such program".to_owned()));
    }

    #[test]
    fn the_trees_of_an_answer_replace_nothing_and_hold_no_repository_link_out_or_settings() {
        let place = tempfile::tempdir().unwrap();
        let objects = Objects::at(place.path());
        let tree = |entries: &[(&str, Node)]| {
            let entry =
                |(path, node): &(&str, Node)| (RelPath::parse(path.as_bytes()).unwrap(), node.clone());
            Manifest::of_files(entries.iter().map(entry))
        };
        let text = |text: &str| written(&objects, text).unwrap();
        let base = tree(&[("src/a.py", text("x = 1\ny = 1\n")), (".envrc", text("x"))]);
        let project = draft("project", objects.put_manifest(&base).unwrap());
        let refused = |answer: Answer| match check(&objects, std::slice::from_ref(&project), &answer) {
            Ok(()) => String::new(),
            Err(ReadError::Agent(failure)) => failure.why,
            Err(ReadError::Ours(error)) => panic!("{error}"),
        };
        let stub = |made: &Manifest| {
            let stub = Some(objects.put_manifest(made).unwrap());
            refused(Answer::Interface(Box::new(Interface { note: "n".into(), stub })))
        };
        let oracle = |made: &Manifest| {
            let files = Some(objects.put_manifest(made).unwrap());
            let (argv, shows) = (vec!["sh".to_owned()], "s".into());
            let oracle = Oracle { argv, files, uses_names: false, shows };
            refused(Answer::Proposed(Box::new(Proposal::Oracle(oracle))))
        };
        let wrong = |made: &Manifest| {
            let tree = objects.put_manifest(made).unwrap();
            refused(Answer::Spoiled(vec![Wrong { what: "w".into(), tree }]))
        };
        let out = Node::Link { target: b"../../h".to_vec() };
        for (path, node, why) in [
            ("t/new.py", text("new"), ""),
            ("sub/.git/config", text("new"), "git repository"),
            ("t/out", out, "leads outside"),
            (".claude/settings.json", text("{}"), "by themselves"),
        ] {
            let made = tree(&[(path, node)]);
            for found in [stub(&made), oracle(&made), wrong(&made.over(&base))] {
                assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{path}: {found}");
            }
        }
        assert_eq!(stub(&tree(&[("src/a.py", text("x = 1\nz = 1\ny = 1\n"))])), "");
        assert!(stub(&tree(&[("src/a.py", text("x = 1\n"))])).contains("drops lines of src/a.py"));
        for path in ["src/a.py", "src/a.py/b"] {
            assert!(oracle(&tree(&[(path, text("new"))])).contains(&format!("has {path} already")));
        }
        let folder =
            tree(&[("src", Node::Folder { mode: 0o755 }), ("src/a.py", Node::Folder { mode: 0o755 })]);
        assert!(oracle(&folder).contains("has src/a.py already"));
        assert!(wrong(&base).contains("changes nothing"));
    }

    #[test]
    fn a_wrong_version_is_made_by_edits_that_fit_exactly_once() {
        let place = tempfile::tempdir().unwrap();
        let objects = Objects::at(crate::disk::SafePath::below(place.path(), "objects"));
        let result = objects.put_files(&[("a.py", b"x = 1\ny = 1\n"), ("b.py", b"z = 1\n")]).unwrap();
        let result = objects.manifest(result).unwrap();
        let edit =
            |path: &str, old: &str, new: &str| Edit { path: path.into(), old: old.into(), new: new.into() };
        let made = |edits: Vec<Edit>| version(&objects, &result, Edits { what: "wrong".into(), edits });
        let wrong = made(vec![edit("a.py", "x = 1", "x = 2"), edit("a.py", "y = 1", "y = 3")]).unwrap();
        let files = objects.manifest(wrong.tree).unwrap();
        assert_eq!(text_of(&objects, &files, "a.py").unwrap().unwrap(), "x = 2\ny = 3\n");
        assert_eq!(text_of(&objects, &files, "b.py").unwrap().unwrap(), "z = 1\n");
        for (edits, why) in [
            (vec![edit("a.py", "= 1", "= 2")], "exactly once"),
            (vec![edit("a.py", "", "x")], "exactly once"),
            (vec![edit("a.py", "w = 1", "w = 2")], "exactly once"),
            (vec![edit("c.py", "x", "y")], "there is no text file"),
            (vec![edit("../a.py", "x", "y")], "there is no text file"),
        ] {
            match made(edits) {
                Err(ReadError::Agent(failure)) => assert!(failure.why.contains(why), "{failure:?}"),
                other => panic!("{why}: {other:?}"),
            }
        }
    }
}
