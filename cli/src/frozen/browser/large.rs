//! The largest run that people make: 200 scenarios with 8 trials of both versions.

use std::fs;
use std::io::{self, Write as _};

use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::judging::contract::Verdict;
use skilltune_phases::judging::judgement::Finding;
use skilltune_phases::loops::tune::{Aim, Answer, Outcome, Plan, Run, Sides, Step, Tune};
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;
use skilltune_worlds::drive::TestLoop as _;
use tempfile::TempDir;

use super::checks::{HEIGHT, LARGEST, Look, REPORT, WIDE, data_pages};
use crate::frozen::run::write_run;
use crate::loops::tune::world::{self, Play, judged, plan, scored};

const SCENARIOS: usize = 200;
const TRIALS: u32 = 8;

#[test]
fn the_page_of_a_large_run_is_small_and_opens_at_once() {
    let place = TempDir::new().unwrap();
    let home = Home::of(place.path());
    home.create().unwrap();
    let run = compared();
    let folder = write_run(&Objects::at(home.objects()), &home.run(&run.plan.run), &run);
    let bytes = fs::metadata(folder.join(REPORT)).unwrap().len();
    assert!(bytes < LARGEST, "{bytes} bytes");
    assert_eq!(data_pages(&folder).len(), SCENARIOS);
    let Some(mut look) = Look::new() else { return };
    look.chromium.resize(WIDE, HEIGHT);
    // The first page of a browser also waits for the browser.
    look.chromium.open(&folder, &data_pages(&folder)[0]);
    let time = look.chromium.open(&folder, REPORT);
    let _ = writeln!(
        io::stderr(),
        "the page of {SCENARIOS} x {TRIALS} trials: {bytes} bytes, open after {time:?}"
    );
    look.check_run("large", &folder);
    look.finish();
}

/// Compares two versions that are about as good.
fn compared() -> Run {
    let mut play = Play::begin(large());
    loop {
        let steps = play.due(usize::MAX);
        if steps.is_empty() {
            return play.run;
        }
        for step in steps {
            let outcome = Tune::honestly(&step, answer(&play.run, &step));
            play.done(step, outcome);
        }
    }
}

fn large() -> Plan {
    let mut plan = plan(&["writer"], SCENARIOS);
    plan.task.aim = Aim::Compare(Box::new(Sides {
        start: "old".into(),
        challenger: "new".into(),
        trees: vec![world::tree("new")],
        regraded: None,
    }));
    plan.task.rules.confirm = TRIALS;
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.description =
            format!("Write page {nth}. ") + &"Say what it is for and whom it helps. ".repeat(10);
        let demand = |nth: usize| {
            let how = How::Question {
                text: format!("The page meets the expectation with the number {nth}.").into(),
            };
            Demand::new(format!("expectation-{nth}").parse().unwrap(), how)
        };
        scenario.demands = (1..=4).map(demand).collect();
    }
    plan
}

fn answer(run: &Run, step: &Step) -> Outcome {
    let Step::Grade { candidate, trial, .. } = step else { return scored(&[50; 2], &[50; 2])(run, step) };
    let Ok(Answer::Judged(mut judgement)) = judged(run, 50) else { unreachable!("it is judged") };
    let scenario = &run.plan.task.scenarios[trial.scenario];
    let ids: Vec<_> = scenario.demands.iter().map(|demand| scenario.criterion(demand)).collect();
    let is_start = usize::from(*candidate == run.start());
    let finding = |(nth, criterion): (usize, _)| {
        let mixed = trial.scenario * 7 + trial.ordinal as usize * 3 + nth * 5 + is_start;
        let verdict = if mixed.is_multiple_of(4) { Verdict::Fail } else { Verdict::Pass };
        Finding { criterion, verdict, evidence: "out.md: \"what the page says about it, in one sentence\"" }
    };
    judgement.whole.findings = ids.iter().enumerate().map(finding).collect();
    Ok(Answer::Judged(judgement))
}
