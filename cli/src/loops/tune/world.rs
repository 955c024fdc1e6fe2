//! Runs for tests of the output: the real loop, with answers that each test makes up.
#![expect(clippy::unnecessary_wraps, reason = "answers and failures of a scripted world have one type")]

use jiff::Timestamp;
use skilltune_phases::asking::prompt::Prompts;
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::delivery::Delivery;
use skilltune_phases::base::id::{CandidateId, Digest, TreeId};
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::{Contract, Criterion, Dimension, Verdict};
use skilltune_phases::judging::judgement::{
    Assessment, Finding, Findings, Judgement, Kind, Priority, Suggestion, VerdictShape,
};
use skilltune_phases::judging::proof::Confidence;
use skilltune_phases::judging::score::{Score, Scored};
use skilltune_phases::judging::stop::Stall;
use skilltune_phases::loops::tune::search::drafting;
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{
    Aim, Answer, Apply, Choice, FailOn, Outcome, Plan, Rules, Run, Search, Step, Task, Tune,
};
use skilltune_phases::loops::{Loop, Next};
use skilltune_phases::runs::event::{self, Failure, FailureKind, Spent};
use skilltune_phases::runs::plan::{self, Cast, Enforced, FORMAT, Fingerprint, Isolation, LoopKind, Roles};
use skilltune_phases::runs::run;
use skilltune_phases::skills::edit::{Change, EditKind, EditReport};
use skilltune_phases::skills::target::{Member, Mode, Target};
use skilltune_phases::suites::checks::{CheckResult, How};
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::{Scenario, Tools};
use std::any::Any;

pub fn plan(members: &[&str], scenarios: usize) -> Plan {
    Plan {
        format: FORMAT,
        program: "0.0.0".into(),
        run: "calm-otter".parse().unwrap(),
        kind: LoopKind::Tune,
        folder: "/p/.skilltune/runs/calm-otter".into(),
        task: Task {
            aim: Aim::Improve,
            target: Target {
                mode: if members.len() > 1 { Mode::Chain } else { Mode::Single },
                members: members.iter().map(|name| member(name)).collect(),
            },
            scenarios: (1..=scenarios)
                .map(|nth| Scenario::new(format!("task-{nth}").parse().unwrap(), "Write a | haiku"))
                .collect(),
            suite: None,
            looks_before: 0,
            contract: contract(),
            rules: rules(),
            delivery: Delivery::Inline,
            tools: Tools::Files,
            apply: Apply::Auto,
            fail_on: FailOn::default(),
            confined: true,
            prompts: Prompts::default(),
        },
        roles: roles(),
        ceilings: Ceilings::default(),
        seed: 7,
        epoch: 0,
        unattended: false,
    }
}

/// Returns a search by single trials of scenarios that all ask for the same three things; every third one is held out.
pub fn by_single_trials(scenarios: usize, runs: u32) -> Plan {
    let mut plan = plan(&["refunds"], scenarios);
    plan.task.rules.search = Search::Draft { runs, drawn: false };
    let statements = ["The answer names the amount.", "It says when the money arrives.", "The tone is calm."];
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.held_out = nth % 3 == 2;
        let demands = statements.iter().zip(1..).map(|(text, nth)| {
            let how = How::Question { text: (*text).into() };
            Demand::new(format!("expectation-{nth}").parse().unwrap(), how)
        });
        scenario.demands = demands.collect();
    }
    plan.task.rules.max_iterations = u32::try_from(drafting::rounds(&plan)).unwrap();
    plan
}

/// Plays such a search: the first statement fails until it was edited twice; the second fails once, in round 4.
pub fn edited_twice() -> Play {
    let (mut others, mut edits) = (scored(&[], &[]), 0);
    play(by_single_trials(12, 24), move |run, step| match step {
        Step::Grade { trial, .. } if trial.ordinal == SEARCH => {
            let slips = run.round_number() == 4;
            stated(run, trial.scenario, |nth| [edits > 1, !slips, true][nth])
        }
        Step::Improve { .. } => {
            edits += 1;
            others(run, step)
        }
        _ => others(run, step),
    })
}

fn member(name: &str) -> Member {
    Member {
        name: name.parse().unwrap(),
        path: format!("/p/skills/{name}"),
        start: tree(name),
        files: vec!["SKILL.md".into()],
        has_scripts: false,
        hidden: Vec::new(),
        links_outside: Vec::new(),
        plugin: None,
    }
}

pub fn roles() -> Roles {
    Roles::from([
        (Role::EXECUTOR, cast("claude", Some("small"))),
        (Role::EVALUATOR, cast("gemini", None)),
        (Role::IMPROVER, cast("claude", None)),
    ])
}

fn cast(agent: &str, model: Option<&str>) -> Cast {
    Cast {
        agent: agent.into(),
        model: model.map(Into::into),
        fingerprint: Fingerprint::default(),
        timeout_seconds: 1,
        family: None,
        isolation: Isolation::Partial,
        via: None,
        wrap: None,
        rights: Enforced::SystemAndAgent,
        verdict: VerdictShape::Evidenced,
        lacks_shell: false,
    }
}

fn rules() -> Rules {
    Rules {
        max_iterations: 3,
        threshold: points(90),
        regress: 10.0,
        stall: Stall { window: 2, gain: 2.0, reaching: false },
        max_errors: 3,
        confirm: 1,
        confidence: Confidence::default(),
        coverage: 0.8,
        search: Search::Rounds,
    }
}

fn contract() -> Contract {
    let dimension = |id: &str, name: &str| Dimension { id: id.into(), name: name.into(), weight: 0.5 };
    let criterion = |id: &str, of: &str, text: &str| Criterion {
        id: id.into(),
        dimension: of.into(),
        text: text.into(),
        of_effect: of == "output",
        needs: None,
    };
    Contract {
        dimensions: vec![dimension("clarity", "Clarity"), dimension("output", "Output")],
        criteria: vec![
            criterion("clarity.steps", "clarity", "Are there steps?"),
            criterion("clarity.words", "clarity", "Is it plain?"),
            criterion("output.done", "output", "Is it done?"),
        ],
    }
}

pub fn points(points: u32) -> Score {
    Score::new(f64::from(points)).unwrap()
}

pub fn tree(name: &str) -> TreeId {
    TreeId(Digest::of(name.as_bytes()))
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

pub fn failed<A>(kind: FailureKind, why: &str) -> event::Outcome<A> {
    Err(Failure::new(kind, why))
}

/// Returns a judgement with evidence and this total score; each member of a chain has one less than the one before.
pub fn judged(run: &Run, score: u32) -> Outcome {
    let findings = [
        ("clarity.steps", Verdict::Pass, "1. Read the input.\n```\nquoted\n```"),
        ("clarity.words", Verdict::Fail, ""),
        ("output.done", Verdict::Partial, "haiku.md has | two lines\x1b[31m"),
    ];
    let findings = findings.map(|(id, verdict, evidence)| (id.into(), verdict, evidence));
    let finding = findings.iter().map(|(criterion, verdict, evidence)| Finding {
        criterion,
        verdict: *verdict,
        evidence,
    });
    judgement(run, score, Kind::Evidenced, &finding.collect())
}

/// Returns a judgement that meets some of a scenario's statements.
pub fn stated(run: &Run, scenario: usize, is_met: impl Fn(usize) -> bool) -> Outcome {
    let scenario = &run.plan.task.scenarios[scenario];
    let ids: Vec<_> = scenario.demands.iter().map(|demand| scenario.criterion(demand)).collect();
    let found = ids.iter().enumerate().map(|(nth, criterion)| Finding {
        criterion,
        verdict: if is_met(nth) { Verdict::Pass } else { Verdict::Fail },
        evidence: "seen",
    });
    judgement(run, 50, Kind::Evidenced, &found.collect())
}

/// Returns numbers without evidence.
pub fn claimed(run: &Run, score: u32) -> Outcome {
    judgement(run, score, Kind::Claimed, &Findings::none())
}

fn judgement(run: &Run, score: u32, kind: Kind, findings: &Findings) -> Outcome {
    let assess = |score: u32| {
        let dimensions = ["clarity", "output"].map(|id| (id.into(), Some(points(score))));
        let scored = Scored { composite: Some(points(score)), dimensions: dimensions.into() };
        Assessment { findings: findings.clone(), scored }
    };
    let members = run.plan.task.target.members.iter().filter(|_| run.plan.is_chain()).zip(0..);
    Ok(Answer::Judged(Box::new(Judgement {
        kind,
        whole: assess(score),
        members: members.map(|(member, nth)| (member.name.to_string(), assess(score - nth))).collect(),
        strengths: vec!["It is short.".into()],
        weaknesses: vec!["SKILL.md:Steps | unclear".into(), "No <end>.".into()],
        suggestions: vec![Suggestion {
            priority: Priority::High,
            member: None,
            target_file: "SKILL.md".into(),
            description: "Name the `output` file.".into(),
            rationale: "Readers guess.".into(),
            snippet: Some("```sh\nwrite haiku.md\n```".into()),
        }],
        claim: Score::new(85.0),
        at_fault: std::collections::BTreeMap::new(),
    })))
}

pub fn improved(name: &str) -> Outcome {
    let change = Change {
        priority: Some(Priority::High),
        description: "Named the file.".into(),
        file: Some("SKILL.md".into()),
    };
    let report = EditReport {
        summary: Some(format!("{name}: the output has a name.").into()),
        changes: vec![change],
        skipped: vec!["The rest: no such file.".into()],
    };
    Ok(Answer::Improved {
        tree: tree(name),
        report: Box::new(report),
        kinds: vec![EditKind::Wording],
        dangers: Vec::new(),
    })
}

/// A run of any loop, and its journal.
#[derive(Debug)]
pub struct Play<L: Loop = Tune> {
    pub run: run::Run<L>,
    pub records: Vec<event::Record<L>>,
}

impl<L: Loop> Play<L> {
    pub fn begin(plan: plan::Plan<L>) -> Self {
        let record = event::Record { seq: 0, at: clock(0), event: event::Event::Started(Box::new(plan)) };
        Self { run: run::Run::begin(&record).unwrap(), records: vec![record] }
    }

    pub fn record(&mut self, event: event::Event<L>) {
        let seq = self.records.len() as u64;
        let record = event::Record { seq, at: clock(seq), event };
        self.run.apply(&record);
        self.records.push(record);
    }

    /// Takes one step of the loop. Returns `None` at the end of the run.
    pub fn advance(
        &mut self,
        answer: &mut impl FnMut(&run::Run<L>, &L::Step) -> event::Outcome<L::Answer>,
    ) -> Option<()> {
        let due = match L::next(&self.run) {
            Next::Decide(decision) => Ok(decision),
            Next::Do(mut steps) => Err(steps.next()?),
            Next::End => return None,
        };
        let step = match due {
            Err(step) => step,
            Ok(decision) => {
                self.record(event::Event::Decided(decision));
                return Some(());
            }
        };
        let mut outcome = answer(&self.run, &step);
        know(&step, &mut outcome);
        let attempt = self.run.attempts(&step);
        let spent = Spent {
            ms: 1500,
            usd: Some(0.5),
            input_tokens: Some(1200),
            output_tokens: Some(30),
            ..Spent::default()
        };
        self.record(event::Event::Done(Box::new(event::Done {
            step,
            attempt,
            call: None,
            outcome,
            spent,
            model: None,
            windows: Vec::new(),
        })));
        Some(())
    }
}

/// Makes a tested judge of `tune` know the two statements with known answers.
fn know(step: &dyn Any, outcome: &mut dyn Any) {
    let is_anchor =
        step.downcast_ref::<Step>().and_then(Step::asked).is_some_and(|asked| asked.anchor.is_some());
    let Some(Ok(Answer::Judged(judgement))) = outcome.downcast_mut::<Outcome>() else { return };
    if is_anchor {
        let known = [("result.file-a".into(), Verdict::Pass), ("result.file-b".into(), Verdict::Fail)];
        let known =
            known.iter().map(|(criterion, verdict)| Finding { criterion, verdict: *verdict, evidence: "" });
        judgement.whole.findings = judgement.whole.findings.iter().chain(known).collect();
    }
}

/// Plays a run to its end.
pub fn play<L: Loop>(
    plan: plan::Plan<L>,
    mut answer: impl FnMut(&run::Run<L>, &L::Step) -> event::Outcome<L::Answer>,
) -> Play<L> {
    let mut whole = Play::begin(plan);
    while whole.advance(&mut answer).is_some() {}
    whole
}

/// Answers every step well: the candidates have these scores in the search, and those on fresh trials.
pub fn scored<'a>(search: &'a [u32], fresh: &'a [u32]) -> impl FnMut(&Run, &Step) -> Outcome + 'a {
    move |run, step| match step {
        Step::SetUp { .. } => panic!("no scenario of this world is set up"),
        Step::Inspect { trial, member, .. } => {
            let checks = run.plan.task.checks_of(trial.scenario, *member);
            let told = |(check, _)| CheckResult { check, met: Some(true), details: "out.md: 1 file".into() };
            Ok(Answer::Checked(checks.map(told).collect()))
        }
        Step::Check { demand, .. } => Ok(Answer::Checked(vec![CheckResult {
            check: *demand,
            met: Some(false),
            details: "exit code 1".into(),
        }])),
        Step::Grade { .. } | Step::Review { .. } => judged(run, 80),
        Step::Exercise { skill, .. } => ran(&format!("artifacts of {skill}")),
        Step::Judge { candidate, trial, .. } => {
            let scores = if trial.ordinal == 0 { search } else { fresh };
            judged(run, scores[nth(run, *candidate)])
        }
        Step::Improve { round, .. } => improved(&format!("draft {round}")),
        Step::Ask(_) => Ok(Answer::Chosen(Choice::Apply)),
        Step::Promote { .. } => Ok(Answer::Promoted),
        Step::Propose { .. } => Ok(Answer::NotProposed { why: "git is not installed".into() }),
    }
}

/// Returns the position of this candidate in the run; the start is the first.
fn nth(run: &Run, candidate: CandidateId) -> usize {
    run.state.candidates.iter().position(|known| known.id == candidate).unwrap()
}

fn clock(seq: u64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + i64::try_from(seq).unwrap()).unwrap()
}
