//! Records runs for `fixtures/frozen`: `just record NAMES`. `cli/src/frozen` replays each of them in every test run.
//!
//! A recorded run never changes: an older skilltune wrote it. Record a new one for a kind of run that has none. The
//! real binary makes each run with scripted agents. Stored text names neither the machine nor its folders.

mod evolve;
mod expert;
mod gan;
mod nights;
mod reflex;
mod review;
#[path = "../../cli/src/frozen/stored.rs"]
pub(crate) mod stored;
mod tune;

use std::fs;
use std::path::{Path, PathBuf};

use skilltune_phases::base::id::Digest;
use stored::{REASON, Texts, parse, print};
use walkdir::WalkDir;

use crate::scene::{FAKE_AGENT, Ran, SKILLTUNE, Scene};

/// The folder that replaces the scene's folder in every stored run.
const WORLD: &str = "/frozen";

const JSON: &str = "--format=json";

/// A scene, and the run that was made in it.
struct Made {
    scene: Scene,
    run: String,
}

impl From<Scene> for Made {
    fn from(scene: Scene) -> Self {
        let run = scene.run_id();
        Self { scene, run }
    }
}

/// The name of a stored run, and the function that makes it.
type Case = (&'static str, fn() -> Made);

#[test]
#[ignore = "replaces stored runs: just record NAMES"]
fn runs_are_recorded() {
    let names = std::env::var("SKILLTUNE_RECORD").expect("SKILLTUNE_RECORD names runs, or is `new`");
    let is_wanted = |name: &str| match names.as_str() {
        "new" => !path(name).exists(),
        names => names.split(' ').any(|wanted| wanted == name),
    };
    let loops = [tune::CASES, reflex::CASES, gan::CASES, expert::CASES, review::CASES, evolve::CASES];
    for (name, make) in loops.into_iter().flatten().filter(|(name, _)| is_wanted(name)) {
        eprintln!("recording {name}");
        let Made { scene, run } = make();
        write(name, &of_run(&scene, &run));
    }
    for (name, make) in nights::CASES.iter().filter(|(name, _)| is_wanted(name)) {
        eprintln!("recording {name}");
        write(name, &nights::stored(&make()));
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/frozen").join(name).with_extension("txt")
}

fn write(name: &str, texts: &Texts) {
    let page = print(texts);
    assert_eq!(parse(&page), *texts);
    for private in [env!("CARGO_MANIFEST_DIR").trim_end_matches("/cli"), "/dev/shm", "/tmp/"] {
        assert!(!page.contains(private), "{name} names {private}");
    }
    fs::write(path(name), page).unwrap();
}

/// Returns the journal of a run, the objects of its project, its files, and the output of commands about it.
fn of_run(scene: &Scene, run: &str) -> Texts {
    let folder = scene.path("project/.skilltune/runs").join(run);
    let journal = fs::read_to_string(folder.join("history.jsonl")).unwrap();
    let journal = journal.lines().map(|line| summed(&anonymous(scene, line))).collect();
    let mut texts = Texts::from([("journal".to_owned(), journal)]);
    let has_ended = folder.join("report.json").exists();
    for command in [&["history"][..], &["status"], &["status", JSON], &["report"], &["report", JSON]] {
        if !has_ended || [&["history"][..], &["status"]].contains(&command) {
            let ran = scene.run(&[&command[..1], &[run], &command[1..]].concat());
            assert_eq!(ran.code, Some(0), "{command:?}: {ran:?}");
            texts.insert(
                format!("said/{}", command.join(" ").replace('=', " ")),
                anonymous(scene, &ran.stdout),
            );
        }
    }
    texts.extend(files(scene, &folder));
    texts.extend(objects(scene));
    texts
}

/// Recomputes the checksum of a changed journal line.
fn summed(line: &str) -> String {
    let (body, _) = line.rsplit_once(",\"sum\":\"").expect("a line ends with its checksum");
    format!("{body},\"sum\":\"{}\"}}\n", &Digest::of(body.as_bytes()).hex()[..16])
}

/// Returns the files that the run wrote for people and programs, by their paths below the project.
fn files(scene: &Scene, folder: &Path) -> Texts {
    let project = scene.path("project");
    let of_run = |path: &Path| {
        let below = path.strip_prefix(folder).expect("it is below the run");
        let first = below.components().next().expect("it has a name").as_os_str().to_str().unwrap();
        !["agents", "history.jsonl", "stop-reason"].contains(&first)
            && path.extension().is_none_or(|end| end != "patch")
    };
    let below = |folder: &Path| {
        let files = WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
        files.map(walkdir::DirEntry::into_path).collect::<Vec<_>>()
    };
    let own = below(folder).into_iter().filter(|path| of_run(path));
    let originals = below(&project.join(".ai-factory"));
    let stored = own.chain(originals).map(|path| {
        let text = fs::read_to_string(&path).expect("what a run writes is text");
        let name = path.strip_prefix(&project).unwrap().to_str().unwrap().to_owned();
        (format!("files/{name}"), anonymous(scene, &text))
    });
    stored.collect()
}

/// Returns the objects unchanged: journals refer to them by their hashes.
fn objects(scene: &Scene) -> Texts {
    let folder = scene.path("project/.skilltune/objects");
    let files = WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let objects = files.map(|entry| {
        let text = fs::read_to_string(entry.path()).expect("what scripted agents make is text");
        (format!("objects/{}", Digest::of(text.as_bytes()).hex()), text)
    });
    objects.collect()
}

/// Replaces the folders of this machine in a text.
fn anonymous(scene: &Scene, text: &str) -> String {
    let root = scene.path("");
    let root = root.to_str().unwrap().trim_end_matches('/');
    let text = text.replace(root, WORLD).replace(FAKE_AGENT, &format!("{WORLD}/fake-agent"));
    text.replace(SKILLTUNE, &format!("{WORLD}/skilltune"))
}

/// Fails unless the command ended with this code.
fn ended(ran: &Ran, code: i32) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
}
