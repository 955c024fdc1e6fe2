//! The question: the persona, and the task and the project's files as data.

use serde::{Deserialize, Serialize};

use super::{AgentRequest, Document, Expert, Run, Step};
use crate::asking::order::{self, Access, Order, Placement};
use crate::asking::prompt::{Faulty, READING, fence, render, shown, was_wrong};
use crate::base::material::{Body, Folder, Folders};
use crate::base::role::{Rights, Role};
use crate::loops::shared::request::Brief;

/// The folder of the workspace with the copy of the project.
const PROJECT: &str = "project";

/// What the plan does not know of the question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    pub(super) step: Step,
    /// The agent's earlier questions, with a person's answers.
    replies: Option<String>,
}

pub(super) fn of(run: &Run, step: Step) -> AgentRequest {
    let files = run.plan.task.files.map(|tree| Placement::new(PROJECT, tree, Access::Fixed));
    let order = Order::new(
        order::step_text(&step),
        run.attempts(&step),
        (Role::EXPERT, Rights::Read),
        files.into_iter().collect(),
    );
    let replies = run.replies();
    let quotes: Vec<&str> = replies.iter().map(String::as_str).collect();
    AgentRequest::new(run, &step, order, &quotes, Question { step, replies: replies.clone() })
}

impl Brief<Expert> for Question {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let (task, seed) = (&request.plan.task, request.code.as_str());
        let opens_files = request.plan.roles.of(&Role::EXPERT).opens_files;
        let folder = folders.find(PROJECT);
        let documents = task.basis().map(|basis| basis.documents.as_slice()).unwrap_or_default();
        // An agent that may not open files gets those that fit. Documents are in the prompt of any agent.
        let files = match documents {
            [] => folder.filter(|_| !opens_files).map(|folder| numbered_files(seed, folder)),
            documents => Some(numbered_documents(seed, documents)),
        };
        Ok(render(
            "expert",
            PromptPage {
                persona: task.expert.persona.trim(),
                reading: READING,
                task: fence(seed, "task", task.task.trim()),
                folder: folder.filter(|_| opens_files).map(|_| PROJECT),
                files,
                matter: if documents.is_empty() { "project" } else { "documents" },
                replies: self.replies.as_deref().map(|replies| fence(seed, "questions and answers", replies)),
                code: (self.step == Step::Inquire).then_some(seed),
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
            *text = numbered(text);
        }
    }
    let shown: Vec<_> = files.iter().map(|file| shown(seed, &file.path, &file.body)).collect();
    if shown.is_empty() { "(no files)".to_owned() } else { shown.join("\n\n") }
}

fn numbered_documents(seed: &str, documents: &[Document]) -> String {
    let shown = documents.iter().map(|one| fence(seed, &one.path, &numbered(&one.text)));
    shown.collect::<Vec<_>>().join("\n\n")
}

fn numbered(text: &str) -> String {
    let lines = (1..).zip(text.lines()).map(|(number, line)| format!("{number}\t{line}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[derive(Serialize)]
struct PromptPage<'a> {
    persona: &'a str,
    reading: &'static str,
    task: String,
    folder: Option<&'static str>,
    files: Option<String>,
    /// The word for the files.
    matter: &'static str,
    replies: Option<String>,
    /// The code that the answer must repeat, if it is a list of questions.
    code: Option<&'a str>,
    is_draft: bool,
    retry_error: Option<String>,
}
