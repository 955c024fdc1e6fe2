//! Collects the evidence about a suite from the runs of a project.

use std::collections::BTreeMap;

use skilltune_phases::base::name::Name;
use skilltune_phases::loops::tune::results::trials::judged_trials;
use skilltune_phases::loops::tune::{Aim, Run, Tune};
use skilltune_phases::loops::vacuous::{Tally, Vacuous, never, passes_without};
use skilltune_phases::runs::plan::LoopKind;
use skilltune_phases::suites::scenario::Scenario;

use crate::inputs::suite::Suite;
use crate::runs::Runs;
use crate::terminal::environment::Environment;
use crate::text::figures::count;

#[derive(Debug, Default)]
pub(super) struct Shown {
    pub vacuous: Vec<Vacuous>,
    /// The number of runs that tried a skill on the suite; a regraded run was counted before.
    pub runs: usize,
    /// The number of its current scenarios that a run has tried without a skill.
    pub tried: usize,
    /// Why some runs are missing here.
    pub unread: Option<String>,
}

/// Reads the runs of a project. Runs may be untrusted or damaged; what the suite itself shows is reported anyway.
pub(super) fn of(suite: &Suite, env: &Environment) -> Shown {
    let runs = match Runs::here(env) {
        Ok(runs) => runs,
        Err(complaint) => {
            return Shown {
                unread: Some(format!("cannot read the runs: {}", complaint.what)),
                ..Shown::default()
            };
        }
    };
    let path = suite.path.display().to_string();
    let is_used = |run: &Run| run.plan.task.suite.as_ref().is_some_and(|used| used.path == path);
    let planned: Vec<_> = suite.scenarios.iter().map(|scenario| suite.starts.as_planned(scenario)).collect();
    let tally = |scenario| (scenario, Tally::default());
    let mut tallies: BTreeMap<&Name, (&Scenario, Tally)> =
        planned.iter().map(|scenario| (&scenario.id, tally(scenario))).collect();
    let (mut used, mut unread) = (0, 0);
    let mut without: BTreeMap<&Name, Vec<Vacuous>> = BTreeMap::new();
    for id in runs.ids(Some(LoopKind::Tune)) {
        let Ok(known) = runs.load::<Tune>(&id) else {
            unread += 1;
            continue;
        };
        if is_used(&known.run) {
            let task = &known.run.plan.task;
            used += usize::from(!matches!(task.aim, Aim::Try { .. }) && task.regraded().is_none());
            // The newest run comes first, and counts.
            for scenario in &planned {
                if let Some(shown) = passes_without(&known.run, scenario) {
                    without.entry(&scenario.id).or_insert(shown);
                }
            }
            // The trials of a regraded run were counted in its first run.
            for one in
                judged_trials(&known.run).into_iter().filter(|_| known.run.plan.task.regraded().is_none())
            {
                let id = &known.run.plan.task.scenarios[one.trial.scenario].id;
                if let Some((scenario, tally)) = tallies.get_mut(id) {
                    tally.add(&known.run, &one, scenario);
                }
            }
        }
    }
    let shown = planned.iter().filter_map(|scenario| Some(never(scenario, &tallies.get(&scenario.id)?.1)));
    let note = |unread| format!("{} could not be read; `skilltune list` shows why", count(unread, "run"));
    let named = planned.iter().filter_map(|scenario| without.get(&scenario.id).cloned());
    Shown {
        vacuous: shown.chain(named).flatten().collect(),
        runs: used,
        tried: without.len(),
        unread: (unread > 0).then(|| note(unread)),
    }
}
