//! The inbox of a file of jobs: drafts of what the suites of its jobs do not test yet, for a person to review.
//!
//! It is a suite of drafts alone, so no run counts any of it. The journal of nights records what was added, so a draft
//! that a person deletes does not come back.

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::loops::tune::results::trials::unasked;
use skilltune_phases::nights::night::Draft;
use skilltune_phases::runs::plan::RunId;

use crate::inputs::suite::{Appended, CASES, Suite, append, appendable, from_trial, has_task};
use crate::nights::book::{Book, Shelf};
use crate::nights::jobs::Ready;
use crate::nights::secrets::Secrets;
use crate::runs::{Runs, store_check, unusable};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// As many as a person reviews at once. The rest is added later, when there is space.
const MOST: usize = 50;

/// The drafts that were added, and the error if others were not.
#[derive(Debug, Default)]
pub struct Filled {
    pub drafts: Vec<Draft>,
    pub failed: Option<Complaint>,
}

pub fn place(shelf: &Shelf) -> SafePath {
    shelf.place("inbox.toml")
}

/// Adds the drafts that a run of a job suggests.
pub fn fill(run: &RunId, ready: &Ready, book: &Book, secrets: &Secrets, env: &Environment) -> Filled {
    let mut filled = Filled::default();
    let failed = filled.add_all(run, ready, (book, secrets), env).err();
    filled.failed = filled.failed.or(failed);
    filled
}

impl Filled {
    fn add_all(
        &mut self,
        run: &RunId,
        ready: &Ready,
        (book, secrets): (&Book, &Secrets),
        env: &Environment,
    ) -> Result<(), Complaint> {
        let runs = Runs::of(&ready.project, env)?;
        let run = runs.load::<Tune>(run)?.run;
        let objects = Objects::at(runs.home.objects());
        let path = place(&book.shelf);
        for short in unasked(&run) {
            let mark = short.mark(&run);
            if book.history.was_drafted(&mark) {
                continue;
            }
            let (mut scenario, origin) = from_trial(&run, &short);
            secrets.demands(&mut scenario.demands);
            let inbox = appendable(path.path())?;
            if let Some(inbox) = &inbox.1 {
                if has_task(inbox, &scenario) {
                    continue;
                }
                delete_leftovers(inbox, &book.shelf)?;
                if inbox.scenarios.len() + inbox.drafts.len() >= MOST {
                    let path = path.path().display();
                    return Err(Complaint::input(format!(
                        "{path} has {MOST} drafts already; delete those that you have looked at"
                    )));
                }
            }
            let added = store_check::require(&objects, &scenario.trees())
                .and_then(|()| append(&inbox, &scenario, &origin, &objects));
            let of = run.plan.task.scenarios[short.judged.trial.scenario].id.clone();
            match added {
                Ok(Appended::Added(id)) => self.drafts.push(Draft { id, scenario: of, mark }),
                Ok(Appended::Known(_)) => {}
                // The others may fit.
                Err(failed) => self.failed = Some(failed),
            }
        }
        Ok(())
    }
}

/// Deletes the files of drafts that a person has deleted.
fn delete_leftovers(inbox: &Suite, shelf: &Shelf) -> Result<(), Complaint> {
    let cases = shelf.place(CASES);
    if !cases.is_folder() {
        return Ok(());
    }
    for name in cases.names().map_err(unusable)? {
        let prefix = std::path::Path::new(CASES).join(&name);
        if !inbox.starts.paths().any(|path| path.as_path().starts_with(&prefix)) {
            cases.join(&name).remove().map_err(unusable)?;
        }
    }
    Ok(())
}
