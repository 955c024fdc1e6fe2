//! What the run cost, and what went wrong in it.

use skilltune_phases::ledger::Account;
use skilltune_phases::plan::Cast;
use skilltune_phases::run::Run;

use crate::report::ui::Ui;
use crate::report::words as told;
use crate::text::markdown::{Page, code, words};
use crate::text::{figures, plain};

pub fn costs<L: Ui>(page: &mut Page, run: &Run<L>) {
    let total = run.ledger.total();
    let roles = run.plan.roles.iter();
    let rows =
        roles.map(|(role, cast)| row(&plain::capitalised(role.as_str()), Some(cast), run.ledger.of(role)));
    let rows = rows.chain([row("**Total**", None, &total)]);
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

fn row(role: &str, cast: Option<&Cast>, account: &Account) -> Vec<String> {
    vec![
        role.to_owned(),
        cast.map_or(String::new(), |cast| words(&told::cast(cast))),
        account.calls.to_string(),
        account.failed.to_string(),
        account.cached.to_string(),
        figures::milliseconds(account.ms),
        figures::grouped(account.input_tokens),
        figures::grouped(account.output_tokens),
        figures::money(account),
    ]
}

pub fn errors<L: Ui>(page: &mut Page, run: &Run<L>, unit: &str) {
    page.section("Errors");
    page.list(run.errors.iter().map(|failed| {
        let told = format!(
            "{}: {}: {}",
            L::step(run, &failed.step),
            told::failure(failed.failure.kind),
            plain::one_line(&failed.failure.why)
        );
        let output = failed.output().map_or(String::new(), |output| {
            format!("; its output: {}", code(&format!("{}/{output}", run.plan.folder)))
        });
        format!("{:.0}, {unit} {}: {}{output}", failed.at, failed.round, words(&told))
    }));
}
