//! Lines about a run of any loop for people: plain text, never wider than the given width.

use skilltune_phases::loops::Loop;
use skilltune_phases::runs::ledger::Account;
use skilltune_phases::runs::run::Run;

use crate::report::advice::Next;
use crate::report::summary::{Head, Line, Summary};
use crate::report::{ceilings, words};
use crate::text::width::{around, columns, wrapped};
use crate::text::{figures, plain};

/// The smallest width at which columns are aligned.
pub const ROOMY: usize = 60;

/// Returns the lines about the task, its agents and its limits.
pub fn header<L: Loop>(run: &Run<L>, summary: &Summary, width: usize) -> Vec<String> {
    let Summary { head: Head { lines, size, legend }, cast, notes, .. } = summary;
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
    if let Some(legend) = legend {
        say(legend);
    }
    shown
}

/// Fits lines to this width.
pub fn fitted(lines: &[Line], width: usize) -> Vec<String> {
    let fit = |line: &Line| match line {
        Line::Text(text) => wrapped(text, width, "  "),
        Line::Named([before, name, after]) => vec![around(before, name, after, width)],
    };
    lines.iter().flat_map(fit).collect()
}

pub fn advised(next: &Next, width: usize) -> Vec<String> {
    to_copy(&format!("to {}:", next.purpose), &next.command, width)
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
pub fn cost(total: &Account) -> String {
    let cached = if total.cached > 0 { format!(", {} from the cache", total.cached) } else { String::new() };
    format!(
        "{}{cached}, {} of agent time, {}",
        figures::count(total.calls as usize, "call"),
        figures::milliseconds(total.ms),
        figures::money(total)
    )
}
