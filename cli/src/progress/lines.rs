//! Lines about a run of any loop for people: plain text, never wider than the given width.

use skilltune_phases::runs::ledger::Account;
use skilltune_phases::runs::plan::Roles;

use crate::report::advice::Next;
use crate::report::words;
use crate::text::width::{columns, wrapped};
use crate::text::{figures, plain};

/// The smallest width at which columns are aligned.
pub const ROOMY: usize = 60;

/// Returns the agents of all roles, and the notes about them.
pub fn who(roles: &Roles, notes: &[String], width: usize) -> Vec<String> {
    let agents = plain::one_line(&words::roles(roles));
    let mut lines = if agents.is_empty() { Vec::new() } else { wrapped(&agents, width, "  ") };
    for note in notes {
        lines.extend(wrapped(&format!("note: {note}"), width, "  "));
    }
    lines
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
