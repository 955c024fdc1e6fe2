//! Whether commands that an agent proposes are run, and who is asked otherwise.

use skilltune_phases::loops::reflex::criteria::{Level, Template};
use skilltune_phases::loops::reflex::verdict::By;
use skilltune_phases::loops::reflex::{Answer, Outcome, Plan, Reason, Step, shown_commands};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::RunThem;

use super::world::{Drive, command, plan, play_with};
use crate::drive::failed;

/// Returns a run in which every rule has a command, with its steps; `allow` answers for the person.
fn steps(run: RunThem, allow: impl Fn(Level) -> Outcome) -> (Drive, Vec<Step>) {
    let mut plan = plan(Template::Docs);
    plan.task.commands.run = run;
    steps_of(plan, allow)
}

fn steps_of(plan: Plan, allow: impl Fn(Level) -> Outcome) -> (Drive, Vec<Step>) {
    let mut steps = Vec::new();
    let drive = play_with(plan, &|_, _| Some(true), |run, step| {
        steps.push(step.clone());
        match step {
            Step::Prepare { level } => {
                let rules = run.plan.task.criteria.at(*level);
                Some(Ok(Answer::Prepared(rules.map(command).collect())))
            }
            Step::Allow { level } => Some(allow(*level)),
            _ => None,
        }
    });
    (drive, steps)
}

fn count(steps: &[Step], is_it: fn(&Step) -> bool) -> usize {
    steps.iter().filter(|step| is_it(step)).count()
}

fn kinds(steps: &[Step]) -> [usize; 3] {
    [
        count(steps, |step| matches!(step, Step::Allow { .. })),
        count(steps, |step| matches!(step, Step::Check { .. })),
        count(steps, |step| matches!(step, Step::Judge { .. })),
    ]
}

fn settled_by(drive: &Drive) -> Vec<By> {
    let last = drive.run.state.judged.last().expect("an artifact was judged");
    last.evaluation.results.iter().map(|result| result.by).collect()
}

#[test]
fn commands_that_are_trusted_are_run_once_each_and_settle_their_rules() {
    let (drive, steps) = steps(RunThem::Always, |_| Ok(Answer::Allowed(false)));
    assert_eq!((kinds(&steps), settled_by(&drive)), ([0, 8, 0], vec![By::Command; 8]));
}

#[test]
fn a_person_is_asked_at_each_level_before_anything_is_run() {
    let (drive, steps) = steps(RunThem::Ask, |_| Ok(Answer::Allowed(true)));
    assert_eq!((kinds(&steps), settled_by(&drive)), ([2, 8, 0], vec![By::Command; 8]));
    let at = |wanted: fn(&Step) -> bool| steps.iter().position(wanted);
    assert!(at(|step| matches!(step, Step::Allow { .. })) < at(|step| matches!(step, Step::Match { .. })));
    assert_eq!(shown_commands(&drive.run, Level::B), vec![r#"["grep", "port"]"#; 4]);
}

#[test]
fn where_a_person_refuses_or_nothing_may_be_run_the_judge_is_asked() {
    let (drive, asked) = steps(RunThem::Ask, |level| Ok(Answer::Allowed(level == Level::A)));
    assert_eq!(kinds(&asked), [2, 4, 3]);
    let by = settled_by(&drive);
    assert_eq!((&by[..4], &by[4..]), (&[By::Command; 4][..], &[By::Judge; 4][..]));
    let (drive, never) = steps(RunThem::Never, |_| Ok(Answer::Allowed(true)));
    assert_eq!((kinds(&never), settled_by(&drive)), ([0, 0, 6], vec![By::Judge; 8]));
}

#[test]
fn a_question_that_comes_to_nothing_allows_nothing_and_holds_nobody_up() {
    let (drive, steps) = steps(RunThem::Ask, |_| failed(FailureKind::TimedOut));
    assert_eq!(settled_by(&drive), vec![By::Judge; 8]);
    assert_eq!(count(&steps, |step| matches!(step, Step::Check { .. })), 0);
    assert_eq!(drive.run.state.stop.as_ref().unwrap().reason, Reason::ThresholdReached);
}

#[test]
fn nobody_is_asked_when_there_is_nothing_left_to_evaluate_with() {
    let mut plan = plan(Template::Docs);
    plan.task.commands.run = RunThem::Ask;
    plan.task.rules.max_seconds = Some(4);
    let (drive, steps) = steps_of(plan, |_| Ok(Answer::Allowed(true)));
    assert_eq!((kinds(&steps), drive.run.state.judged.len()), ([0, 0, 0], 0));
}
