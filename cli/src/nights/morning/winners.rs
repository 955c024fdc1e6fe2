//! Formats the verdicts of a morning: what got better, which winners wait, and what is undecided.

use skilltune_phases::nights::drift::change::ChangeKind;
use skilltune_phases::nights::night::{Better, Decided, Morning, Night, Place, Waiting};
use skilltune_phases::runs::plan::RunId;

use super::{marked, outcome_text, run, typed, words};
use crate::text::markdown::code;

/// Formats a winner of this night.
pub(super) fn better(better: &Better<'_>, night: &Night) -> String {
    let Better { done, decided } = better;
    let on_shard = better.shard(night).map(|shard| format!(" on shard {shard}")).unwrap_or_default();
    let run = run(done);
    format!(
        "{}{}: {}{}{on_shard}. `skilltune diff {run}` shows the change, `skilltune report {run}` the evidence.",
        words(&done.job),
        scores(decided),
        marked(&decided.words),
        marked(&outcome_text(&decided.place))
    )
}

fn scores(decided: &Decided) -> String {
    match (decided.before, decided.after) {
        (Some(before), Some(after)) => format!(" ({before} -> {after})"),
        _ => String::new(),
    }
}

/// Says since when a winner waits, and how to take it or to refuse it.
pub(super) fn next(one: &Waiting, morning: &Morning<'_>) -> String {
    let Waiting { job, decided, .. } = one;
    let has = match since(one, morning.night) {
        Some(since) => format!("has had a winner {since}{}", scores(decided)),
        None => "has a winner".to_owned(),
    };
    let dismiss = dismissal(one, morning);
    let notes = decided.notes.iter().map(|note| format!(" Note: {}.", marked(note).trim_end_matches('.')));
    let notes = notes.chain(score_before(one, morning)).chain(past_fall(one, morning));
    let notes = notes.collect::<Vec<_>>().concat();
    let dangers = if decided.dangers.is_empty() {
        String::new()
    } else {
        let listed = decided.dangers.iter().map(|danger| marked(danger)).collect::<Vec<_>>();
        format!(" Look at this first: {}.", listed.join("; "))
    };
    let how = how(&decided.place, &one.run, one.shard.map(|shard| shard.to_string()).as_deref());
    format!("{} {has}, {how}; {dismiss} if you do not want it.{notes}{dangers}", words(job))
}

/// Returns the command that dismisses this verdict and no other one of its job.
fn dismissal(one: &Waiting, morning: &Morning<'_>) -> String {
    let run = if morning.several.contains(&one.job) { format!(" --run {}", one.run) } else { String::new() };
    typed(&format!("skilltune night dismiss{run}"), &one.job)
}

/// Says that the skill was better before a fall than a winner is that repairs the fall in part. A winner from before
/// an edit is compared too: it may wait again after the edit.
fn score_before(one: &Waiting, morning: &Morning<'_>) -> Option<String> {
    let after = one.decided.after?.points();
    morning.falls_of(&one.job).find_map(|fall| {
        let since = fall.since;
        let what = match fall.kind {
            ChangeKind::Edit => format!("the version before the edit seen on {since}"),
            ChangeKind::Update if since <= one.scored() => {
                format!("before its agents changed (seen on {since}) the skill")
            }
            // Its scores are of other agents than those now.
            ChangeKind::Update | ChangeKind::Drift => return None,
        };
        let before = fall.score_before().filter(|before| *before > after)?;
        Some(format!(" Note: {what} scored {before:.1}."))
    })
}

/// Says that the scores of a winner are from a fall that has ended: they look like a loss beside those of now.
fn past_fall(one: &Waiting, morning: &Morning<'_>) -> Option<String> {
    let fall = morning.past_fall_of(one)?;
    let (since, before) = (fall.since, fall.score_before()?);
    let recovered = fall.recovered?;
    Some(format!(
        " Note: its scores are from a fall that was seen on {since} and ended on {recovered}; before that fall the skill scored {before:.1}."
    ))
}

/// Says where a winner is, and how to take it.
fn how(place: &Place, run: &RunId, shard: Option<&str>) -> String {
    let on = shard.map(|shard| format!(" on the machine of shard {shard}")).unwrap_or_default();
    let there = if shard.is_some() { " there" } else { "" };
    match place {
        Place::Branch(branch) => {
            format!("on branch {}{on}: {} merges it{there}", code(branch), typed("git merge", branch))
        }
        Place::Patch(patch) => {
            format!("a patch in the run's folder{on}, {}: `git am` applies it", code(patch))
        }
        Place::PullRequest(address) => format!("a pull request: {}", marked(address)),
        Place::Conflict => format!(
            "not applied{on}, because the skill was edited: `skilltune apply {run} --merge` merges both{there}"
        ),
        Place::Kept | Place::Nowhere | Place::Applied => {
            format!("kept in the store{on}: `skilltune apply {run}` applies it{there}")
        }
    }
}

/// Formats a verdict that more trials could decide, with the price of deciding.
pub(super) fn undecided(one: &Waiting, morning: &Morning<'_>) -> String {
    let since = since(one, morning.night).map(|since| format!(", {since}")).unwrap_or_default();
    let price = one.decided.price.as_ref().map(|price| format!(" {}", marked(price))).unwrap_or_default();
    let dismiss = dismissal(one, morning);
    let retry = if one.decided.has_retry { " The next night compares again, on more trials." } else { "" };
    format!(
        "{}{since}: {}.{retry}{price} {dismiss} if it need not be decided.",
        words(&one.job),
        marked(&one.decided.words)
    )
}

/// Returns since when a verdict waits, unless it is of this night.
fn since(one: &Waiting, night: &Night) -> Option<String> {
    (one.since != night.date).then(|| format!("since the night of {}", one.since))
}
