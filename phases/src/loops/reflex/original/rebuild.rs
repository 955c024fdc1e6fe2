//! What can be known of a run whose `run.json` is damaged.
//!
//! The history names the run, how far it came and how it ended. Task, criteria and plan it does not hold, and they are
//! left absent: a run that goes on from guesses would be another run.

use serde_json::{Map, Value};

use super::fraction::Fraction;
use super::history::{FoundLine, History};
use super::lenient::Fields;
use super::name::Alias;
use super::parts::Stop;
use super::run_file::FoundRun;
use super::words::{Event, Phase, Status, StopReason, Word};

/// The last run that the history tells of; what it leaves out [`FoundRun::unknown`] lists.
pub fn rebuild(history: &History) -> Option<FoundRun> {
    let lines = last_run(&history.lines);
    if lines.is_empty() {
        return None;
    }
    let run_id = lines.iter().find_map(|line| line.run_id.clone());
    let ending = Ending::of(&lines);
    let mut judged = lines.iter().rev().filter(|line| is(line, Event::EvaluationDone));
    let budget = |key| lines.iter().rev().find_map(|line| line.payload.get(key)?.as_u64());
    Some(FoundRun {
        task_alias: run_id.as_deref().and_then(Alias::of_run).map(|alias| alias.to_string()),
        run_id,
        status: Some(ending.as_ref().map_or(Status::Running, |ending| ending.status).into()),
        iteration: lines.iter().rev().find_map(|line| line.iteration),
        phase: phase(&lines),
        current_step: lines.iter().rev().find_map(|line| line.step.clone()),
        stop: Some(Stop {
            passed: ending.as_ref().is_some_and(|ending| ending.passed),
            reason: ending.and_then(|ending| ending.reason),
        }),
        last_score: judged.find_map(|line| fraction(&line.payload, "score")),
        created_at: lines.iter().find_map(|line| line.ts),
        updated_at: lines.iter().rev().find_map(|line| line.ts),
        max_completed_phase_seconds: budget("max_completed_phase_seconds").filter(|seconds| *seconds > 0),
        completed_phase_seconds: budget("completed_phase_seconds"),
        ..FoundRun::default()
    })
}

/// A task taken up under the same name writes on in the same file. A line without a run belongs to the one before it.
fn last_run(lines: &[FoundLine]) -> Vec<&FoundLine> {
    let last = lines.iter().rev().find_map(|line| line.run_id.as_deref());
    let is_other = |line: &FoundLine| line.run_id.is_some() && line.run_id.as_deref() != last;
    let start = lines.iter().rposition(is_other).map_or(0, |other| other + 1);
    let start = start + lines[start..].iter().position(|line| line.run_id.is_some()).unwrap_or(0);
    lines[start..].iter().collect()
}

fn is(line: &FoundLine, event: Event) -> bool {
    line.event == Word::Known(event)
}

fn fraction(payload: &Map<String, Value>, key: &str) -> Option<Fraction> {
    Fields::of(payload, &mut Vec::new()).fraction(key)
}

/// Nothing leads back from B to A.
fn phase(lines: &[&FoundLine]) -> Option<Phase> {
    let switched = lines.iter().any(|line| is(line, Event::PhaseSwitched) || line.phase == Some(Phase::B));
    if switched { Some(Phase::B) } else { lines.iter().rev().find_map(|line| line.phase) }
}

struct Ending {
    status: Status,
    passed: bool,
    reason: Option<Word<StopReason>>,
}

impl Ending {
    /// The run has ended when the last event that we know says so.
    fn of(lines: &[&FoundLine]) -> Option<Self> {
        let (line, event) = lines.iter().rev().find_map(|line| Some((line, line.event.known()?)))?;
        if !matches!(event, Event::Stopped | Event::Failed) {
            return None;
        }
        let reason = line.payload.get("reason").and_then(Value::as_str).map(Word::<StopReason>::of);
        let known = reason.as_ref().and_then(Word::known);
        let status = match event {
            Event::Failed => Status::Failed,
            _ => known.map_or(Status::Stopped, StopReason::status),
        };
        let passed = Self::passed(lines).unwrap_or(known == Some(StopReason::ThresholdReached));
        Some(Self { status, passed, reason })
    }

    fn passed(lines: &[&FoundLine]) -> Option<bool> {
        let judged = lines.iter().rev().find(|line| is(line, Event::EvaluationDone))?;
        judged.payload.get("passed")?.as_bool()
    }
}
