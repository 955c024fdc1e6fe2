//! `iteration-state.json`: the folded run, for people and scripts. It has the original's fields and our additions.
//!
//! A pure function of the run, so replaying the journal gives the same file byte for byte.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::notes::{self, Notes};
use crate::base::id::{CandidateId, ContractId};
use crate::base::json;
use crate::base::role::ByRole;
use crate::judging::contract::{DimensionId, Verdict};
use crate::judging::score::Score;
use crate::judging::stop::Reason;
use crate::loops::tune::trial::measure::{self, SEARCH};
use crate::loops::tune::{
    Edit, Ending, FailedCall, Measured, Plan, Round, RoundResult, Run, Shipment, Step, Trial,
};
use crate::runs::event::PlacedBy;
use crate::runs::ledger::Ledger;
use crate::runs::plan::{Cast, LoopKind, Roles, RunId};
use crate::skills::target::Place;
use crate::suites::scenario::Scenario;

/// Returns the text of the state file.
pub fn text(run: &Run) -> String {
    json::page(&StateFile::of(run))
}

/// The original's fields, and ours beside them. Long values are borrowed: a plan can have thousands of scenarios.
#[derive(Serialize)]
struct StateFile<'a> {
    #[serde(flatten)]
    fields: Map<String, Value>,
    skilltune: Ours<'a>,
}

/// The fields that the original does not have.
#[derive(Serialize)]
struct Ours<'a> {
    format: u32,
    program: &'a str,
    run_id: &'a RunId,
    #[serde(rename = "loop")]
    kind: LoopKind,
    seq: u64,
    seed: u64,
    epoch: u64,
    contract: ContractId,
    roles: &'a Roles,
    agents: ByRole<String>,
    scenarios: &'a [Scenario],
    best: Option<Value>,
    head: CandidateId,
    accepted: usize,
    rejected: usize,
    focus: Option<&'a str>,
    reason: Option<Reason>,
    comparison: Option<&'a Shipment>,
    ending: Option<Ending>,
    waiting_until: Option<Timestamp>,
    placed: Option<PlacedBy>,
    ledger: &'a Ledger,
}

impl<'a> StateFile<'a> {
    fn of(run: &'a Run) -> Self {
        Self { fields: fields(run), skilltune: Ours::of(run) }
    }
}

impl<'a> Ours<'a> {
    fn of(run: &'a Run) -> Self {
        let plan = &run.plan;
        Self {
            format: plan.format,
            program: &plan.program,
            run_id: &plan.run,
            kind: plan.kind,
            seq: run.seq,
            seed: plan.seed,
            epoch: plan.epoch,
            contract: plan.task.contract.id(),
            roles: &plan.roles,
            agents: plan.roles.map(Cast::shown),
            scenarios: &plan.task.scenarios,
            best: run.best().map(|(id, score)| json!({ "candidate": id, "score": score })),
            head: run.head(),
            accepted: run.accepted(),
            rejected: run.rejected(),
            focus: run.state.focus.map(|place| member_name(run, place)),
            reason: run.state.stopped,
            comparison: run.state.shipment.as_ref(),
            ending: run.state.closed,
            waiting_until: run.waits.until,
            placed: run.placed,
            ledger: &run.ledger,
        }
    }
}

fn fields(run: &Run) -> Map<String, Value> {
    let Value::Object(mut fields) = head(run) else { unreachable!("the head is an object") };
    fields.insert("iterations".into(), run.state.rounds.iter().map(|round| iteration(run, round)).collect());
    fields.insert("errors".into(), run.errors.iter().map(failed).collect());
    // The count that `max_errors` limits, however often a step was tried.
    fields.insert("error_count".into(), run.failed_in_a_row().into());
    fields.insert("max_errors".into(), run.plan.task.rules.max_errors.into());
    fields.insert("work_dir".into(), run.plan.folder.clone().into());
    fields.insert("backup_dir".into(), backups(&run.plan.folder).into());
    fields.insert(
        "termination_reason".into(),
        run.state.stopped.map_or(Value::Null, |reason| termination(reason).into()),
    );
    fields
}

/// Returns the store beside the folder of the runs, which holds all versions of the skills.
fn backups(folder: &str) -> String {
    let project = folder.rsplitn(3, '/').nth(2).unwrap_or_default();
    format!("{project}/objects")
}

fn head(run: &Run) -> Value {
    let plan = &run.plan;
    let scores: Vec<f64> = run.state.rounds.iter().filter_map(Round::score).map(Score::points).collect();
    json!({
        "status": status(run),
        "started_at": run.started_at,
        "updated_at": run.updated_at,
        "target_skills": plan.task.target.members.iter().map(|member| json!({
            "name": member.name,
            "path": member.path,
            "files": member.files,
            "primary_file": "SKILL.md",
        })).collect::<Value>(),
        "test_scenario": plan.task.scenarios.first(),
        "execution_mode": plan.task.target.mode,
        "chain_order": chain_order(plan),
        "current_iteration": run.round_number(),
        "max_iterations": plan.task.rules.max_iterations,
        "quality_threshold": plan.task.rules.threshold,
        "latest_score": scores.last().copied().unwrap_or(0.0),
        "score_trend": scores,
        "converged": run.state.stopped == Some(Reason::Stalled),
    })
}

/// Returns the state of a run as one word.
pub fn status(run: &Run) -> &'static str {
    if run.state.closed.is_some() {
        "completed"
    } else if run.held {
        "held"
    } else if run.waits.until.is_some() {
        "waiting"
    } else if run.paused.is_some() {
        "paused"
    } else {
        "running"
    }
}

fn chain_order(plan: &Plan) -> Vec<&str> {
    let members = plan.task.target.members.iter();
    members.filter(|_| plan.is_chain()).map(|member| member.name.as_str()).collect()
}

fn iteration(run: &Run, round: &Round) -> Value {
    json!({
        "round": round.number,
        "status": iteration_status(run, round),
        "candidate": round.candidate,
        "execution": execution(run, round),
        "evaluation": round.measured.as_ref().map(|measured| evaluation(run, round, measured)),
        "standing": result_json(round),
        "improvement": round.edit.as_ref().map(|edit| improvement(run, round, edit)),
    })
}

fn iteration_status(run: &Run, round: &Round) -> &'static str {
    if round.failed() {
        "failed"
    } else if round.edit.is_some() || run.state.stopped.is_some() {
        "completed"
    } else {
        "pending"
    }
}

fn execution(run: &Run, round: &Round) -> Value {
    let dir = format!("{}/iterations/iteration-{}/artifacts", run.plan.folder, round.number);
    let success = round.measured.as_ref().map(|measured| measured.judged == measured.of);
    let mut execution = json!({
        "started_at": round.started_at,
        "completed_at": round.scored_at,
        "artifacts_dir": dir,
        "success": success,
    });
    if run.plan.is_chain() {
        let far = how_far(run, round);
        let members = run.plan.task.target.members.iter().enumerate();
        execution["chain_executions"] = members
            .map(|(place, member)| {
                json!({
                    "skill_name": member.name,
                    "artifacts_dir": format!("{dir}/{}", member.name),
                    "success": success.map(|_| place < far),
                })
            })
            .collect();
    }
    execution
}

/// Returns how many members of a chain finished on every scenario.
fn how_far(run: &Run, round: &Round) -> usize {
    let Some(candidate) = run.candidate(round.candidate) else { return 0 };
    let scenarios = measure::tried(&run.plan).into_iter();
    let trials = scenarios.map(|scenario| Trial { scenario, ordinal: SEARCH, era: round.era });
    trials.map(|trial| measure::exercised(run, candidate, trial).len()).min().unwrap_or(0)
}

fn evaluation(run: &Run, round: &Round, measured: &Measured) -> Value {
    let notes = Notes::of(run, round.candidate, round.era);
    let results = notes::criterion_results(run, round.candidate, round.era, None);
    let dimensions = run.plan.task.contract.dimensions.iter().zip(&measured.dimensions);
    let chain = run.plan.is_chain().then(|| {
        let members = run.plan.task.target.members.iter().zip(&measured.members);
        members
            .map(|(member, score)| (member.name.to_string(), json!(score)))
            .collect::<serde_json::Map<_, _>>()
    });
    json!({
        "score": measured.score,
        "dimensions": dimensions.map(|(dimension, score)| json!({
            "name": dimension.name, "id": dimension.id, "score": score, "weight": dimension.weight,
            "feedback": feedback(run, &results, &dimension.id),
        })).collect::<Value>(),
        "strengths": notes.strengths,
        "weaknesses": notes.weaknesses,
        "suggestions": notes.suggestions,
        "chain_scores": chain,
        "eval_file": format!("iterations/iteration-{0}/iteration-{0}-eval.md", round.number),
        "judged": measured.judged,
        "of": measured.of,
        "claimed": measured.claimed,
        "claimed_score": measured.claim,
        "quality": measured.quality,
    })
}

/// Lists what the judges criticized in a dimension, in the words of their evidence.
fn feedback(run: &Run, results: &[notes::CriterionResult<'_>], dimension: &DimensionId) -> String {
    let wanting = results.iter().map(|result| result.worst).filter(|worst| worst.verdict != Verdict::Pass);
    let lines = wanting.filter_map(|worst| {
        let criterion = run.plan.task.contract.criterion(worst.criterion)?;
        (criterion.dimension == *dimension).then(|| format!("{} {}", criterion.text, worst.evidence))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn result_json(round: &Round) -> Value {
    match &round.result {
        None => Value::Null,
        Some(RoundResult::Kept) => json!({ "kept": true }),
        Some(RoundResult::Dropped(why)) => json!({ "kept": false, "why": why.to_string() }),
    }
}

fn improvement(run: &Run, round: &Round, edit: &Edit) -> Value {
    let file = format!("iterations/iteration-{0}/iteration-{0}-changes.md", round.number);
    match edit {
        Edit::Nothing { member, failure } => json!({
            "changes_applied": [],
            "changes_file": file,
            "improvement_rationale": Value::Null,
            "member": member_name(run, *member),
            "failure": failure,
        }),
        Edit::Draft { candidate, origin } => json!({
            "changes_applied": origin.report.changes.iter().map(|change| json!({
                "summary": change.description, "file": change.file,
            })).collect::<Value>(),
            "changes_file": file,
            "improvement_rationale": origin.report.summary,
            "member": member_name(run, origin.member),
            "candidate": candidate,
        }),
    }
}

fn member_name(run: &Run, place: Place) -> &str {
    &run.plan.member(place).name
}

fn failed(call: &FailedCall) -> Value {
    json!({
        "phase": phase(&call.step),
        "message": call.failure.why,
        "timestamp": call.at,
        "round": call.round,
        "kind": call.failure.kind,
        "output": call.output(),
        "until": call.failure.until,
    })
}

fn phase(step: &Step) -> &'static str {
    match step {
        Step::SetUp { .. } | Step::Exercise { .. } => "execute",
        Step::Inspect { .. }
        | Step::Check { .. }
        | Step::Grade { .. }
        | Step::JudgeText { .. }
        | Step::Judge { .. } => "evaluate",
        Step::Improve { .. } => "improve",
        Step::Ask(_) | Step::Promote { .. } | Step::Propose { .. } => "report",
    }
}

/// Returns the original's word for the reason, if it has one.
fn termination(reason: Reason) -> &'static str {
    match reason {
        Reason::Reached => "quality_threshold_met",
        Reason::Exhausted => "max_iterations_reached",
        Reason::Finished => "nothing_left_to_improve",
        Reason::Stalled => "convergence_detected",
        Reason::Failed => "error_limit_reached",
        Reason::Refused => "edits_refused",
        Reason::Oscillating => "oscillation_detected",
    }
}
