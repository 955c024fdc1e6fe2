//! The cheapest agent there can be: reads its prompt, answers at once, and touches nothing.
//!
//! A prompt that asks for a verdict gets one with every criterion passed; any other gets a line of text.

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
    let entry = |id| format!(r#"{{"id": "{id}", "verdict": "pass", "evidence": "answer.md: did it"}}"#);
    let entries: Vec<_> = ids.map(entry).collect();
    format!(r#"{{"verdict_of": "{code}", "criteria": [{}], "claimed_score": 90}}"#, entries.join(", "))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(inside, _)| inside)
}
