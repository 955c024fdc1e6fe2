//! Writes cases of `claude plugin eval`: a folder for each, with a page and a page for each grader.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skilltune_phases::suites::checks::{Check, How, Text, Times, Tool};
use skilltune_phases::suites::scenario::Scenario;

use super::SuiteWriter;
use super::javascript::to_javascript;

pub(super) fn files(page: &mut SuiteWriter<'_>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for scenario in page.scenarios() {
        page.lose_fields(scenario, &["tags", "expected"]);
        let graders = graders(page, scenario);
        if graders.is_empty() {
            page.lose(scenario, "it has no grader left, but claude plugin eval requires one");
        }
        files.push((format!("{}/prompt.md", scenario.id), prompt(scenario)));
        files.extend(graders);
    }
    files
}

fn prompt(scenario: &Scenario) -> String {
    let mut front = json!({"name": scenario.id.as_str()});
    if !scenario.tags.is_empty() {
        front["tags"] = scenario.tags.iter().map(|tag| Value::from(&**tag)).collect();
    }
    if let Some(expected) = &scenario.expected {
        front["expected_outcome"] = (&**expected).into();
    }
    fronted(&front, &scenario.description)
}

fn graders(page: &mut SuiteWriter<'_>, scenario: &Scenario) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for demand in &scenario.demands {
        match grader(&demand.how) {
            Ok((mut front, body)) => {
                page.lose_terms(scenario, demand, &["id", "weight"]);
                if demand.weight != 1 {
                    front["weight"] = demand.weight.into();
                }
                files.push((format!("{}/graders/{}.md", scenario.id, demand.id), fronted(&front, &body)));
            }
            Err(why) => page.lose_demand(scenario, demand, why),
        }
    }
    files
}

/// Returns the front matter and the body.
fn grader(how: &How) -> Result<(Value, String), &'static str> {
    const NO_TIMES: &str = "claude plugin eval has no such bounds";
    let check = match how {
        How::Question { text } => return Ok((json!({"type": "llm"}), text.to_string())),
        How::Check(check) => check,
    };
    let front = match check {
        Check::Pattern { pattern, of, times } => {
            let found = to_javascript(pattern).filter(|(pattern, _)| pattern.trim() == pattern);
            let (pattern, flags) = found.ok_or("JavaScript has no such pattern")?;
            let mut front = json!({"type": "regex"});
            if !flags.is_empty() {
                front["flags"] = flags.into();
            }
            match *times {
                Times::ONCE_OR_MORE => {}
                Times::NEVER => front["match"] = "not_contains".into(),
                Times { min, max } if max == Some(min) => front["match"] = format!("count:{min}").into(),
                Times { .. } => return Err(NO_TIMES),
            }
            match of {
                Text::Answer => {}
                Text::Transcript => front["target"] = "trace".into(),
                Text::Files(glob) if &**glob == "**" && *times == Times::NEVER => {
                    front["target"] = "files".into();
                }
                Text::Files(path) if !path.contains(['*', '?']) => {
                    front["target"] = json!({"source": "file", "path": path});
                }
                Text::Files(_) => return Err("claude plugin eval searches only one named file"),
            }
            return Ok((front, pattern));
        }
        // The tool through which claude uses a skill.
        Check::Skill { used: true } => json!({"type": "tool_used", "tool": "Skill"}),
        Check::Skill { used: false } => json!({"type": "tool_used", "tool": "Skill", "min": 0, "max": 0}),
        Check::Tool { call, times } => {
            let mut front = json!({"type": "tool_used", "tool": call.name, "min": times.min});
            if let Some(input) = &call.input {
                front["input_match"] = (&**input).into();
            }
            times.max.into_iter().for_each(|max| front["max"] = max.into());
            front
        }
        Check::ToolOrder { before, after } => {
            json!({"type": "tool_order", "before": tool(before), "after": tool(after)})
        }
        Check::File { path, times } => match *times {
            Times::ONCE_OR_MORE => json!({"type": "file_exists", "path": path}),
            Times::NEVER => json!({"type": "file_exists", "path": path, "exists": false}),
            Times { .. } => return Err(NO_TIMES),
        },
        Check::Command { .. }
        | Check::Schema { .. }
        | Check::Json { .. }
        | Check::Touches { .. }
        | Check::AtMost { .. } => return Err("claude plugin eval has no such grader"),
    };
    Ok((front, String::new()))
}

fn tool(tool: &Tool) -> Value {
    match &tool.input {
        None => Value::from(&*tool.name),
        Some(input) => json!({"tool": tool.name, "input_match": input}),
    }
}

/// Writes a page with front matter: each value is JSON, which is also valid YAML.
fn fronted(front: &Value, body: &str) -> String {
    let mut text = "---\n".to_owned();
    for (key, value) in front.as_object().into_iter().flatten() {
        writeln!(text, "{key}: {value}").expect("a string takes it");
    }
    text + "---\n" + body + "\n"
}
