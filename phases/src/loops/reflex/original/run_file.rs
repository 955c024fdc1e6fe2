//! `run.json`: the state of one run.

use jiff::Timestamp;
use serde::Serialize;

use super::fraction::Fraction;
use super::lenient::{Doubt, Fields, Unreadable, object, seconds};
use super::name::Alias;
use super::parts::{Criteria, Critique, Evaluation, PreparedChecks, Stop, Task};
use super::words::{Phase, Status, Step, Word};

/// What we write: all of it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunFile {
    pub run_id: String,
    pub task_alias: Alias,
    pub status: Status,
    pub iteration: u32,
    pub max_iterations: u32,
    pub phase: Phase,
    pub current_step: Step,
    pub task: Task,
    pub criteria: Criteria,
    pub plan: Vec<String>,
    pub prepared_checks: Option<PreparedChecks>,
    pub evaluation: Option<Evaluation>,
    pub critique: Option<Critique>,
    pub stop: Stop,
    /// 0 before anything was judged.
    pub last_score: Fraction,
    pub stagnation_count: u32,
    #[serde(serialize_with = "seconds")]
    pub created_at: Timestamp,
    #[serde(serialize_with = "seconds")]
    pub updated_at: Timestamp,
    /// No limit when absent.
    pub max_completed_phase_seconds: Option<u64>,
    pub completed_phase_seconds: u64,
    /// Since 1970; absent between the phases.
    pub phase_started_epoch_seconds: Option<u64>,
}

/// What was read: any of it may be missing, and words may be new to us.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundRun {
    pub run_id: Option<String>,
    pub task_alias: Option<String>,
    pub status: Option<Word<Status>>,
    pub iteration: Option<u32>,
    pub max_iterations: Option<u32>,
    pub phase: Option<Phase>,
    pub current_step: Option<Word<Step>>,
    pub task: Option<Task>,
    pub criteria: Option<Criteria>,
    pub plan: Option<Vec<String>>,
    pub prepared_checks: Option<PreparedChecks>,
    pub evaluation: Option<Evaluation>,
    pub critique: Option<Critique>,
    pub stop: Option<Stop>,
    pub last_score: Option<Fraction>,
    pub stagnation_count: Option<u32>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub max_completed_phase_seconds: Option<u64>,
    pub completed_phase_seconds: Option<u64>,
    pub phase_started_epoch_seconds: Option<u64>,
    /// What stands there and could not be read.
    #[serde(skip)]
    pub doubts: Vec<Doubt>,
}

impl RunFile {
    /// The file's text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("it has a JSON text") + "\n"
    }
}

/// The run in a `run.json`, as far as it can be told.
pub fn read_run(bytes: &[u8]) -> Result<FoundRun, Unreadable> {
    let (object, mut doubts) = (object(bytes)?, Vec::new());
    let mut run = FoundRun::read(&mut Fields::of(&object, &mut doubts));
    run.doubts = doubts;
    Ok(run)
}

impl FoundRun {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            run_id: fields.text("run_id"),
            task_alias: fields.text("task_alias"),
            status: fields.word("status"),
            iteration: fields.count("iteration"),
            max_iterations: fields.count("max_iterations"),
            phase: fields.known("phase"),
            current_step: fields.word("current_step"),
            task: fields.within("task", Task::read),
            criteria: fields.within("criteria", Criteria::read),
            plan: fields.texts("plan"),
            prepared_checks: PreparedChecks::read(fields, "prepared_checks"),
            evaluation: fields.within("evaluation", Evaluation::read),
            critique: fields.within("critique", Critique::read),
            stop: fields.within("stop", Stop::read),
            last_score: fields.fraction("last_score"),
            stagnation_count: fields.count("stagnation_count"),
            created_at: fields.time("created_at"),
            updated_at: fields.time("updated_at"),
            max_completed_phase_seconds: fields.positive("max_completed_phase_seconds"),
            completed_phase_seconds: fields.count("completed_phase_seconds"),
            phase_started_epoch_seconds: fields.count("phase_started_epoch_seconds"),
            doubts: Vec::new(),
        }
    }

    /// The fields that every run has and this one does not tell. Those that may well be empty are not among them.
    pub fn unknown(&self) -> Vec<&'static str> {
        let told = [
            ("run_id", self.run_id.is_some()),
            ("task_alias", self.task_alias.is_some()),
            ("status", self.status.is_some()),
            ("iteration", self.iteration.is_some()),
            ("max_iterations", self.max_iterations.is_some()),
            ("phase", self.phase.is_some()),
            ("current_step", self.current_step.is_some()),
            ("task", self.task.is_some()),
            ("criteria", self.criteria.is_some()),
            ("plan", self.plan.is_some()),
            ("stop", self.stop.is_some()),
            ("last_score", self.last_score.is_some()),
            ("stagnation_count", self.stagnation_count.is_some()),
            ("created_at", self.created_at.is_some()),
            ("updated_at", self.updated_at.is_some()),
        ];
        told.into_iter().filter(|(_, is_told)| !is_told).map(|(field, _)| field).collect()
    }
}
