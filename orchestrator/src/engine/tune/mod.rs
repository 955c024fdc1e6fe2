//! The engine's part for `tune`: reads answers, runs the machine checks, and writes the files of the rounds.

mod blamed;
mod context;
mod diff;
mod draft;
mod set_up;
mod trial;

use skilltune_phases::base::id::Digest;
use skilltune_phases::base::role::Writes;
use skilltune_phases::loops::tune::results::state_file;
use skilltune_phases::loops::tune::trial::measure::{self, SEARCH};
use skilltune_phases::loops::tune::{AgentRequest, Answer, Decision, Round, Run, Step, Trial, Tune};
use skilltune_phases::runs::event::{Failure, FailureKind};
use skilltune_phases::skills::target::Place;

use super::files::place_tree;
use super::{AgentOutput, CommandOutput, EngineError, Extent, LoopEngine, ReadError, Services};
use crate::checks;
use crate::disk::SafePath;
use crate::snapshot::Objects;
use crate::store::RunFolder;

pub use blamed::{BlamedFile, blamed_files};
pub use context::context;
pub use diff::{Diff, edit_diff, tree_dangers, tree_diff};

/// The only trial of a round whose artifacts are shown.
const TRIAL: &str = "1";

impl LoopEngine for Tune {
    fn read(
        services: &Services,
        request: &AgentRequest,
        output: &AgentOutput<'_>,
    ) -> Result<Answer, ReadError> {
        let order = request.as_ref();
        // The rights of a call decide which output it has to leave.
        let answer = match order.rights.writes() {
            Writes::Workspace => trial::read(services, request, output),
            Writes::Nothing if output.answer.trim().is_empty() => {
                Err(Failure::new(FailureKind::Empty, "no text at all").into())
            }
            Writes::Nothing => request.read(output.answer).map_err(ReadError::from),
            Writes::Draft => draft::read(services, order, output, &request.secrets()),
        };
        answer.map_err(|error| explained(error, output.denied))
    }

    fn ran(
        services: &Services,
        request: &AgentRequest,
        ran: &CommandOutput<'_>,
    ) -> Result<Answer, ReadError> {
        set_up::read(services, request, ran)
    }

    /// The trials of a comparison are pairs.
    fn pair(step: &Step) -> Option<Digest> {
        let trial = step.trial().filter(|trial| trial.ordinal != SEARCH)?;
        let pair = format!("{} {} {}", trial.scenario, trial.ordinal, trial.era);
        Some(Digest::of(pair.as_bytes()))
    }

    fn examined(services: &Services, request: &AgentRequest, answer: Answer) -> Result<Answer, ReadError> {
        draft::examined(services, request.as_ref(), &request.secrets(), answer)
    }

    /// Only the first member starts with the scenario's files.
    fn machine_checks(objects: &Objects, run: &Run, step: &Step) -> Result<Option<Answer>, EngineError> {
        let Step::Inspect { member, trial, kept } = step else { return Ok(None) };
        let start = kept.began.or_else(|| measure::starting(run, trial.scenario));
        let start = start.filter(|_| *member == Place(0));
        let mut checks = run.plan.task.checks_of(trial.scenario, *member);
        Ok(Some(Answer::Checked(checks::tell(objects, start, kept.left, kept.evidence, &mut checks)?)))
    }

    /// Decisions at the end of a round do.
    fn changes_files(decision: &Decision) -> bool {
        match decision {
            Decision::Open { .. } | Decision::Scored(_) | Decision::Draft(_) | Decision::NoDraft { .. } => {
                true
            }
            Decision::Calibrate(_)
            | Decision::Keep(_)
            | Decision::Drop { .. }
            | Decision::Target { .. }
            | Decision::Focus(_)
            | Decision::Turn(_)
            | Decision::Stop(_)
            | Decision::Compare { .. }
            | Decision::LookAgain { .. }
            | Decision::Dismiss { .. }
            | Decision::Consult { .. }
            | Decision::Retry { .. }
            | Decision::Ship(_)
            | Decision::Close(_) => false,
        }
    }

    /// Writes the artifacts of the rounds that were measured.
    fn project(objects: &Objects, folder: &RunFolder, run: &Run, extent: Extent) -> Result<(), EngineError> {
        for round in extent.of(&run.state.rounds).iter().filter(|round| round.measured.is_some()) {
            place_round(objects, &folder.iteration(round.number).join("artifacts"), run, round)?;
        }
        Ok(())
    }

    fn state(run: &Run) -> String {
        state_file::text(run)
    }
}

/// Writes `artifacts/<skill>/<scenario>/<trial>/`, as the trials of the round left them.
fn place_round(objects: &Objects, place: &SafePath, run: &Run, round: &Round) -> Result<(), EngineError> {
    let Some(candidate) = run.candidate(round.candidate) else { return Ok(()) };
    let tried = measure::tried(&run.plan);
    for &scenario in round.scenarios.iter().filter(|scenario| tried.contains(scenario)) {
        let trial = Trial { scenario, ordinal: SEARCH, era: round.era };
        let left = measure::artifacts(run, candidate, trial);
        for (member, tree) in run.plan.task.target.members.iter().zip(left) {
            let into = place.join(&*member.name).join(&*run.plan.task.scenarios[scenario].id);
            place_tree(objects, tree, &into, TRIAL)?;
        }
    }
    Ok(())
}

/// Turns an unreadable answer into a denied tool, if the agent was denied one.
fn explained(error: ReadError, denied: &[String]) -> ReadError {
    match error {
        ReadError::Agent(Failure { kind: FailureKind::Empty | FailureKind::OffSchema, why, .. })
            if !denied.is_empty() =>
        {
            let why = format!("it was denied {}: {why}", denied.join(", "));
            Failure::new(FailureKind::DeniedTool, why).into()
        }
        error => error,
    }
}
