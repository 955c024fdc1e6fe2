//! Reads the receipts that a result brings along: `receipts.json`, and the files of oracles beside it.
//!
//! Somebody else may have written them: sizes are bounded, ids are plain, no file is a symlink, and nothing runs here.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use serde::Deserialize;
use skilltune_orchestrator::git::{Content, Kind};
use skilltune_orchestrator::snapshot::{Manifest, Node, ObjectError, Objects, RelPath};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::oracle::{
    Interface, LARGEST, LONGEST_NAME, MOST_FILES, MOST_WORDS, Oracle,
};
use skilltune_phases::loops::evolve::receipt::{Receipt, Receipts, VERSION};
use skilltune_phases::loops::evolve::spec::{Criterion, Id, MOST_CRITERIA, Specification, is_id};
use skilltune_phases::loops::evolve::task::Set;
use skilltune_phases::skills::edit::is_git;

use crate::text::plain::one_line;

/// The file with the receipts.
pub const RECEIPTS: &str = "receipts.json";

const LARGEST_RECEIPTS: usize = 1 << 20;
/// More tasks than any plan has, each done several times.
const MOST_COMMITS: usize = 1_000;

/// The files of a folder, in memory.
pub type Files = BTreeMap<RelPath, Content>;

/// Receipts that can be repeated, with the files of their oracles.
#[derive(Clone, Debug)]
pub struct Filed {
    pub receipts: Receipts,
    /// The names that oracles use. Of a run, it has its files already.
    pub interface: Option<Interface>,
    /// The oracles that the specification does not have as checks.
    pub oracles: Vec<(Id, Oracle)>,
    /// The files of the interface, and of each oracle.
    stub: Files,
    own: BTreeMap<Id, Files>,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The names and the oracles, with stored files.
type Stored = (Option<Interface>, Vec<(Id, Oracle)>);

impl Filed {
    /// Reads the files below `.evolve/NAME`, or says why it cannot.
    pub fn read(files: &Files) -> Result<Self, String> {
        if let Some((path, _)) = files.iter().find(|(_, content)| content.kind == Kind::Link) {
            return Err(format!("{path} is a symlink"));
        }
        let receipts = RelPath::parse(RECEIPTS.as_bytes()).ok().and_then(|path| files.get(&path));
        let receipts = receipts.ok_or_else(|| format!("it has no {RECEIPTS}"))?;
        let receipts = parsed(&receipts.bytes)?;
        let stub = below(files, "stub").map_err(|why| format!("the stub: {why}"))?;
        let (mut oracles, mut own) = (Vec::new(), BTreeMap::new());
        for (id, oracle) in with_oracles(&receipts) {
            let of_oracle = below(files, &format!("oracles/{id}"));
            own.insert(id.clone(), of_oracle.map_err(|why| format!("the oracle of {id}: {why}"))?);
            oracles.push((id, oracle));
        }
        let note = receipts.names.clone().unwrap_or_default();
        let interface = (!note.is_empty() || !stub.is_empty()).then_some(Interface { note, stub: None });
        Ok(Self { receipts, interface, oracles, stub, own })
    }

    /// Takes the receipts of a run, whose files are in the store.
    pub fn of_run(receipts: Receipts, interface: Option<Interface>, oracles: Vec<(Id, Oracle)>) -> Self {
        Self { receipts, interface, oracles, stub: Files::new(), own: BTreeMap::new() }
    }

    /// Stores the files, and returns the names and the oracles with them.
    pub fn store(&self, objects: &Objects) -> Result<Stored, ObjectError> {
        let (mut interface, mut oracles) = (self.interface.clone(), self.oracles.clone());
        if let Some(interface) = interface.as_mut().filter(|_| !self.stub.is_empty()) {
            interface.stub = Some(stored(&self.stub, objects)?);
        }
        for (id, oracle) in &mut oracles {
            if let Some(files) = self.own.get(id).filter(|files| !files.is_empty()) {
                oracle.files = Some(stored(files, objects)?);
            }
        }
        Ok((interface, oracles))
    }

    /// Returns what was asked for, as far as the receipts say it.
    pub fn specification(&self) -> Specification {
        let criterion = |one: &Receipt| Criterion {
            id: one.id.clone(),
            text: one.text.clone(),
            priority: Some(one.priority),
            check: one.oracle.as_ref().filter(|oracle| oracle.is_check).map(|oracle| oracle.argv.clone()),
            source: None,
        };
        Specification {
            goal: self.receipts.goal.clone(),
            constraints: Vec::new(),
            criteria: self.receipts.criteria.iter().map(criterion).collect(),
            vocabulary: Vec::new(),
        }
    }

    pub fn commands(&self) -> Vec<Set> {
        let all = self.receipts.commands.iter();
        all.map(|one| Set { stage: one.stage, argv: one.argv.clone() }).collect()
    }
}

fn with_oracles(receipts: &Receipts) -> impl Iterator<Item = (Id, Oracle)> {
    receipts.criteria.iter().filter_map(|one| {
        let oracle = one.oracle.as_ref().filter(|oracle| !oracle.is_check)?;
        let (argv, shows) = (oracle.argv.clone(), oracle.shows.clone());
        Some((one.id.clone(), Oracle { argv, files: None, uses_names: oracle.uses_names, shows }))
    })
}

fn parsed(bytes: &[u8]) -> Result<Receipts, String> {
    if bytes.len() > LARGEST_RECEIPTS {
        return Err(format!("{RECEIPTS} has more than {LARGEST_RECEIPTS} bytes"));
    }
    let unreadable = |error: serde_json::Error| format!("cannot read {RECEIPTS}: {error}");
    // Another version may have other keys.
    let Version { version } = serde_json::from_slice(bytes).map_err(unreadable)?;
    if version != VERSION {
        return Err(format!("{RECEIPTS} has version {version}, and this skilltune reads version {VERSION}"));
    }
    let receipts: Receipts = serde_json::from_slice(bytes).map_err(unreadable)?;
    match fault(&receipts) {
        Some(fault) => Err(format!("{RECEIPTS}: {fault}")),
        None => Ok(receipts),
    }
}

/// Returns the first reason why receipts are not ones that we wrote.
fn fault(receipts: &Receipts) -> Option<String> {
    let count = receipts.criteria.len();
    if !(1..=MOST_CRITERIA).contains(&count) {
        return Some(format!("it has {count} criteria, and 1 to {MOST_CRITERIA} are possible"));
    }
    if receipts.commits > MOST_COMMITS {
        return Some(format!("it names more than {MOST_COMMITS} commits"));
    }
    let mut ids = BTreeSet::new();
    for Receipt { id, oracle, .. } in &receipts.criteria {
        if !is_id(id) {
            return Some(format!("{id:?} is not an id"));
        }
        if !ids.insert(id) {
            return Some(format!("the id {id} is there twice"));
        }
        if let Some(why) = oracle.as_ref().and_then(|oracle| argv_fault(&oracle.argv)) {
            return Some(format!("the command of {id} {why}"));
        }
    }
    let mut stages = BTreeSet::new();
    receipts.commands.iter().find_map(|one| {
        let word = one.stage.word();
        let twice = (!stages.insert(one.stage)).then(|| format!("the command {word} is there twice"));
        twice.or_else(|| argv_fault(&one.argv).map(|why| format!("the command {word} {why}")))
    })
}

fn argv_fault(argv: &[String]) -> Option<String> {
    if argv.first().is_none_or(|program| program.trim().is_empty()) {
        return Some("has no program".to_owned());
    }
    if argv.iter().any(|word| word.contains('\0')) {
        return Some("has a NUL byte".to_owned());
    }
    (argv.len() > MOST_WORDS).then(|| format!("has more than {MOST_WORDS} arguments"))
}

/// Returns the files below a folder, by their paths from there.
fn below(files: &Files, folder: &str) -> Result<Files, String> {
    let inner = |(path, content): (&RelPath, &Content)| {
        let rest = path.as_path().strip_prefix(folder).ok()?;
        Some((RelPath::parse(rest.as_os_str().as_encoded_bytes()).ok()?, content.clone()))
    };
    let own: Files = files.iter().filter_map(inner).collect();
    let bytes: usize = own.values().map(|content| content.bytes.len()).sum();
    let is_odd = |path: &&RelPath| {
        let is_odd_part = |part: &OsStr| part.len() > LONGEST_NAME || is_git(&part.to_string_lossy());
        path.is_reserved() || path.as_path().iter().any(is_odd_part)
    };
    let is_below_file =
        |path: &&RelPath| path.lineage().any(|above| above != **path && own.contains_key(&above));
    if own.len() > MOST_FILES {
        return Err(format!("it has more than {MOST_FILES} files"));
    }
    if bytes > LARGEST {
        return Err(format!("its files have more than {LARGEST} bytes"));
    }
    match own.keys().find(|path| is_odd(path) || is_below_file(path)) {
        Some(path) => Err(one_line(&format!("no oracle has the file {path}"))),
        None => Ok(own),
    }
}

fn stored(files: &Files, objects: &Objects) -> Result<TreeId, ObjectError> {
    let mut nodes = Vec::new();
    for (path, Content { bytes, kind }) in files {
        let Kind::File { mode } = *kind else { continue };
        nodes.push((path.clone(), Node::File { blob: objects.put(bytes)?, size: bytes.len() as u64, mode }));
    }
    objects.put_manifest(&Manifest::of_files(nodes))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn files_that_no_folder_can_have_are_refused() {
        let content = || Content { kind: Kind::File { mode: 0o644 }, bytes: Vec::new() };
        let long = "o".repeat(LONGEST_NAME + 1);
        for (paths, is_fine) in [
            (vec!["a", "b/c"], true),
            (vec!["a", "a/b"], false),
            (vec![long.as_str()], false),
            (vec![".git/config"], false),
        ] {
            let path = |path: &&str| RelPath::parse(format!("stub/{path}").as_bytes()).unwrap();
            let files: Files = paths.iter().map(path).map(|path| (path, content())).collect();
            assert_eq!(below(&files, "stub").is_ok(), is_fine, "{paths:?}");
        }
    }

    fn receipts() -> Value {
        let oracle = json!({
            "argv": ["sh", "check.sh"], "is_check": false, "uses_names": false, "shows": "it is there",
            "before": null, "after": null,
        });
        json!({
            "version": VERSION, "run": "c402-20261127-120000", "name": "spec", "goal": "It works.",
            "base": TreeId::EMPTY, "tree": TreeId::EMPTY, "commits": 1,
            "criteria": [{ "id": "A1", "text": "it is there", "priority": "high", "word": "verified", "oracle": oracle }],
            "commands": [{ "stage": "test", "argv": ["make", "test"], "before": 0, "after": 0 }],
            "not_looked_at": [],
        })
    }

    fn path(path: &str) -> RelPath {
        RelPath::parse(path.as_bytes()).unwrap()
    }

    fn file(text: impl Into<Vec<u8>>) -> Content {
        Content { bytes: text.into(), kind: Kind::File { mode: 0o644 } }
    }

    fn read(receipts: &Value, more: &[(&str, Content)]) -> Result<Filed, String> {
        let own = (path(RECEIPTS), file(receipts.to_string()));
        let more = more.iter().map(|(name, content)| (path(name), content.clone()));
        Filed::read(&std::iter::once(own).chain(more).collect())
    }

    #[test]
    fn oracles_get_their_own_files_and_checks_get_none() {
        let mut all = receipts();
        let mut check = all["criteria"][0].clone();
        (check["id"], check["oracle"]["is_check"]) = (json!("A2"), json!(true));
        all["criteria"].as_array_mut().unwrap().push(check);
        let script = ("oracles/A1/deep/check.sh", file("exit 0\n"));
        let filed = read(&all, &[script, ("oracles/A3/x", file("x")), ("stub/area.py", file(""))]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::at(folder.path().join("objects"));
        let (interface, oracles) = filed.store(&objects).unwrap();
        assert!(objects.contains_tree(interface.unwrap().stub.unwrap()));
        let stored = objects.manifest(oracles[0].1.files.unwrap()).unwrap();
        assert_eq!((oracles.len(), stored.get(&path("deep/check.sh")).is_some()), (1, true));
        let checks: Vec<bool> =
            filed.specification().criteria.iter().map(|one| one.check.is_some()).collect();
        assert_eq!(checks, [false, true]);
    }

    #[test]
    fn receipts_that_we_did_not_write_are_refused() {
        let refused = |change: &dyn Fn(&mut Value), why: &str| {
            let mut all = receipts();
            change(&mut all);
            let refused = read(&all, &[]).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        };
        assert!(read(&receipts(), &[]).is_ok());
        refused(&|all| all["version"] = json!(2), "has version 2, and this skilltune reads version 1");
        refused(&|all| all["more"] = json!(1), "unknown field `more`");
        refused(&|all| all["criteria"][0]["id"] = json!("../A1"), "\"../A1\" is not an id");
        refused(&|all| all["criteria"][0]["word"] = json!("proven"), "unknown variant `proven`");
        refused(&|all| all["criteria"] = json!([]), "it has 0 criteria");
        refused(&|all| all["criteria"] = json!(vec![all["criteria"][0].clone(); 201]), "it has 201 criteria");
        refused(
            &|all| all["criteria"] = json!(vec![all["criteria"][0].clone(); 2]),
            "the id A1 is there twice",
        );
        refused(&|all| all["commits"] = json!(u64::MAX), "it names more than 1000 commits");
        refused(&|all| all["run"] = json!("../c402"), "cannot read receipts.json");
        refused(&|all| all["commands"][0]["argv"] = json!([" "]), "the command test has no program");
        refused(&|all| all["commands"][0]["argv"] = json!([]), "the command test has no program");
        refused(&|all| all["criteria"][0]["oracle"]["argv"] = json!(["sh", "a\0b"]), "A1 has a NUL byte");
        refused(&|all| all["goal"] = json!("x".repeat(LARGEST_RECEIPTS)), "has more than 1048576 bytes");
    }

    #[test]
    fn files_that_no_oracle_has_are_refused() {
        let refused = |more: &[(&str, Content)], why: &str| {
            let refused = read(&receipts(), more).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        };
        let link = Content { bytes: b"/etc/passwd".to_vec(), kind: Kind::Link };
        refused(&[("oracles/A1/link", link)], "oracles/A1/link is a symlink");
        refused(&[("oracles/A1/sub/.GIT/config", file(""))], "no oracle has the file sub/.GIT/config");
        refused(
            &[("oracles/A1/big", file(vec![0_u8; LARGEST + 1]))],
            "the oracle of A1: its files have more",
        );
        let names: Vec<String> = (0..=MOST_FILES).map(|nth| format!("stub/{nth}")).collect();
        let many: Vec<(&str, Content)> = names.iter().map(|name| (name.as_str(), file(""))).collect();
        refused(&many, "the stub: it has more than 20 files");
    }
}
