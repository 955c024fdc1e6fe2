//! A world that answers the steps of `tune` without doing anything.
//!
//! Its answers are a pure function of a seed and the step, so that two runs differ only in the order of arrival.
#![expect(clippy::unnecessary_wraps, reason = "answers and failures of a scripted world have one type")]

pub mod pages;

use skilltune_phases::asking::prompt::Prompts;
use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::id::{CandidateId, Digest, TreeId};
use skilltune_phases::judging::contract::{Contract, Criterion, CriterionId, Dimension, Verdict};
use skilltune_phases::judging::judgement::{Assessment, Finding, Findings, Judgement, Kind};
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::{Score, Scored};
use skilltune_phases::judging::stop::Stall;
use skilltune_phases::loops::tune::{
    Aim, Answer, Apply, Choice, FailOn, Kept, Outcome, Plan, Rules, Run, Search, Step, Task, Trial, Tune,
};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::runs::proposal::Proposal;
use skilltune_phases::skills::edit::{EditKind, EditReport};
use skilltune_phases::skills::target::{Member, Mode, Place, Target};
use skilltune_phases::suites::checks::{Check, CheckResult, How, Times};
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::{Scenario, Tools};

use crate::drive::{self, plan_of, roles};

pub use crate::drive::{failed, points, tree};

pub type Drive = drive::Drive<Tune>;

pub fn plan(members: usize, scenarios: usize) -> Plan {
    let named = |nth: usize| {
        let name = format!("skill-{nth}");
        member(&name, &format!("/skills/{name}"), tree(&format!("start {nth}")))
    };
    let scenario = |nth: usize| scenario(&format!("scenario-{nth}"), &format!("task {nth}"));
    let task = task((0..members).map(named).collect(), (0..scenarios).map(scenario).collect());
    plan_of("/project", "test", task, roles())
}

/// Improves these skills by rounds that try all scenarios.
pub fn task(members: Vec<Member>, scenarios: Vec<Scenario>) -> Task {
    let mode = if members.len() > 1 { Mode::Chain } else { Mode::Single };
    Task {
        aim: Aim::Improve,
        target: Target { mode, members },
        scenarios,
        suite: None,
        held_out_uses: 0,
        seen: Vec::new(),
        contract: contract(),
        rules: rules(),
        delivery: Delivery::Inline,
        tools: Tools::Files,
        apply: Apply::Auto,
        fail_on: FailOn::default(),
        confined: true,
        prompts: Prompts::default(),
    }
}

pub fn member(name: &str, path: &str, start: TreeId) -> Member {
    Member {
        name: name.parse().expect("a plain name"),
        path: path.into(),
        start,
        files: vec!["SKILL.md".into()],
        has_scripts: false,
        too_long: None,
        hidden: Vec::new(),
        links_outside: Vec::new(),
        plugin: None,
    }
}

pub fn scenario(id: &str, description: &str) -> Scenario {
    Scenario::new(id.parse().expect("a plain name"), description)
}

fn rules() -> Rules {
    Rules {
        max_iterations: 5,
        threshold: points(90.0),
        regress: 10.0,
        stall: Stall { window: 2, gain: 2.0, reaching: false },
        max_errors: 3,
        confirm: 1,
        confidence: Confidence::default(),
        extensions: 0,
        coverage: 0.8,
        search: Search::Rounds,
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
            needs: None,
        }],
    }
}

/// Returns a judgement that gives these scores to the whole and to each member.
pub fn judged(run: &Run, whole: usize, members: &[usize]) -> Outcome {
    let assess = |score: usize| {
        let score = u32::try_from(score).ok().map(f64::from).and_then(Score::new);
        let scored = Scored { composite: score, dimensions: vec![("quality".into(), score)] };
        Assessment { findings: Findings::none(), scored }
    };
    let members = members.iter().map(|&score| assess(score));
    Ok(Answer::Judged(Box::new(judgement(run, assess(whole), members))))
}

/// Returns a judgement without a word about it.
fn judgement(run: &Run, whole: Assessment, members: impl Iterator<Item = Assessment>) -> Judgement {
    let names = run.plan.task.target.members.iter().map(|member| member.name.to_string());
    Judgement {
        kind: Kind::Evidenced,
        whole,
        members: names.zip(members).collect(),
        strengths: Vec::new(),
        weaknesses: Vec::new(),
        suggestions: Vec::new(),
        claim: None,
        at_fault: std::collections::BTreeMap::new(),
    }
}

pub fn ran(name: &str) -> Outcome {
    Ok(Answer::Exercised {
        artifacts: tree(name),
        files: 1,
        skill: None,
        digest: None,
        kept: None,
        opened: None,
    })
}

pub fn improved(name: &str) -> Outcome {
    edited(name, EditReport::default())
}

fn edited(name: &str, report: EditReport) -> Outcome {
    let kinds = vec![EditKind::Wording];
    Ok(Answer::Improved { tree: tree(name), report: Box::new(report), kinds, dangers: Vec::new() })
}

/// Does the same and keeps more of the trial for its checks.
pub fn ran_and_kept(name: &str) -> Outcome {
    let kept = Kept {
        left: tree(&format!("left of {name}")),
        evidence: tree(&format!("evidence of {name}")),
        began: None,
    };
    let artifacts = tree(name);
    Ok(Answer::Exercised { artifacts, files: 1, skill: None, digest: None, kept: Some(kept), opened: None })
}

/// Returns a judge's verdicts on each statement of a scenario.
pub fn stated(run: &Run, scenario: usize, verdict: impl Fn(usize) -> Verdict) -> Outcome {
    stating(judged(run, 50, &[]), run, scenario, verdict)
}

/// Puts these verdicts into a judgement of the whole.
fn stating(judged: Outcome, run: &Run, scenario: usize, verdict: impl Fn(usize) -> Verdict) -> Outcome {
    let scenario = &run.plan.task.scenarios[scenario];
    let statements = scenario.demands.iter().filter(|demand| demand.how.question().is_some());
    let ids: Vec<_> = statements.map(|demand| scenario.criterion(demand)).collect();
    let found = ids.iter().enumerate().map(|(nth, criterion)| Finding {
        criterion,
        verdict: verdict(nth),
        evidence: "seen",
    });
    let Ok(Answer::Judged(mut judgement)) = judged else { unreachable!("it was judged") };
    judgement.whole.findings = found.collect();
    Ok(Answer::Judged(judgement))
}

impl drive::TestLoop for Tune {
    fn honestly(step: &Step, outcome: Outcome) -> Outcome {
        let is_anchor = step.asked().is_some_and(|asked| asked.anchor.is_some());
        outcome.map(|answer| if is_anchor { knowing(answer, [Verdict::Pass, Verdict::Fail]) } else { answer })
    }
}

/// Adds these verdicts on the true and the false statement of an anchor.
pub fn knowing(answer: Answer, verdicts: [Verdict; 2]) -> Answer {
    let Answer::Judged(mut judgement) = answer else { return answer };
    let ids = ["result.file-a", "result.file-b"].map(CriterionId::from);
    let known =
        ids.iter().zip(verdicts).map(|(criterion, verdict)| Finding { criterion, verdict, evidence: "" });
    judgement.whole.findings = judgement.whole.findings.iter().chain(known).collect();
    Answer::Judged(judgement)
}

/// Returns the results of a member's machine checks, except those that need a program.
pub fn inspected(run: &Run, trial: Trial, member: Place, met: impl Fn(usize) -> Option<bool>) -> Outcome {
    let checks = run.plan.task.checks_of(trial.scenario, member);
    let looks = checks.filter(|(_, check)| !matches!(check, Check::Command { .. }));
    Ok(Answer::Checked(looks.map(|(check, _)| check_result(check, met(check))).collect()))
}

pub fn check_result(check: usize, met: Option<bool>) -> CheckResult {
    CheckResult { check, met, details: "seen".into() }
}

/// Every second scenario demands a file, a successful program, and a true statement.
pub fn demanding(mut plan: Plan) -> Plan {
    let argv = vec!["true".to_owned()];
    let file = Check::File { path: "out.md".into(), times: Times::ONCE_OR_MORE };
    let program = Check::Command { argv, exit: 0, expected: "".into(), grader: None };
    let first = plan.task.target.members[0].name.clone();
    let demands = [
        Demand {
            member: Some(first),
            ..Demand::new("file".parse().expect("a plain name"), How::Check(file))
        },
        Demand { weight: 2, ..Demand::new("program".parse().expect("a plain name"), How::Check(program)) },
        Demand::new("true".parse().expect("a plain name"), How::Question { text: "It is true.".into() }),
    ];
    for scenario in plan.task.scenarios.iter_mut().step_by(2) {
        scenario.demands = demands.to_vec();
    }
    plan
}

/// All goes well, and every judgement has this score.
pub fn well(run: &Run, step: &Step, score: usize) -> Outcome {
    match step {
        Step::SetUp { scenario, .. } => Ok(Answer::SetUp { tree: tree(&format!("start {scenario}")) }),
        Step::Exercise { skill, graded: false, .. } => ran(&skill.to_string()),
        Step::Exercise { skill, .. } => ran_and_kept(&skill.to_string()),
        Step::Inspect { trial, member, .. } => inspected(run, *trial, *member, |_| Some(true)),
        Step::Check { demand, .. } => Ok(Answer::Checked(vec![check_result(*demand, Some(true))])),
        Step::Grade { trial, .. } => stated(run, trial.scenario, |_| Verdict::Pass),
        Step::Judge { .. } | Step::JudgeText { .. } => judged(run, score, &[]),
        Step::Improve { round, .. } => improved(&format!("draft {round}")),
        Step::Ask(_) => Ok(Answer::Chosen(Choice::Keep)),
        Step::Promote { .. } => Ok(Answer::Promoted),
        Step::Propose { .. } => proposed(),
    }
}

fn proposed() -> Outcome {
    Ok(Answer::Proposed(Box::new(Proposal {
        commit: "a".repeat(40).into(),
        base: "b".repeat(40).into(),
        branch: Some("skilltune/writer".into()),
        remote: None,
        pull_request: None,
        patch: None,
        notes: Vec::new(),
    })))
}

/// Returns the index of this candidate in the run; the start is 0.
pub fn nth(run: &Run, candidate: CandidateId) -> usize {
    run.state.candidates.iter().position(|known| known.id == candidate).expect("it is a candidate of the run")
}

/// Draws an answer, or a failure, from a seed and the step alone.
pub fn random_answer(seed: u64, run: &Run, step: &Step) -> Outcome {
    random_answer_at(seed, run, step, run.attempts(step))
}

pub fn random_answer_at(seed: u64, run: &Run, step: &Step, attempt: u32) -> Outcome {
    let key = serde_json::to_vec(step).expect("a step has a JSON text");
    let digest = Digest::of_parts([seed.to_le_bytes().as_slice(), &key, &attempt.to_le_bytes()]);
    let roll = |nth: usize| usize::from(digest.as_bytes()[nth]);
    if roll(0) < 30 {
        return failed([FailureKind::TimedOut, FailureKind::OffSchema, FailureKind::Gate][roll(1) % 3]);
    }
    match step {
        Step::SetUp { .. } => Ok(Answer::SetUp { tree: tree(&digest.hex()) }),
        Step::Exercise { graded: false, .. } => ran(&digest.hex()),
        Step::Exercise { .. } => ran_and_kept(&digest.hex()),
        Step::Inspect { trial, member, .. } => {
            inspected(run, *trial, *member, |nth| [Some(true), Some(false), None][(nth + roll(2)) % 3])
        }
        Step::Check { demand, .. } => {
            Ok(Answer::Checked(vec![check_result(*demand, [Some(true), Some(false), None][roll(2) % 3])]))
        }
        Step::Grade { trial, .. } => {
            stated(run, trial.scenario, |nth| Verdict::ALL[(nth + roll(2)) % Verdict::ALL.len()])
        }
        Step::Judge { .. } | Step::JudgeText { .. } => {
            judged(run, 40 + roll(2) % 60, &[roll(3) % 100, roll(4) % 100, roll(5) % 100])
        }
        Step::Improve { .. } => improved(&format!("draft {}", roll(6) % 5)),
        Step::Ask(_) => Ok(Answer::Chosen(if roll(7) % 2 == 0 { Choice::Apply } else { Choice::Keep })),
        Step::Promote { .. } if roll(8) % 4 == 0 => Ok(Answer::Conflict { found: vec![tree("theirs")] }),
        Step::Promote { .. } => Ok(Answer::Promoted),
        Step::Propose { .. } if roll(8) % 4 == 0 => Ok(Answer::NotProposed { why: "no repository".into() }),
        Step::Propose { .. } => proposed(),
    }
}
