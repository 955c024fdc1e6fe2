mod append;
mod claude_plugin;
mod docs;
mod hostile;
mod promptfoo;
mod round_trips;
mod schema;
mod skill_creator;
mod toml_suite;
mod triggers;
mod withheld;

use std::fs;

use skilltune_phases::suites::demand::Demand;
use tempfile::TempDir;

use super::*;

/// A folder with the files of a suite.
struct Folder {
    root: TempDir,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self { root: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> Suite {
        Suite::read(&self.path(name)).unwrap()
    }

    /// Returns the error without the folder's path.
    fn refusal(&self, name: &str) -> String {
        let complaint = Suite::read(&self.path(name)).unwrap_err();
        let text = [vec![complaint.what], complaint.causes].concat().join(": ");
        let root = self.path("").display().to_string();
        text.replace(&root, "").replace(root.trim_end_matches('/'), "").trim_start_matches(": ").to_owned()
    }
}

/// Reads a suite from a file of that name, with no files beside it.
fn read(name: &str, text: &str) -> Suite {
    Folder::new(&[(name, text)]).read(name)
}

fn refusal(name: &str, text: &str) -> String {
    Folder::new(&[(name, text)]).refusal(name)
}

fn notes(suite: &Suite) -> Vec<String> {
    suite.notes.iter().map(ToString::to_string).collect()
}

fn questions(scenario: &Scenario) -> Vec<&str> {
    scenario.demands.iter().filter_map(|demand| demand.how.question()).collect()
}

fn checks(scenario: &Scenario) -> Vec<&Check> {
    scenario.demands.iter().filter_map(|demand| demand.how.check()).collect()
}

fn ids(demands: &[Demand]) -> Vec<&str> {
    demands.iter().map(|demand| demand.id.as_str()).collect()
}
