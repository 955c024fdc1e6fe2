//! The texts about experts: the list, and the page of one.

use serde_json::{Value, json};
use skilltune_phases::experts::{Expert, Kind};
use skilltune_phases::loops::expert::Origin;

use crate::loops::expert::roster::{Entry, Roster};
use crate::text::figures::count;
use crate::text::plain::one_line;
use crate::text::width::{cut, wrapped};

const EXAMPLES: &str = "\
Examples:
  skilltune expert architect \"Should orders and stock be one service?\"
  skilltune expert security-reviewer \"Review src/login.rs\"
  skilltune expert qa-engineer \"Which tests does the import need?\"
  skilltune expert technical-writer \"Write a quick start for the README\"";

/// Some files describe an expert on many lines; its own page shows all of them.
const LONGEST: usize = 240;

/// Returns the list in its two groups, with examples at its end.
pub fn list(roster: &Roster, width: usize) -> String {
    let group = |title: &str, kind: Kind| {
        let of_kind = roster.entries.iter().filter(|entry| entry.expert.kind == kind);
        let lines: Vec<String> = of_kind.flat_map(|entry| row(entry, width)).collect();
        format!("{title}\n\n{}", lines.join("\n"))
    };
    let groups = [group("Role Experts", Kind::Role), group("Reviewers", Kind::Reviewer)];
    format!("{}\n\n{EXAMPLES}", groups.join("\n\n"))
}

/// Counts the files that are skipped, for a run that needs none of them.
pub fn skipped_count(roster: &Roster) -> Option<String> {
    let files = count(roster.broken.len(), "agent file");
    (!roster.broken.is_empty()).then(|| format!("note: skipped {files}; `skilltune expert` says why"))
}

/// Names the files that are skipped, and why.
pub fn skipped(roster: &Roster) -> Vec<String> {
    const MOST: usize = 5;
    let first = roster.broken.iter().take(MOST).map(|broken| format!("note: skipped {}", broken.why));
    let others = roster.broken.len().saturating_sub(MOST);
    first.chain((others > 0).then(|| format!("note: and {others} more"))).collect()
}

fn row(entry: &Entry, width: usize) -> Vec<String> {
    let mut lines = vec![format!("  {} ({})", entry.expert.name, origin(entry))];
    let below = [cut(&described(&entry.expert), LONGEST), domains(&entry.expert)];
    let below = below.iter().filter(|text| !text.is_empty());
    lines.extend(below.flat_map(|text| indented(text, width)));
    lines
}

fn indented(text: &str, width: usize) -> Vec<String> {
    let lines = wrapped(text, width.saturating_sub(4), "");
    lines.into_iter().map(|line| format!("    {line}")).collect()
}

/// Returns the description on one line. Some files have `\n` in it as two letters.
fn described(expert: &Expert) -> String {
    one_line(&expert.description.replace("\\n", " "))
}

fn origin(entry: &Entry) -> String {
    let replaces = if entry.shadows { ", replaces the built-in one" } else { "" };
    format!("{}{replaces}", entry.origin.word())
}

/// Returns the domains, none if the file names none.
fn domains(Expert { domain, .. }: &Expert) -> String {
    /// A file of somebody else may name very many.
    const MOST: usize = 8;
    let named: Vec<&str> = domain.iter().take(MOST).map(String::as_str).collect();
    if named.is_empty() { String::new() } else { one_line(&format!("Domains: {}", named.join(", "))) }
}

/// Returns what an expert can help with.
pub fn page(entry: &Entry, width: usize) -> String {
    let Expert { name, tier, kind, .. } = &entry.expert;
    let helps = match kind {
        Kind::Role => {
            "Ask it for a design, a piece of work or advice in these domains; it reads the project."
        }
        Kind::Reviewer => "Ask it to review a file, a folder or a question; it reports findings with places.",
    };
    let mut lines = vec![format!("{name} ({}, tier {})", origin(entry), tier.word())];
    let below = [described(&entry.expert), domains(&entry.expert), helps.to_owned()];
    let below = below.iter().filter(|text| !text.is_empty());
    lines.extend(below.flat_map(|text| indented(text, width)));
    if let (Origin::Project | Origin::User, Some(file)) = (entry.origin, &entry.file) {
        lines.push(format!("    File: {}", one_line(&file.path.display().to_string())));
    }
    lines.join("\n")
}

/// Returns the list for scripts.
pub fn json(roster: &Roster) -> Value {
    let one = |entry: &Entry| {
        let Expert { name, description, tier, pipeline, domain, kind, unknown, digest, .. } = &entry.expert;
        json!({
            "name": name,
            "kind": match kind { Kind::Role => "role", Kind::Reviewer => "reviewer" },
            "description": description,
            "domain": domain,
            "tier": tier.word(),
            "pipeline": pipeline,
            "origin": entry.origin.word(),
            "replaces_built_in": entry.shadows,
            "file": entry.file.as_ref().map(|file| file.path.to_string_lossy().into_owned()),
            "digest": digest,
            "unsupported": entry.expert.unsupported().collect::<Vec<_>>(),
            "unknown": unknown.keys().collect::<Vec<_>>(),
        })
    };
    let skipped: Vec<&str> = roster.broken.iter().map(|broken| broken.why.as_str()).collect();
    json!({ "experts": roster.entries.iter().map(one).collect::<Vec<_>>(), "skipped": skipped })
}
