//! The cost and the failures of a run.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::Loop;
use skilltune_phases::runs::ledger::Account;
use skilltune_phases::runs::plan::Cast;
use skilltune_phases::runs::run::Run;

use crate::report::ui::Ui;
use crate::report::words as texts;
use crate::text::markdown::{MarkdownPage, code, words};
use crate::text::{figures, plain};

pub fn costs<L: Ui>(page: &mut MarkdownPage, run: &Run<L>) {
    let total = run.ledger.total();
    let rows = agents(run).into_iter();
    let rows = rows.map(|(role, agent, account)| row(&plain::capitalised(role.as_str()), &agent, &account));
    let rows = rows.chain([row("**Total**", "", &total)]);
    page.section("Cost");
    page.table(
        &["Role", "Agent", "Calls", "Failed", "Cached", "Time", "Input Tokens", "Output Tokens", "Money"],
        rows,
    );
    if total.estimated > 0 {
        page.paragraph(format!(
            "{} reported tokens but no cost; the cost is estimated from the prices in your settings.",
            figures::count(total.estimated as usize, "call")
        ));
    }
    if total.unpriced > 0 {
        page.paragraph(format!(
            "{} reported no cost; the total above is incomplete.",
            figures::count(total.unpriced as usize, "call")
        ));
    }
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

fn row(role: &str, agent: &str, account: &Account) -> Vec<String> {
    vec![
        role.to_owned(),
        words(agent),
        account.calls.to_string(),
        account.failed.to_string(),
        account.cached.to_string(),
        figures::milliseconds(account.ms),
        figures::grouped(account.input_tokens),
        figures::grouped(account.output_tokens),
        figures::money(account),
    ]
}

pub fn errors<L: Ui>(page: &mut MarkdownPage, run: &Run<L>, unit: &str) {
    page.section("Errors");
    page.list(run.errors.iter().map(|failed| {
        let line = format!(
            "{}: {}: {}",
            L::step(run, &failed.step),
            texts::failure(failed.failure.kind),
            plain::one_line(&failed.failure.why)
        );
        let output = failed.output().map_or(String::new(), |output| {
            format!("; its output: {}", code(&format!("{}/{output}", run.plan.folder)))
        });
        format!("{:.0}, {unit} {}: {}{output}", failed.at, failed.round, words(&line))
    }));
}
