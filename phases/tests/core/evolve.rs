//! The evolve loop, driven without a disk, a clock or a process.

mod disputes;
mod endings;
mod evidence;
mod flows;
mod judging;
mod laws;
mod layers;
mod measuring;
mod oracle_answers;
mod planning;
mod prompts;
mod receipts;

use skilltune_phases::loops::evolve::decision::{Ending, PassKind};
use skilltune_phases::loops::evolve::{Run, Step};

pub(crate) use skilltune_worlds::evolve as world;
use world::{Drive, World};

fn ending(run: &Run) -> Option<Ending> {
    run.state.end.as_ref().map(|end| end.ending)
}

fn kinds(run: &Run) -> Vec<PassKind> {
    run.state.passes.iter().map(|pass| pass.kind).collect()
}

/// Returns the score of each evaluation, none for a red one.
fn scores(run: &Run) -> Vec<Option<f64>> {
    let rounds = run.state.rounds.iter();
    rounds.map(|round| round.evaluation.as_ref().map(|evaluation| evaluation.score)).collect()
}

/// Plays a run until its first evaluation, and returns the names of its steps too.
fn evaluated(world: &World) -> (Drive, Vec<String>) {
    let (mut drive, mut steps) = (Drive::start(world.plan.clone()), Vec::new());
    while drive.run.state.rounds.is_empty() {
        let answer = &mut |run: &Run, step: &Step| {
            steps.push(world.name(step));
            world.answer(run, step)
        };
        drive.advance(answer).expect("the run is evaluated before it ends");
    }
    (drive, steps)
}

/// Finds a work by its name.
fn is_work(name: &str) -> impl Fn(&Step) -> bool {
    move |step| matches!(step, Step::Work { task, go, .. } if format!("{task}.{go}") == name)
}

/// Returns the prompt of a work.
fn work_prompt(world: &World, name: &str) -> String {
    let (drive, step) = world.until(is_work(name));
    world::prompt(&drive.run, &step)
}
