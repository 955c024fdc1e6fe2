//! One grader, as a check or an expectation.

use serde_json::Value;
use skilltune_phases::suites::checks::{Check, How, Text, Times, Tool};

use super::{GRADER, Object, of_grader, unknown};
use crate::inputs::suite::case::{Ask, Case, first_text};
use crate::inputs::suite::script_pattern::from_javascript;

/// Adds it to the case. An error is one that `claude plugin eval` reports too.
pub(super) fn read(grader: &Object, name: &str, body: Option<&str>, case: &mut Case) -> Result<(), String> {
    let kind = first_text(grader, &["type"]).ok_or("`type` is missing")?;
    let keys = of_grader(&kind).ok_or_else(|| format!("unknown type `{kind}`"))?;
    if let Some(key) = unknown(grader, &[&GRADER, keys]) {
        return Err(format!("unknown key `{key}`"));
    }
    let weight = match grader.get("weight") {
        None => 1.0,
        Some(weight) => {
            weight.as_f64().filter(|weight| *weight > 0.0).ok_or("`weight` must be more than 0")?
        }
    };
    let how = match kind.as_str() {
        "regex" => regex(grader, body)?,
        "tool_used" => tool_used(grader, name, case)?,
        "tool_order" => {
            let tool = |key: &str| tool(grader.get(key)).ok_or_else(|| format!("`{key}` must name a tool"));
            Ok(How::Check(Check::ToolOrder { before: tool("before")?, after: tool("after")? }))
        }
        "file_exists" => {
            let path = first_text(grader, &["path"]).ok_or("`path` is missing")?;
            let exists = grader.get("exists").and_then(Value::as_bool).unwrap_or(true);
            let times = if exists { Times::ONCE_OR_MORE } else { Times::NEVER };
            Ok(How::Check(Check::File { path: path.into(), times }))
        }
        "llm" => {
            let criteria = text(grader, "criteria", body)?;
            if grader.get("focus").is_some_and(|focus| focus != "last_message") {
                case.note("`focus` of graders is not converted: the judge sees everything that a trial left");
            }
            Ok(How::Question { text: criteria.into() })
        }
        _ => Err("it compares with a recording".to_owned()),
    };
    match how {
        Ok(how) => case.demands.push(Ask::new(how).named(Some(name.to_owned())).weighing(weight)),
        Err(why) => case.note(format!("the grader {name} ({kind}) is not converted: {why}")),
    }
    Ok(())
}

/// Returns the body of a file, or the value of a key.
fn text(grader: &Object, key: &str, body: Option<&str>) -> Result<String, String> {
    let body = body.filter(|body| !body.is_empty()).map(str::to_owned);
    body.or_else(|| first_text(grader, &[key])).ok_or_else(|| format!("`{key}` is missing"))
}

/// Returns the pattern. The inner error says what is not supported here.
fn regex(grader: &Object, body: Option<&str>) -> Result<Result<How, String>, String> {
    let pattern = text(grader, "pattern", body)?;
    let flags = first_text(grader, &["flags"]).unwrap_or_default();
    let times = match grader.get("match").map_or(Some("contains"), Value::as_str) {
        Some("contains") => Times::ONCE_OR_MORE,
        Some("not_contains") => Times::NEVER,
        Some(count) => {
            let count = count.strip_prefix("count:").and_then(|count| count.trim().parse().ok());
            let count = count.ok_or("`match` must be `contains`, `not_contains` or `count:N`")?;
            Times { min: count, max: Some(count) }
        }
        None => return Err("`match` must be text".to_owned()),
    };
    let of = match grader.get("target") {
        None => Text::Answer,
        Some(Value::String(target)) => match target.as_str() {
            "last_message" => Text::Answer,
            "trace" => Text::Transcript,
            // Here, a pattern must be in each file; there, in any.
            "files" if times == Times::NEVER => Text::Files("**".into()),
            "files" => return Ok(Err("it searches all files: name one file".to_owned())),
            "mock_calls" => return Ok(Err("skilltune has no mocks".to_owned())),
            other => return Err(format!("unknown target `{other}`")),
        },
        Some(target) => {
            let path = target.get("path").and_then(Value::as_str);
            Text::Files(path.ok_or("`target` must name a file")?.into())
        }
    };
    Ok(from_javascript(&pattern, &flags)
        .map(|pattern| How::Check(Check::Pattern { pattern: pattern.into(), of, times })))
}

fn tool_used(grader: &Object, name: &str, case: &mut Case) -> Result<Result<How, String>, String> {
    let call = Tool {
        name: first_text(grader, &["tool"]).ok_or("`tool` is missing")?.into(),
        input: first_text(grader, &["input_match"]).map(Into::into),
    };
    let bound = |key: &str| match grader.get(key) {
        None => Ok(None),
        Some(bound) => bound.as_u64().map(Some).ok_or_else(|| format!("`{key}` must be a whole number")),
    };
    let (min, max) = (bound("min")?, bound("max")?);
    let times = match (min, max) {
        (None, Some(0)) => {
            case.note(format!(
                "the grader {name} is read with `min: 0`: with `max: 0` alone, no run passes it"
            ));
            Times::NEVER
        }
        (min, max) => Times { min: min.unwrap_or(1), max },
    };
    // The tool through which claude uses a skill.
    if &*call.name == "Skill" {
        if call.input.is_some() {
            case.note(format!("the grader {name} is read as the use of the tested skill"));
        }
        return Ok(Ok(How::Check(Check::Skill { used: times.max != Some(0) })));
    }
    Ok(Ok(How::Check(Check::Tool { call, times })))
}

/// Returns a tool's name, or its name and a pattern for its input.
fn tool(value: Option<&Value>) -> Option<Tool> {
    match value? {
        Value::String(name) => Some(Tool { name: name.as_str().into(), input: None }),
        Value::Object(tool) => Some(Tool {
            name: first_text(tool, &["tool"])?.into(),
            input: first_text(tool, &["input_match"]).map(Into::into),
        }),
        _ => None,
    }
}
