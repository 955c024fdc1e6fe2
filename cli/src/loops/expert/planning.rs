//! Turns a request into a plan: everything that decides is frozen.

use jiff::Timestamp;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::expert::{Plan, Task};

use crate::loops::expert::folder;
use crate::loops::expert::invocation::Invocation;
use crate::runs::{new_run_id, seed};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// Makes the plan. That of the run that a sketch has named has the copy of the folder, which it stores.
pub fn plan(
    invocation: &Invocation,
    home: &Home,
    env: &Environment,
    sketch: Option<&Plan>,
) -> Result<Plan, Complaint> {
    let store = |folder| folder::store(folder, &Objects::at(home.objects()), env);
    let stored = invocation.folder.as_deref().filter(|_| sketch.is_some()).map(store).transpose()?;
    let (files, remarks) = stored.map(|stored| (stored.tree, stored.remarks)).unzip();
    let task = Task {
        expert: invocation.persona.clone(),
        task: invocation.task.clone(),
        reads: invocation.folder.as_ref().map(|folder| folder.to_string_lossy().into_owned()),
        files,
        remarks: invocation.remarks.iter().cloned().chain(remarks.into_iter().flatten()).collect(),
        drafts: invocation.drafts.clone(),
    };
    let seed = invocation.seed.unwrap_or_else(|| seed(&(&task.expert.digest, &task.task, &task.files)));
    let run = sketch.map_or_else(|| new_run_id(seed, Timestamp::now()), |sketch| sketch.run.clone());
    Ok(invocation.common.plan(run, seed, task))
}
