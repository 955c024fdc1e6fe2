//! Projects with a state folder that somebody else prepared, each with every command that it could harm: nothing
//! outside of the project changes, nothing hangs or takes unbounded memory, and one line says what is wrong.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::{Value, json};
use skilltune_phases::base::id::Digest;

use crate::scene::{Listing, Ran, Scene, listing};
use crate::tier::stride;

/// At most 200 MB of memory, and far more time than any command takes.
const LIMITS: &str = "ulimit -d 204800; exec timeout -s KILL 60 \"$0\" \"$@\"";
const KILLED: [Option<i32>; 3] = [Some(137), Some(134), None];
/// More than fits into memory, but uses no disk space.
const HUGE: u64 = 1 << 40;

/// A change to the state folder of a project whose run has ended.
struct Hostility {
    name: String,
    prepare: Box<dyn Fn(&Places)>,
}

/// The paths that a hostile project replaces.
struct Places {
    scene: Scene,
    run: String,
}

impl Places {
    fn state(&self, below: &str) -> PathBuf {
        let state = self.scene.path("project/.skilltune");
        let path = if below.is_empty() { state } else { state.join(below.replace("RUN", &self.run)) };
        match path.to_str().unwrap().split_once("ANY") {
            None => path,
            // The first of its neighbours, whatever its name.
            Some((folder, rest)) => {
                let mut names: Vec<_> =
                    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
                names.retain(|path| !path.ends_with("seal"));
                names.sort();
                let first = names.remove(0);
                if rest.is_empty() {
                    return first;
                }
                let mut inner: Vec<_> =
                    fs::read_dir(first).unwrap().map(|entry| entry.unwrap().path()).collect();
                inner.sort();
                inner.remove(0)
            }
        }
    }

    fn put_aside(&self, below: &str) -> PathBuf {
        let path = self.state(below);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            let _ = fs::remove_file(&path);
        }
        path
    }

    /// Returns metadata that shows whether anything was written. It reads no file, because some never end.
    fn marks(&self) -> Vec<(PathBuf, u32, u64, i64, i64)> {
        let entries = STATE.iter().flat_map(|folder| walkdir::WalkDir::new(self.scene.path(folder)));
        let mark = |entry: Result<walkdir::DirEntry, walkdir::Error>| {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            (entry.into_path(), meta.mode(), meta.size(), meta.ctime(), meta.ctime_nsec())
        };
        entries.map(mark).collect()
    }

    fn outside(&self) -> Listing {
        ["outside", "home", "config"].iter().flat_map(|folder| listing(&self.scene.path(folder))).collect()
    }
}

/// The folders that are recreated for the next command if the last one changed them.
const STATE: [&str; 2] = ["project", "state"];

const FOLDERS: [&str; 9] = [
    "",
    "objects",
    "cache",
    "runs",
    "objects/ANY",
    "runs/RUN",
    "runs/RUN/agents",
    "runs/RUN/iterations",
    "runs/RUN/iterations/iteration-1",
];
const FILES: [&str; 8] = [
    "lock",
    ".gitignore",
    "objects/seal",
    "objects/ANY/INNER",
    "cache/ANY",
    "runs/RUN/history.jsonl",
    "runs/RUN/iteration-state.json",
    "runs/RUN/final-report.md",
];

fn hostilities() -> Vec<Hostility> {
    let mut all = Vec::new();
    let mut add = |name: String, prepare: Box<dyn Fn(&Places)>| all.push(Hostility { name, prepare });
    for below in FOLDERS {
        for to in ["outside/folder", "outside/nothing"] {
            let prepare =
                move |places: &Places| symlink(places.scene.path(to), places.put_aside(below)).unwrap();
            add(format!("{below:?} is a link to {to}"), Box::new(prepare));
        }
        let prepare = move |places: &Places| fs::write(places.put_aside(below), "a file").unwrap();
        add(format!("{below:?} is a file"), Box::new(prepare));
    }
    for below in FILES {
        for to in ["outside/file", "outside/nothing", "outside/fifo"] {
            let prepare =
                move |places: &Places| symlink(places.scene.path(to), places.put_aside(below)).unwrap();
            add(format!("{below:?} is a link to {to}"), Box::new(prepare));
        }
        add(
            format!("{below:?} is a FIFO"),
            Box::new(move |places| node(&places.put_aside(below), FileType::Fifo)),
        );
        add(
            format!("{below:?} is a folder"),
            Box::new(move |places| fs::create_dir(places.put_aside(below)).unwrap()),
        );
        let prepare = move |places: &Places| {
            File::create(places.put_aside(below)).unwrap().set_len(HUGE).unwrap();
        };
        add(format!("{below:?} is huge"), Box::new(prepare));
        let prepare = move |places: &Places| node(&places.put_aside(below), FileType::CharacterDevice);
        add(format!("{below:?} is a device"), Box::new(prepare));
    }
    for name in ["../../outside/evil", "/tmp/skilltune-evil", "..", "a/b", "a\u{0}b"] {
        let member = move |plan: &mut Value| plan["target"]["members"][0]["name"] = name.into();
        add(format!("a journal names a member {name:?}"), Box::new(move |places| forge(places, &member)));
        let scenario = move |plan: &mut Value| plan["scenarios"][0]["id"] = name.into();
        add(format!("a journal names a scenario {name:?}"), Box::new(move |places| forge(places, &scenario)));
        let run = move |plan: &mut Value| plan["run"] = name.into();
        add(format!("a journal names a run {name:?}"), Box::new(move |places| forge(places, &run)));
    }
    let lacks = |plan: &mut Value| drop(plan["roles"].as_object_mut().unwrap().remove("improver"));
    add("a journal leaves out a role".to_owned(), Box::new(move |places| forge(places, &lacks)));
    for name in ["stranger", "\u{1b}]0;evil\u{7}"] {
        let role = move |plan: &mut Value| plan["roles"][name] = plan["roles"]["evaluator"].clone();
        add(format!("a journal names a role {name:?}"), Box::new(move |places| forge(places, &role)));
    }
    let endless = |places: &Places| {
        File::options().append(true).open(history(places)).unwrap().set_len(40 << 20).unwrap();
    };
    add("a journal has a line without end".to_owned(), Box::new(endless));
    let nested = |places: &Places| fs::write(history(places), "[".repeat(4 << 20)).unwrap();
    add("a journal is nested without end".to_owned(), Box::new(nested));
    let forged = |places: &Places| {
        for entry in fs::read_dir(places.state("cache")).unwrap() {
            fs::write(entry.unwrap().path(), r#"{"outcome":"promoted"}"#).unwrap();
        }
    };
    add("the cache is forged".to_owned(), Box::new(forged));
    let photos = |places: &Places| fs::create_dir(places.state("objects/photos")).unwrap();
    add("the store has a folder of somebody's own".to_owned(), Box::new(photos));
    let settings = |text: &'static str| {
        move |places: &Places| fs::write(places.scene.path("project/skilltune.toml"), text).unwrap()
    };
    add("settings that are no text".to_owned(), Box::new(settings("\u{0}\u{1}\u{2}")));
    add(
        "settings with an impossible budget".to_owned(),
        Box::new(settings("[tune]\nmax_iterations = 99999999999\n")),
    );
    let fifo = |places: &Places| node(&places.scene.path("project/skilltune.toml"), FileType::Fifo);
    add("settings that are a FIFO".to_owned(), Box::new(fifo));
    let huge = |places: &Places| {
        File::create(places.scene.path("project/skilltune.toml")).unwrap().set_len(HUGE).unwrap();
    };
    add("settings that are huge".to_owned(), Box::new(huge));
    all
}

fn history(places: &Places) -> PathBuf {
    places.state("runs/RUN/history.jsonl")
}

/// Creates a device that never ends. Only root can do this; other users get a FIFO.
fn node(path: &Path, kind: FileType) {
    let made = mknodat(CWD, path, kind, Mode::RUSR | Mode::WUSR, makedev(1, 5));
    if made.is_err() {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
}

fn forge(places: &Places, change: &dyn Fn(&mut Value)) {
    forge_plan(&history(places), change);
}

/// Rewrites the plan of a run, with a valid checksum.
pub(crate) fn forge_plan(history: &Path, change: &dyn Fn(&mut Value)) {
    let text = fs::read_to_string(history).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut line: Value = serde_json::from_str(first).unwrap();
    change(&mut line["event"]["started"]);
    line.as_object_mut().unwrap().remove("sum");
    let body = line.to_string();
    let body = body.strip_suffix('}').unwrap();
    let sum = &Digest::of(body.as_bytes()).hex()[..16];
    fs::write(history, format!("{body},\"sum\":\"{sum}\"}}\n{rest}")).unwrap();
}

fn commands(run: &str, out: &str) -> Vec<Vec<String>> {
    let words =
        |line: &str| line.split(' ').map(|word| word.replace("RUN", run).replace("OUT", out)).collect();
    [
        "status RUN",
        "list",
        "history RUN",
        "report RUN",
        "show RUN 1",
        "diff RUN",
        "export RUN start OUT",
        "doctor",
        "suite add --from RUN scenario-1",
        "stop RUN",
        "clean --dry-run",
        "resume RUN --yes",
        "rollback RUN",
        "apply RUN",
        "clean --yes --all",
        "tune writer --yes --apply never --max-iterations 1",
    ]
    .iter()
    .map(|line| words(line))
    .collect()
}

#[test]
fn a_hostile_state_folder_harms_nobody() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    scene.tune("writer", &["--max-iterations", "2", "--apply", "never"]);
    fs::create_dir_all(scene.path("outside/folder/ab")).unwrap();
    fs::write(scene.path("outside/folder/ab/file"), "precious").unwrap();
    fs::write(scene.path("outside/file"), "precious").unwrap();
    node(&scene.path("outside/fifo"), FileType::Fifo);
    let places = Places { run: scene.run_id(), scene };
    let [template, exported] = ["template", "exported"].map(|folder| places.scene.path(folder));
    fs::create_dir(&template).unwrap();
    copy(&STATE.map(|folder| places.scene.path(folder)), &template);
    let outside = places.outside();
    let all = hostilities();
    assert!(all.len() >= 60, "{}", all.len());
    let commands = commands(&places.run, exported.to_str().unwrap());
    let (mut met, mut copies) = (0, 0);
    // Outside of CI each project gets every eighth command, and each command every eighth project.
    let every = stride(8);
    for (nth, hostility) in all.iter().enumerate() {
        let mut prepared = None;
        for command in commands.iter().skip(nth % every).step_by(every) {
            // The state is reused if the last command changed nothing.
            if prepared != Some(places.marks()) {
                for folder in STATE {
                    fs::remove_dir_all(places.scene.path(folder)).unwrap();
                }
                copy(&STATE.map(|folder| template.join(folder)), &places.scene.path(""));
                (hostility.prepare)(&places);
                prepared = Some(places.marks());
                copies += 1;
            }
            let _ = fs::remove_dir_all(&exported);
            let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
            let ran = places.scene.run_limited(LIMITS, &arguments);
            assert_harmless(&places, &outside, &format!("{}: {arguments:?}", hostility.name), &ran);
            met += 1;
        }
    }
    eprintln!("hostile state folders: {} projects, {met} commands, {copies} copies", all.len());
}

fn assert_harmless(places: &Places, outside: &Listing, what: &str, ran: &Ran) {
    assert!(!KILLED.contains(&ran.code), "{what}: it hung, or took more than 200 MB: {ran:?}");
    assert_eq!(&places.outside(), outside, "{what}: something outside changed: {ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{what}: {ran:?}");
    let errors = ran.stderr.lines().filter(|line| line.starts_with("error")).count();
    // A command that refuses prints one error; some only exit with another code after their output.
    assert!(errors <= 1, "{what}: {ran:?}");
    // The findings of doctor are its output, not errors.
    if matches!(ran.code, Some(1 | 2)) && !ran.stdout.contains("\nproject\n") {
        assert_eq!(errors, 1, "{what}: {ran:?}");
    }
}

fn copy(from: &[PathBuf], into: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").args(from).arg(into).status().unwrap();
    assert!(copied.success());
}
