//! The next steps of `tune`: what a run of each aim does, until it ends.

use super::aims::{calibration, comparison, regrade};
use super::results::proposing;
use super::search::{drafting, rounds};
use super::trial::measure;
use super::{
    AgentRequest, Aim, Answer, Choice, Decision, Ending, Next, Plan, Round, Run, Search, Step, Tune,
    TuneBrief, calls,
};
use crate::base::id::TreeId;
use crate::base::role::{Role, RoleSpec};
use crate::loops::shared::request::Brief;
use crate::loops::shared::step::{Handover, Shared};
use crate::loops::{Expected, Loop, MostCalls, Offer};
use crate::runs::plan::LoopKind;
use crate::runs::run::Fold as _;
use crate::suites::checks::CheckResult;
use crate::suites::scenario::Scenario;

impl Loop for Tune {
    const KIND: LoopKind = LoopKind::Tune;
    const OFFERS: &'static [Offer] =
        &[Offer::new("apply", "replace the skill"), Offer::new("keep", "leave the skill unchanged")];

    type Brief = TuneBrief;

    const CODE: &'static [u8] = b"verdict";

    fn next(run: &Run) -> Next<'_> {
        if run.state.closed.is_some() {
            return Next::End;
        }
        if run.state.stopped.is_some() {
            return comparison::finish(run);
        }
        match (&run.plan.task.aim, run.state.rounds.last()) {
            (Aim::Compare(_), round) => {
                regrade::control(run, round).unwrap_or_else(|| comparison::finish(run))
            }
            (Aim::Improve | Aim::Try { .. } | Aim::Calibrate { .. }, None) => Next::Decide(first_round(run)),
            (Aim::Improve, Some(round)) => match run.plan.task.rules.search {
                Search::Rounds => rounds::search(run, round),
                Search::Draft { .. } => drafting::search(run, round),
            },
            (Aim::Try { .. } | Aim::Calibrate { .. }, Some(round)) => try_once(run, round),
        }
    }

    fn brief(brief: &TuneBrief) -> &dyn Brief<Self> {
        brief
    }

    fn request(run: &Run, step: &Step) -> Option<AgentRequest> {
        AgentRequest::of(run, step)
    }

    fn shared(run: &Run, step: &Step) -> Option<Shared> {
        proposing::shared(run, step)
    }

    fn of_handover(handover: Handover) -> Option<Answer> {
        Some(match handover {
            Handover::Promoted => Answer::Promoted,
            Handover::Conflict { found } => Answer::Conflict { found },
            Handover::Proposed(proposal) => Answer::Proposed(proposal),
            Handover::NotProposed { why } => Answer::NotProposed { why },
        })
    }

    fn is_yes(answer: &Answer) -> bool {
        *answer == Answer::Chosen(Choice::Apply)
    }

    fn tail(run: &Run) -> Vec<Step> {
        comparison::tail(run)
    }

    fn checked(_: &Step, result: CheckResult) -> Option<Answer> {
        Some(Answer::Checked(vec![result]))
    }

    fn trees(answer: &Answer) -> Vec<TreeId> {
        answer.trees()
    }

    fn run_trees(run: &Run) -> Vec<TreeId> {
        let brought = run.plan.task.scenarios.iter().flat_map(Scenario::trees);
        let candidates = run.state.candidates.iter().flat_map(|candidate| candidate.trees.iter().copied());
        let plugins =
            run.plan.task.target.members.iter().filter_map(|member| Some(member.plugin.as_ref()?.tree));
        candidates.chain(brought).chain(plugins).collect()
    }

    fn most_calls(plan: &Plan) -> MostCalls {
        calls::most(plan)
    }

    fn expected_calls(plan: &Plan) -> Option<Expected> {
        calls::expected(plan)
    }

    fn callable(plan: &Plan) -> Vec<RoleSpec> {
        let is_called = |role: &Role| Self::most_calls(plan).get(role).is_some_and(|most| *most > 0);
        let all = Self::roles(plan).into_iter();
        all.filter(|spec| plan.task.regraded().is_none() || is_called(&spec.role)).collect()
    }
}

fn first_round(run: &Run) -> Decision {
    let scenarios = match run.plan.task.aim {
        Aim::Improve if run.plan.task.rules.search != Search::Rounds => drafting::first(&run.plan),
        Aim::Improve | Aim::Try { .. } | Aim::Calibrate { .. } | Aim::Compare(_) => Vec::new(),
    };
    Decision::Open { round: 1, candidate: run.start(), scenarios }
}

/// Measures the target once, without improving or comparing anything.
fn try_once<'a>(run: &'a Run, round: &Round) -> Next<'a> {
    match &round.measured {
        None => measure::next(run, round.candidate),
        Some(_) if run.state.visible.is_none() && matches!(run.plan.task.aim, Aim::Calibrate { .. }) => {
            Next::Decide(Decision::Calibrate(Box::new(calibration::visible(run))))
        }
        Some(_) => Next::Decide(Decision::Close(Ending::Exercised)),
    }
}
