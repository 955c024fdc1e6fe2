//! A search by single trials of a chain: which member each edit targets, and that the faulty one is found.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use skilltune_phases::base::id::TreeId;
use skilltune_phases::judging::contract::{CriterionId, Verdict as Found};
use skilltune_phases::loops::tune::search::explanation::{self, LeftAlone};
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{Answer, Decision, Event, Outcome, Plan, Run, Search, Step, Verdict};
use skilltune_phases::skills::target::Place;
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;

use crate::world::{Drive, improved, plan, stated, tree, well};

const MEMBERS: usize = 3;
const ASKED: usize = 3;

/// Each scenario has the same three statements, about the last member's work or the given member's.
fn chain(about: [Option<usize>; ASKED]) -> Plan {
    let mut plan = plan(MEMBERS, 12);
    plan.task.rules.search = Search::Draft { runs: 120, drawn: true, tests: 0 };
    let names: Vec<_> = plan.task.target.members.iter().map(|member| member.name.clone()).collect();
    let statement = |(nth, about): (usize, &Option<usize>)| {
        let how = How::Question { text: format!("Statement {nth} is so.").into() };
        let member = about.map(|member| names[member].clone());
        Demand { member, ..Demand::new(format!("statement-{nth}").parse().expect("a plain name"), how) }
    };
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.demands = about.iter().enumerate().map(statement).collect();
        scenario.held_out = nth % 3 == 2;
    }
    plan
}

/// The member that spoils each statement, and the one that the judge blames.
#[derive(Clone, Copy)]
struct World {
    spoils: [usize; ASKED],
    names: [Option<usize>; ASKED],
}

/// The statements that each version of a member no longer spoils.
type Mended = RefCell<HashMap<TreeId, [bool; ASKED]>>;

fn answer(world: World, mended: &Mended, run: &Run, step: &Step) -> Outcome {
    let of = |tree: TreeId| mended.borrow().get(&tree).copied().unwrap_or_default();
    let id = |scenario: usize, nth: usize| {
        let scenario = &run.plan.task.scenarios[scenario];
        scenario.criterion(&scenario.demands[nth])
    };
    match step {
        Step::Grade { candidate, trial, .. } => {
            let trees = &run.candidate(*candidate).expect("a candidate of the run").trees;
            let is_so = |nth: usize| of(trees[world.spoils[nth]])[nth];
            let outcome =
                stated(run, trial.scenario, |nth| if is_so(nth) { Found::Pass } else { Found::Fail });
            let Ok(Answer::Judged(mut judgement)) = outcome else { unreachable!("it was judged") };
            for (nth, named) in world.names.iter().enumerate() {
                let missed = named.filter(|_| !is_so(nth));
                let name = missed.map(|member| run.plan.task.target.members[member].name.as_str().into());
                judgement.at_fault.extend(name.map(|name| (id(trial.scenario, nth), name)));
            }
            Ok(Answer::Judged(judgement))
        }
        Step::Improve { round, base, member, .. } => {
            let before = run.candidate(*base).expect("a candidate of the run").trees[member.0];
            let targets = run.state.rounds.last().and_then(|round| round.targets.clone()).unwrap_or_default();
            let asked: Vec<String> = targets.iter().map(|id| run.plan.task.question(id)).collect();
            let mut has = of(before);
            for (nth, one) in has.iter_mut().enumerate() {
                *one |= asked.iter().any(|words| words.contains(&format!("Statement {nth} ")));
            }
            let name = format!("draft {round} of {member:?}");
            mended.borrow_mut().insert(tree(&name), has);
            improved(&name)
        }
        _ => well(run, step, 50),
    }
}

fn play(plan: Plan, world: World) -> Drive {
    let mended = Mended::default();
    let mut drive = Drive::start(plan);
    drive.finish(4, |_| 0, |run, step| answer(world, &mended, run, step));
    drive
}

/// Returns the edited members in order, with the criteria of each edit.
fn edits(drive: &Drive) -> Vec<(usize, Vec<CriterionId>)> {
    let edit = |one: &&Decision| match one {
        Decision::Target { criteria, member: Some(member) } => Some((member.0, criteria.clone())),
        _ => None,
    };
    drive.decisions().iter().filter_map(edit).collect()
}

fn members(drive: &Drive) -> Vec<usize> {
    edits(drive).into_iter().map(|(member, _)| member).collect()
}

fn verdict(drive: &Drive) -> Verdict {
    drive.run.state.shipment.as_ref().expect("it was compared").verdict
}

const AT_END: [Option<usize>; ASKED] = [None; ASKED];

#[test]
fn a_member_that_the_judge_names_is_edited_first() {
    let drive = play(chain(AT_END), World { spoils: [0; ASKED], names: [Some(0); ASKED] });
    assert_eq!((members(&drive), verdict(&drive)), (vec![0], Verdict::Won));
    let first = &explanation::of(&drive.run)[0];
    let (member, share) = first.at_fault()[0];
    assert!(member == Place(0) && share > 0.6, "{share}");
    assert!((first.at_fault().iter().map(|one| one.1).sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn where_nobody_is_named_edits_that_do_not_help_move_on_to_the_next_member() {
    let drive = play(chain(AT_END), World { spoils: [0; ASKED], names: [None; ASKED] });
    let members = members(&drive);
    assert_eq!(members[0], 2, "the statements are about its work: {members:?}");
    assert_eq!(members.last(), Some(&0), "{members:?}");
    assert_eq!(verdict(&drive), Verdict::Won);
}

#[test]
fn a_member_that_is_named_wrongly_is_edited_in_vain_until_that_outweighs_the_claim() {
    let names = [Some(0), Some(0), Some(2)];
    let drive = play(chain(AT_END), World { spoils: [0; ASKED], names });
    let members = members(&drive);
    assert_eq!((&members[..2], members.last()), (&[0, 2][..], Some(&0)), "{members:?}");
    assert_eq!(verdict(&drive), Verdict::Won);
}

#[test]
fn a_member_that_misses_what_is_said_of_its_own_work_is_suspected_of_the_rest() {
    let about = [Some(0), Some(0), None];
    let drive = play(chain(about), World { spoils: [0; ASKED], names: [None; ASKED] });
    let edits = edits(&drive);
    let (member, targets) = &edits[0];
    assert_eq!((*member, targets.len()), (0, ASKED), "{edits:?}");
    assert_eq!((edits.len(), verdict(&drive)), (1, Verdict::Won));
}

#[test]
fn a_member_after_the_one_that_a_statement_is_about_is_never_at_fault() {
    let about = [Some(0); ASKED];
    let drive = play(chain(about), World { spoils: [0; ASKED], names: [Some(2); ASKED] });
    assert_eq!(members(&drive), [0]);
    for fault in &explanation::of(&drive.run)[0].targets {
        assert_eq!(fault.at_fault, [1.0]);
    }
}

#[test]
fn faults_of_two_members_are_edited_one_member_after_the_other() {
    let names = [Some(0), Some(0), Some(2)];
    let drive = play(chain(AT_END), World { spoils: [0, 0, 2], names });
    let edits = edits(&drive);
    let counts: Vec<(usize, usize)> = edits.iter().map(|(member, faults)| (*member, faults.len())).collect();
    assert_eq!(counts, [(0, 2), (2, 1)]);
    let left: Vec<LeftAlone> = explanation::of(&drive.run)[0].left_alone.iter().map(|one| one.1).collect();
    assert_eq!(left, [LeftAlone::OtherMember]);
    assert_eq!(verdict(&drive), Verdict::Won);
}

#[test]
fn a_change_of_the_last_member_runs_no_member_before_it_again() {
    let drive = play(chain(AT_END), World { spoils: [2; ASKED], names: [Some(1), Some(2), Some(2)] });
    let searched = |place: usize| {
        let steps = drive.records.iter().filter_map(|record| match &record.event {
            Event::Done(done) => match &done.step {
                Step::Exercise { member, skill, trial, .. }
                    if trial.ordinal == SEARCH && member.0 == place =>
                {
                    Some((*skill, trial.scenario))
                }
                _ => None,
            },
            _ => None,
        });
        steps.collect::<Vec<_>>()
    };
    let (first, last) = (searched(0), searched(2));
    let distinct: HashSet<_> = first.iter().collect();
    assert_eq!(distinct.len(), first.len());
    assert!(first.len() < last.len(), "{} and {}", first.len(), last.len());
}

#[test]
fn a_journal_that_names_a_member_that_is_not_there_does_no_harm() {
    let mended = Mended::default();
    let world = World { spoils: [0; ASKED], names: [None; ASKED] };
    let mut drive = Drive::start(chain(AT_END));
    loop {
        let step = drive.due(1).pop().expect("the search goes on");
        if matches!(step, Step::Improve { .. }) {
            break;
        }
        let outcome = answer(world, &mended, &drive.run, &step);
        drive.done(step, outcome);
    }
    let criteria = drive.run.state.rounds[0].targets.clone().expect("they were chosen");
    drive.record(Event::Decided(Decision::Target { criteria, member: Some(Place(9)) }));
    assert_eq!(drive.run.state.rounds[0].member, None);
    drive.finish(1, |_| 0, |run, step| answer(world, &mended, run, step));
    assert_eq!(verdict(&drive), Verdict::Won);
}
