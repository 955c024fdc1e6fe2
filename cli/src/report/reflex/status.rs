//! Where a run stands, in a few lines or in one.

use skilltune_phases::loops::reflex::Run;

use super::{advice as ours, words};
use crate::report::advice::{self, Next};
use crate::report::{figures, plain};
use crate::runs::Standing;

/// `on_disk` is the hash of what is in the artifact's file, where there is one.
pub(crate) fn status_lines(run: &Run, standing: Standing, on_disk: Option<&str>) -> Vec<String> {
    let course = &run.course;
    let place = format!(
        "{} of {}, level {}, {}",
        course.iteration,
        run.plan.task.rules.max_iterations,
        course.level,
        course.current().word()
    );
    let mut lines = vec![
        entry("run", &format!("{}, reflex, {}", run.plan.run, run.plan.task.alias)),
        entry("task", &run.plan.task.prompt),
        entry("status", &word(run, standing)),
        entry("iteration", &place),
        entry("artifact", &words::artifact(run, on_disk)),
    ];
    lines.extend(words::score(run, on_disk).map(|score| entry("score", &score)));
    lines.extend(words::distance(run, on_disk).map(|distance| entry("distance", &distance)));
    if let (Some(mishap), None) = (&run.blocked, run.closed_at) {
        lines.push(entry("blocked", &words::failed(run, &mishap.step, &mishap.failure)));
        lines.push(entry("hint", &advice::mend(run, mishap, false)));
    }
    if !run.errors.is_empty() {
        lines.push(entry("errors", &figures::count(run.errors.len(), "failed call")));
    }
    lines.extend(run.result().map(|_| entry("file", &words::artifact_path(run))));
    let next = next(run, standing);
    lines.extend(next.iter().map(|next| entry("next", &next.command) + &format!("   ({})", next.purpose)));
    lines
}

/// A name and what there is to say of it, on one line whatever it holds: none forges another.
fn entry(name: &str, text: &str) -> String {
    format!("{name:<9} {}", plain::one_line(text))
}

fn word(run: &Run, standing: Standing) -> String {
    match standing {
        Standing::Running { pid } => match run.waits.until {
            Some(until) => format!("waits until {} (process {pid})", figures::moment(until)),
            None => format!("running (process {pid})"),
        },
        Standing::Open if run.course.stop.is_some() => words::became(run),
        Standing::Open if run.paused.is_some() => "stopped, and can be taken up".to_owned(),
        Standing::Open => "was cut off, and can be taken up".to_owned(),
        Standing::Held | Standing::Ended => words::became(run),
    }
}

fn next(run: &Run, standing: Standing) -> Vec<Next> {
    match standing {
        Standing::Running { .. } => {
            let purpose = "let it finish what is under way, and save";
            vec![Next { command: ours::command(run, "stop"), purpose, calls: false }]
        }
        Standing::Held | Standing::Open | Standing::Ended => ours::next(run),
    }
}

/// A run among others: its score, where there is one, is that of its best artifact.
pub(crate) fn row(run: &Run, standing: Standing, on_disk: Option<&str>) -> String {
    let status = match standing {
        Standing::Running { .. } => "running",
        Standing::Held => "waiting",
        Standing::Open => "open",
        Standing::Ended => run.status().word(),
    };
    let judged = run.best().filter(|_| words::score(run, on_disk).is_some());
    let score = figures::score(judged.and_then(|judged| judged.evaluation.score));
    let level = judged.map_or(run.course.level, |judged| judged.evaluation.level);
    let (alias, task) = (&run.plan.task.alias, plain::one_line(&run.plan.task.prompt));
    format!("{:<24}  {status:<9}  {level}  {score:>5}  {task}", plain::one_line(alias))
}

#[cfg(test)]
mod tests;
