//! Scenes in which a run has finished. Tests that begin after the same run share it.
//!
//! Journals and state contain the path of their scene, so a copy in another folder would be another user's run. Instead,
//! one test at a time uses a scene, and the next test gets the same folder with everything restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tempfile::TempDir;

use crate::scene::{Listing, Scene, listing};

/// Returns a scene with one run of one skill, which won and replaced its target.
pub(crate) fn won() -> Scene {
    static WON: Finished = Finished::new(|| {
        let scene = rising();
        assert_eq!(scene.tune("writer", &["--jobs", "1", "--seed", "7"]).code, Some(0));
        scene
    });
    WON.scene()
}

/// Returns a scene with a run that won, and that left its target unchanged as it was asked to.
pub(crate) fn unapplied() -> Scene {
    static UNAPPLIED: Finished = Finished::new(|| {
        let scene = rising();
        let before = listing(&scene.skill("writer"));
        let ran = scene.tune("writer", &["--apply", "never", "--seed", "7"]);
        assert_eq!((ran.code, &ran.json()["outcome"]), (Some(0), &json!("kept")), "{ran:?}");
        assert_eq!(listing(&scene.skill("writer")), before, "nothing is replaced");
        scene
    });
    UNAPPLIED.scene()
}

/// Returns a run that waits for an answer without a terminal, and the skill before it.
pub(crate) fn held() -> (Scene, Listing) {
    static HELD: Finished = Finished::new(|| {
        let scene = rising();
        let before = listing(&scene.skill("writer"));
        let ran = scene.run(&["tune", "writer", "write a page", "--apply", "ask", "--format", "json"]);
        assert_eq!((ran.code, &ran.json()["outcome"]), (Some(3), &json!("held")), "{ran:?}");
        assert_eq!(listing(&scene.skill("writer")), before, "nothing is replaced before the answer");
        scene
    });
    let scene = HELD.scene();
    let before = listing(&scene.skill("writer"));
    (scene, before)
}

fn rising() -> Scene {
    Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }))
}

/// A run, and the function that makes it. The function runs again only while another test uses the scene.
pub(crate) struct Finished {
    make: fn() -> Scene,
    idle: Mutex<Vec<Arc<TempDir>>>,
}

impl Finished {
    pub(crate) const fn new(make: fn() -> Scene) -> Self {
        Self { make, idle: Mutex::new(Vec::new()) }
    }

    /// Returns a scene in the state in which the run left it. The test can change it.
    pub(crate) fn scene(&'static self) -> Scene {
        let idle = self.idle.lock().unwrap().pop();
        let root = idle.map_or_else(|| self.made(), restored);
        Scene { root, origin: Some(self) }
    }

    /// Stores the scene for the next test.
    pub(crate) fn give_back(&self, root: Arc<TempDir>) {
        self.idle.lock().unwrap().push(root);
    }

    fn made(&self) -> Arc<TempDir> {
        let root = Arc::clone(&(self.make)().root);
        remove_at_exit(root.path());
        copy(root.path(), &saved(root.path()));
        root
    }
}

/// Restores everything in the folder.
fn restored(root: Arc<TempDir>) -> Arc<TempDir> {
    fs::remove_dir_all(root.path()).expect("the scene can be removed");
    copy(&saved(root.path()), root.path());
    root
}

/// Returns the path of the copy of a scene, which is beside it.
fn saved(root: &Path) -> PathBuf {
    root.with_extension("saved")
}

/// Copies a file or a folder, with permissions and times.
pub(crate) fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("there is a cp");
    assert!(copied.success(), "{} is not copied", from.display());
}

/// The processes that remove scenes at the end.
static REMOVERS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Removes a scene and its copy when this process ends, even if it is killed: Rust drops no statics. A child process
/// waits until the pipe from this process closes.
fn remove_at_exit(root: &Path) {
    let script = "trap '' HUP INT TERM; read -r _; exec rm -rf \"$@\"";
    let mut remover = Command::new("sh");
    remover.args(["-c", script, "sh"]).arg(root).arg(saved(root));
    remover.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    REMOVERS.lock().unwrap().push(remover.spawn().expect("a shell starts"));
}
