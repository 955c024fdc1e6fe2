//! One simulated run: the core asks, the simulated agents answer, and nothing else happens.

use jiff::{SignedDuration, Timestamp};
use skilltune_phases::base::id::{CandidateId, TreeId};
use skilltune_phases::judging::contract::{CriterionId, Verdict};
use skilltune_phases::judging::judgement::{Assessment, Finding, Judgement, Kind};
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::Scored;
use skilltune_phases::loops::tune::{
    Answer, Asked, Choice, Decision, Edit, Improver, Plan, Run, Step, Tune, anchor,
};
use skilltune_phases::loops::{Loop as _, Next};
use skilltune_phases::runs::event::{Done, Event, Failure, FailureKind, Outcome, Record, Spent};
use skilltune_phases::skills::edit::EditKind;
use skilltune_phases::skills::target::Place;

use super::chain::Chain;
use super::policy::Policy;
use super::skill::Skill;
use super::workshop::{Judged, Workshop};
use super::world::World;

/// The outcome of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// The true worth of the skill before and after, in points.
    pub start: f64,
    pub end: f64,
    /// The number of executor runs.
    pub runs: u32,
    /// The claimed gain of the replacement in points; `None` if the start stays.
    pub claimed: Option<f64>,
    /// Whether its first edit was of the broken member; `None` if no member is broken or nothing was edited.
    pub broken_first: Option<bool>,
}

/// Spends a budget of executor runs in a world.
pub fn play(world: &World, policy: Policy, runs: u32, confidence: Confidence) -> Played {
    play_and_tell(world, policy, runs, confidence).0
}

/// Spends a budget of executor runs in a world and returns all decisions too.
pub fn play_and_tell(
    world: &World,
    policy: Policy,
    runs: u32,
    confidence: Confidence,
) -> (Played, Vec<Decision>) {
    let mut workshop = Workshop::of(world);
    let mut play = Play::begin(world, &mut workshop, policy, policy.plan(world, runs, confidence));
    while !policy.is_over(&play.run) && play.go_on() {}
    let (left, decisions) = (policy.left(&play.run), std::mem::take(&mut play.decisions));
    let trees = left.and_then(|left| play.run.candidate(left.candidate)).map(|one| one.trees.clone());
    let broken_first = broken_first(world, &play.run);
    let start = world.truth(&world.start);
    let skills = |trees: Vec<TreeId>| trees.into_iter().map(|tree| workshop.skill(tree).cloned()).collect();
    let skills: Option<Vec<Skill>> = trees.and_then(skills);
    let end = skills.map_or(start, |skills| world.truth(&skills));
    let claimed = left.map(|left| left.claimed);
    (Played { start, end, runs: workshop.runs(), claimed, broken_first }, decisions)
}

fn broken_first(world: &World, run: &Run) -> Option<bool> {
    let broken = world.law.broken.checked_sub(1)?;
    run.state.rounds.iter().find_map(|round| match &round.edit {
        Some(Edit::Draft { origin, .. }) => Some(origin.member.0 == broken),
        Some(Edit::Nothing { .. }) | None => None,
    })
}

/// A run of the core in a world, with the agents of a workshop.
pub(super) struct Play<'a> {
    world: &'a World,
    workshop: &'a mut Workshop,
    policy: Policy,
    pub(super) run: Run,
    decisions: Vec<Decision>,
}

impl<'a> Play<'a> {
    pub(super) fn begin(world: &'a World, workshop: &'a mut Workshop, policy: Policy, plan: Plan) -> Self {
        let record = Record { seq: 0, at: Timestamp::UNIX_EPOCH, event: Event::Started(Box::new(plan)) };
        let run = Run::begin(&record).expect("the first record is a plan");
        Self { world, workshop, policy, run, decisions: Vec::new() }
    }

    /// Makes the next decision or takes the next step. Returns false at the end.
    pub(super) fn go_on(&mut self) -> bool {
        let event = match Tune::next(&self.run) {
            Next::Decide(decision) => Some(Ok(decision)),
            Next::Do(mut steps) => steps.next().map(Err),
            Next::End => None,
        };
        let step = match event {
            Some(Ok(decision)) => {
                let decision = self.policy.decides(&self.run, decision);
                self.decisions.push(decision.clone());
                self.record(Event::Decided(decision));
                return true;
            }
            Some(Err(step)) => step,
            None => return false,
        };
        let outcome = self.answer(&step);
        let attempt = self.run.attempts(&step);
        let done = Done {
            step,
            attempt,
            call: None,
            outcome,
            spent: Spent::default(),
            model: None,
            windows: Vec::new(),
            machine: None,
        };
        self.record(Event::Done(Box::new(done)));
        true
    }

    /// Records an event. Time passes evenly.
    fn record(&mut self, event: Event<Tune>) {
        let at = self.run.updated_at + SignedDuration::from_secs(1);
        self.run.apply(&Record { seq: self.run.seq + 1, at, event });
    }

    fn tree(&self, candidate: CandidateId, member: Place) -> Option<TreeId> {
        self.run.candidate(candidate)?.trees.get(member.0).copied()
    }

    fn answer(&mut self, step: &Step) -> Outcome<Answer> {
        let answer = self.known(step);
        answer.ok_or_else(|| Failure::new(FailureKind::UsageError, "a simulated run has no such step"))
    }

    fn known(&mut self, step: &Step) -> Option<Answer> {
        match step {
            Step::Exercise { skill, trial, input, .. } => self.exercise(*skill, *input, trial.scenario),
            Step::Grade { artifacts, asked, .. } => self.grade(artifacts, *asked),
            Step::JudgeText { .. } => Some(judged(&[], &[])),
            Step::Improve { base, member, by, .. } => self.improve(step, self.tree(*base, *member)?, *by),
            Step::Promote { .. } => Some(Answer::Promoted),
            Step::Ask(_) => Some(Answer::Chosen(Choice::Apply)),
            Step::SetUp { .. }
            | Step::Inspect { .. }
            | Step::Check { .. }
            | Step::Judge { .. }
            | Step::Propose { .. } => None,
        }
    }

    fn exercise(&mut self, tree: TreeId, input: Option<TreeId>, scenario: usize) -> Option<Answer> {
        let artifacts = self.workshop.execute(self.world, tree, input, scenario)?;
        Some(Answer::Exercised { artifacts, files: 1, skill: None, digest: None, kept: None, opened: None })
    }

    /// A judge never errs about the two statements of an anchor.
    fn grade(&mut self, artifacts: &[TreeId], asked: Asked) -> Option<Answer> {
        let Judged { mut verdicts, at_fault } = self.workshop.judge(self.world, artifacts)?;
        if asked.anchor.is_some() {
            verdicts.extend([(anchor::known(true), Verdict::Pass), (anchor::known(false), Verdict::Fail)]);
        }
        Some(judged(&verdicts, &at_fault))
    }

    /// The improver gets the same information as a real one, and nothing else.
    fn improve(&mut self, step: &Step, base: TreeId, by: Improver) -> Option<Answer> {
        let request = Tune::request(&self.run, step)?;
        let missed = request.missed().iter().map(|missed| &missed.asked.id);
        let tree = self.workshop.improve(self.world, base, missed, by)?;
        // The text of a simulated skill is its set of facets.
        Some(Answer::Improved {
            tree,
            report: Box::default(),
            kinds: vec![EditKind::Wording],
            dangers: Vec::new(),
        })
    }
}

fn judged(verdicts: &[(CriterionId, Verdict)], at_fault: &[(CriterionId, usize)]) -> Answer {
    let finding = |(criterion, verdict)| Finding { criterion, verdict, evidence: "" };
    let findings = verdicts.iter().map(|(criterion, verdict)| finding((criterion, *verdict))).collect();
    let scored = Scored { composite: None, dimensions: Vec::new() };
    Answer::Judged(Box::new(Judgement {
        kind: Kind::Evidenced,
        whole: Assessment { findings, scored },
        members: std::collections::BTreeMap::new(),
        strengths: Vec::new(),
        weaknesses: Vec::new(),
        suggestions: Vec::new(),
        claim: None,
        at_fault: at_fault
            .iter()
            .map(|(id, member)| (id.clone(), Chain::name(*member).as_str().into()))
            .collect(),
    }))
}
