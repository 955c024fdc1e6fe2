//! The question: the persona, and the task and the project's files as data.

use serde::Serialize;

use super::{AgentRequest, Expert, Run, Step};
use crate::asking::order::{self, Access, Order, Placement};
use crate::asking::prompt::{Faulty, READING, fence, files, render, was_wrong};
use crate::base::material::Folders;
use crate::base::role::{Rights, Role};
use crate::loops::shared::request::Brief;

/// The folder of the workspace with the copy of the project.
const PROJECT: &str = "project";

/// The run knows everything that the question needs.
#[derive(Clone, Copy, Debug)]
pub struct Question;

pub(super) fn of(run: &Run, step: Step) -> AgentRequest {
    let files = run.plan.task.files.map(|tree| Placement::new(PROJECT, tree, Access::Fixed));
    let order = Order::new(
        order::step_text(&step),
        run.attempts(&step),
        (Role::EXPERT, Rights::Read),
        files.into_iter().collect(),
    );
    AgentRequest::new(run, &step, order, &[], Question)
}

impl Brief<Expert> for Question {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let (task, seed) = (&request.plan.task, request.code.as_str());
        let opens_files = request.plan.roles.of(&Role::EXPERT).opens_files;
        let folder = folders.find(PROJECT);
        Ok(render(
            "expert",
            PromptPage {
                persona: task.expert.persona.trim(),
                reading: READING,
                task: fence(seed, "task", task.task.trim()),
                folder: folder.filter(|_| opens_files).map(|_| PROJECT),
                // An agent that may not open files gets those that fit.
                files: folder.filter(|_| !opens_files).map(|folder| files(seed, folder)),
                is_draft: task.drafts.is_some(),
                retry_error: was_wrong(seed, request.retry_error()),
            },
        ))
    }
}

#[derive(Serialize)]
struct PromptPage<'a> {
    persona: &'a str,
    reading: &'static str,
    task: String,
    folder: Option<&'static str>,
    files: Option<String>,
    is_draft: bool,
    retry_error: Option<String>,
}
