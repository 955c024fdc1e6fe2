//! Disputes: an oracle fails, and the judge finds its criterion met.

use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::evolve::decision::Ending;
use skilltune_phases::loops::evolve::receipt::Word;
use skilltune_phases::loops::evolve::step::Choice;
use skilltune_phases::loops::evolve::{Evolve, Run, Step};
use skilltune_phases::loops::shared::step::Shared;
use skilltune_phases::runs::event::FailureKind;

use super::ending;
use super::evidence::{verdict, word};
use super::world::{Drive, Judged, World, green, red};
use crate::drive::{failed, tree};

const WHOLE: &str = "t1.1+t2.1+t3.1";

fn tasks(run: &Run, pass: usize) -> Vec<&str> {
    run.state.passes[pass].tasks().map(|id| &**id).collect()
}

/// The oracle of this criterion fails until this work is there, and the judge finds everything met.
fn disputed(id: &'static str, until: &'static str, choice: &'static Choice) -> World {
    let mut world = World::with_oracles();
    world.probe = Box::new(move |criterion, _, content| match criterion {
        _ if content.name() == "base" => red(),
        _ if criterion == id && !content.has(until) => red(),
        _ => green(),
    });
    world.settle = Box::new(|_| choice.clone());
    world
}

#[test]
fn a_person_settles_what_the_judge_and_an_oracle_disagree_on() {
    let holds = "its oracle fails, and a person finds it met";
    let run = disputed("A2", "never", &Choice::Holds).play().run;
    assert_eq!((ending(&run), run.state.rounds.len()), (Some(Ending::Success), 1));
    assert_eq!(word(&run, "A2"), (Word::Judged, Some(holds.to_owned())));

    let world = disputed("A2", "t2.2", &Choice::Fails);
    let run = world.play().run;
    let unmet = verdict(&run, 0, "A2");
    assert_eq!((unmet.is_met, unmet.is_disputed, unmet.gaps.len()), (false, false, 1));
    assert_eq!((ending(&run), tasks(&run, 1)), (Some(Ending::Success), vec!["t2", "t3"]));
    assert_eq!(word(&run, "A2"), (Word::Verified, None));
    let asked = world.asked();
    assert_eq!(asked.matches("settle").count(), 1, "{asked}");
    assert!(asked.contains(&format!("judge {WHOLE}\nsettle A2 on {WHOLE}\namend 0")), "{asked}");

    let (drive, step) = world.until(|step| matches!(step, Step::Settle { .. }));
    assert!(matches!(Evolve::shared(&drive.run, &step), Some(Shared::Ask)));
}

/// Asserts that a run ended because a person has to decide on a criterion.
fn assert_waits(drive: &Drive, result: &str) {
    let run = &drive.run;
    assert_eq!((ending(run), run.result()), (Some(Ending::HumanEscalation), Some(tree(result))));
    let why = run.state.end.as_ref().and_then(|end| end.why.as_deref());
    let expected = "a person has to decide on A2: the oracle fails, and the evaluator finds it met";
    assert_eq!(why, Some(expected));
    assert_eq!(word(run, "A2").0, Word::Disputed);
}

#[test]
fn a_dispute_that_nobody_settles_ends_the_run_without_another_round() {
    let world = disputed("A2", "never", &Choice::Leave);
    for drive in [
        world.play(),
        world.play_with(|_, step| matches!(step, Step::Settle { .. }).then(|| failed(FailureKind::Empty))),
    ] {
        assert_waits(&drive, WHOLE);
        assert_eq!(drive.run.state.passes.len(), 1);
        let left = verdict(&drive.run, 0, "A2");
        assert_eq!((left.is_met, left.is_disputed), (false, true));
    }
    let run = disputed("A3", "never", &Choice::Leave).play().run;
    assert_eq!(ending(&run), Some(Ending::Success), "the score does not need it");
    assert_eq!(word(&run, "A3").0, Word::Disputed);
}

#[test]
fn rounds_go_on_for_what_else_is_unmet_and_never_for_what_is_disputed() {
    let mut world = disputed("A2", "never", &Choice::Leave);
    world.tasks[2].after = vec!["t1".into()];
    world.plan.task.spec.criteria[0].check = Some(vec!["make".to_owned(), "run".to_owned()]);
    world.check = Box::new(|_, content| Some(content.has("t1.2")));
    let drive = world.play();
    assert_eq!((drive.run.state.passes.len(), tasks(&drive.run, 1)), (2, vec!["t1", "t3"]));
    assert_waits(&drive, "t1.1+t1.2+t2.1+t3.1+t3.2");
}

/// Both results score the same, and only the second one lacks nothing but a decision.
#[test]
fn a_run_that_waits_for_a_decision_leaves_the_result_that_it_is_about() {
    let mut world = disputed("A2", "never", &Choice::Leave);
    world.judge =
        Box::new(|_, content| if content.has("t2.2") { Judged::all() } else { Judged::only(&["A1", "A3"]) });
    let drive = world.play();
    assert_eq!(super::scores(&drive.run), [Some(0.625), Some(0.625)]);
    assert_waits(&drive, "t1.1+t2.1+t2.2+t3.1+t3.2");
}

#[test]
fn an_oracle_that_cannot_run_on_a_result_fails_there() {
    let drive = World::with_oracles().play_with(|_, step| match step {
        Step::Probe { criterion, tree: of, .. } if &**criterion == "A2" && *of != tree("base") => {
            Some(failed(FailureKind::TimedOut))
        }
        _ => None,
    });
    assert_waits(&drive, WHOLE);
}
