//! The steps of a run and their order.

use skilltune_phases::asking::order::Access;
use skilltune_phases::base::ending::Class;
use skilltune_phases::base::role::{Rights, Role};
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::gan::contract::Change;
use skilltune_phases::loops::gan::course::{Choice, Who};
use skilltune_phases::loops::gan::evaluation::{By, Verdict};
use skilltune_phases::loops::gan::inspect::Means;
use skilltune_phases::loops::gan::negotiation::Proposal;
use skilltune_phases::loops::gan::test_scenario::{TestScenario, Tool};
use skilltune_phases::loops::gan::{Answer, Ended, Gan, Level, Plan, Run, Step};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::RunThem;

use super::world::{
    ALL, Drive, Met, answer, artifact, asked, at, built, criterion, everything, inspected, into_folder, name,
    nothing, plan, play_with, points, prompt, rising, ruling, scenario_result, with_browser,
};
use crate::drive::{failed, recast, tree};

fn steps(plan: Plan, met: Met<'_>) -> String {
    asked(&mut Drive::start(plan), |run, step| answer(run, step, met))
}

/// Does the same with the answers of a person, one per question.
fn steps_answered(plan: Plan, met: Met<'_>, choices: &[Choice]) -> String {
    asked(&mut Drive::start(plan), |run, step| match step {
        Step::Ask { .. } => {
            let nth = run.state.course.answers.len();
            let choice = choices.get(nth).cloned().unwrap_or(Choice::Abort);
            Ok(Answer::Chosen { choice, by: Who::Person })
        }
        _ => answer(run, step, met),
    })
}

#[test]
fn a_run_at_level_minimal_builds_judges_and_hands_over() {
    insta::assert_snapshot!(steps(into_folder(plan()), &everything), @"
    build 1 from nothing
    inspect 0
    judge 0, First
    promote 0
    ");
}

#[test]
fn at_level_thorough_both_sides_talk_first_and_a_pass_is_judged_twice() {
    let plan = into_folder(with_browser(at(Level::Thorough, true)));
    insta::assert_snapshot!(steps(plan, &everything), @"
    draft
    propose 1
    rule 1
    propose 2
    rule 2
    build 1 from nothing
    inspect 0 + look at 0
    judge 0, First
    judge 0, Second
    promote 0
    ");
}

#[test]
fn the_talk_is_over_when_the_builder_accepts_or_gets_all_it_wants() {
    let talk = |proposed: fn() -> Vec<Proposal>, is_accepted: bool| {
        let drive = play_with(at(Level::Standard, true), &everything, |_, step| match step {
            Step::Propose { .. } => Some(Ok(Answer::Proposed(proposed()))),
            Step::Rule { .. } => Some(Ok(Answer::Ruled(vec![ruling(is_accepted)]))),
            _ => None,
        });
        let contract = drive.run.state.contract().unwrap();
        (drive.run.state.negotiation.as_ref().unwrap().rounds.len(), contract.criteria.len())
    };
    let drop = || {
        let change = Change::Drop { criterion: "b.polite".into() };
        vec![Proposal { change, why: "nobody asked for it".into() }]
    };
    assert_eq!(talk(Vec::new, false), (1, 5), "the draft is added to what the profile asks");
    assert_eq!(talk(drop, true), (1, 4));
    assert_eq!(talk(drop, false), (2, 5), "the evaluator has the last word");
}

#[test]
fn a_run_that_stands_still_asks_once_and_keeps_its_best() {
    insta::assert_snapshot!(steps(into_folder(plan()), &nothing), @"
    build 1 from nothing
    inspect 0
    judge 0, First
    build 2 from 0
    inspect 1
    judge 1, First
    build 3 from 0
    inspect 2
    judge 2, First
    ask about Stagnation after 3
    ");
}

#[test]
fn each_build_starts_from_the_best_and_each_question_counts_the_rounds() {
    insta::assert_snapshot!(steps(into_folder(plan()), &rising), @"
    build 1 from nothing
    inspect 0
    judge 0, First
    build 2 from 0
    inspect 1
    judge 1, First
    build 3 from 1
    inspect 2
    judge 2, First
    ask about Escalation after 3
    build 4 from 2
    inspect 3
    judge 3, First
    build 5 from 3
    inspect 4
    judge 4, First
    ask about Exhausted after 5
    ");
}

#[test]
fn a_run_follows_the_answer_of_a_person() {
    let guide = Choice::Guide { text: "mind the noise".into() };
    insta::assert_snapshot!(steps_answered(into_folder(plan()), &nothing, &[guide, Choice::Force]), @"
    build 1 from nothing
    inspect 0
    judge 0, First
    build 2 from 0
    inspect 1
    judge 1, First
    build 3 from 0
    inspect 2
    judge 2, First
    ask about Stagnation after 3
    build 4 from 0
    inspect 3
    judge 3, First
    build 5 from 0
    inspect 4
    judge 4, First
    ask about Exhausted after 5
    promote 0
    ");
    let changes = vec![Change::Drop { criterion: ALL[3].into() }];
    let amend = Choice::Amend { changes };
    insta::assert_snapshot!(steps_answered(into_folder(plan()), &nothing, &[amend, Choice::Abort]), @"
    build 1 from nothing
    inspect 0
    judge 0, First
    build 2 from 0
    inspect 1
    judge 1, First
    build 3 from 0
    inspect 2
    judge 2, First
    ask about Stagnation after 3
    judge 0, First
    build 4 from 0
    inspect 3
    judge 3, First
    build 5 from 0
    inspect 4
    judge 4, First
    ask about Exhausted after 6
    ");
}

#[test]
fn another_evaluator_judges_the_best_again_before_the_next_build() {
    let mut plan = into_folder(plan());
    plan.task.rules.threshold = points(100.0);
    let mut drive = Drive::start(plan);
    for _ in 0..6 {
        let [step] = &drive.due(9)[..] else { panic!("one step at a time") };
        let (step, outcome) = (step.clone(), answer(&drive.run, step, &rising));
        drive.done(step, outcome);
    }
    recast(&mut drive, &Role::EVALUATOR);
    let rest = asked(&mut drive, |run, step| answer(run, step, &|nth, _| nth > 1));
    insta::assert_snapshot!(rest, @"
    judge 1, First, era 1
    build 3 from 1
    inspect 2
    judge 2, First, era 1
    promote 2
    ");
}

#[test]
fn machines_look_side_by_side_and_the_judge_waits_for_both() {
    for last in [0, 1] {
        let mut drive = Drive::start(with_browser(plan()));
        let build = drive.due(1).remove(0);
        drive.done(build, Ok(built(0)));
        let machines = drive.due(9);
        assert_eq!(
            machines,
            [Step::Inspect { artifact: artifact(0) }, Step::Browse { artifact: artifact(0) }]
        );
        let outcome = |drive: &Drive, step: &Step| answer(&drive.run, step, &everything);
        let (first, second) = (machines[1 - last].clone(), machines[last].clone());
        let reply = outcome(&drive, &first);
        drive.done(first, reply);
        assert_eq!(drive.due(9), std::slice::from_ref(&second));
        let reply = outcome(&drive, &second);
        drive.done(second, reply);
        assert!(matches!(drive.due(9)[..], [Step::Judge { .. }]));
    }
}

/// Returns a run with a browser, just before the first judge.
fn before_the_judge(reply_to: impl Fn(&Run, &Step) -> Option<Answer>) -> (Drive, Step) {
    let mut drive = Drive::start(with_browser(plan()));
    loop {
        let step = drive.due(1).remove(0);
        if matches!(step, Step::Judge { .. }) {
            return (drive, step);
        }
        let outcome = match (&step, reply_to(&drive.run, &step)) {
            (Step::Build { .. }, _) => Ok(built(0)),
            (_, Some(answer)) => Ok(answer),
            (_, None) => failed(FailureKind::Crashed),
        };
        drive.done(step, outcome);
    }
}

#[test]
fn the_judge_makes_the_checks_of_a_look_that_was_given_up() {
    let source = || inspected(Verdict::Unverified, Means::Source);
    let by_browser = |_: &Run, step: &Step| match step {
        Step::Inspect { .. } => Some(source()),
        _ => Some(inspected(Verdict::Failed, Means::Browser)),
    };
    let (mut drive, judge) = before_the_judge(by_browser);
    assert!(!prompt(&drive.run, &judge).contains("b.quiet"), "the browser has told");
    assert_eq!(drive.run.screens(artifact(0)), Some(tree("screens")));
    let outcome = answer(&drive.run, &judge, &everything);
    drive.done(judge, outcome);
    drive.due(1);
    let found = drive.run.state.course.rounds[0].first.findings[3].clone();
    assert_eq!((found.verdict, found.by), (Verdict::Failed, By::Machine), "the judge has not been asked");

    let without = |_: &Run, step: &Step| matches!(step, Step::Inspect { .. }).then(source);
    let (mut drive, judge) = before_the_judge(without);
    assert_eq!(drive.run.attempts(&Step::Browse { artifact: artifact(0) }), 2);
    assert!(prompt(&drive.run, &judge).contains("b.quiet (b)"));
    assert_eq!(drive.run.screens(artifact(0)), None);
    let outcome = answer(&drive.run, &judge, &everything);
    drive.done(judge, outcome);
    drive.due(1);
    let found = drive.run.state.course.rounds[0].first.findings[3].clone();
    assert_eq!((found.verdict, found.by), (Verdict::Passed, By::Judge));
    assert_eq!(drive.run.outcome(), Ended::Passed);
}

#[test]
fn a_result_is_promoted_once_passed_forced_or_accepted_and_only_into_a_folder() {
    let promoted = |plan: Plan, met: Met<'_>, choice: &Choice| {
        let asked = steps_answered(plan, met, std::slice::from_ref(choice));
        asked.lines().last().filter(|line| line.starts_with("promote")).map(str::to_owned)
    };
    let refocus = Choice::Refocus { dimension: "a".into() };
    for (met, choice, expected) in [
        (&everything as Met<'_>, Choice::Abort, Some("promote 0")),
        (&nothing, Choice::Force, Some("promote 0")),
        (&nothing, Choice::Accept, Some("promote 0")),
        (&nothing, Choice::Stop, None),
        (&nothing, Choice::Abort, None),
        (&nothing, refocus, None),
    ] {
        assert_eq!(promoted(into_folder(plan()), met, &choice).as_deref(), expected, "{choice:?}");
        assert_eq!(promoted(plan(), met, &choice), None, "{choice:?}, into nothing");
    }
}

#[test]
fn a_conflict_in_the_folder_leaves_the_run_passed() {
    let conflict = Answer::Conflict { found: vec![tree("edited")] };
    let drive = play_with(into_folder(plan()), &everything, |_, step| {
        matches!(step, Step::Promote { .. }).then(|| Ok(conflict.clone()))
    });
    assert_eq!((drive.run.outcome(), drive.run.handed_over()), (Ended::Passed, Some(&conflict)));
    assert_eq!(drive.run.class(), Class::Reached);
}

#[test]
fn only_a_builder_may_write_and_only_in_its_draft() {
    let mut plan = with_browser(into_folder(at(Level::Thorough, true)));
    plan.task.materials = Some(tree("materials"));
    let mut drive = Drive::start(plan);
    let mut lines = std::collections::BTreeSet::new();
    drive.finish_alone(|run, step| {
        if let Some(request) = Gan::request(run, step) {
            let order: &skilltune_phases::asking::order::Order = request.as_ref();
            let is_build = matches!(step, Step::Build { .. });
            assert_eq!(order.rights == Rights::Edit, is_build);
            let is_command = matches!(step, Step::Browse { .. } | Step::Try { .. });
            assert_eq!(order.command.is_some(), is_command);
            let places = order.placements.iter().map(|one| format!("{} {:?}", one.at, one.access));
            let is_draft = order.placements.iter().any(|one| one.access == Access::Draft);
            assert_eq!(is_draft, is_build);
            let kind = name(step).split(' ').next().unwrap().to_owned();
            lines.insert(format!("{kind}: {}", places.collect::<Vec<_>>().join(", ")));
        } else {
            assert_eq!(Gan::role(step), None);
        }
        answer(run, step, &everything)
    });
    insta::assert_snapshot!(lines.into_iter().collect::<Vec<_>>().join("\n"), @"
    build: artifact Draft, given Fixed
    draft: given Fixed
    judge: artifact Fixed, screens Fixed, given Fixed
    look: site Scratch
    propose: given Fixed
    rule: given Fixed
    ");
}

#[test]
fn the_code_of_a_ruling_covers_the_reasons_of_the_builder() {
    let code = |why: &str| {
        let mut drive = Drive::start(at(Level::Thorough, true));
        loop {
            let step = drive.due(1).remove(0);
            if let Step::Rule { .. } = step {
                let prompt = prompt(&drive.run, &step);
                let (_, code) = prompt.rsplit_once("\"answer_to\": \"").expect("a code is asked for");
                return code.split_once('"').expect("it ends").0.to_owned();
            }
            let mut outcome = answer(&drive.run, &step, &everything);
            if let Ok(Answer::Proposed(proposals)) = &mut outcome {
                proposals[0].why = why.into();
            }
            drive.done(step, outcome);
        }
    };
    assert_eq!(code("nobody asked"), code("nobody asked"));
    assert_ne!(code("nobody asked"), code("somebody asked"));
}

#[test]
fn the_most_calls_are_those_of_the_level_with_every_retry() {
    let most = |plan: Plan| {
        let most = Gan::most_calls(&plan);
        (*most.of(&Role::BUILDER), *most.of(&Role::EVALUATOR))
    };
    assert_eq!(most(at(Level::Minimal, false)), (10, 10), "5 rounds, each tried twice");
    assert_eq!(most(at(Level::Standard, false)), (10, 10));
    assert_eq!(most(at(Level::Standard, true)), (14, 16), "a draft, and 2 rounds of a word of each side");
    assert_eq!(most(at(Level::Thorough, true)), (14, 26), "each pass is judged twice");
    let mut few = at(Level::Thorough, true);
    (few.task.retries, few.task.rules.max_rounds, few.task.rules.negotiation_rounds) = (0, 1, 0);
    assert_eq!(most(few), (1, 3));
}

#[test]
fn an_amended_criterion_is_judged_as_it_is_worded_now() {
    let mut drive = Drive::start(plan());
    let reword = Change::Reword {
        criterion: ALL[3].into(),
        text: "It is silent.".into(),
        verification: "Listen.".into(),
    };
    let add = Change::Add(criterion("b.polite"));
    let mut prompts = Vec::new();
    drive.finish_alone(|run, step| match step {
        Step::Ask { .. } if prompts.is_empty() => {
            prompts.push(String::new());
            let choice = Choice::Amend { changes: vec![reword.clone(), add.clone()] };
            Ok(Answer::Chosen { choice, by: Who::Person })
        }
        Step::Judge { .. } => {
            prompts.last_mut().into_iter().for_each(|last| *last = prompt(run, step));
            answer(run, step, &nothing)
        }
        _ => answer(run, step, &nothing),
    });
    assert!(prompts[0].contains("It is silent.") && prompts[0].contains("b.polite holds"), "{}", prompts[0]);
    assert!(!prompts[0].contains("b.quiet holds"));
}

#[test]
fn a_strict_run_leaves_the_artifact_that_has_passed() {
    let mut plan = into_folder(plan());
    plan.task.rules.strict = true;
    let drive = play_with(plan, &everything, |_, _| None);
    assert_eq!(drive.run.result(), Some(artifact(1)), "that of the first round was too early");
    assert_eq!(drive.run.best().map(|best| drive.run.number_of(best)), Some(2));
}

/// Plans a command that decides the first criterion.
fn with_command(run: RunThem) -> Plan {
    let mut plan = plan();
    plan.task.commands.run = run;
    plan.task.asked.test_scenarios = vec![TestScenario {
        id: "works".into(),
        criterion: "a.runs".into(),
        description: "Its tests pass.".into(),
        run: Tool::Command(vec!["npm".into(), "test".into()]),
    }];
    plan
}

#[test]
fn a_command_runs_where_it_is_trusted_or_allowed_and_the_judge_decides_elsewhere() {
    insta::assert_snapshot!(steps(with_command(RunThem::Always), &everything), @"
    build 1 from nothing
    inspect 0 + try works on 0
    judge 0, First
    ");
    insta::assert_snapshot!(steps(with_command(RunThem::Ask), &everything), @"
    allow
    build 1 from nothing
    inspect 0 + try works on 0
    judge 0, First
    ");
    insta::assert_snapshot!(steps(with_command(RunThem::Never), &everything), @"
    build 1 from nothing
    inspect 0
    judge 0, First
    ");
    let mut asked = None;
    let denied = play_with(with_command(RunThem::Ask), &everything, |run, step| {
        if matches!(step, Step::Judge { .. }) {
            asked = Some(prompt(run, step));
        }
        matches!(step, Step::Allow).then_some(Ok(Answer::Allowed(false)))
    });
    assert!(asked.unwrap().contains("a.runs"), "nobody else could tell");
    assert_eq!(denied.run.outcome(), Ended::Passed);
}

#[test]
fn a_test_scenario_that_fails_fails_its_criterion_whatever_the_judge_would_say() {
    let mut asked = None;
    let mut plan = with_command(RunThem::Always);
    plan.task.rules.max_rounds = 1;
    let drive = play_with(plan, &everything, |run, step| match step {
        Step::Try { .. } => Some(Ok(scenario_result(Verdict::Failed, "works"))),
        Step::Judge { .. } => {
            asked = Some(prompt(run, step));
            None
        }
        _ => None,
    });
    assert!(!asked.unwrap().contains("a.runs (a"), "a machine has told");
    let found = &drive.run.state.course.rounds[0].first.findings[0];
    assert_eq!((found.verdict, found.by, &*found.evidence), (Verdict::Failed, By::Machine, "it ended"));
    assert_eq!(drive.run.outcome(), Ended::Short);
}
