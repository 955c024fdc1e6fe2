//! What follows an evaluation: done, fixes (A), patches (B), other points of view (C), and a person.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::evolve::amendment::Amendment;
use skilltune_phases::loops::evolve::course::{Pattern, Persona};
use skilltune_phases::loops::evolve::decision::{Amended, Decision, Ending, PassKind};
use skilltune_phases::loops::evolve::step::{Choice, Question};
use skilltune_phases::loops::evolve::{Answer, Ended, Run, Step};
use skilltune_phases::loops::shared::commands::Stage;
use skilltune_phases::runs::event::FailureKind;

use super::world::{
    Content, Drive, Judged, OUTPUT, World, adding, broken, changing, constraining, described, passed, prompt,
    task,
};
use super::{ending, evaluated, kinds, scores, work_prompt};
use crate::drive::{failed, recast, tree};

/// The tree with the first work on each task.
const WHOLE: &str = "t1.1+t2.1+t3.1";
/// The pass of flow C after a cap.
const CAPPED: PassKind = PassKind::Pivot { persona: Persona::Multistability, pattern: Pattern::HardCap };

/// Misses the second criterion until this work is there.
fn short_until(work: &'static str) -> World {
    let mut world = World::new();
    world.judge = Box::new(
        move |_, content| if content.has(work) { Judged::all() } else { Judged::only(&["A1", "A3"]) },
    );
    world
}

fn amended(drive: &Drive) -> Vec<&Amended> {
    let decisions = drive.decisions().into_iter().filter_map(|decision| match decision {
        Decision::Amended(amended) => Some(&**amended),
        _ => None,
    });
    decisions.collect()
}

fn tasks(run: &Run, pass: usize) -> Vec<&str> {
    run.state.passes[pass].tasks().map(|id| &**id).collect()
}

#[test]
fn a_run_that_meets_everything_ends_at_once() {
    let run = World::new().play().run;
    assert_eq!((kinds(&run), scores(&run)), (vec![PassKind::Plan], vec![Some(1.0)]));
    assert_eq!((ending(&run), run.outcome()), (Some(Ending::Success), Ended::Reached));
    assert_eq!((run.result(), run.state.amendments), (Some(tree(WHOLE)), 0));
}

#[test]
fn a_red_command_becomes_a_task_with_its_output_and_the_evaluation_begins_again() {
    let mut world = World::new();
    world.red(Stage::Lint, |content| content.has("t2.1") && !content.has_task("fix-1"));
    let run = world.play().run;
    assert_eq!((kinds(&run), scores(&run)), (vec![PassKind::Plan, PassKind::Fix], vec![None, Some(1.0)]));
    assert_eq!(run.result(), Some(tree(&format!("fix-1.1+{WHOLE}"))));
    let page = work_prompt(&world, "fix-1.1");
    for part in ["make `make lint` pass", "`make lint` failed with exit code 1.", OUTPUT] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(world.asked().contains(&format!("lint fix-1.1+{WHOLE}")), "all commands run again");
}

#[test]
fn each_red_command_is_a_task_of_its_own_one_after_the_other() {
    let mut world = World::new();
    world.ends = Box::new(|stage, content| match stage {
        Stage::Build if content.has("fix-1.1") => broken(),
        Stage::Lint if content.has_task("t3") && !content.has_task("fix-2") => broken(),
        _ => passed(),
    });
    let run = world.play().run;
    assert_eq!(tasks(&run, 1), ["fix-1"]);
    assert_eq!(tasks(&run, 2), ["fix-2", "fix-3"]);
    assert_eq!(run.state.passes[2].layers.len(), 2);
}

#[test]
fn after_three_fixes_in_a_row_the_run_goes_back_to_the_base_with_another_point_of_view() {
    let mut world = World::new();
    world.red(Stage::Lint, |content| content.has("t2.1"));
    let drive = world.play();
    let run = &drive.run;
    assert_eq!(kinds(run), [PassKind::Plan, PassKind::Fix, PassKind::Fix, PassKind::Fix, CAPPED]);
    assert_eq!(scores(run), [None, None, None, None, Some(1.0)]);
    assert_eq!((run.state.passes[4].from, tasks(run, 4)), (tree("base"), vec!["t1", "t2", "t3"]));
    assert_eq!((ending(run), run.result()), (Some(Ending::Success), Some(tree("t1.2+t2.2+t3.2"))));
    assert_eq!(amended(&drive)[0].persona, Some(Persona::Multistability));
}

#[test]
fn at_a_cap_the_run_goes_back_to_the_last_green_tree_and_redoes_what_came_since() {
    let mut world = short_until("t2.3");
    world.red(Stage::Lint, |content| content.has("t2.2"));
    let run = world.play().run;
    let fixes = [PassKind::Fix; 3];
    assert_eq!(kinds(&run), [&[PassKind::Plan, PassKind::Patch][..], &fixes, &[CAPPED]].concat());
    assert_eq!((run.state.passes[5].from, tasks(&run, 5)), (tree(WHOLE), vec!["t2", "t3"]));
    assert_eq!(run.result(), Some(tree("t1.1+t2.1+t2.3+t3.1+t3.3")));
}

/// The last green round may be one that was taken back.
#[test]
fn at_a_cap_the_run_goes_back_to_a_tree_that_was_kept() {
    let mut world = World::new();
    world.judge = Box::new(|_, content: &Content| match content {
        _ if content.has("t2.4") => Judged::all(),
        _ if content.has("t2.2") => Judged::only(&["A1"]),
        _ => Judged::only(&["A1", "A3"]),
    });
    world.red(Stage::Lint, |content| content.has("t2.3"));
    let run = world.play().run;
    assert_eq!(scores(&run), [Some(0.625), Some(0.5), None, None, None, None, Some(1.0)]);
    assert_eq!(run.state.passes[6].from, tree(WHOLE));
    let result = run.result().unwrap();
    let works: Vec<&str> = run.works_of(result).iter().map(|work| &*work.task).collect();
    assert_eq!(works, ["t1", "t2", "t3", "t2", "t3"]);
}

#[test]
fn an_empty_patch_does_the_tasks_of_unmet_criteria_again_with_their_gaps() {
    let world = short_until("t2.2");
    let drive = world.play();
    let run = &drive.run;
    assert_eq!(kinds(run), [PassKind::Plan, PassKind::Patch]);
    assert_eq!((scores(run), ending(run)), (vec![Some(0.625), Some(1.0)], Some(Ending::Success)));
    assert_eq!((run.state.passes[1].from, tasks(run, 1)), (tree(WHOLE), vec!["t2", "t3"]));
    assert_eq!((amended(&drive)[0].approved, amended(&drive)[0].contract.series), (None, 0));
    let page = work_prompt(&world, "t2.2");
    assert!(page.contains("A2: A2 is missing") && !page.contains("A3 is missing"), "{page}");
    assert!(!work_prompt(&world, "t3.2").contains("is missing"), "it only depends on the other one");
}

#[test]
fn a_failed_task_that_covers_nothing_is_done_again_with_those_that_need_it() {
    let mut world = World::new();
    world.tasks.insert(0, task("t0", &[], &[]));
    world.tasks.insert(1, task("t00", &[], &["t0"]));
    for item in &mut world.tasks[2..4] {
        item.after = vec!["t00".into()];
    }
    world.fails = Box::new(|work| work == "t0.1");
    let run = world.play().run;
    assert_eq!((scores(&run), ending(&run)), (vec![Some(0.0), Some(1.0)], Some(Ending::Success)));
    assert_eq!(tasks(&run, 1), ["t0", "t00", "t1", "t2", "t3"]);
}

#[test]
fn a_task_whose_only_work_was_taken_back_is_done_again_with_those_that_need_it() {
    let mut world = World::new();
    world.tasks = vec![
        task("t0", &[], &[]),
        task("t1", &["A1"], &["t0"]),
        task("t2", &["A2"], &[]),
        task("t3", &["A3"], &[]),
    ];
    world.fails = Box::new(|work| work == "t0.1");
    world.judge = Box::new(|_, content| match content {
        _ if content.has_task("t1") && !content.has("t0.3") => Judged::only(&["A3"]),
        _ => Judged::all(),
    });
    let run = world.play().run;
    assert_eq!(scores(&run), [Some(0.5), Some(0.125), Some(1.0)]);
    assert_eq!((tasks(&run, 1), tasks(&run, 2)), (vec!["t0", "t1"], vec!["t0", "t1"]));
    assert_eq!(run.result(), Some(tree("t0.3+t1.2+t2.1+t3.1")));
}

#[test]
fn new_criteria_get_tasks_by_one_call_and_leave_the_series_as_it_is() {
    let mut world = short_until("t2.2");
    world.amend = Box::new(|_, _| adding("It is small."));
    world.more = Box::new(|_, _| vec![task("t4", &["A4"], &[])]);
    let asked = world.asked();
    let part = format!("amend 0\ndivide 1\nt2.2 from {WHOLE} | t4.1 from {WHOLE}\nmerge 2\n");
    assert!(asked.contains(&part), "{asked}");
    let run = world.play().run;
    let contract = run.state.contract.as_ref().unwrap();
    let new = contract.criterion("A4").expect("it is added");
    assert_eq!((&*new.text, new.is_original, contract.series), ("It is small.", false, 0));
    assert_eq!((scores(&run), tasks(&run, 1)), (vec![Some(0.625), Some(1.0)], vec!["t2", "t4", "t3"]));
    assert!(run.state.plan.as_ref().unwrap().item("t4").is_some());

    let (drive, step) = world.until(|step| *step == Step::Divide { round: 1 });
    let page = prompt(&drive.run, &step);
    assert!(page.contains("A4 (medium): It is small.") && page.contains("## The tasks so far"), "{page}");
}

#[test]
fn a_new_criterion_that_is_not_met_keeps_a_run_from_being_done() {
    let mut world = World::new();
    world.judge = Box::new(|_, content| match content {
        _ if content.has("t4.2") => Judged::all(),
        _ if content.has("t2.2") => Judged::only(&["A1", "A2", "A3"]),
        _ => Judged::only(&["A1", "A3"]),
    });
    world.amend = Box::new(|round, _| if round == 0 { adding("It is small.") } else { Amendment::default() });
    world.more = Box::new(|_, _| vec![task("t4", &["A4"], &[])]);
    let run = world.play().run;
    assert_eq!((scores(&run), tasks(&run, 2)), (vec![Some(0.625), Some(1.0), Some(1.0)], vec!["t4"]));
    let of_all = run.state.rounds[1].evaluation.as_ref().unwrap();
    assert!(of_all.score_of_all < 0.85 && !of_all.is_done);
}

#[test]
fn a_new_constraint_concerns_the_tasks_that_it_names_and_what_depends_on_them() {
    let mut world = short_until("t2.2");
    world.amend = Box::new(|_, _| constraining("It starts no threads.", &["t1"]));
    let run = world.play().run;
    assert_eq!(tasks(&run, 1), ["t1", "t2", "t3"]);
    let constraints = &run.state.contract.as_ref().unwrap().constraints;
    assert_eq!((&*constraints[1].id, &*constraints[1].text), ("K2", "It starts no threads."));
    assert!(work_prompt(&world, "t1.2").contains("K2: It starts no threads."));
}

#[test]
fn a_change_of_what_was_there_needs_a_persons_approval() {
    let both =
        || Amendment { criteria: adding("It is small.").criteria, ..changing("A2", Some("It is fast.")) };
    for (choice, text, series) in [
        (Some(Choice::Approve), "It is fast.", 1),
        (Some(Choice::Refuse), "text of A2", 0),
        // With no person there, the question fails.
        (None, "text of A2", 0),
    ] {
        let mut world = short_until("t2.2");
        world.amend = Box::new(move |_, _| both());
        world.more = Box::new(|_, _| vec![task("t4", &["A4"], &[])]);
        let mut asked = 0;
        let drive = world.play_with(|_, step| {
            let is_it = matches!(step, Step::Ask { question: Question::Amendment, round: 0 });
            asked += usize::from(is_it);
            let answer = choice.clone().map(|choice| Ok(Answer::Chosen(choice)));
            is_it.then(|| answer.unwrap_or_else(|| failed(FailureKind::Empty)))
        });
        let (run, amended) = (&drive.run, amended(&drive)[0]);
        assert_eq!(asked, if choice.is_some() { 1 } else { 2 });
        assert_eq!(amended.approved, Some(choice == Some(Choice::Approve)));
        let contract = run.state.contract.as_ref().unwrap();
        assert_eq!((&*contract.criterion("A2").unwrap().text, contract.series), (text, series));
        assert!(contract.criterion("A4").is_some(), "an addition is free");
        assert_eq!((tasks(run, 1), ending(run)), (vec!["t2", "t4", "t3"], Some(Ending::Success)));
    }
}

#[test]
fn a_round_that_scored_less_is_taken_back_and_the_next_starts_from_the_best_tree() {
    let mut world = World::new();
    world.judge = Box::new(|_, content| match content {
        _ if content.has("t2.3") => Judged::all(),
        _ if content.has("t2.2") => Judged::only(&["A1"]),
        _ => Judged::only(&["A1", "A3"]),
    });
    let run = world.play().run;
    assert_eq!(scores(&run), [Some(0.625), Some(0.5), Some(1.0)]);
    let from: Vec<_> = run.state.passes.iter().map(|pass| pass.from).collect();
    assert_eq!(from, [tree("base"), tree(WHOLE), tree(WHOLE)]);
    assert_eq!(run.result(), Some(tree("t1.1+t2.1+t2.3+t3.1+t3.3")));
    assert_eq!(run.state.rounds[1].tree, tree("t1.1+t2.1+t2.2+t3.1+t3.2"), "its evidence is kept");
    let page = work_prompt(&world, "t2.3");
    assert!(page.contains("t2: summary of t2.1") && !page.contains("summary of t2.2"), "{page}");
}

#[test]
fn scores_of_two_evaluators_are_never_compared() {
    let world = World::scored(&[80, 50, 100]);
    for (is_replaced, best) in [(false, "t1.1"), (true, "t1.1+t1.2")] {
        let (mut drive, _) = evaluated(&world);
        if is_replaced {
            recast(&mut drive, &Role::EVALUATOR);
        }
        drive.finish_alone(|run, step| world.answer(run, step));
        let run = &drive.run;
        assert_eq!(scores(run), [Some(0.8), Some(0.5), Some(1.0)]);
        assert_eq!(run.state.passes[2].from, tree(best), "the second patch starts from the best tree");
    }
}

#[test]
fn each_persona_is_chosen_by_its_own_pattern() {
    let table: [(&'static [usize], Persona, Pattern); 4] = [
        (&[50, 60, 70, 80, 100], Persona::Multistability, Pattern::HardCap),
        (&[50, 60, 52, 60, 100], Persona::Simplicity, Pattern::Oscillation),
        (&[50, 53, 54, 100], Persona::Invariance, Pattern::DiminishingReturns),
        (&[50, 50, 50, 100], Persona::Reification, Pattern::NoDrift),
    ];
    for (percents, persona, pattern) in table {
        let world = World::scored(percents);
        let run = world.play().run;
        let patches = percents.len() - 2;
        let expected =
            [&[PassKind::Plan][..], &vec![PassKind::Patch; patches], &[PassKind::Pivot { persona, pattern }]];
        assert_eq!(kinds(&run), expected.concat());
        assert_eq!(ending(&run), Some(Ending::Success));
        let (drive, step) =
            world.until(|step| matches!(step, Step::Amend { persona: Some(used), .. } if *used == persona));
        assert!(prompt(&drive.run, &step).contains(persona.page()));
        let note = &run.state.passes.last().unwrap().note;
        assert_eq!(&**note, persona.word(), "those who do the tasks read its description");
    }
}

/// Stagnates, and no persona has anything to add.
fn stuck(percents: &'static [usize]) -> World {
    let mut world = World::scored(percents);
    world.amend = Box::new(|_, _| Amendment::default());
    world
}

#[test]
fn a_persona_that_adds_nothing_is_used_without_an_evaluation_and_after_all_four_a_person_is_asked() {
    let world = stuck(&[50, 53, 54]);
    let asked = world.asked();
    let order = [
        "amend 2 as invariance",
        "amend 3 as multistability",
        "amend 4 as simplicity",
        "amend 5 as reification",
        "ask Escalation 9",
    ];
    assert!(asked.contains(&order.join("\n")), "{asked}");
    let run = world.play().run;
    assert_eq!((kinds(&run).len(), run.state.rounds.len()), (3, 3));
}

#[test]
fn a_held_run_goes_on_with_guidance_or_ends_with_its_best_tree() {
    let best = tree("t1.1+t1.2+t1.3");
    for choice in [Some(Choice::Accept), Some(Choice::End), None] {
        let drive = stuck(&[50, 53, 54]).play_with(|_, step| match (step, &choice) {
            (Step::Ask { .. }, Some(choice)) => Some(Ok(Answer::Chosen(choice.clone()))),
            (Step::Ask { .. }, None) => Some(failed(FailureKind::Empty)),
            _ => None,
        });
        let run = &drive.run;
        assert_eq!((ending(run), run.result()), (Some(Ending::HumanEscalation), Some(best)), "{choice:?}");
        assert_eq!(run.outcome(), Ended::NotReached);
    }

    let mut world = stuck(&[50, 53, 54, 100]);
    world.choose = Box::new(|_, _| Choice::Guide { text: "Turn it round.".into() });
    let run = world.play().run;
    assert_eq!(
        (ending(&run), scores(&run)),
        (Some(Ending::Success), vec![Some(0.5), Some(0.53), Some(0.54), Some(1.0)])
    );
    let page = work_prompt(&world, "t1.4");
    assert!(page.contains("## What to keep in mind") && page.contains("Turn it round."), "{page}");
    let (drive, step) = world.until(|step| matches!(step, Step::Amend { round: 6, .. }));
    assert!(prompt(&drive.run, &step).contains("Turn it round."));
}

#[test]
fn guidance_that_does_not_help_leads_to_the_same_question_once_more() {
    let mut world = stuck(&[50, 53, 54]);
    let guide = || Choice::Guide { text: "Turn it round.".into() };
    world.choose = Box::new(move |_, round| if round == 9 { guide() } else { Choice::End });
    let asked = world.asked();
    assert!(asked.contains("ask Escalation 9\namend 6\n") && asked.contains("ask Escalation 12"), "{asked}");
    assert_eq!(ending(&world.play().run), Some(Ending::HumanEscalation));
}

#[test]
fn a_hold_at_red_goes_back_to_the_last_green_tree_with_guidance() {
    let mut world = World::new();
    world.amend = Box::new(|_, _| Amendment::default());
    world.red(Stage::Lint, |content| content.has("t2.1"));
    world.choose = Box::new(|_, _| Choice::Guide { text: "Turn it round.".into() });
    let run = world.play().run;
    let last = run.state.passes.last().unwrap();
    assert_eq!((last.kind, last.from), (PassKind::Patch, tree("base")));
    assert_eq!((last.tasks().count(), ending(&run)), (3, Some(Ending::Success)));
}

#[test]
fn a_patch_that_leads_to_nothing_goes_to_another_point_of_view() {
    // The evaluator gives no patch at all, or no tasks for a criterion that it adds.
    for fails in
        [(|step: &Step| matches!(step, Step::Amend { persona: None, .. })) as fn(&Step) -> bool, |step| {
            matches!(step, Step::Divide { round: 1 })
        }]
    {
        let mut world = short_until("t2.2");
        world.amend = Box::new(|round, persona| match persona {
            None => adding("It is small."),
            Some(_) => described(&format!("look again after {round}")),
        });
        let drive = world.play_with(|_, step| fails(step).then(|| failed(FailureKind::OffSchema)));
        let run = &drive.run;
        assert_eq!((kinds(run), ending(run)), (vec![PassKind::Plan, CAPPED], Some(Ending::Success)));
        assert!(amended(&drive)[0].pass.is_none());
        let contract = run.state.contract.as_ref().unwrap();
        assert!(contract.criterion("A4").is_none(), "no criterion is left without a task");
    }
}
