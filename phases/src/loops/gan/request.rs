//! A request of `gan`: one step prepared for an agent, with its prompt and the reading of its answer.

use super::answers::{self, Notes};
use super::briefs::{BuildBrief, CallKind, GanBrief, JudgeBrief, ProposeBrief, RuleBrief};
use super::inspect::ToLookAt;
use super::judgement;
use super::step::Step;
use super::test_scenario::TestScenario;
use super::{ARTIFACT, AgentRequest, GIVEN, Gan, Run, SCREENS, SITE};
use crate::asking::order::{self, Access, Command, Needs, Order, Placement};
use crate::base::role::{Rights, Role};
use crate::base::vocabulary::Vocabulary as _;

impl AgentRequest {
    pub(super) fn of(run: &Run, step: &Step) -> Option<Self> {
        let state = &run.state;
        let talked = || {
            let talk = state.negotiation.clone()?;
            Some((talk.contract(&run.plan.task.asked).ok()?, talk))
        };
        let kind = match step {
            Step::Draft => CallKind::Draft,
            Step::Propose { .. } => {
                let (contract, talk) = talked()?;
                CallKind::Propose(Box::new(ProposeBrief { contract, talk }))
            }
            Step::Rule { .. } => {
                let (contract, talk) = talked()?;
                CallKind::Rule(Box::new(RuleBrief { contract, talk }))
            }
            Step::Build { from, .. } => CallKind::Build(Box::new(BuildBrief::of(run, *from)?)),
            Step::Browse { .. } => CallKind::Browse,
            Step::Try { .. } => CallKind::Try,
            Step::Judge { artifact, reading, .. } => {
                let contract = state.contract()?.clone();
                let asked = judgement::asked(run, &contract, *artifact);
                CallKind::Judge(Box::new(JudgeBrief { contract, asked, reading: *reading }))
            }
            Step::Inspect { .. }
            | Step::Allow
            | Step::Ask { .. }
            | Step::Promote { .. }
            | Step::Commit { .. } => {
                return None;
            }
        };
        let role = Gan::role(step).unwrap_or(Role::EVALUATOR);
        let rights = if matches!(step, Step::Build { .. }) { Rights::Edit } else { Rights::Read };
        let order = Order {
            command: command(run, step),
            ..Order::new(order::step_text(step), run.attempts(step), (role, rights), placements(run, step))
        };
        // The builder's proposals with their reasons, on which its evaluator rules.
        let proposals = if let CallKind::Rule(brief) = &kind { brief.proposals() } else { &[] };
        let proposals = serde_json::to_string(proposals).expect("data has a JSON text");
        Some(Self::new(run, step, order, &[&proposals], GanBrief(kind)))
    }

    /// Returns the builder's notes on what it built.
    pub fn notes(&self, answer: &str) -> Notes {
        let CallKind::Build(brief) = &self.brief.0 else { return Notes::default() };
        answers::notes(answer, &self.code, &brief.contract)
    }
}

fn placements(run: &Run, step: &Step) -> Vec<Placement> {
    let task = &run.plan.task;
    let given = || task.materials.map(|tree| Placement::new(GIVEN, tree, Access::Fixed));
    let own = match step {
        Step::Build { from, .. } => vec![Placement::new(ARTIFACT, *from, Access::Draft)],
        Step::Judge { artifact, .. } => {
            let screens = run.screens(*artifact).map(|tree| Placement::new(SCREENS, tree, Access::Fixed));
            let artifact = Placement::new(ARTIFACT, *artifact, Access::Fixed);
            std::iter::once(artifact).chain(screens).collect()
        }
        Step::Browse { artifact } => return vec![Placement::new(SITE, *artifact, Access::Scratch)],
        Step::Try { artifact, .. } => return vec![Placement::new("", *artifact, Access::Scratch)],
        _ => Vec::new(),
    };
    own.into_iter().chain(given()).collect()
}

/// Returns the command that runs instead of an agent.
fn command(run: &Run, step: &Step) -> Option<Command> {
    let task = &run.plan.task;
    match step {
        Step::Browse { .. } => {
            let browser = task.browser.as_ref()?;
            let tests = &run.state.contract()?.test_scenarios;
            let is_ours = |test: &&TestScenario| test.command().is_none();
            let test_scenarios = tests.iter().filter(is_ours).cloned().collect();
            let (given, preview) = (task.given.clone(), browser.preview.clone());
            let look = ToLookAt { given, test_scenarios, preview, confined: browser.confined };
            let input = Some(serde_json::to_string(&look).expect("data has a JSON text").into());
            let command = Command::new(browser.argv.clone(), browser.seconds, browser.confined);
            Some(Command { input, needs: Needs::Proc, ..command })
        }
        Step::Try { scenario, .. } => {
            let test = run.state.contract()?.test_scenarios.iter().find(|test| test.id == *scenario)?;
            let argv = test.command()?.to_vec();
            let command = Command::new(argv, task.command_seconds, task.commands.confined);
            Some(Command { check: Some((0, 0)), ..command })
        }
        _ => None,
    }
}
