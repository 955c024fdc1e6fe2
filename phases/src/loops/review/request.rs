//! The calls of a review: a part of the change for a reviewer, a finding for a verifier, and the commands.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::finding::{Finding, Severity, Side};
use super::proof::Proposal;
use super::task::{Task, Trees};
use super::{AgentRequest, Files, MOST_FINDINGS, Review, Run, Step};
use crate::asking::order::{self, Access, Command, Needs, Order, Placement};
use crate::asking::prompt::{Faulty, READING, fence, files, plain, render, was_wrong};
use crate::base::material::{Folder, Folders};
use crate::base::role::{Rights, Role};
use crate::loops::shared::form;
use crate::loops::shared::request::Brief;
use crate::suites::scenario::SkillFile;

/// The folder of the workspace with the files as the change leaves them.
pub const PROJECT: &str = "project";
/// The folder of the workspace with the diffs.
pub const CHANGE: &str = "change";

/// What only the run knows of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Call {
    Review {
        reviewer: usize,
        machines: Vec<String>,
    },
    Verify {
        finding: Box<Finding>,
        can_run: bool,
    },
    /// A command; its output is searched for the announced words.
    Command {
        proposal: Option<Proposal>,
    },
}

pub(super) fn of(run: &Run, step: Step) -> Option<AgentRequest> {
    let task = &run.plan.task;
    let trees = task.trees?;
    let (call, role, placements) = match step {
        Step::Allow => return None,
        Step::Review { part, reviewer } => {
            let diffs = task.parts.get(part)?;
            let call = Call::Review { reviewer, machines: run.machine_lines() };
            (call, Role::REVIEWER, for_agent(task, trees, diffs))
        }
        Step::Verify { finding } => {
            let finding = &run.state.merged.as_ref()?.get(finding)?.finding;
            let changed = finding.place.as_ref().and_then(|place| task.changed(&place.path));
            let diffs = changed.map_or(&[][..], |changed| &changed.diffs);
            let can_run = task.commands.run != crate::suites::checks::RunThem::Never;
            let call = Call::Verify { finding: Box::new(finding.clone()), can_run };
            (call, Role::VERIFIER, for_agent(task, trees, diffs))
        }
        Step::Scan { on, .. } => {
            (Call::Command { proposal: None }, Role::REVIEWER, vec![scratch(run, trees, on, None)?])
        }
        Step::Prove { finding, on } => {
            let proposal = run.proposals().find(|(at, _)| *at == finding)?.1.clone();
            let call = Call::Command { proposal: Some(proposal) };
            (call, Role::REVIEWER, vec![scratch(run, trees, on, Some(finding))?])
        }
    };
    let order = Order::new(order::step_text(&step), run.attempts(&step), (role, Rights::Read), placements);
    let order = Order { command: command(task, step, &call), ..order };
    let text = match &call {
        Call::Verify { finding, .. } => serde_json::to_string(finding).unwrap_or_default(),
        Call::Review { .. } | Call::Command { .. } => String::new(),
    };
    Some(AgentRequest::new(run, &step, order, &[&text], call))
}

/// Places the files and some diffs.
fn for_agent(task: &Task, trees: Trees, diffs: &[Box<str>]) -> Vec<Placement> {
    let file = |diff: &str| SkillFile { path: diff.to_owned(), at: diff.to_owned() };
    let picked: Vec<SkillFile> = diffs.iter().map(|diff| file(diff)).collect();
    let project = Placement::new(PROJECT, trees.after, Access::Fixed).hiding(&task.hidden);
    let change = Placement::new(CHANGE, trees.diffs, Access::Fixed).picking(&picked);
    std::iter::once(project).chain((!picked.is_empty()).then_some(change)).collect()
}

/// Places the files for a command, which may change them.
fn scratch(run: &Run, trees: Trees, on: Files, finding: Option<usize>) -> Option<Placement> {
    let tree = match on {
        Files::Before => trees.before,
        Files::After => trees.after,
        Files::Fixed => run.state.merged.as_ref()?.get(finding?)?.finding.fixed?,
    };
    Some(Placement::new("", tree, Access::Scratch))
}

fn command(task: &Task, step: Step, call: &Call) -> Option<Command> {
    let argv = match (step, call) {
        (Step::Scan { machine, .. }, _) => task.machines.get(machine)?.argv.clone(),
        (_, Call::Command { proposal: Some(proposal) }) => proposal.argv.clone(),
        _ => return None,
    };
    let command = Command::new(argv, task.command_seconds, task.commands.confined);
    Some(Command { needs: Needs::Toolchains, ..command })
}

impl AgentRequest {
    /// Returns what the call is about.
    pub fn call(&self) -> &Call {
        &self.brief
    }

    pub fn task(&self) -> &Task {
        &self.plan.task
    }
}

impl Brief<Review> for Call {
    fn prompt(&self, request: &AgentRequest, folders: &Folders) -> Result<String, Faulty> {
        Ok(match self {
            Self::Review { reviewer, machines } => review(request, *reviewer, machines, folders),
            Self::Verify { finding, can_run } => verify(request, finding, *can_run, folders),
            Self::Command { .. } => String::new(),
        })
    }

    fn form(&self, _: &AgentRequest) -> Option<Value> {
        match self {
            Self::Review { .. } => Some(form::bound("findings", &findings_form())),
            Self::Verify { can_run, .. } => Some(verdict_form(*can_run)),
            Self::Command { .. } => None,
        }
    }
}

fn findings_form() -> Value {
    let one = form::object(&json!({
        "severity": form::one_of(Severity::ALL.map(Severity::word)),
        "title": form::text(),
        "path": form::text(),
        "line": { "type": "integer" },
        "side": form::one_of(Side::ALL.map(Side::word)),
        "quote": form::text(),
        "what": form::text(),
        "suggestion": form::text(),
        "replacement": form::text(),
    }));
    form::list(&(0..=MOST_FINDINGS), &one)
}

fn verdict_form(can_run: bool) -> Value {
    let mut parts = json!({
        "answer_to": form::text(),
        "verdict": form::one_of(["confirmed", "refuted", "uncertain"]),
        "why": form::text(),
        "path": form::text(),
        "line": { "type": "integer" },
        "quote": form::text(),
    });
    if can_run {
        let argv = json!({ "type": "array", "items": form::text() });
        parts["proof"] = form::object(&json!({ "argv": argv, "announces": form::text() }));
    }
    form::object(&parts)
}

fn review(request: &AgentRequest, reviewer: usize, machines: &[String], folders: &Folders) -> String {
    let (task, seed) = (&request.plan.task, request.code.as_str());
    let opens_files = request.plan.roles.of(&Role::REVIEWER).opens_files;
    let persona = task.reviewers.get(reviewer).map_or("", |one| one.expert.persona.trim());
    render(
        "review/find",
        ReviewPage {
            persona,
            reading: READING,
            subject: fence(seed, "the change", &task.subject),
            is_skill: task.is_skill,
            machines: machines.to_vec(),
            diffs: diffs(seed, folders),
            folder: opens_files.then_some(PROJECT),
            most: MOST_FINDINGS,
            nonce: seed,
            retry_error: was_wrong(seed, request.retry_error()),
        },
    )
}

fn verify(request: &AgentRequest, finding: &Finding, can_run: bool, folders: &Folders) -> String {
    let (task, seed) = (&request.plan.task, request.code.as_str());
    let opens_files = request.plan.roles.of(&Role::VERIFIER).opens_files;
    let claim = format!(
        "Severity: {}\n{}\n\n{}\n\nSuggestion: {}",
        finding.severity.word(),
        finding.title,
        finding.what,
        finding.suggestion
    );
    let place = finding.place.as_ref();
    render(
        "review/verify",
        VerifyPage {
            reading: READING,
            claim: fence(seed, "the finding", &claim),
            at: place.map(|place| plain(&place.at())).unwrap_or_default(),
            side: place.map_or("", |place| match place.side {
                Side::New => "",
                Side::Old => ", in lines that the change removes",
                Side::Absent => ", where something is said to be missing",
            }),
            quote: place.map(|place| fence(seed, "its quote", &place.quote)).unwrap_or_default(),
            code: place.map(|place| fence(seed, &place.at(), &place.code)).unwrap_or_default(),
            is_skill: task.is_skill,
            diffs: diffs(seed, folders),
            folder: opens_files.then_some(PROJECT),
            can_run,
            nonce: seed,
            retry_error: was_wrong(seed, request.retry_error()),
        },
    )
}

fn diffs(seed: &str, folders: &Folders) -> String {
    folders.find(CHANGE).map(|folder: &Folder| files(seed, folder)).unwrap_or_default()
}

#[derive(Serialize)]
struct ReviewPage<'a> {
    persona: &'a str,
    reading: &'static str,
    subject: String,
    is_skill: bool,
    machines: Vec<String>,
    diffs: String,
    folder: Option<&'static str>,
    most: usize,
    nonce: &'a str,
    retry_error: Option<String>,
}

#[derive(Serialize)]
struct VerifyPage<'a> {
    reading: &'static str,
    claim: String,
    at: String,
    side: &'static str,
    quote: String,
    code: String,
    is_skill: bool,
    diffs: String,
    folder: Option<&'static str>,
    can_run: bool,
    nonce: &'a str,
    retry_error: Option<String>,
}
