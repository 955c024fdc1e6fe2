//! A champion whose edits are dangerous is never applied without a person.

use skilltune_phases::loops::tune::{Answer, Apply, Choice, Ending, Hold, Run, Step, Verdict};
use skilltune_phases::skills::candidate::Candidate;
use skilltune_phases::skills::edit::{Danger, DangerClass, EditReport};
use skilltune_phases::skills::target::Place;

use crate::world::{Drive, improved, judged, nth, plan, tree, well};

fn danger(line: usize) -> Danger {
    Danger { path: "SKILL.md".into(), line: Some(line), class: DangerClass::Network, shown: "curl x".into() }
}

/// The first of two edits is dangerous, the second is not.
fn edited(run: &Run) -> Answer {
    let round = run.round_number();
    let Ok(Answer::Improved { tree, report, kinds, .. }) = improved(&format!("draft {round}")) else {
        unreachable!()
    };
    let dangers = if round == 1 { vec![danger(2), danger(1)] } else { Vec::new() };
    Answer::Improved { tree, report, kinds, dangers }
}

/// Returns a winning run with held-out scenarios, and the question that it asked.
fn ended(apply: Apply, choice: Option<Choice>) -> (Drive, Option<Hold>) {
    let mut plan = plan(1, 7);
    plan.task.scenarios.iter_mut().skip(1).for_each(|scenario| scenario.held_out = true);
    (plan.task.rules.max_iterations, plan.task.apply) = (3, apply);
    let mut drive = Drive::start(plan);
    let mut asked = None;
    drive.finish_alone(|run, step| match step {
        Step::Improve { .. } => Ok(edited(run)),
        Step::Judge { candidate, .. } => judged(run, 40 + 20 * nth(run, *candidate), &[]),
        Step::Ask(hold) => {
            asked = Some(*hold);
            Ok(Answer::Chosen(choice.unwrap_or(hold.default_choice())))
        }
        _ => well(run, step, 0),
    });
    assert_eq!(drive.run.state.shipment.as_ref().map(|shipment| shipment.verdict), Some(Verdict::Won));
    (drive, asked)
}

#[test]
fn a_dangerous_champion_is_applied_by_a_persons_answer_and_by_nothing_else() {
    for apply in [Apply::Auto, Apply::Unattended] {
        let (drive, asked) = ended(apply, None);
        assert_eq!((drive.run.state.closed, asked), (Some(Ending::Kept), None));
        assert!(drive.run.needs_a_person());
    }
    let (unattended, asked) = ended(Apply::Ask, None);
    assert_eq!(unattended.run.state.closed, Some(Ending::Kept));
    assert_eq!(asked.map(Hold::default_choice), Some(Choice::Keep));
    let (attended, _) = ended(Apply::Ask, Some(Choice::Apply));
    assert_eq!(attended.run.state.closed, Some(Ending::Applied));
}

#[test]
fn the_dangers_of_a_candidate_are_those_of_all_edits_that_led_to_it() {
    let (drive, _) = ended(Apply::Never, None);
    let run = &drive.run;
    let champion = run.state.shipment.as_ref().unwrap().champion;
    let parent = run.candidate(champion).unwrap().origin.as_ref().unwrap();
    assert!(parent.dangers.is_empty() && parent.parent != run.start(), "the second edit is harmless");
    let lines: Vec<_> = run.dangers(champion).iter().map(|(place, danger)| (*place, danger.line)).collect();
    assert_eq!(lines, [(Place(0), Some(1)), (Place(0), Some(2))]);
    assert!(run.dangers(run.start()).is_empty());
}

#[test]
fn candidates_that_lead_in_a_circle_end() {
    let (mut drive, _) = ended(Apply::Never, None);
    let run = &mut drive.run;
    let start = run.state.candidates[0].clone();
    let made = (EditReport::default(), Vec::new(), vec![danger(3)]);
    let circle = Candidate { id: start.id, ..start.edited(1, Place(0), tree("x"), made) };
    run.state.candidates[0] = circle;
    assert_eq!(run.dangers(start.id).len(), 1);
}
