//! The run as one object for scripts. Its keys are a public interface.

use std::time::Duration;

use serde_json::{Value, json};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::ledger::Account;
use skilltune_phases::runs::plan::{Cast, Roles};
use skilltune_phases::runs::run;

use crate::report::estimate::Estimate;
use crate::report::summary::{Data, Summary};
use crate::report::ui::Ui;
use crate::report::{advice, ceilings, costs, machines};

/// Returns the last output on stdout with `--format json`, which `list` and `status` show too.
pub fn object<L: Ui>(run: &run::Run<L>, summary: &Summary) -> Value {
    let (plan, Data { first, subject, result, details, last }) = (&run.plan, &summary.data);
    let named = json!({ "run_id": plan.run, "loop": plan.kind });
    // The ceiling at which the run is paused, and all that it has.
    let halts =
        json!({ "blocked": blocked(run), "paused": ceilings::json(run), "limits": ceilings::all(run) });
    let notes: Vec<_> = summary.notes.iter().chain(&summary.found).collect();
    // A score is only as good as its judge. Models: the number of calls that each answered, by role.
    let rights = plan.roles.map(|cast| cast.rights.words());
    let agents =
        json!({ "agents": agents(&plan.roles), "models": run.models, "notes": notes, "rights": rights });
    let files = json!({
        // Written only at the end.
        "report": run.closed_at.map(|_| format!("{}/final-report.md", plan.folder)),
        "page": run.closed_at.map(|_| format!("{}/report.html", plan.folder)),
        "state": format!("{}/iteration-state.json", plan.folder),
        "cost": cost(&run.ledger.total()),
    });
    joined([first, &named, subject, &halts, result, &agents, details, &files, last])
}

/// Returns `report.json`.
pub fn report<L: Ui>(run: &run::Run<L>, objects: &Objects) -> Value {
    let (summary, [first, last]) = (object(run, &L::summary(run, None)), L::details(run, objects));
    let made = json!({
        "costs": costs(run),
        "program": run.plan.program,
        // A number of 64 bits is no number to some readers.
        "seed": run.plan.seed.to_string(),
        "started_at": run.started_at,
        "closed_at": run.closed_at,
    });
    joined([&first, &summary, &made, &machines::json(run), &last])
}

/// Returns what a dry run shows: not a run, but what it would be. `keys` are those of its loop.
pub fn sketch<L: Ui>(run: &run::Run<L>, keys: &Value, estimate: &Estimate) -> Value {
    let named = json!({ "dry_run": true, "loop": run.plan.kind });
    let (agents, notes) = (agents(&run.plan.roles), L::summary(run, None).notes);
    joined([&named, keys, &json!({ "estimate": estimate.json(), "agents": agents, "notes": notes })])
}

/// Returns one object with the keys of all, in this order; a key that comes again keeps its place.
fn joined<const N: usize>(objects: [&Value; N]) -> Value {
    let keys = objects.into_iter().filter_map(Value::as_object).flatten();
    keys.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Returns why the run is blocked, and how to fix it.
fn blocked<L: Ui>(run: &run::Run<L>) -> Option<Value> {
    let failed = run.blocked.as_ref()?;
    let failure = &failed.failure;
    Some(json!({
        "kind": failure.kind, "why": failure.why, "until": failure.until, "mend": advice::unblock(run, failed),
    }))
}

fn agents(roles: &Roles) -> Value {
    json!(roles.map(Cast::shown))
}

/// Returns the cost of each agent's calls in each of its roles.
fn costs<L: Loop>(run: &run::Run<L>) -> Value {
    let one = |(role, agent, account): (Role, String, Account)| {
        let mut object = cost(&account);
        (object["role"], object["agent"], object["failed"]) =
            (json!(role), json!(agent), json!(account.failed));
        object
    };
    costs::agents(run).into_iter().map(one).collect()
}

fn cost(total: &Account) -> Value {
    json!({
        "usd": total.known_usd(),
        "input_tokens": total.known_tokens(total.input_tokens),
        "output_tokens": total.known_tokens(total.output_tokens),
        "seconds": Duration::from_millis(total.ms).as_secs_f64(),
        "calls": total.calls,
        "cached": total.cached,
        "unpriced": total.unpriced,
        // Number of calls whose cost is estimated from their tokens.
        "estimated": total.estimated,
    })
}
