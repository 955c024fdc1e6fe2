//! The question: the persona, and the task and the project's files as data.

use serde::Serialize;

use super::{AgentRequest, Expert, Run, Step};
use crate::asking::order::{self, Access, Order, Placement};
use crate::asking::prompt::{Faulty, READING, fence, render, shown, was_wrong};
use crate::base::material::{Body, Folder, Folders};
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
                files: folder.filter(|_| !opens_files).map(|folder| numbered_files(seed, folder)),
                is_draft: task.drafts.is_some(),
                retry_error: was_wrong(seed, request.retry_error()),
            },
        ))
    }
}

/// Returns the files by their paths in the project. An agent that cannot open them reads the numbers of their lines here.
fn numbered_files(seed: &str, folder: &Folder) -> String {
    let mut files = folder.fitted(|_| false).files;
    for file in &mut files {
        if let Body::Text(text) = &mut file.body {
            let lines = (1..).zip(text.lines()).map(|(number, line)| format!("{number}\t{line}"));
            *text = lines.collect::<Vec<_>>().join("\n");
        }
    }
    let shown: Vec<_> = files.iter().map(|file| shown(seed, &file.path, &file.body)).collect();
    if shown.is_empty() { "(no files)".to_owned() } else { shown.join("\n\n") }
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
