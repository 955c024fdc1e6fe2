//! The cheapest possible agent: reads its prompt, answers at once, and touches nothing.
//!
//! It answers a request for a verdict with one that follows from the task and the skill's version, and any other prompt
//! with a line of text. Version B is good where version A is bad, and bad at as many other tasks: neither is better.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt)?;
    let answer = match between(&prompt, "\"verdict_of\": \"", "\"") {
        Some(code) => verdict(&prompt, code),
        None => format!("did task {}\n", between(&prompt, " scenario task-", ">>>").unwrap_or("nothing")),
    };
    std::io::stdout().write_all(answer.as_bytes())
}

fn verdict(prompt: &str, code: &str) -> String {
    let criteria = between(prompt, "## The criteria", "## How to judge").unwrap_or_default();
    let ids = criteria.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next());
    let task: usize = between(prompt, "did task ", "\n").and_then(|nth| nth.parse().ok()).unwrap_or_default();
    let is_good = prompt.contains("This is version B.") == task.is_multiple_of(2);
    let of_ten = if is_good { 10 - task % 3 } else { task % 3 };
    let entry = |(nth, id): (usize, _)| {
        let verdict = if (3 * nth + task) % 10 < of_ten { "pass" } else { "fail" };
        format!(r#"{{"id": "{id}", "verdict": "{verdict}", "evidence": "answer.md: did it"}}"#)
    };
    let entries: Vec<_> = ids.enumerate().map(entry).collect();
    format!(r#"{{"verdict_of": "{code}", "criteria": [{}], "claimed_score": 90}}"#, entries.join(", "))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(inside, _)| inside)
}
