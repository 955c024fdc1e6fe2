//! `review.md`: a review as a comment of a pull request.
//!
//! No text of an agent or a file leaves its place, names a person, or becomes a link, an image or HTML.

use super::Run;
use super::view::{Entry, Groups};
use super::words::{count, plain};
use crate::base::answer::capped;

/// The most characters of a page. A comment of a pull request has at most 65,536.
const MOST: usize = 60_000;
/// The most characters of the sentence that says what is left out.
const ROOM: usize = 200;
const LONGEST_TITLE: usize = 160;
const LONGEST_CODE: usize = 400;
const LONGEST_TEXT: usize = 1_600;

pub fn markdown(run: &Run) -> String {
    let Groups { shown, older, refuted, suppressed } = run.groups();
    let end = looked_at(run);
    let mut page = Page::new(format!("## skilltune review\n\n**{}**", run.verdict()), &end);
    page.add(&counts(run));
    let warning = run.warning().map(|warning| format!("- Warning: {warning}."));
    let remarks = run.plan.task.remarks.iter().map(|remark| format!("- Note: {}", words(remark)));
    page.list("", warning.into_iter().chain(remarks).collect(), "");
    page.list("", run.failures().iter().map(|line| format!("- {}", words(line))).collect(), "");
    let machines = run.machine_lines();
    page.list("**Machines**\n", machines.iter().map(|line| format!("- {}", words(line))).collect(), "");

    let in_full = shown.len().min(run.plan.task.rules.most as usize);
    let (first, rest) = shown.split_at(in_full);
    for (entry, nth) in first.iter().zip(1..) {
        page.add(&full(nth, entry));
    }
    page.list("**More findings**\n", rest.iter().map(|entry| format!("- {}", line(entry))).collect(), "");

    page.fold("Were there before this change", older.iter().map(folded).collect());
    page.fold("Refuted by the second agent", refuted.iter().map(folded).collect());
    page.fold("Suppressed", suppressed.iter().map(folded).collect());
    let dropped = run.dropped().into_iter().map(|(by, one)| {
        let (title, place) = (words(&one.title), code(&one.place));
        format!("- {title} ({place}), by {}: {}", words(by), words(&one.why))
    });
    page.fold("Dropped, because their quotes do not hold", dropped.collect());
    let left_out = run.plan.task.left_out.iter();
    let left_out = left_out.map(|one| format!("- {}: {}", code(&one.path), words(&one.why)));
    page.fold("Files that no reviewer got", left_out.collect());
    page.finish(run, &end)
}

fn counts(run: &Run) -> String {
    let counts = run.counts();
    let cells = [
        ("proved", counts.proved),
        ("machine", counts.machine),
        ("confirmed", counts.confirmed),
        ("uncertain", counts.uncertain),
        ("not verified", counts.not_verified),
        ("refuted", counts.refuted),
        ("older", counts.older),
        ("suppressed", counts.suppressed),
        ("dropped", counts.dropped),
    ];
    let row = |cells: [String; 9]| format!("| {} |", cells.join(" | "));
    let (names, line) = (cells.map(|(name, _)| name.to_owned()), cells.map(|_| "---".to_owned()));
    [row(names), row(line), row(cells.map(|(_, number)| number.to_string()))].join("\n")
}

fn full(nth: usize, entry: &Entry<'_>) -> String {
    let finding = &entry.finding;
    let at = entry.at().map_or_else(|| "No place".to_owned(), |at| code(&at));
    let side = entry.side().map_or_else(String::new, |side| format!(" ({side})"));
    let mut parts = vec![
        format!("### {nth}. {}: {}", entry.rank(), title(entry)),
        format!(
            "{at}{side}, seen by {}, fingerprint {}",
            words(&entry.reporters()),
            code(&entry.fingerprint)
        ),
    ];
    parts.extend(entry.quote().map(fence));
    parts.push(format!("**What fails:** {}", words(&finding.what)));
    let suggestion = Some(&finding.suggestion).filter(|text| !text.is_empty());
    parts.extend(suggestion.map(|text| format!("**Suggestion:** {}", words(text))));
    parts.extend(entry.opinion().map(|text| format!("**Second agent:** {}", words(&text))));
    let proof =
        entry.proof.map(|proof| format!("**Proof:** {}: {}", code(&proof.command()), words(&proof.result())));
    parts.extend(proof);
    parts.join("\n\n")
}

/// Shows a finding in one line.
fn line(entry: &Entry<'_>) -> String {
    let at = entry.at().map_or_else(String::new, |at| format!(" ({})", code(&at)));
    let (by, name) = (words(&entry.reporters()), code(&entry.fingerprint));
    format!("{}: {}{at}, seen by {by}, fingerprint {name}", entry.rank(), title(entry))
}

/// Shows a finding that does not count, with the quotes for it and against it.
fn folded(entry: &Entry<'_>) -> String {
    let quote = entry.quote().map(|quote| format!("quote {}", code(quote)));
    let against = entry.against();
    let against = against.map(|place| format!("against it {} in {}", code(&place.quote), code(&place.at())));
    let opinion = entry.opinion().map(|text| format!("second agent: {}", words(&text)));
    let reason = entry.suppressed.map(|reason| format!("suppressed: {}", words(reason)));
    let below = [quote, against, opinion, reason].into_iter().flatten().map(|text| format!("\n  - {text}"));
    format!("- {}{}", line(entry), below.collect::<String>())
}

fn title(entry: &Entry<'_>) -> String {
    escaped(&capped(&one_line(&entry.finding.title), LONGEST_TITLE))
}

fn looked_at(run: &Run) -> String {
    let rows = run.looked_at().into_iter().map(|(name, text)| format!("- {name}: {}", words(&text)));
    format!("**What was looked at**\n\n{}", rows.collect::<Vec<_>>().join("\n"))
}

/// A page of limited length: it takes whole blocks and lines, and counts those without room.
struct Page {
    text: String,
    room: usize,
    left_out: usize,
}

impl Page {
    fn new(text: String, end: &str) -> Self {
        let used = text.chars().count() + end.chars().count() + ROOM;
        Self { text, room: MOST.saturating_sub(used), left_out: 0 }
    }

    fn add(&mut self, block: &str) {
        match self.room.checked_sub(block.chars().count() + 2) {
            Some(room) => {
                self.room = room;
                self.text += "\n\n";
                self.text += block;
            }
            None => self.left_out += 1,
        }
    }

    /// Adds as many of the lines as there is room for, between a head and a close.
    fn list(&mut self, head: &str, lines: Vec<String>, close: &str) {
        let mut left = self.room.saturating_sub(head.chars().count() + close.chars().count() + 2);
        let mut block = Vec::new();
        for line in lines {
            match left.checked_sub(line.chars().count() + 1) {
                Some(rest) => {
                    left = rest;
                    block.push(line);
                }
                None => self.left_out += 1,
            }
        }
        if !block.is_empty() {
            let head = if head.is_empty() { String::new() } else { format!("{head}\n") };
            self.add(&format!("{head}{}{close}", block.join("\n")));
        }
    }

    fn fold(&mut self, title: &str, lines: Vec<String>) {
        let head = format!("<details>\n<summary>{title}: {}</summary>\n", lines.len());
        self.list(&head, lines, "\n\n</details>");
    }

    fn finish(self, run: &Run, end: &str) -> String {
        let Self { text, left_out, .. } = self;
        if left_out == 0 {
            return format!("{text}\n\n{end}\n");
        }
        let (left_out, id) = (count(left_out, "part"), &run.plan.run);
        let cut =
            format!("**Cut:** a comment has no room for {left_out} more. `skilltune report {id}` has all.");
        format!("{text}\n\n{cut}\n\n{end}\n")
    }
}

/// Returns words on one line without active markup. They never start a line, where more characters are active.
fn words(text: &str) -> String {
    escaped(&capped(&one_line(text), LONGEST_TEXT))
}

fn escaped(line: &str) -> String {
    let mut safe = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // Without the invisible space after it, GitHub would make it a mention or a reference.
            '@' | '#' => {
                safe.push(c);
                safe.push_str("&#8203;");
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => safe.extend(['\\', c]),
            _ => safe.push(c),
        }
    }
    // A bare address would become a link.
    safe.replace("://", ":&#8203;//").replace("www.", "www&#8203;.")
}

/// Returns text of one line as code.
fn code(text: &str) -> String {
    let line = capped(&one_line(text), LONGEST_CODE);
    let ticks = "`".repeat(longest_run(&line) + 1);
    let pad = if line.is_empty() || line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{line}{pad}{ticks}")
}

/// Returns a block that its text cannot end.
fn fence(text: &str) -> String {
    let text = capped(&plain(text), LONGEST_TEXT);
    let ticks = "`".repeat(3.max(longest_run(&text) + 1));
    format!("{ticks}text\n{text}\n{ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn one_line(text: &str) -> String {
    plain(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
