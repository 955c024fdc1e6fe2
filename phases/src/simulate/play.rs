//! One simulated run: the core asks, the simulated agents answer, and nothing else happens.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::agents::{self, Product};
use super::policy::Policy;
use super::skill::Skill;
use super::world::World;
use crate::contract::{CriterionId, Verdict};
use crate::event::{Done, Event, Failure, FailureKind, Outcome, Record, Spent};
use crate::id::{CandidateId, TreeId};
use crate::judgement::{Assessment, Finding, Judgement, Kind};
use crate::loops::tune::{Answer, Asked, Choice, Decision, Plan, Run, Step, Tune, anchor};
use crate::loops::{Loop as _, Next};
use crate::proof::Confidence;
use crate::score::Scored;

/// What came of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// What the skill is truly worth before and after, in points.
    pub start: f64,
    pub end: f64,
    /// How often an executor was run.
    pub runs: u32,
    /// By how many points what has replaced the start is said to be better; nothing, if the start stays.
    pub claimed: Option<f64>,
}

/// Spends a budget of executor runs in a world.
pub fn play(world: &World, policy: Policy, runs: u32, confidence: Confidence) -> Played {
    play_and_tell(world, policy, runs, confidence).0
}

/// The same with all that was decided.
pub fn play_and_tell(
    world: &World,
    policy: Policy,
    runs: u32,
    confidence: Confidence,
) -> (Played, Vec<Decision>) {
    let mut play = Play::begin(world, policy.plan(world, runs, confidence));
    while !policy.is_over(&play.run) && play.go_on() {}
    let left = policy.left(&play.run);
    let start = world.truth(&world.start);
    let end = left.and_then(|left| play.skill(left.candidate)).map_or(start, |skill| world.truth(skill));
    (Played { start, end, runs: play.runs, claimed: left.map(|left| left.claimed) }, play.decisions)
}

struct Play<'a> {
    world: &'a World,
    run: Run,
    /// Each version of the skill, and what each execution has left, by their trees.
    skills: HashMap<TreeId, Skill>,
    products: HashMap<TreeId, Product>,
    /// How often each was worked on; a version by executors on each scenario.
    times: HashMap<(TreeId, Option<usize>), u32>,
    runs: u32,
    decisions: Vec<Decision>,
}

impl<'a> Play<'a> {
    fn begin(world: &'a World, plan: Plan) -> Self {
        let record = Record { seq: 0, at: Timestamp::UNIX_EPOCH, event: Event::Started(Box::new(plan)) };
        let run = Run::begin(&record).expect("the first record is a plan");
        let skills = HashMap::from([(TreeId(world.start.version()), world.start.clone())]);
        let (products, times, decisions) = (HashMap::new(), HashMap::new(), Vec::new());
        Self { world, run, skills, products, times, runs: 0, decisions }
    }

    /// Makes the next decision or takes the next step. False at the end.
    fn go_on(&mut self) -> bool {
        let event = match Tune::next(&self.run) {
            Next::Decide(decision) => Some(Ok(decision)),
            Next::Do(mut steps) => steps.next().map(Err),
            Next::End => None,
        };
        let step = match event {
            Some(Ok(decision)) => {
                self.decisions.push(decision.clone());
                self.record(Event::Decided(decision));
                return true;
            }
            Some(Err(step)) => step,
            None => return false,
        };
        let outcome = self.answer(&step);
        let attempt = self.run.attempts(&step);
        let done = Done { step, attempt, call: None, outcome, spent: Spent::default(), model: None };
        self.record(Event::Done(Box::new(done)));
        true
    }

    /// Time passes evenly.
    fn record(&mut self, event: Event<Tune>) {
        let at = self.run.updated_at + SignedDuration::from_secs(1);
        self.run.apply(&Record { seq: self.run.seq + 1, at, event });
    }

    fn skill(&self, candidate: CandidateId) -> Option<&Skill> {
        self.skills.get(self.run.candidate(candidate)?.trees.first()?)
    }

    fn answer(&mut self, step: &Step) -> Outcome<Answer> {
        let answer = self.known(step);
        answer.ok_or_else(|| Failure::new(FailureKind::UsageError, "a simulated run has no such step"))
    }

    fn known(&mut self, step: &Step) -> Option<Answer> {
        match step {
            Step::Exercise { skill, trial, .. } => self.exercise(*skill, trial.scenario),
            Step::Grade { artifacts, asked, .. } => self.grade(*artifacts.first()?, *asked),
            Step::Review { .. } => Some(judged(&[])),
            Step::Improve { base, .. } => self.improve(step, *base),
            Step::Promote { .. } => Some(Answer::Promoted),
            Step::Ask(_) => Some(Answer::Chosen(Choice::Apply)),
            Step::SetUp { .. } | Step::Inspect { .. } | Step::Check { .. } | Step::Judge { .. } => None,
        }
    }

    /// How often it was worked on before.
    fn times(&mut self, tree: TreeId, scenario: Option<usize>) -> u32 {
        let times = self.times.entry((tree, scenario)).or_default();
        *times += 1;
        *times - 1
    }

    fn exercise(&mut self, tree: TreeId, scenario: usize) -> Option<Answer> {
        let nth = self.times(tree, Some(scenario));
        let product = agents::execute(self.world, self.skills.get(&tree)?, scenario, nth);
        let artifacts = TreeId(product.id());
        self.products.insert(artifacts, product);
        self.runs += 1;
        Some(Answer::Exercised { artifacts, files: 1, skill: None, digest: None, kept: None })
    }

    /// A judge never errs about the two statements of an anchor.
    fn grade(&mut self, artifacts: TreeId, asked: Asked) -> Option<Answer> {
        let nth = self.times(artifacts, None);
        let mut verdicts = agents::judge(self.world, self.products.get(&artifacts)?, nth);
        if asked.anchor.is_some() {
            verdicts.extend([(anchor::known(true), Verdict::Pass), (anchor::known(false), Verdict::Fail)]);
        }
        Some(judged(&verdicts))
    }

    /// The improver knows what a real one is told, and nothing else.
    fn improve(&mut self, step: &Step, base: CandidateId) -> Option<Answer> {
        let request = Tune::request(&self.run, step)?;
        let missed = request.missed().iter().map(|missed| &missed.asked.id);
        let version = *self.run.candidate(base)?.trees.first()?;
        let nth = self.times(version, None);
        let skill = agents::improve(self.world, self.skills.get(&version)?, missed, nth);
        let tree = TreeId(skill.version());
        self.skills.insert(tree, skill);
        Some(Answer::Improved { tree, report: Box::default() })
    }
}

fn judged(verdicts: &[(CriterionId, Verdict)]) -> Answer {
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
    }))
}
