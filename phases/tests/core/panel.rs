//! The judges of a final comparison: which are trusted, which are dismissed, and when the others are asked.

use std::cell::Cell;

use skilltune_phases::base::ending::Class;
use skilltune_phases::base::id::{CandidateId, Digest};
use skilltune_phases::base::role::Role;
use skilltune_phases::judging::contract::Verdict as Found;
use skilltune_phases::loops::tune::anchor::Tally;
use skilltune_phases::loops::tune::compare::panel::{self, Juror};
use skilltune_phases::loops::tune::trial::measure::SEARCH;
use skilltune_phases::loops::tune::{
    Answer, Asked, Decision, Ending, Event, Outcome, Plan, Run, Seat, Shipment, Step, Trial, Verdict,
};
use skilltune_phases::runs::event::FailureKind;
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;

use crate::world::{Drive, failed, knowing, nth, plan, stated, well};

const STATEMENTS: usize = 4;

/// Plans four statements per scenario, all but two scenarios held out, one draft, and this many judges.
fn suite(scenarios: usize, judges: usize) -> Plan {
    let mut plan = plan(1, scenarios);
    plan.task.rules.max_iterations = 2;
    let statement = |nth: usize| {
        let how = How::Question { text: format!("Statement {nth} is true.").into() };
        Demand::new(format!("statement-{nth}").parse().expect("a plain name"), how)
    };
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.demands = (0..STATEMENTS).map(statement).collect();
        scenario.held_out = nth >= 2;
    }
    let cast = plan.roles.of(&Role::EVALUATOR).clone();
    let others = Seat::ALL[1..judges].iter().map(|seat| (seat.role(), cast.clone()));
    plan.roles = plan.roles.iter().map(|(role, cast)| (role.clone(), cast.clone())).chain(others).collect();
    plan
}

/// One question to a judge.
struct Asking<'a> {
    run: &'a Run,
    step: &'a Step,
    seat: Seat,
    trial: Trial,
    is_start: bool,
    is_anchor: bool,
}

impl Asking<'_> {
    /// Answers that this many statements are met.
    fn met(&self, met: usize) -> Outcome {
        stated(self.run, self.trial.scenario, |nth| if nth < met { Found::Pass } else { Found::Fail })
    }

    fn roll(&self, nth: usize) -> u8 {
        let key = serde_json::to_vec(self.step).expect("a step has a JSON text");
        Digest::of_parts([&key[..], &self.run.plan.seed.to_le_bytes()]).as_bytes()[nth]
    }
}

fn run_with(plan: Plan, judge: impl Fn(&Asking<'_>) -> Outcome) -> Drive {
    let mut drive = Drive::start(plan);
    drive.finish(
        3,
        |_| 0,
        |run, step| match step {
            Step::Grade { candidate, trial, asked, .. } => {
                let is_start = nth(run, *candidate) == 0;
                let is_anchor = asked.anchor.is_some();
                // The search always finds the draft better.
                if trial.ordinal == SEARCH {
                    let met = if is_start { 1 } else { STATEMENTS };
                    return Asking { run, step, seat: asked.seat, trial: *trial, is_start, is_anchor }
                        .met(met);
                }
                judge(&Asking { run, step, seat: asked.seat, trial: *trial, is_start, is_anchor })
            }
            _ => well(run, step, 50),
        },
    );
    drive
}

/// The draft meets one more statement than the start, and every good judge sees it.
fn honest(asking: &Asking<'_>) -> Outcome {
    asking.met(if asking.is_start { 2 } else { 3 })
}

fn all_met(asking: &Asking<'_>) -> Outcome {
    asking.met(STATEMENTS).map(|answer| knowing(answer, [Found::Pass, Found::Pass]))
}

fn at_random(asking: &Asking<'_>) -> Outcome {
    let verdict = |nth: usize| if asking.roll(nth) < 128 { Found::Pass } else { Found::Fail };
    let answer = stated(asking.run, asking.trial.scenario, verdict)?;
    Ok(if asking.is_anchor { knowing(answer, [verdict(10), verdict(11)]) } else { answer })
}

fn shipment(drive: &Drive) -> &Shipment {
    drive.run.state.shipment.as_ref().expect("the run has come to its end")
}

fn dismissed(drive: &Drive) -> Vec<Seat> {
    let jurors = panel::jurors(&drive.run).into_iter().filter(|juror| juror.is_dismissed);
    jurors.map(|juror| juror.seat).collect()
}

fn anchors(drive: &Drive, of: Seat) -> usize {
    let asked = drive.records.iter().filter_map(|record| match &record.event {
        Event::Done(done) => done.step.asked(),
        _ => None,
    });
    asked.filter(|asked| asked.seat == of && asked.anchor.is_some()).count()
}

#[test]
fn a_good_judge_is_tested_three_times_a_look_and_its_verdict_stands() {
    let drive = run_with(suite(8, 1), honest);
    assert_eq!((shipment(&drive).verdict, drive.run.state.closed), (Verdict::Won, Some(Ending::Applied)));
    assert_eq!((anchors(&drive, Seat::First), shipment(&drive).interim_analyses), (3, 1));
    let [Juror { tally, is_dismissed: false, .. }] = panel::jurors(&drive.run)[..] else {
        panic!("one judge")
    };
    assert_eq!((tally.known, tally.wrong, tally.repeated, tally.differing), (6, 0, 12, 0));
}

#[test]
fn a_judge_to_whom_all_is_true_decides_nothing() {
    let drive = run_with(suite(8, 1), all_met);
    assert_eq!((dismissed(&drive), shipment(&drive).verdict), (vec![Seat::First], Verdict::Unjudged));
    assert_eq!(drive.run.class(), Class::Unjudged);
}

#[test]
fn a_judge_that_flips_coins_is_dismissed_and_the_next_judges_all_anew() {
    let first = |asking: &Asking<'_>| match asking.seat {
        Seat::First => at_random(asking),
        Seat::Second | Seat::Third => honest(asking),
    };
    let caught = (0..40).filter(|seed| {
        let drive = run_with(Plan { seed: *seed, ..suite(8, 2) }, first);
        assert!(
            shipment(&drive).verdict != Verdict::Won || dismissed(&drive) == [Seat::First],
            "seed {seed}"
        );
        dismissed(&drive) == [Seat::First]
    });
    let caught = caught.count();
    assert!(caught >= 36, "only {caught} of 40");
}

#[test]
fn a_judge_that_changes_its_mind_halfway_is_dismissed() {
    let asked = Cell::new(0);
    let drive = run_with(suite(8, 2), |asking| {
        if asking.seat == Seat::First {
            asked.set(asked.get() + 1);
        }
        let is_late = asking.seat == Seat::First && asked.get() > 6;
        asking.met(if is_late {
            0
        } else if asking.is_start {
            2
        } else {
            4
        })
    });
    assert_eq!(dismissed(&drive), [Seat::First]);
    assert_eq!(shipment(&drive).verdict, Verdict::Won, "by the word of the second alone");
}

#[test]
fn a_judge_that_returns_rubbish_is_replaced_where_there_is_another() {
    let rubbish = |asking: &Asking<'_>| match asking.seat {
        Seat::First => failed(FailureKind::OffSchema),
        Seat::Second | Seat::Third => honest(asking),
    };
    let replaced = run_with(suite(8, 2), rubbish);
    assert_eq!((dismissed(&replaced), shipment(&replaced).verdict), (vec![Seat::First], Verdict::Won));
    assert_eq!(shipment(&run_with(suite(8, 1), rubbish)).verdict, Verdict::Unjudged);
}

#[test]
fn with_nobody_left_to_believe_nothing_is_decided() {
    let drive = run_with(suite(8, 3), all_met);
    assert_eq!(dismissed(&drive), Seat::ALL);
    assert_eq!(
        (shipment(&drive).verdict, drive.run.state.closed),
        (Verdict::Unjudged, Some(Ending::Unchanged))
    );
}

/// It sees one result at a time, and favours the first one it sees of each pair.
#[test]
fn a_judge_that_favours_the_first_place_favours_neither_version() {
    let wins = (0..200_u64).filter(|seed| {
        let judged_trials = std::cell::RefCell::new(std::collections::HashSet::new());
        let drive = run_with(Plan { seed: *seed, ..suite(8, 1) }, |asking| {
            let is_first = asking.is_anchor || judged_trials.borrow_mut().insert(asking.trial);
            asking.met(if is_first { 3 } else { 2 })
        });
        shipment(&drive).verdict == Verdict::Won
    });
    let wins = wins.count();
    assert!(wins <= 20 + 9, "{wins} of 200 at nine in ten");
}

/// The draft's results are longer but not better. No anchor shows this, because the judge is sure of itself.
#[test]
fn a_judge_that_favours_length_is_outvoted_by_two_that_do_not() {
    let longer = |asking: &Asking<'_>| match asking.seat {
        Seat::First => honest(asking),
        Seat::Second | Seat::Third => asking.met(2),
    };
    assert_eq!(shipment(&run_with(suite(8, 1), longer)).verdict, Verdict::Won, "nobody contradicts it");
    let drive = run_with(suite(8, 3), longer);
    assert_eq!((shipment(&drive).verdict, dismissed(&drive)), (Verdict::Tied, vec![]));
    let alpha = panel::agreement(&drive.run).expect("three judges differ");
    assert!((0.4..0.9).contains(&alpha), "{alpha}");
}

#[test]
fn only_close_scenarios_go_to_the_others_and_both_versions_together() {
    let far = |trial: Trial| trial.scenario.is_multiple_of(2);
    let drive = run_with(suite(8, 3), |asking| match (asking.is_start, far(asking.trial)) {
        (true, _) => asking.met(1),
        (false, true) => asking.met(4),
        (false, false) => asking.met(2),
    });
    let consulted = drive.decisions().into_iter().find_map(|decision| match decision {
        Decision::Consult { scenarios } => Some(scenarios.clone()),
        _ => None,
    });
    let mut consulted = consulted.expect("there are others to ask");
    consulted.sort_unstable();
    assert_eq!(consulted, [3, 5, 7]);
    for seat in [Seat::Second, Seat::Third] {
        let asked = drive.records.iter().filter_map(|record| match &record.event {
            Event::Done(done) => done.step.asked().zip(done.step.trial()),
            _ => None,
        });
        let mut asked: Vec<usize> = asked
            .filter(|(asked, _)| asked.seat == seat && asked.anchor.is_none())
            .map(|(_, trial)| trial.scenario)
            .collect();
        asked.sort_unstable();
        assert_eq!(asked, [3, 3, 5, 5, 7, 7]);
        assert_eq!(anchors(&drive, seat), 3);
    }
}

#[test]
fn whichever_version_is_ahead_the_same_is_close_and_the_same_is_found() {
    let judge = |asking: &Asking<'_>, flipped: bool| {
        let ahead = asking.is_start == flipped;
        let own = usize::from(ahead) + usize::from(asking.seat == Seat::Second && asking.trial.scenario == 4);
        asking.met(1 + own)
    };
    let (plain, flipped) = (
        run_with(suite(8, 2), |asking| judge(asking, false)),
        run_with(suite(8, 2), |asking| judge(asking, true)),
    );
    assert_eq!(plain.run.state.panel.close, flipped.run.state.panel.close);
    let differences = |drive: &Drive, sign: f64| -> Vec<f64> {
        shipment(drive).pairs.iter().map(|pair| sign * pair.difference()).collect()
    };
    assert_eq!(differences(&plain, 1.0), differences(&flipped, -1.0));
}

#[test]
fn a_judge_who_has_none_of_the_one_version_is_not_heard_on_the_other() {
    let drive = run_with(suite(8, 2), |asking| match asking.seat {
        Seat::Second if asking.is_start && !asking.is_anchor && asking.trial.scenario == 3 => {
            failed(FailureKind::OffSchema)
        }
        // The lower of the two evaluations counts, and the second judge is strict.
        Seat::Second => asking.met(usize::from(!asking.is_start)),
        Seat::First | Seat::Third => honest(asking),
    });
    let pair = |scenario| {
        let pairs = &shipment(&drive).pairs;
        let pair = pairs.iter().find(|pair| pair.scenario == scenario).expect("it was compared");
        (pair.start.points(), pair.challenger.points())
    };
    assert_eq!((pair(3), pair(4)), ((50.0, 75.0), (0.0, 25.0)));
}

#[test]
fn no_ceiling_of_calls_stands_in_the_way_of_judges_who_are_replaced() {
    let drive = run_with(suite(14, 3), |asking| match asking.seat {
        Seat::First | Seat::Second => all_met(asking),
        Seat::Third => honest(asking),
    });
    assert_eq!(
        (dismissed(&drive), shipment(&drive).verdict),
        (vec![Seat::First, Seat::Second], Verdict::Won)
    );
    let calls = drive.run.ledger.total().calls;
    assert!(u64::from(calls) <= drive.run.default_calls(), "{calls} of {}", drive.run.default_calls());
}

#[test]
fn an_answer_to_an_anchor_is_read_with_its_two_statements() {
    let drive = run_with(suite(8, 1), honest);
    let again = drive.records.iter().find_map(|record| match &record.event {
        Event::Done(done) => {
            let is_anchor = done.step.asked().is_some_and(|asked| asked.anchor.is_some());
            match &done.outcome {
                Ok(Answer::Judged(judgement)) if is_anchor => Some(judgement.whole.findings.iter().count()),
                _ => None,
            }
        }
        _ => None,
    });
    assert_eq!(again, Some(STATEMENTS + 2));
}

#[test]
fn a_journal_that_names_judges_and_candidates_that_there_are_not_is_read() {
    let strange = CandidateId(Digest::of(b"strange"));
    let trial = Trial { scenario: 0, ordinal: SEARCH + 1, era: 0 };
    let asked = Asked { seat: Seat::Third, anchor: Some(7) };
    let step = Step::Grade { candidate: strange, trial, artifacts: Vec::new(), evidence: Vec::new(), asked };
    let tally = Tally { known: 0, wrong: 9, repeated: 0, differing: 9 };
    let tell = |drive: &mut Drive| {
        drive.record(Event::Decided(Decision::Compare { challenger: strange, trials: None }));
        drive.record(Event::Decided(Decision::Consult { scenarios: vec![0] }));
        drive.record(Event::Decided(Decision::Dismiss { seat: Seat::Third, tally }));
        drive.record(Event::Decided(Decision::Dismiss { seat: Seat::First, tally }));
        drive.record(Event::Decided(Decision::Open { round: 1, candidate: strange, scenarios: vec![0] }));
        drive.done(step.clone(), failed(FailureKind::OffSchema));
        let _ = (panel::jurors(&drive.run), panel::agreement(&drive.run));
        drive.due(1);
        assert_eq!(Run::replay(&drive.records).unwrap(), drive.run);
    };
    tell(&mut Drive::start(suite(8, 2)));
    tell(&mut run_with(suite(8, 3), honest));
}
