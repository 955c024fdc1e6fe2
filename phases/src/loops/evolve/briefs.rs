//! What agents are asked: the pages, the forms of the answers, and their readers.

mod advise;
mod amend;
mod divide;
mod drift;
mod judge;
mod oracle;
mod work;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::plan::{Item, classify_fault, groups_fault};
use super::spec::{Priority, Specification, statements_fault};
use super::step::Answer;
use super::{AgentRequest, Evolve, PROJECT};
use crate::asking::prompt::{Faulty, READING, fence, files, plain, render, was_wrong};
use crate::base::answer::{Object, OffSchema, coded, entries, shape};
use crate::base::material::Folders;
use crate::loops::shared::form;
use crate::loops::shared::request::Brief;

pub use advise::AdviceBrief;
pub use amend::AmendBrief;
pub use divide::DivideBrief;
pub use drift::DriftBrief;
pub use judge::{JudgeBrief, RawJudgement, RawVerdict};
pub(super) use oracle::ORACLE;
pub use oracle::{Edit, Edits, File, OracleBrief, ProbeBrief, RawInterface, RawOracle, SpoilBrief};
pub use work::WorkBrief;

/// What only the run knows of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Call {
    Split,
    Classify,
    Divide(Box<DivideBrief>),
    Group(Vec<Item>),
    Interface,
    Oracle(Box<OracleBrief>),
    Probe(ProbeBrief),
    Spoil(Box<SpoilBrief>),
    Advice(Box<AdviceBrief>),
    Work(Box<WorkBrief>),
    Drift(Box<DriftBrief>),
    Judge(Box<JudgeBrief>),
    Amend(Box<AmendBrief>),
    Command,
}

impl Call {
    /// Returns the texts of other agents in the prompt, which the code of an answer covers.
    pub(super) fn quoted(&self) -> Option<String> {
        let text = match self {
            Self::Split
            | Self::Classify
            | Self::Interface
            | Self::Spoil(_)
            | Self::Probe(_)
            | Self::Command => return None,
            Self::Oracle(brief) => serde_json::to_string(&brief.quoted()),
            Self::Group(tasks) => serde_json::to_string(tasks),
            Self::Divide(brief) => serde_json::to_string(&brief.quoted()),
            Self::Advice(brief) => serde_json::to_string(&brief.quoted()),
            Self::Work(brief) => serde_json::to_string(&brief.quoted()),
            Self::Drift(brief) => serde_json::to_string(&brief.diff),
            Self::Judge(brief) => serde_json::to_string(&brief.quoted()),
            Self::Amend(brief) => serde_json::to_string(&brief.quoted()),
        };
        Some(text.expect("data has a JSON text"))
    }
}

impl Brief<Evolve> for Call {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        let (name, values) = match self {
            Self::Split => ("evolve/split", json!({ "goal": goal(request) })),
            Self::Classify => ("evolve/classify", json!({ "spec": spec(request) })),
            Self::Divide(brief) => ("evolve/divide", brief.values(request)),
            Self::Group(tasks) => {
                let tasks = fence(&request.code, "tasks", &listed(tasks));
                ("evolve/group", json!({ "spec": spec(request), "tasks": tasks }))
            }
            Self::Interface => ("evolve/interface", json!({ "spec": spec(request) })),
            Self::Oracle(brief) => ("evolve/oracle", brief.values(request, folders)),
            Self::Spoil(brief) => ("evolve/spoil", brief.values(request)),
            Self::Advice(brief) => brief.page(request),
            Self::Work(brief) => ("evolve/work", brief.values(request)),
            Self::Drift(brief) => ("evolve/drift", brief.values(request)),
            Self::Judge(brief) => ("evolve/judge", brief.values(request, folders)),
            Self::Amend(brief) => ("evolve/amend", brief.values(request)),
            Self::Probe(_) | Self::Command => return Ok(String::new()),
        };
        Ok(page(name, request, folders, values))
    }

    fn form(&self, request: &AgentRequest) -> Option<Value> {
        let words = |all: &[&str]| form::one_of(all.iter().copied());
        let ids = form::list(&(0..=100), &form::text());
        Some(match self {
            Self::Split => form::bound("statements", &form::list(&(1..=20), &form::text())),
            Self::Classify => {
                let one = form::object(&json!({
                    "id": form::text(),
                    "class": words(&["essential", "supplementary"]),
                    "priority": form::one_of(Priority::ALL.map(Priority::word)),
                    "why": form::text(),
                }));
                form::bound("criteria", &form::list(&(1..=200), &one))
            }
            Self::Divide(_) => {
                let one = form::object(&json!({
                    "id": form::text(), "title": form::text(), "description": form::text(),
                    "covers": ids, "after": ids, "touches": ids, "replaces": ids,
                }));
                form::bound("tasks", &form::list(&(1..=100), &one))
            }
            Self::Group(_) => {
                let one =
                    form::object(&json!({ "name": form::text(), "domain": form::text(), "tasks": ids }));
                form::bound("groups", &form::list(&(1..=20), &one))
            }
            Self::Interface => oracle::interface_form(),
            Self::Oracle(_) => OracleBrief::form(),
            Self::Spoil(_) => SpoilBrief::form(),
            Self::Advice(brief) => brief.form(),
            Self::Drift(_) => {
                let one = form::object(
                    &json!({ "task": form::text(), "what": form::text(), "evidence": form::text() }),
                );
                form::bound("drift", &form::list(&(0..=drift::MOST), &one))
            }
            Self::Judge(brief) => brief.form(request),
            Self::Amend(_) => AmendBrief::form(),
            Self::Work(_) | Self::Probe(_) | Self::Command => return None,
        })
    }

    fn check(&self, request: &AgentRequest, answer: &Answer) -> Result<(), OffSchema> {
        let spec = &request.plan.task.spec;
        let fault = match (self, answer) {
            (Self::Split, Answer::Split(statements)) => statements_fault(&spec.goal, statements),
            (Self::Classify, Answer::Classified(classified)) => classify_fault(&spec.criteria, classified),
            (Self::Divide(brief), Answer::Divided(tasks)) => brief.fault(tasks),
            (Self::Group(tasks), Answer::Grouped(groups)) => groups_fault(tasks, groups),
            (Self::Amend(brief), Answer::Amended(amendment)) => brief.fault(amendment),
            _ => None,
        };
        sound(fault)
    }

    fn read(&self, request: &AgentRequest, answer: &str) -> Result<Answer, OffSchema> {
        let code = request.code.as_str();
        let checked = |answer: Answer| self.check(request, &answer).map(|()| answer);
        match self {
            Self::Split => coded(answer, code, "statements", |mut object: Object| {
                let statements: Vec<Box<str>> = entries(&mut object, "statements")?;
                checked(Answer::Split(statements))
            }),
            Self::Classify => coded(answer, code, "criteria", |mut object: Object| {
                let classified: Vec<_> = parts(&mut object, "criteria", &["id", "class", "priority", "why"])?;
                checked(Answer::Classified(classified))
            }),
            Self::Divide(_) => coded(answer, code, "tasks", |mut object: Object| {
                let names = ["id", "title", "description", "covers", "after", "touches", "replaces"];
                let tasks: Vec<Item> = parts(&mut object, "tasks", &names)?;
                checked(Answer::Divided(tasks))
            }),
            Self::Group(_) => coded(answer, code, "groups", |mut object: Object| {
                let groups: Vec<_> = parts(&mut object, "groups", &["name", "domain", "tasks"])?;
                checked(Answer::Grouped(groups))
            }),
            Self::Advice(brief) => brief.read(request, answer),
            Self::Drift(brief) => coded(answer, code, "drift", |mut object: Object| {
                let drift: Vec<_> = entries(&mut object, "drift")?;
                Ok(Answer::Drifted(brief.known(drift)))
            }),
            Self::Amend(brief) => brief.read(code, answer),
            Self::Interface
            | Self::Oracle(_)
            | Self::Probe(_)
            | Self::Spoil(_)
            | Self::Judge(_)
            | Self::Work(_)
            | Self::Command => Err(shape("this step expects no JSON")),
        }
    }
}

/// Returns a list of texts, and one more if there is one. Without it, the code of the answer is as it is for every call.
fn and_more(texts: impl serde::Serialize, more: Option<impl serde::Serialize>) -> Value {
    let mut list = json!(texts);
    if let (Some(list), Some(more)) = (list.as_array_mut(), more) {
        list.push(json!(more));
    }
    list
}

/// Reads the entries of a list without the parts that were not asked for: models add some.
fn parts<T: DeserializeOwned>(object: &mut Object, key: &str, names: &[&str]) -> Result<Vec<T>, OffSchema> {
    if let Some(Value::Array(list)) = object.get_mut(key) {
        for entry in list.iter_mut().filter_map(Value::as_object_mut) {
            entry.retain(|name, _| names.contains(&name.as_str()));
        }
    }
    entries(object, key)
}

/// Fails with the fault of an answer, if it has one.
fn sound(fault: Option<String>) -> Result<(), OffSchema> {
    fault.map_or(Ok(()), |fault| Err(shape(&fault)))
}

/// Fills a page. The values that all pages have are added here.
fn page(name: &str, request: &AgentRequest, folders: &Folders, mut values: Value) -> String {
    /// A longer list of files is cut.
    const MOST: usize = 400;
    let seed = request.code.as_str();
    let opens_files = request.plan.roles.of(&request.order.role).opens_files;
    let project = folders.find(PROJECT);
    let shown = project.filter(|_| !opens_files).map(|folder| files(seed, folder));
    let paths = project.filter(|_| opens_files).map(|folder| {
        let mut paths: Vec<&str> = folder.files.iter().map(|file| file.path.as_str()).collect();
        let more = paths.len().saturating_sub(MOST);
        paths.truncate(MOST);
        let more = if more > 0 { format!("\n({more} more)") } else { String::new() };
        fence(seed, "files", &format!("{}{more}", paths.join("\n")))
    });
    let common = json!({
        "reading": READING,
        "at": PROJECT,
        "files": shown,
        "paths": paths,
        "nonce": seed,
        "retry_error": was_wrong(seed, request.retry_error()),
    });
    if let (Some(values), Value::Object(common)) = (values.as_object_mut(), common) {
        values.extend(common);
    }
    render(name, &values)
}

fn goal(request: &AgentRequest) -> String {
    fence(&request.code, "the goal", &request.plan.task.spec.goal)
}

/// Returns the whole specification as it was given.
fn spec(request: &AgentRequest) -> String {
    fence(&request.code, "the specification", &Specification::markdown(&request.plan.task.spec))
}

/// Returns tasks as one text.
fn listed(tasks: &[Item]) -> String {
    let one = |item: &Item| {
        let list = |ids: &[Box<str>]| ids.iter().map(|id| plain(id)).collect::<Vec<_>>().join(", ");
        format!(
            "{}: {}\n{}\ncovers: {}\nafter: {}\ntouches: {}",
            item.id,
            item.title,
            item.description,
            list(&item.covers),
            list(&item.after),
            list(&item.touches)
        )
    };
    tasks.iter().map(one).collect::<Vec<_>>().join("\n\n")
}
