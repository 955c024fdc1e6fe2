//! The morning page as JSON for scripts. Its keys are documented in docs/nights.md.

use serde_json::{Value, json};
use skilltune_phases::base::name::Name;
use skilltune_phases::nights::drift::change::{Change, ChangeKind};
use skilltune_phases::nights::night::{
    Better, Decided, Done, End, Morning, Night, Place, Spent, Waiting, Worse,
};
use skilltune_phases::runs::plan::RunId;

use crate::nights::failed_start::FailedStart;
use crate::nights::morning::{UNREACHED, effect, ended, headline, left, stuck};

/// Formats a morning. `failed` is the failure of an earlier night that no page has said yet.
pub fn object(morning: &Morning<'_>, failed: Option<&FailedStart>) -> Value {
    let night = morning.night;
    json!({
        "night": night.name,
        "date": night.date,
        "began": night.began,
        "ended": night.over.map(|(at, _)| at),
        "stopped_by": night.over.map(|(_, over)| over),
        "scheduled": night.scheduled,
        "shard": night.shard,
        "missing_shards": night.missing_shards(),
        "killed_shards": night.killed_shards(),
        "needs_you": morning.needs_you(),
        "headline": headline(morning, failed),
        "better": morning.better.iter().map(|one| better(one, night)).collect::<Vec<_>>(),
        "waiting": morning.waiting.iter().map(waiting).collect::<Vec<_>>(),
        "worse": morning.worse.iter().map(worse).collect::<Vec<_>>(),
        "acknowledged": morning.acknowledged.iter().map(worse).collect::<Vec<_>>(),
        "recovered": morning.recovered.iter().map(|(job, change)| json!({
            "job": job, "kind": kind_of(change), "since": change.since, "now": change.now.map(effect),
        })).collect::<Vec<_>>(),
        "unmoved": morning.unmoved.iter().map(|(job, change)| json!({
            "job": job, "what": change.what, "since": change.since, "effect": effect(change.fall),
        })).collect::<Vec<_>>(),
        "undecided": morning.undecided.iter().map(waiting).collect::<Vec<_>>(),
        "no_better_version": morning.settled.iter().map(|(done, one)| decided(done, one)).collect::<Vec<_>>(),
        "cost": cost(&morning.spent),
        "cost_of_week": cost(&morning.week),
        "without_windows": night.without_windows(),
        "paused": morning.paused.iter().map(|(done, why, halt)| json!({
            "job": done.job, "run_id": done.outcome.run, "why": why, "by": halt,
        })).collect::<Vec<_>>(),
        "failed": morning.failed.iter().map(|(done, why)| json!({
            "job": done.job, "run_id": done.outcome.run, "why": why, "kind": kind(done),
        })).collect::<Vec<_>>(),
        "not_judged": morning.stuck.iter().filter(|one| one.needs_you()).map(|one| json!({
            "job": one.job, "nights": one.nights, "since": one.since, "why": stuck::why(one),
        })).collect::<Vec<_>>(),
        "left": not_begun(morning),
        "killed": morning.broken,
        "missed": morning.missed,
        "drafts": night.drafts.iter().map(|(job, draft)| json!({
            "job": job, "id": draft.id, "scenario": draft.scenario,
        })).collect::<Vec<_>>(),
        "notified": null,
        "heartbeat": null,
        "done": night.done.iter().map(done).collect::<Vec<_>>(),
    })
}

fn not_begun(morning: &Morning<'_>) -> Vec<Value> {
    let left = morning.left.iter().map(|(job, why)| json!({ "job": job, "why": left(why) }));
    let unreached = morning.unreached.iter().map(|job| json!({ "job": job, "why": UNREACHED }));
    left.chain(unreached).collect()
}

fn kind(done: &Done) -> &'static str {
    match done.outcome.end {
        End::Refused { .. } => "did_not_run",
        End::Unjudged { .. } => "not_judged",
        End::Failed { .. } => "failed",
        End::Decided(_) | End::Measured { .. } | End::Paused { .. } => "ended",
    }
}

fn done(done: &Done) -> Value {
    json!({
        "job": done.job,
        "work": done.work.word(),
        "run_id": done.outcome.run,
        "result": ended(&done.outcome),
        "cost": cost(&done.spent),
    })
}

/// A verdict that waits, with the evening of its night and the shard that has its run.
fn waiting(one: &Waiting) -> Value {
    let mut object = verdict(&one.job, Some(&one.run), &one.decided);
    object["since"] = json!(one.since);
    object["shard"] = json!(one.shard);
    object
}

fn better(better: &Better<'_>, night: &Night) -> Value {
    let mut object = decided(better.done, better.decided);
    object["shard"] = json!(better.shard(night));
    object
}

fn decided(done: &Done, decided: &Decided) -> Value {
    verdict(&done.job, done.outcome.run.as_ref(), decided)
}

fn verdict(job: &Name, run: Option<&RunId>, decided: &Decided) -> Value {
    let (place, name) = match &decided.place {
        Place::Nowhere => ("nowhere", None),
        Place::Applied => ("applied", None),
        Place::Branch(name) => ("branch", Some(name)),
        Place::Patch(name) => ("patch", Some(name)),
        Place::PullRequest(name) => ("pull_request", Some(name)),
        Place::Kept => ("kept", None),
        Place::Conflict => ("conflict", None),
    };
    json!({
        "job": job,
        "run_id": run,
        "verdict": decided.verdict,
        "words": decided.words,
        "effect": decided.effect,
        "before": decided.before,
        "after": decided.after,
        "place": place,
        "place_name": name,
        "notes": decided.notes,
        "dangers": decided.dangers,
        "price": decided.price,
    })
}

fn worse(worse: &Worse<'_>) -> Value {
    match worse {
        Worse::Drifts { job, drift_level, days, mean, known } => json!({
            "job": job, "kind": drift_level, "nights": days, "score": mean, "before": known,
        }),
        Worse::Fell { job, change } => json!({
            "job": job, "kind": kind_of(change), "what": change.what, "since": change.since,
            "effect": effect(change.fall), "now": change.now.map(effect), "run_before": change.run_before,
        }),
    }
}

pub fn kind_of(change: &Change) -> &'static str {
    match change.kind {
        ChangeKind::Update => "update",
        ChangeKind::Edit => "edit",
        ChangeKind::Drift => "drift",
    }
}

fn cost(spent: &Spent) -> Value {
    json!({
        "usd": spent.usd, "tokens": spent.tokens, "calls": spent.calls, "seconds": spent.seconds,
        "unpriced": spent.unpriced, "estimated": spent.estimated,
    })
}
