mod edited;
mod hostile;
mod owned;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use skilltune_phases::loops::reflex::original::Alias;
use tempfile::TempDir;

use super::*;

const RUN: &str = "courses-api-20260218-120000";
const OTHER: &str = "courses-api-20250101-000000";

/// A project, and something outside of it that must stay as it is.
struct Scene {
    project: TempDir,
    elsewhere: TempDir,
}

impl Scene {
    fn new() -> Self {
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("precious"), "precious").unwrap();
        Self { project: tempfile::tempdir().unwrap(), elsewhere }
    }

    fn usual() -> RelPath {
        RelPath::parse(Evolution::USUAL.as_bytes()).unwrap()
    }

    fn evolution(&self) -> Evolution {
        Evolution::open_or_make(self.project.path(), &Self::usual()).unwrap()
    }

    fn path(&self, below: &str) -> PathBuf {
        self.project.path().join(Evolution::USUAL).join(below)
    }

    /// A path in the folder of the task.
    fn of_task(&self, below: &str) -> PathBuf {
        self.path("courses-api").join(below)
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The files in the folder of the task.
    fn files(&self) -> BTreeMap<String, String> {
        files(&self.of_task(""))
    }

    fn assert_nothing_happened_elsewhere(&self) {
        let precious = BTreeMap::from([("precious".to_owned(), "precious".to_owned())]);
        assert_eq!(files(self.elsewhere.path()), precious);
    }
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (name(&path), fs::read_to_string(&path).unwrap_or_default())).collect()
}

fn task() -> Alias {
    Alias::parse("courses-api").unwrap()
}

fn named(run: &str) -> String {
    format!("{{\"run_id\": \"{run}\"}}\n")
}

fn pointer(run: &str) -> String {
    format!("{{\"active_run_id\": \"{run}\"}}\n")
}
