//! The loop `tune`. The aim of a run decides what it does next.

use super::aims::improve;
use super::results::proposing;
use super::{AgentRequest, Answer, Choice, Decision, Next, Plan, Run, Step, Tune, TuneBrief, calls};
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
        run.plan.task.aim.rules().next(run, run.state.rounds.last())
    }

    fn reopening(run: &Run) -> Option<Decision> {
        let shipment = run.state.shipment.as_ref().filter(|_| run.is_extendable())?;
        Some(Decision::LookAgain { effect: shipment.effect })
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
        improve::tail(run)
    }

    fn checked(_: &Step, result: CheckResult) -> Option<Answer> {
        Some(Answer::Checked(vec![result]))
    }

    fn fits(step: &Step, answer: &Answer) -> bool {
        matches!(
            (step, answer),
            (Step::SetUp { .. }, Answer::SetUp { .. })
                | (Step::Exercise { .. }, Answer::Exercised { .. })
                | (Step::Check { .. }, Answer::Checked(_))
                | (Step::Grade { .. } | Step::JudgeText { .. } | Step::Judge { .. }, Answer::Judged(_))
                | (Step::Improve { .. }, Answer::Improved { .. })
        )
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

    fn extensions(run: &Run) -> usize {
        run.state.extensions.made() as usize
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
