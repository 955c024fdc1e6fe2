//! Two improvers: which one has the turn, and what decides it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Role;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::judging::contract::Verdict as Found;
use skilltune_phases::loops::tune::search::turns::{self, Earned};
use skilltune_phases::loops::tune::{Decision, Event, Improver, Plan, Run, Search, Step, Tune};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;

use crate::world::{Drive, failed, improved, judged, nth, plan, stated, tree, well};

const PARTS: usize = 24;

/// Returns the plan with a second improver.
pub(crate) fn with_two(mut plan: Plan) -> Plan {
    let second = plan.roles.of(&Role::IMPROVER).clone();
    let roles = plan.roles.iter().map(|(role, cast)| (role.clone(), cast.clone()));
    plan.roles = roles.chain([(Role::SECOND_IMPROVER, second)]).collect();
    plan
}

/// Gives each scenario four of many parts to ask for.
fn suite(runs: u32) -> Plan {
    let mut plan = plan(1, 30);
    plan.task.rules.search = Search::Draft { runs, drawn: true, tests: 0 };
    let demand = |part: usize| {
        let how = How::Question { text: format!("Part {part} is there.").into() };
        Demand::new(format!("part-{part}").parse().expect("a plain name"), how)
    };
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.demands = (0..4).map(|of| demand((nth + 5 * of) % PARTS)).collect();
        scenario.held_out = nth % 3 == 2;
    }
    plan
}

/// The good improver fixes everything that is asked, the other one nothing.
fn play(plan: Plan, good: Improver, jobs: usize) -> Drive {
    let start = plan.task.target.members[0].start;
    let parts: RefCell<HashMap<TreeId, BTreeSet<usize>>> = RefCell::new([(start, BTreeSet::new())].into());
    let mut drive = Drive::start(plan);
    drive.finish(
        jobs,
        |room| room - 1,
        |run, step| {
            let has = |candidate| {
                let tree = run.candidate(candidate).expect("a candidate of the run").trees[0];
                parts.borrow()[&tree].clone()
            };
            match step {
                Step::Grade { candidate, trial, .. } => {
                    let has = has(*candidate);
                    stated(run, trial.scenario, |of| {
                        if has.contains(&((trial.scenario + 5 * of) % PARTS)) {
                            Found::Pass
                        } else {
                            Found::Fail
                        }
                    })
                }
                Step::Improve { base, by, round, .. } => {
                    let mut has = has(*base);
                    let targets = run.state.rounds.last().and_then(|round| round.targets.clone());
                    let asked = targets.into_iter().flatten().filter(|_| *by == good);
                    has.extend(asked.filter_map(|id| id.as_str().rsplit_once('-')?.1.parse::<usize>().ok()));
                    let name = format!("{round} {has:?}");
                    parts.borrow_mut().insert(tree(&name), has);
                    improved(&name)
                }
                _ => well(run, step, 50),
            }
        },
    );
    drive
}

fn turns_of(run: &Run, by: Improver) -> Earned {
    let of = turns::earned(run).into_iter().find(|one| one.by == by);
    of.expect("the run has this improver")
}

#[test]
fn the_improver_whose_edits_mend_more_edits_more_and_the_other_one_in_four() {
    for good in Improver::ALL {
        let drive = play(with_two(suite(96)), good, 1);
        let bad = Improver::ALL.into_iter().find(|by| *by != good).expect("there are two");
        let (good, bad) = (turns_of(&drive.run, good), turns_of(&drive.run, bad));
        assert!(good.mean() > bad.mean() && good.turns > bad.turns, "{good:?} {bad:?}");
        assert!(bad.turns * 4 + 3 >= good.turns + bad.turns, "{good:?} {bad:?}");
    }
}

#[test]
fn each_edit_is_made_by_the_improver_whose_turn_was_decided() {
    let drive = play(with_two(suite(64)), Improver::Second, 1);
    let mut turn = None;
    let mut made = BTreeSet::new();
    for record in &drive.records {
        match &record.event {
            Event::Decided(Decision::Turn(by)) => turn = Some(*by),
            Event::Done(done) => {
                if let Step::Improve { by, .. } = &done.step {
                    assert_eq!(Some(*by), turn);
                    assert_eq!(Tune::role(&done.step), Some(by.role()));
                    made.insert(*by);
                }
            }
            _ => {}
        }
    }
    assert_eq!(made.len(), 2);
    let replayed = Run::replay(&drive.records).expect("a whole journal is one");
    assert_eq!(turns::earned(&replayed), turns::earned(&drive.run));
}

#[test]
fn one_improver_takes_no_turns_and_its_run_is_as_it_was() {
    let drive = play(suite(64), Improver::First, 1);
    let is_turn = |one: &&Decision| matches!(one, Decision::Turn(_));
    assert_eq!(drive.decisions().into_iter().filter(is_turn).count(), 0);
    assert_eq!(turns::earned(&drive.run).len(), 1);
}

#[test]
fn how_many_calls_are_under_way_changes_no_turn() {
    let with = |jobs| {
        let drive = play(with_two(suite(64)), Improver::First, jobs);
        drive.decisions().into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(with(1), with(8));
}

/// The first improver's drafts fail the gates; those of the second are kept.
#[test]
fn in_rounds_an_edit_earns_by_being_kept() {
    let mut plan = with_two(plan(1, 1));
    plan.task.rules.max_iterations = 9;
    plan.task.rules.stall.window = 9;
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match step {
        Step::Improve { by: Improver::First, .. } => failed(FailureKind::Gate),
        Step::Judge { candidate, .. } => judged(run, 40 + 5 * nth(run, *candidate), &[]),
        _ => well(run, step, 50),
    });
    let (first, second) = (turns_of(&drive.run, Improver::First), turns_of(&drive.run, Improver::Second));
    assert!(first.turns >= 2 && second.turns > first.turns, "{first:?} {second:?}");
    assert!(first.sum.abs() < 1e-9 && second.sum > 1.0, "{first:?} {second:?}");
}

#[test]
fn a_journal_that_names_an_improver_which_the_run_does_not_have_changes_nothing() {
    let mut drive = Drive::start(plan(1, 1));
    drive.due(1);
    drive.record(Event::Decided(Decision::Turn(Improver::Second)));
    assert_eq!(drive.run.state.rounds[0].turn, None);
}
