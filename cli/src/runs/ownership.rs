//! Records which runs this user started here: a journal from a repository must not make skilltune write anywhere.
//!
//! A journal names the folders that a run may replace. Only runs that this user started on this machine are resumed,
//! applied or rolled back; the mark is in the user's state folder, where no repository can put one.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::disk::atomic::Durability;
use skilltune_orchestrator::store::Home;
use skilltune_phases::runs::plan::RunId;

use crate::report::ui::Ui;
use crate::runs::Known;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;

/// The depth of a run's folder below its project.
const DEPTH: usize = 3;
/// Longer than any path.
const LONGEST: u64 = 16 << 10;

#[derive(Debug)]
pub struct Ownership {
    folder: SafePath,
}

impl Ownership {
    pub fn new(env: &Environment) -> Self {
        Self { folder: SafePath::below(&env.state, "runs") }
    }

    /// Records that the run in this folder belongs to this user; called before its journal exists.
    pub fn record(&self, run: &RunId, folder: &Path) -> Result<(), Complaint> {
        let path = folder.as_os_str().as_encoded_bytes();
        self.folder.make().and_then(|()| self.mark(run).replace(path, Durability::Order)).map_err(ours)
    }

    /// Returns true if this user has a run with this id on this machine, in any project.
    pub fn knows(&self, run: &RunId) -> bool {
        self.mark(run).exists()
    }

    /// Returns the project in which this user started a run, by its full id.
    pub fn project_of(&self, id: &str) -> Option<PathBuf> {
        let run: RunId = id.parse().ok()?;
        let noted = PathBuf::from(OsString::from_vec(self.mark(&run).read(LONGEST).ok()??));
        let project = noted.ancestors().nth(DEPTH)?;
        (Home::of(project).run(&run).root() == noted).then(|| project.to_owned())
    }

    pub fn require<L: Ui>(&self, known: &Known<L>) -> Result<(), Complaint> {
        let (id, folder) = (&known.run.plan.run, known.folder.root());
        // The id in the journal could be that of another run.
        let named = folder.file_name().is_some_and(|name| name == id.as_str());
        if named && self.mark(id).holds(folder.as_os_str().as_encoded_bytes()) {
            return Ok(());
        }
        Err(Complaint::input(format!("run {id} was not started by you on this machine"))
            .caused_by(format!("no record of {} in your state folder", folder.display()))
            .hint("status, history, report, diff and export work; resume, apply and rollback do not")
            .hint("to tune the skill here, start a new run"))
    }

    pub fn forget(&self, run: &RunId) {
        // A mark without a run means nothing.
        let _ = self.mark(run).remove();
    }

    fn mark(&self, run: &RunId) -> SafePath {
        self.folder.join(run.as_str())
    }
}
