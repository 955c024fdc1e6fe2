//! Lines about a run of any loop for people: plain text, never wider than the given width.

use skilltune_phases::loops::Loop;
use skilltune_phases::runs::ledger::Account;
use skilltune_phases::runs::run::{FailedCall, Run};

use crate::report::summary::{Head, Line, Next, Summary};
use crate::report::ui::Ui;
use crate::report::{ceilings, words};
use crate::terminal::exit::Exit;
use crate::text::width::{around, columns, wrapped};
use crate::text::{figures, plain};

/// The smallest width at which columns are aligned.
pub const ROOMY: usize = 60;

/// Returns the lines about the task, its agents and its limits.
pub fn header<L: Loop>(run: &Run<L>, summary: &Summary, width: usize) -> Vec<String> {
    let Summary { head: Head { lines, size, .. }, cast, notes, .. } = summary;
    let (id, limits) = (&run.plan.run, ceilings::line(run));
    let mut shown = fitted(lines, width);
    let mut say = |text: &str| shown.extend(wrapped(text, width, "  "));
    say(&plain::one_line(&words::roles(cast)));
    for note in notes {
        say(&format!("note: {note}"));
    }
    match size {
        Some(size) => [format!("run {id}, {size}"), limits].iter().for_each(|line| say(line)),
        None => say(&format!("run {id}, {limits}")),
    }
    shown
}

/// Fits lines to this width.
pub fn fitted(lines: &[Line], width: usize) -> Vec<String> {
    let fit = |line: &Line| match line {
        Line::Text(text) => wrapped(text, width, "  "),
        Line::Item(name, text) => item(name, text, width),
        Line::Copy(lead, text) => to_copy(lead, text, width),
        Line::Named([before, name, after]) => vec![around(before, name, after, width)],
        Line::Drawn(line) => vec![line.clone()],
    };
    lines.iter().flat_map(fit).collect()
}

/// Formats text that belongs to the line before.
pub fn below(text: &str, width: usize) -> Vec<String> {
    let lines = wrapped(text, width.saturating_sub(2), "  ");
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

/// The column where the text beside a name starts.
pub const COLUMN: usize = 12;

/// Returns a name with its text beside it.
pub fn item(name: &str, text: &str, width: usize) -> Vec<String> {
    let lead = format!("  {name:<10}");
    let text = wrapped(&plain::one_line(text), width.saturating_sub(COLUMN), "");
    let mut lines = text.iter().enumerate();
    let first = lines.next().map_or(lead.trim_end().to_owned(), |(_, first)| format!("{lead}{first}"));
    std::iter::once(first).chain(lines.map(|(_, line)| format!("{:COLUMN$}{line}", ""))).collect()
}

/// The end of a run, as its loop describes it.
#[derive(Debug)]
pub struct End {
    /// The result, and the other lines that only this loop has.
    pub lines: Vec<Line>,
    /// The number of rounds, before their cost.
    pub rounds: Option<String>,
    /// Where the result is.
    pub places: Vec<Line>,
    /// The next commands.
    pub next: Vec<Next>,
}

/// Adds the lines that all loops have: effort and cost, models, warnings about them, the folder of the call that
/// failed last if nothing was judged, and, as the last line, the path of the report for a browser.
pub fn ending<L: Ui>(run: &Run<L>, End { lines, rounds, places, next }: End) -> Vec<Line> {
    let effort = rounds.map_or_else(String::new, |rounds| rounds + "; ") + &cost(&run.ledger.total());
    let models = words::models(run).map(|models| Line::Item("models", models));
    let warnings = words::mixed(run).map(|mixed| Line::Text(format!("warning: {mixed}")));
    let report = || Line::Copy("report:".to_owned(), format!("{}/report.html", run.plan.folder));
    let failed = run.errors.last().and_then(FailedCall::output).filter(|_| L::exit(run) == Exit::Unjudged);
    let failed =
        failed.map(|path| Line::Copy("last failed call:".to_owned(), format!("{}/{path}", run.plan.folder)));
    let next = next.into_iter().map(|next| Line::Copy(format!("to {}:", next.purpose), next.command));
    let lines = lines.into_iter().chain([Line::Item("effort", effort)]).chain(models).chain(warnings);
    lines.chain(places).chain(failed).chain(next).chain(run.closed_at.map(|_| report())).collect()
}

/// Shows a path or command to copy: it is never cut, and moves to its own line if it does not fit.
pub fn to_copy(lead: &str, text: &str, width: usize) -> Vec<String> {
    let text = plain::one_line(text);
    let whole = format!("{lead} {text}");
    if columns(&whole) <= width {
        return vec![whole];
    }
    let mut lines = wrapped(lead, width, "  ");
    lines.push(format!("  {text}"));
    lines
}

/// Summarizes the calls of a run and their cost.
fn cost(total: &Account) -> String {
    let cached = if total.cached > 0 { format!(", {} from the cache", total.cached) } else { String::new() };
    format!(
        "{}{cached}, {} of agent time, {}",
        figures::count(total.calls as usize, "call"),
        figures::milliseconds(total.ms),
        figures::money(total)
    )
}
