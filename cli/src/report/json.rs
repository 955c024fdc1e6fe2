//! The run as one object for scripts. Its keys are a public interface.

use std::time::Duration;

use serde_json::{Value, json};
use skilltune_phases::base::role::Role;
use skilltune_phases::loops::{Loop, MostCalls};
use skilltune_phases::runs::ledger::Account;
use skilltune_phases::runs::plan::{Cast, Roles};
use skilltune_phases::runs::run;

use crate::report::ui::Ui;
use crate::report::{advice, costs};

/// Returns the maximum number of agent calls of a run.
pub fn most_calls(most: &MostCalls) -> Value {
    let each = most.iter().map(|(role, calls)| (role.as_str(), *calls));
    let all = std::iter::once(("all", most.values().sum()));
    all.chain(each).map(|(name, calls)| (name.to_owned(), json!(calls))).collect()
}

/// Returns why the run is blocked, and how to fix it.
pub fn blocked<L: Ui>(run: &run::Run<L>) -> Option<Value> {
    let failed = run.blocked.as_ref()?;
    let failure = &failed.failure;
    Some(json!({
        "kind": failure.kind, "why": failure.why, "until": failure.until, "mend": advice::unblock(run, failed),
    }))
}

pub fn agents(roles: &Roles) -> Value {
    json!(roles.map(Cast::shown))
}

pub fn rights(roles: &Roles) -> Value {
    json!(roles.map(|cast| cast.rights.words()))
}

/// Returns the cost of each agent's calls in each of its roles.
pub fn costs<L: Loop>(run: &run::Run<L>) -> Value {
    let one = |(role, agent, account): (Role, String, Account)| {
        let mut object = cost(&account);
        (object["role"], object["agent"], object["failed"]) =
            (json!(role), json!(agent), json!(account.failed));
        object
    };
    costs::agents(run).into_iter().map(one).collect()
}

pub fn cost(total: &Account) -> Value {
    json!({
        "usd": total.usd,
        "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens,
        "seconds": Duration::from_millis(total.ms).as_secs_f64(),
        "calls": total.calls,
        "cached": total.cached,
        "unpriced": total.unpriced,
        // Number of calls whose cost is estimated from their tokens.
        "estimated": total.estimated,
    })
}
