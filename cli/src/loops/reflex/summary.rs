//! Describes a run of `reflex`. Its JSON keys are a public interface: one meaning has one key in all loops.

use serde_json::{Value, json};
use skilltune_phases::loops::reflex::{ArtifactStatus, Run};

use crate::loops::reflex::report::{advice, words};
use crate::report::summary::{Data, Head, Summary};
use crate::report::words::{changes, remarks};
use crate::text::figures;

/// Describes a run; `on_disk` is the hash of the artifact's file, if it was read.
pub fn summary(run: &Run, on_disk: Option<&str>) -> Summary {
    let (plan, most) = (&run.plan, run.plan.task.rules.max_iterations);
    Summary {
        kind: plan.kind.word(),
        subject: plan.task.prompt.clone(),
        head: Head::new("reflex ", words::task(run), words::aim(run)),
        sentence: words::outcome_text(run),
        progress: format!("iteration {} of {most}, {}", run.state.iteration, words::time(run)),
        result: score(run, on_disk),
        facts: facts(run, on_disk),
        cast: plan.roles.clone(),
        notes: remarks(&plan.roles),
        found: changes(run).collect(),
        next: advice::next(run),
        data: Data { subject: subject(run), result: result(run, on_disk), ..Data::default() },
    }
}

fn facts(run: &Run, on_disk: Option<&str>) -> Vec<(&'static str, String)> {
    let state = &run.state;
    let most = run.plan.task.rules.max_iterations;
    let place = format!("{} of {most}, level {}, {}", state.iteration, state.level, state.current().word());
    let mut facts = vec![
        ("iteration", place),
        ("time", format!("{} (completed phases)", words::time(run))),
        ("artifact", words::artifact(run, on_disk)),
    ];
    facts.extend(words::score(run, on_disk).map(|score| ("score", score)));
    facts.extend(words::distance(run, on_disk).map(|distance| ("distance", distance)));
    facts.extend(run.result().map(|_| ("file", words::artifact_path(run))));
    facts
}

/// Returns the score of its best text, and at which level.
fn score(run: &Run, on_disk: Option<&str>) -> String {
    let judged = run.best().filter(|_| words::score(run, on_disk).is_some());
    let score = figures::score(judged.and_then(|judged| judged.evaluation.score));
    let level = judged.map_or(run.state.level, |judged| judged.evaluation.level);
    format!("{score:>5} at {level}")
}

fn subject(run: &Run) -> Value {
    let (task, stop) = (&run.plan.task, run.state.stop.as_ref());
    json!({
        "alias": task.alias,
        "task": task.prompt,
        "template": task.criteria.name,
        "outcome": run.outcome(),
        // In the original's words.
        "status": run.status().word(),
        "reason": stop.map(|stop| stop.reason),
        "note": stop.and_then(|stop| stop.note.as_ref()),
    })
}

fn result(run: &Run, on_disk: Option<&str>) -> Value {
    let (task, state, best) = (&run.plan.task, &run.state, run.best());
    let level = best.map_or(state.level, |best| best.evaluation.level);
    let status = run.artifact_status(on_disk);
    // A score and a distance apply only to what was judged.
    let judged = best.filter(|_| status == ArtifactStatus::Evaluated);
    json!({
        "score": judged.and_then(|judged| judged.evaluation.score),
        "threshold": task.criteria.thresholds.at(level),
        // The level of the score and of the threshold, in the original's letters.
        "level": level.to_string(),
        "iterations": state.iteration,
        "max_iterations": task.rules.max_iterations,
        "completed_phase_seconds": state.clock.seconds(),
        "max_completed_phase_seconds": task.rules.max_seconds,
        "artifact": {
            "hash": run.result().map(|artifact| &artifact.hash),
            "path": run.result().map(|_| words::artifact_path(run)),
            "status": status.word(),
        },
        "distance": judged.and_then(|_| run.distance()),
    })
}

#[cfg(test)]
mod tests {
    use skilltune_orchestrator::evolution::Evolution;
    use skilltune_orchestrator::snapshot::{Objects, RelPath};
    use skilltune_orchestrator::store::Home;
    use skilltune_phases::loops::reflex::projection;

    use super::*;
    use crate::loops::reflex::world::{TO_THE_THRESHOLD, missing, plan};
    use crate::loops::tune::world::{Play, play};
    use crate::report::json::{object, report};
    use crate::report::page::page;
    use crate::report::ui::Ui as _;
    use skilltune_phases::loops::reflex::Reflex;

    #[test]
    fn a_result_has_the_score_of_what_is_there() {
        let play = play(plan(), missing(TO_THE_THRESHOLD));
        let begun = Play::begin(plan());
        let of = |play: &Play<Reflex>, on_disk| summary(&play.run, on_disk).result;
        let rows = [of(&play, None), of(&play, Some("0badc0de")), of(&begun, None)];
        assert_eq!(rows, ["100.0 at B", "    - at B", "    - at A"]);
    }

    #[test]
    fn an_edit_of_the_file_changes_the_status_but_not_the_report() {
        let project = tempfile::tempdir().unwrap();
        let mut asked = plan();
        asked.task.project = project.path().to_str().unwrap().to_owned();
        let run = play(asked, missing(TO_THE_THRESHOLD)).run;
        let below = RelPath::parse(run.plan.task.evolution.as_bytes()).unwrap();
        let evolution = Evolution::open_or_make(project.path(), &below).unwrap();
        let writer = evolution.writer(&projection::alias(&run), run.plan.run.as_str());
        writer.place_artifact(b"edited", |_| false).unwrap();
        let objects = Objects::at(Home::of(project.path()).objects());
        let status = object(&run, &Reflex::summary(&run, Some(&objects)));
        assert_eq!((&status["artifact"]["status"], &status["score"]), (&json!("stale"), &Value::Null));
        let report = report(&run, &objects);
        assert_eq!((&report["artifact"]["status"], &report["score"]), (&json!("evaluated"), &json!(100.0)));
        assert!(page(&run, &objects).contains("| Artifact | evaluated"));
    }
}
