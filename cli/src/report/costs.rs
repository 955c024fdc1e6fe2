//! The cost and the failures of a run.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::ledger::Account;
use skilltune_phases::runs::plan::Cast;
use skilltune_phases::runs::run::{FailedCall, Run};

use crate::report::document::{Section, Text, code, list, paragraph, plain as span, strong, table, words};
use crate::report::ui::Ui;
use crate::report::words as texts;
use crate::text::figures::{self, count};
use crate::text::plain;

pub fn costs<L: Ui>(run: &Run<L>) -> Section {
    let total = run.ledger.total();
    let rows = agents(run).into_iter().map(|(role, agent, account)| {
        row(plain::capitalised(role.as_str()).into(), words(&agent).into(), &account)
    });
    let rows = rows.chain([row(strong("Total").into(), "".into(), &total)]);
    let head =
        ["Role", "Agent", "Calls", "Failed", "Cached", "Time", "Input Tokens", "Output Tokens", "Money"];
    let estimated = "reported tokens but no cost; the cost is estimated from the prices in your settings.";
    let notes =
        [(total.estimated, estimated), (total.unpriced, "reported no cost; the total above is incomplete.")];
    let notes = notes.into_iter().filter(|(calls, _)| *calls > 0);
    let notes = notes.map(|(calls, text)| paragraph(format!("{} {text}", count(calls as usize, "call"))));
    Section { title: "Cost", blocks: [table(&head, rows)].into_iter().chain(notes).collect() }
}

/// Returns each role with the agents that had it, in sequence.
pub fn agents<L: Loop>(run: &Run<L>) -> Vec<(Role, String, Account)> {
    let of_role = |(role, cast): (&Role, &Cast)| {
        let mut accounts = run.agents.of(role).clone();
        accounts.entry(cast.shown()).or_default();
        accounts.into_iter().map(|(agent, account)| (role.clone(), agent, account)).collect::<Vec<_>>()
    };
    run.plan.roles.iter().flat_map(of_role).collect()
}

fn row(role: Text, agent: Text, account: &Account) -> Vec<Text> {
    vec![
        role,
        agent,
        account.calls.to_string().into(),
        account.failed.to_string().into(),
        account.cached.to_string().into(),
        figures::milliseconds(account.ms).into(),
        figures::grouped(account.input_tokens).into(),
        figures::grouped(account.output_tokens).into(),
        figures::money(account).into(),
    ]
}

/// Lists the failed calls; `unit` is `round` or `iteration`.
pub fn errors<L: Ui>(run: &Run<L>, unit: &str) -> Section {
    let error = |failed: &FailedCall<L>| {
        let line = texts::failed(run, &failed.step, &failed.failure);
        let at = span(format!("{:.0}, {unit} {}: ", failed.at, failed.round));
        let output = failed
            .output()
            .map(|output| [span("; its output: "), code(&format!("{}/{output}", run.plan.folder))]);
        Text([at, words(&line)].into_iter().chain(output.into_iter().flatten()).collect())
    };
    Section { title: "Errors", blocks: vec![list(run.errors.iter().map(error))] }
}
