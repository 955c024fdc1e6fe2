//! A world that answers the steps of `tune` without doing anything.
//!
//! Its answers are a pure function of a seed and the step, so that two runs differ only in the order of arrival.
#![expect(clippy::unnecessary_wraps, reason = "answers and failures of a scripted world have one type")]

use skilltune_phases::contract::{Contract, Criterion, Dimension};
use skilltune_phases::delivery::Delivery;
use skilltune_phases::event::FailureKind;
use skilltune_phases::id::{CandidateId, Digest};
use skilltune_phases::judgement::{Assessment, Findings, Judgement, Kind};
use skilltune_phases::loops::tune::{Answer, Apply, Choice, Outcome, Plan, Rules, Run, Step, Task, Tune};
use skilltune_phases::plan::{FORMAT, LoopKind};
use skilltune_phases::prompt::Prompts;
use skilltune_phases::scenario::{Scenario, Tools};
use skilltune_phases::score::{Score, Scored};
use skilltune_phases::stop::{Budget, Stall};
use skilltune_phases::target::{Member, Mode, Target};

use crate::drive::{self, roles};

pub(crate) use crate::drive::{failed, tree};

pub(crate) type Drive = drive::Drive<Tune>;

pub(crate) fn plan(members: usize, scenarios: usize) -> Plan {
    let member = |nth: usize| Member {
        name: format!("skill-{nth}").parse().expect("a plain name"),
        path: format!("/skills/skill-{nth}"),
        start: tree(&format!("start {nth}")),
        files: vec!["SKILL.md".into()],
        has_scripts: false,
    };
    Plan {
        format: FORMAT,
        program: "0.0.0".into(),
        run: "test".parse().expect("a plain id"),
        kind: LoopKind::Tune,
        folder: "/project/.skilltune/runs/test".into(),
        task: Task {
            target: Target {
                mode: if members > 1 { Mode::Chain } else { Mode::Single },
                members: (0..members).map(member).collect(),
            },
            scenarios: (0..scenarios).map(scenario).collect(),
            contract: contract(),
            rules: rules(),
            delivery: Delivery::Inline,
            tools: Tools::Files,
            apply: Apply::Auto,
            confined: true,
            prompts: Prompts::default(),
        },
        roles: roles(),
        seed: 7,
        epoch: 0,
    }
}

fn scenario(nth: usize) -> Scenario {
    let id = format!("scenario-{nth}").parse().expect("a plain name");
    Scenario { success_criteria: String::new(), ..Scenario::new(id, format!("task {nth}")) }
}

fn rules() -> Rules {
    Rules {
        max_iterations: 5,
        threshold: points(90.0),
        regress: 10.0,
        stall: Stall { window: 2, gain: 2.0, reaching: false },
        max_errors: 3,
        confirm: 1,
        coverage: 0.8,
        budget: Budget::default(),
    }
}

fn contract() -> Contract {
    Contract {
        dimensions: vec![Dimension { id: "quality".into(), name: "Quality".into(), weight: 1.0 }],
        criteria: vec![Criterion {
            id: "quality.so".into(),
            dimension: "quality".into(),
            text: "Is it so?".into(),
            of_effect: false,
        }],
    }
}

pub(crate) fn points(points: f64) -> Score {
    Score::new(points).expect("a score of the tests is one")
}

/// A judgement whose whole has just this score, and each member too.
pub(crate) fn judged(run: &Run, whole: usize, members: &[usize]) -> Outcome {
    let assess = |score: usize| {
        let score = u32::try_from(score).ok().map(f64::from).and_then(Score::new);
        let scored = Scored { composite: score, dimensions: vec![("quality".into(), score)] };
        Assessment { findings: Findings::none(), scored }
    };
    let names = run.plan.task.target.members.iter().map(|member| member.name.to_string());
    Ok(Answer::Judged(Box::new(Judgement {
        kind: Kind::Evidenced,
        whole: assess(whole),
        members: names.zip(members.iter().map(|&passes| assess(passes))).collect(),
        strengths: Vec::new(),
        weaknesses: Vec::new(),
        suggestions: Vec::new(),
        claim: None,
    })))
}

pub(crate) fn ran(name: &str) -> Outcome {
    Ok(Answer::Exercised { artifacts: tree(name), files: 1, skill: None, digest: None })
}

pub(crate) fn improved(name: &str) -> Outcome {
    Ok(Answer::Improved { tree: tree(name), report: Box::default() })
}

/// All goes well, and whatever is judged has this score.
pub(crate) fn well(run: &Run, step: &Step, score: usize) -> Outcome {
    match step {
        Step::SetUp { scenario, .. } => Ok(Answer::SetUp { tree: tree(&format!("start {scenario}")) }),
        Step::Exercise { skill, .. } => ran(&skill.to_string()),
        Step::Judge { .. } => judged(run, score, &[]),
        Step::Improve { round, .. } => improved(&format!("draft {round}")),
        Step::Ask(_) => Ok(Answer::Chosen(Choice::Keep)),
        Step::Promote { .. } => Ok(Answer::Promoted),
    }
}

/// The how-manieth candidate of the run this is; the start is the first.
pub(crate) fn nth(run: &Run, candidate: CandidateId) -> usize {
    run.state.candidates.iter().position(|known| known.id == candidate).expect("it is a candidate of the run")
}

/// Answers drawn from a seed and the step alone, with failures among them.
pub(crate) fn random_answer(seed: u64, run: &Run, step: &Step) -> Outcome {
    random_answer_at(seed, run, step, run.attempts(step))
}

pub(crate) fn random_answer_at(seed: u64, run: &Run, step: &Step, attempt: u32) -> Outcome {
    let key = serde_json::to_vec(step).expect("a step has a JSON text");
    let digest = Digest::of_parts([seed.to_le_bytes().as_slice(), &key, &attempt.to_le_bytes()]);
    let roll = |nth: usize| usize::from(digest.as_bytes()[nth]);
    if roll(0) < 30 {
        return failed([FailureKind::TimedOut, FailureKind::OffSchema, FailureKind::Gate][roll(1) % 3]);
    }
    match step {
        Step::SetUp { .. } => Ok(Answer::SetUp { tree: tree(&digest.hex()) }),
        Step::Exercise { .. } => ran(&digest.hex()),
        Step::Judge { .. } => judged(run, 40 + roll(2) % 60, &[roll(3) % 100, roll(4) % 100, roll(5) % 100]),
        Step::Improve { .. } => improved(&format!("draft {}", roll(6) % 5)),
        Step::Ask(_) => Ok(Answer::Chosen(if roll(7) % 2 == 0 { Choice::Apply } else { Choice::Keep })),
        Step::Promote { .. } if roll(8) % 4 == 0 => Ok(Answer::Conflict { found: vec![tree("theirs")] }),
        Step::Promote { .. } => Ok(Answer::Promoted),
    }
}
