//! Formats the skills that work worse, and those that work better or as well as before without a search.

use std::collections::BTreeSet;

use skilltune_phases::base::name::Name;
use skilltune_phases::judging::proof::Effect;
use skilltune_phases::nights::drift::change::{Change, ChangeKind};
use skilltune_phases::nights::drift::{DriftLevel, Fall};
use skilltune_phases::nights::night::{Morning, Night, Work, Worse};

use crate::text::figures::{count, signed};
use crate::text::markdown::{marked, words};

pub fn worse(worse: &Worse<'_>) -> String {
    match worse {
        Worse::Drifts { job, drift_level, days, mean, known } => {
            let seen = match (mean, known) {
                (Some(mean), Some(known)) => format!("{mean:.1} now, {known:.1} before"),
                _ => "its scores fell".to_owned(),
            };
            let sure = match drift_level {
                DriftLevel::Drift => format!(
                    "on {} it scored low, and again when retried the same night",
                    count(*days, "night")
                ),
                DriftLevel::Watch | DriftLevel::Steady => {
                    "it scored low, and again when retried; one night is weak evidence, so skilltune only watches it".to_owned()
                }
            };
            format!("{}: {seen}. Its skill, suite and agents are unchanged: {sure}.", words(job))
        }
        Worse::Fell { job, change } => format!("{}: {}", words(job), changed(change)),
    }
}

pub(super) fn acknowledged(one: &Worse<'_>) -> String {
    format!("{} You have acknowledged it.", worse(one))
}

pub(super) fn risen((job, change): &(&Name, &Change)) -> String {
    format!("{}: {}", words(job), changed(change))
}

/// Says that agents changed without a sure effect, and that the job was tuned for them.
pub(super) fn unmoved((job, change): &(&Name, &Change), night: &Night) -> String {
    let (cause, difference) = (cause(change), difference(change.fall));
    let is_tuned = night.done.iter().any(|done| done.job == **job && done.work == Work::Tune);
    let tuned = if is_tuned { " It was tuned for them." } else { "" };
    let job = words(job);
    format!("{job}: no sure effect on its scores since {cause}: {difference}, on the same scenarios.{tuned}")
}

pub(super) fn recovered((job, change): &(&Name, &Change)) -> String {
    let since = change.since;
    let before = match change.kind {
        ChangeKind::Update => format!("its agents changed (seen on {since})"),
        ChangeKind::Edit => format!("its skill was edited (seen on {since})"),
        ChangeKind::Drift => since.to_string(),
    };
    let shown = change.now.map(|now| format!(", as far as its last trials show: {}", difference(now)));
    format!("{}: again as good as before {before}{}.", words(job), shown.unwrap_or_default())
}

/// Says how the score differs on the same scenarios since a change, and where the version before a bad edit is.
fn changed(change: &Change) -> String {
    let (points, bounds) = (signed(-change.fall.points), bounds(change.fall));
    let is_bad_edit = change.kind == ChangeKind::Edit && !change.fall.is_rise();
    let run = change.run_before.as_ref().filter(|_| is_bad_edit);
    let version = run.map_or_else(String::new, |run| {
        format!(" `skilltune export {run} start DIR` copies the version before.")
    });
    let cause = cause(change);
    let now = change.now.map(|now| format!(" {}: {}.", last_nights(change), difference(now)));
    let now = now.unwrap_or_default();
    format!("{points} points since {cause}, {bounds}, on the same scenarios.{now}{version}")
}

/// Names the nights that the score of now is of. After a repair the first of them may still be fallen ones.
fn last_nights(change: &Change) -> String {
    match change.last_nights() {
        1 => "In the last night".to_owned(),
        several => format!("Average of the last {several} nights"),
    }
}

/// Returns a fall as a difference, so below 0.
pub fn effect(fall: Fall) -> Effect {
    let (lower, upper) = fall.bounds();
    Effect { points: -fall.points, lower: -upper, upper: -lower }
}

/// Says how far the scores are from those before a change.
fn difference(fall: Fall) -> String {
    format!("{} points, {}", signed(-fall.points), bounds(fall))
}

fn bounds(fall: Fall) -> String {
    let (lower, upper) = fall.bounds();
    format!("between {} and {} at confidence 0.9", signed(-upper), signed(-lower))
}

/// Names what came before a fall or a rise.
fn cause(change: &Change) -> String {
    let (what, since) = (&change.what, change.since);
    let what = what.iter().map(|what| marked(what)).collect::<Vec<_>>().join("; ");
    match change.kind {
        ChangeKind::Update if what.is_empty() => format!("its agents changed (seen on {since})"),
        ChangeKind::Update => format!("its agents changed ({what}; seen on {since})"),
        ChangeKind::Edit if what.is_empty() => format!("its skill was edited (seen on {since})"),
        ChangeKind::Edit => {
            format!("its skill was edited and its agents changed ({what}; seen on {since})")
        }
        ChangeKind::Drift => format!("{since}, although nothing had changed then"),
    }
}

/// Says that no skill needs a person although some are lower than they were; None if all are well.
pub(super) fn still_low(morning: &Morning<'_>) -> Option<String> {
    let skills = |falls: &[Worse<'_>]| falls.iter().map(Worse::job).collect::<BTreeSet<_>>().len();
    let part = |number: usize, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("1 skill {one}")),
        _ => Some(format!("{number} skills {many}")),
    };
    let watched = part(skills(&morning.worse), "scored low and is watched", "scored low and are watched");
    let (one, many) = ("is still low, as you have acknowledged", "are still low, as you have acknowledged");
    let known = part(skills(&morning.acknowledged), one, many);
    let parts: Vec<String> = watched.into_iter().chain(known).collect();
    (!parts.is_empty()).then(|| format!("No, but {}.", parts.join(", and ")))
}
