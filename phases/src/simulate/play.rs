//! One simulated run: the core asks, the simulated agents answer, and nothing else happens.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::agents;
use super::plan::start;
use super::policy::Policy;
use super::skill::Skill;
use super::world::{Shown, World};
use crate::contract::{CriterionId, Verdict};
use crate::event::{Done, Event, Failure, FailureKind, Outcome, Record, Spent};
use crate::id::{CandidateId, Digest, TreeId};
use crate::judgement::{Assessment, Finding, Judgement, Kind};
use crate::loops::tune::{Answer, Asked, Choice, Plan, Run, Step, Tune, anchor};
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
    let mut play = Play::begin(world, policy.plan(world, runs, confidence));
    while !policy.is_over(&play.run) && play.go_on() {}
    let left = policy.left(&play.run);
    let start = world.truth(&world.start);
    let end = left.and_then(|left| play.skill(left.candidate)).map_or(start, |skill| world.truth(skill));
    Played { start, end, runs: play.runs, claimed: left.map(|left| left.claimed) }
}

struct Play<'a> {
    world: &'a World,
    run: Run,
    /// What each version of the skill is, and what each execution has shown, by their trees.
    skills: HashMap<TreeId, Skill>,
    shown: HashMap<TreeId, Shown>,
    runs: u32,
}

impl<'a> Play<'a> {
    fn begin(world: &'a World, plan: Plan) -> Self {
        let record = Record { seq: 0, at: Timestamp::UNIX_EPOCH, event: Event::Started(Box::new(plan)) };
        let run = Run::begin(&record).expect("the first record is a plan");
        let skills = HashMap::from([(start(), world.start.clone())]);
        Self { world, run, skills, shown: HashMap::new(), runs: 0 }
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
            Step::Exercise { skill, trial, .. } => self.exercise(*skill, trial.scenario, trial.ordinal),
            Step::Grade { trial, artifacts, asked, .. } => {
                self.grade(trial.scenario, *artifacts.first()?, *asked)
            }
            Step::Review { .. } => Some(judged(&[])),
            Step::Improve { round, base, .. } => self.improve(step, *base, *round),
            Step::Promote { .. } => Some(Answer::Promoted),
            Step::Ask(_) => Some(Answer::Chosen(Choice::Apply)),
            Step::SetUp { .. } | Step::Inspect { .. } | Step::Check { .. } | Step::Judge { .. } => None,
        }
    }

    fn exercise(&mut self, tree: TreeId, scenario: usize, ordinal: u32) -> Option<Answer> {
        let of = [&tree.0.as_bytes()[..], &(scenario as u64).to_le_bytes(), &ordinal.to_le_bytes()];
        let (artifacts, mut draw) = (TreeId(Digest::of_parts(of)), self.world.draw("execute", &of));
        let shown = agents::execute(self.world, self.skills.get(&tree)?, scenario, &mut draw);
        self.shown.insert(artifacts, shown);
        self.runs += 1;
        Some(Answer::Exercised { artifacts, files: 1, skill: None, digest: None, kept: None })
    }

    /// A judge who is asked again errs anew, but never about the two statements of an anchor.
    fn grade(&self, scenario: usize, artifacts: TreeId, asked: Asked) -> Option<Answer> {
        let look = asked.anchor.map_or(0, |look| look as u64 + 1).to_le_bytes();
        let mut draw = self.world.draw("judge", &[artifacts.0.as_bytes(), &[asked.seat as u8], &look]);
        let mut verdicts = agents::judge(self.world, scenario, *self.shown.get(&artifacts)?, &mut draw);
        if asked.anchor.is_some() {
            verdicts.extend([(anchor::known(true), Verdict::Pass), (anchor::known(false), Verdict::Fail)]);
        }
        Some(judged(&verdicts))
    }

    /// The improver knows what a real one is told, and nothing else.
    fn improve(&mut self, step: &Step, base: CandidateId, round: u32) -> Option<Answer> {
        let request = Tune::request(&self.run, step)?;
        let missed = request.missed().iter().map(|missed| &missed.asked.id);
        let missed: Vec<_> = missed.filter_map(|id| self.world.statement(id)).collect();
        let of = [&base.0.as_bytes()[..], &round.to_le_bytes()];
        let (tree, mut draw) = (TreeId(Digest::of_parts(of)), self.world.draw("improve", &of));
        let skill = agents::improve(self.world, self.skill(base)?, &missed, &mut draw);
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
