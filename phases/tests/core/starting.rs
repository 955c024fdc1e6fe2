//! Scenarios with a starting state: it is prepared once, and every trial of every candidate begins with it.

use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::Step;
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::skills::target::Place;

use crate::drive::{failed, tree};
use crate::world::{Drive, plan, well};

/// Returns the inputs of a run's executors and the number of set-ups.
fn inputs(setup: bool, files: Option<TreeId>) -> (Vec<(Place, Option<TreeId>)>, usize) {
    let mut plan = plan(2, 2);
    for scenario in &mut plan.task.scenarios {
        (scenario.files, scenario.setup) = (files, setup.then(|| vec!["make".to_owned()]));
    }
    let (mut given, mut set_ups) = (Vec::new(), 0);
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| {
        match step {
            Step::Exercise { member, input, .. } => given.push((*member, *input)),
            Step::SetUp { files: began, .. } => {
                assert_eq!(*began, files);
                set_ups += 1;
            }
            _ => {}
        }
        well(run, step, 50)
    });
    (given, set_ups)
}

#[test]
fn files_of_a_scenario_go_to_the_first_member_and_nothing_is_set_up() {
    let files = tree("files");
    let (given, set_ups) = inputs(false, Some(files));
    assert_eq!(set_ups, 0);
    assert!(given.iter().all(|(member, input)| (member.0 == 0) == (*input == Some(files))), "{given:?}");
    assert!(given.iter().all(|(_, input)| input.is_some()));
}

#[test]
fn what_a_set_up_makes_is_where_every_trial_of_its_scenario_begins() {
    let (given, set_ups) = inputs(true, Some(tree("files")));
    assert_eq!(set_ups, 2, "once a scenario, whatever the rounds");
    let first: Vec<_> = given.iter().filter(|(member, _)| member.0 == 0).map(|(_, input)| *input).collect();
    assert!(
        first.len() > 2
            && first.iter().all(|input| [Some(tree("start 0")), Some(tree("start 1"))].contains(input))
    );
}

#[test]
fn a_scenario_that_cannot_be_set_up_is_missing_and_the_others_go_on() {
    let mut plan = plan(1, 2);
    plan.task.scenarios[1].setup = Some(vec!["make".to_owned()]);
    plan.task.rules.coverage = 0.5;
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::SetUp { .. } => failed(FailureKind::Crashed),
        Step::Exercise { trial, .. } if trial.scenario == 1 => unreachable!("its workspace is not ready"),
        _ => well(run, step, 50),
    });
    let first = drive.run.state.rounds[0].measured.as_ref().unwrap();
    assert_eq!((first.judged, first.of), (1, 2));
    assert!(first.score.is_some());
}
