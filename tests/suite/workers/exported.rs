//! Calls that another scheduler makes: exported to a folder, made from there on a machine of their own, and taken in.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::*;

/// The machine that makes exported calls. No run chooses it as a worker.
const NODE: &str = "node";

/// A run that one worker has begun, and whose other calls are exported.
struct Exported {
    scene: Scene,
    folder: PathBuf,
}

impl Exported {
    /// Begins the run, and exports what is due after its first call.
    fn new(more: &[&str]) -> Self {
        let scene = scene(&rising(), &["den", NODE]);
        let paused = tune(&scene, "den", &[&["--max-calls", "1"], more].concat());
        assert_eq!((paused.code, calls(&scene).len()), (Some(5), 1), "{paused:?}");
        let exported = Self { folder: scene.path("calls"), scene };
        let folder = exported.folder.to_str().unwrap();
        let more = ["--export", folder, "--max-calls", "300"];
        let ran = exported.scene.run(&[&RESUME[..], &more].concat());
        let paused = exported.scene.events("noted").pop();
        assert_eq!((ran.code, paused), (Some(5), Some(json!({ "paused": "exported" }))), "{ran:?}");
        assert!(!exported.due().is_empty(), "{ran:?}");
        exported
    }

    /// Takes in the replies that are there, and exports what is due then.
    fn go_on(&self) -> Ran {
        self.scene.run(&["step", "--export", self.folder.to_str().unwrap()])
    }

    /// Returns the exported calls without a reply.
    fn due(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.folder).unwrap().map(|file| file.unwrap().path());
        let is_due = |file: &PathBuf| {
            file.extension().is_none() && file.with_extension("reply").symlink_metadata().is_err()
        };
        let mut due: Vec<_> = files.filter(is_due).collect();
        due.sort();
        due
    }

    /// Makes a call on the machine with this HOME.
    fn take(&self, machine: &str, call: &Path) -> Ran {
        let mut command = self.scene.command(&["step", "--take", call.to_str().unwrap()]);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.scene.path(machine));
        Ran::of(command.output().unwrap())
    }

    fn take_all(&self) {
        for call in self.due() {
            let ran = self.take(NODE, &call);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{ran:?}");
        }
    }

    /// Returns the end of the run, and how often it was exported until then.
    fn to_the_end(&self) -> (End, usize) {
        for times in 1..60 {
            self.take_all();
            let ran = self.go_on();
            if ran.code != Some(5) {
                return (End::of(&self.scene, &ran), times);
            }
            assert!(ran.stderr.contains("waits for the replies to its exported calls"), "{ran:?}");
            assert!(!self.due().is_empty(), "{ran:?}");
        }
        panic!("it comes to no end");
    }

    /// Returns how many calls this worker has made.
    fn made_by(&self, worker: &str) -> usize {
        calls(&self.scene).iter().filter(|call| call["machine"]["worker"] == worker).count()
    }
}

#[test]
fn a_run_whose_calls_are_exported_decides_as_one_on_one_machine() {
    const MORE: [&str; 16] = SEVEN_MORE;
    let exported = Exported::new(&MORE);
    let (end, times) = exported.to_the_end();
    assert_eq!(end, End::here(&MORE));
    let scene = &exported.scene;
    let made = calls(scene).len();
    assert_eq!((exported.made_by("den"), exported.made_by("exported")), (1, made - 1));
    assert!(times < made - 1, "calls that are due at once are exported together: {times} of {made}");
    assert_eq!((repeated(scene), failures(scene)), (0, Vec::new()));
    assert_tidy(scene, "exported calls");
    assert_cleared(scene, NODE);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    assert!(calls(scene).iter().all(|call| call["machine"]["host"] == host.as_str()));
}

#[test]
fn with_replies_alone_the_workers_of_the_plan_make_the_other_calls() {
    let exported = Exported::new(&[]);
    exported.take_all();
    let (scene, folder) = (&exported.scene, exported.folder.to_str().unwrap());
    let ran = scene.run(&[&RESUME[..], &["--replies", folder]].concat());
    assert_eq!(End::of(scene, &ran), End::here(&[]), "{ran:?}");
    let made = calls(scene).len();
    assert_eq!((exported.made_by("exported"), exported.made_by("den")), (1, made - 1));
    assert_eq!(repeated(scene), 0);
    assert_tidy(scene, "replies");
}

#[test]
fn an_export_that_is_repeated_writes_nothing_anew_and_a_call_is_made_once() {
    let exported = Exported::new(&[]);
    let before = listing(&exported.folder);
    assert_eq!(exported.go_on().code, Some(5));
    assert_eq!(listing(&exported.folder), before);
    let due = exported.due();
    for _ in 0..2 {
        let ran = exported.take(NODE, &due[0]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(repeated(&exported.scene), 0, "the machine keeps its reply");
    assert_eq!(exported.to_the_end().0, End::here(&[]));
}

/// Each way to spoil a reply costs one attempt of its call.
#[test]
fn a_reply_that_cannot_be_used_is_a_failed_attempt_and_the_call_is_exported_again() {
    let exported = Exported::new(&[]);
    let scene = &exported.scene;
    fs::create_dir(scene.path("bare")).unwrap();
    let one = exported.due().remove(0);
    let refused = exported.take("bare", &one);
    assert!(refused.stderr.contains("unknown agent `"), "{refused:?}");
    assert_eq!((refused.code, exported.due().remove(0)), (Some(2), one), "another machine may make it");

    let two = exported.due().remove(0);
    exported.take_all();
    let whole = fs::read(two.with_extension("reply")).unwrap();
    fs::write(two.with_extension("reply"), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(exported.go_on().code, Some(5));

    let three = exported.due().remove(0);
    fs::write(three.with_extension("reply"), &whole).unwrap();
    assert_eq!(exported.go_on().code, Some(5));

    let four = exported.due().remove(0);
    fs::write(four.with_extension("reply"), "").unwrap();
    assert_eq!(exported.go_on().code, Some(5));

    let failed = failures(scene);
    let whys = [(&two, "it ends early"), (&three, "it replied to another call"), (&four, "it ends early")];
    let expected = whys.map(|(call, why)| {
        let name = call.file_name().unwrap().to_str().unwrap();
        ("worker_lost".to_owned(), format!("the reply in {name}.reply cannot be used: {why}"))
    });
    assert_eq!(failed, expected);
    assert_eq!(exported.to_the_end().0, End::here(&[]));
}

#[test]
fn a_reply_behind_a_symlink_is_not_read() {
    let exported = Exported::new(&[]);
    let scene = &exported.scene;
    let due = exported.due();
    exported.take_all();
    let (reply, aside) = (due[0].with_extension("reply"), scene.path("aside"));
    fs::rename(&reply, &aside).unwrap();
    symlink(&aside, &reply).unwrap();
    exported.go_on();
    assert_eq!(exported.made_by("exported"), 0);
    assert!(aside.exists() && reply.is_symlink(), "neither is touched");
    fs::remove_file(&reply).unwrap();
    assert_eq!(exported.to_the_end().0, End::here(&[]));
}

#[test]
fn a_file_that_holds_no_whole_call_is_refused_and_gets_no_reply() {
    let exported = Exported::new(&[]);
    let call = exported.due().remove(0);
    let whole = fs::read(&call).unwrap();
    fs::write(&call, &whole[..whole.len() / 2]).unwrap();
    let ran = exported.take(NODE, &call);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("it is not a whole call"), "{ran:?}");
    let files: Vec<_> = listing(&exported.folder).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(files, [PathBuf::from(call.file_name().unwrap())]);
    fs::write(&call, whole).unwrap();
    assert_eq!(exported.to_the_end().0, End::here(&[]));
}
