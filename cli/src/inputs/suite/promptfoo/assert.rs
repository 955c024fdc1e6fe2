//! One entry of `assert`, as a check or an expectation; or a note about what is lost.

use serde_json::{Map, Value};
use skilltune_phases::suites::checks::{Check, Cost, How, Text, Times, Tool};

use crate::inputs::suite::assemble::is_plain;
use crate::inputs::suite::case::{Ask, Case, text, texts};
use crate::inputs::suite::script_pattern::{escaped, from_javascript};

type Object = Map<String, Value>;

/// Adds its demand to the case; `fill` expands the variables of a value.
pub(super) fn read(assert: &Value, case: &mut Case, fill: &dyn Fn(&str) -> String) {
    let Some(assert) = assert.as_object() else {
        return case.note("skipped an assertion that is not a mapping");
    };
    let Some(kind) = assert.get("type").and_then(Value::as_str) else {
        return case.note("an assert without a type is not converted");
    };
    if kind == "assert-set" {
        let inner = assert.get("assert").and_then(Value::as_array);
        case.note("each assert of an assert-set counts separately");
        // promptfoo has no sets inside sets.
        let is_set = |one: &&Value| one.get("type").and_then(Value::as_str) == Some("assert-set");
        inner.into_iter().flatten().filter(|one| !is_set(one)).for_each(|one| read(one, case, fill));
        return;
    }
    let weight = assert.get("weight").and_then(Value::as_f64).unwrap_or(1.0);
    if weight <= 0.0 {
        return case.note(format!("an assert of type {kind} is not converted: it has no weight"));
    }
    if assert.contains_key("threshold") && !kind.contains("latency") {
        case.note("`threshold` of asserts is not read");
    }
    let metric = assert.get("metric").and_then(text).filter(|metric| is_plain(metric));
    match hows(kind, assert, case, fill) {
        Ok(hows) => {
            let asks = hows.into_iter().map(|how| Ask::new(how).named(metric.clone()).weighing(weight));
            case.demands.extend(asks);
        }
        Err(why) => case.note(why),
    }
}

fn hows(
    kind: &str,
    assert: &Object,
    case: &mut Case,
    fill: &dyn Fn(&str) -> String,
) -> Result<Vec<How>, String> {
    let (plain, is_negated) = kind.strip_prefix("not-").map_or((kind, false), |plain| (plain, true));
    let value = assert.get("value").unwrap_or(&Value::Null);
    let times = if is_negated { Times::NEVER } else { Times::ONCE_OR_MORE };
    let lost = |why: &str| Err(format!("an assert of type {kind} is not converted: {why}"));
    let words: Vec<String> = texts(value).iter().map(|text| fill(text)).collect();
    let first = words.first().cloned();
    let empty = || format!("an assert of type {kind} is not converted: it has no value");
    let needed = || first.clone().ok_or_else(empty);
    let pattern =
        |pattern: String| How::Check(Check::Pattern { pattern: pattern.into(), of: Text::Answer, times });
    let any = |flags: &str| {
        let words: Vec<String> = words.iter().map(|word| escaped(word)).collect();
        pattern(format!("{flags}(?:{})", words.join("|")))
    };
    Ok(match plain {
        "contains" => vec![pattern(escaped(&needed()?))],
        "icontains" => vec![pattern(format!("(?i){}", escaped(&needed()?)))],
        "equals" => vec![pattern(format!(r"\A\s*{}\s*\z", escaped(needed()?.trim())))],
        "starts-with" => vec![pattern(format!(r"\A{}", escaped(&needed()?)))],
        "regex" => match from_javascript(&needed()?, "") {
            Ok(regex) => vec![pattern(regex)],
            Err(why) => return lost(&why),
        },
        "contains-any" | "icontains-any" | "contains-all" | "icontains-all" => {
            needed()?;
            let flags = if plain.starts_with('i') { "(?i)" } else { "" };
            match (plain.ends_with("any"), is_negated) {
                (true, _) => vec![any(flags)],
                (false, true) => return lost("no check can require that one of several is missing"),
                (false, false) => {
                    if words.len() > 1 {
                        case.note(format!("an assert of type {kind} becomes one check per word"));
                    }
                    words.iter().map(|word| pattern(format!("{flags}{}", escaped(word)))).collect()
                }
            }
        }
        "llm-rubric" | "g-eval" | "model-graded-closedqa" => {
            needed()?;
            let asked =
                |text: &String| if is_negated { format!("This is not so: {text}") } else { text.clone() };
            words.iter().map(|text| How::Question { text: asked(text).into() }).collect()
        }
        "skill-used" => vec![skill(value, is_negated, case)],
        "latency" if !is_negated => {
            let milliseconds = assert.get("threshold").and_then(Value::as_f64).unwrap_or_default();
            let most = seconds(milliseconds)
                .ok_or_else(|| format!("an assert of type {kind} is not converted: it has no threshold"))?;
            vec![How::Check(Check::AtMost { of: Cost::Seconds, most })]
        }
        "trajectory:tool-used" => {
            let tools = tools(value);
            if tools.is_empty() {
                return lost("it does not name a tool");
            }
            let check = |(name, own): (String, Times)| {
                let times = if is_negated { Times::NEVER } else { own };
                How::Check(Check::Tool { call: tool(&name), times })
            };
            tools.into_iter().map(check).collect()
        }
        "trajectory:tool-sequence" if !is_negated => {
            let steps = sequence(value);
            if steps.len() < 2 {
                return lost("it names fewer than two tools");
            }
            if value.get("mode").and_then(Value::as_str) == Some("exact") {
                case.note("only the order of an exact tool sequence is checked");
            }
            let order = |pair: &[String]| {
                How::Check(Check::ToolOrder { before: tool(&pair[0]), after: tool(&pair[1]) })
            };
            steps.windows(2).map(order).collect()
        }
        "trajectory:step-count" if !is_negated => steps(value).map_or_else(
            || lost("skilltune counts only turns with a `max`, or calls of a named tool"),
            |check| Ok(vec![How::Check(check)]),
        )?,
        _ => return lost("skilltune has no such check"),
    })
}

/// Only one of several skills is on trial.
fn skill(value: &Value, is_negated: bool, case: &mut Case) -> How {
    let name = match value {
        Value::Object(skill) => skill.get("name").or_else(|| skill.get("pattern")).and_then(text),
        value => texts(value).first().cloned(),
    };
    if let Some(name) = name {
        case.note(format!("skill-used {name:?} is read as the tested skill"));
    }
    let is_unused = value.get("max").and_then(Value::as_u64) == Some(0);
    How::Check(Check::Skill { used: is_negated == is_unused })
}

/// Returns tool names, each with how often it is called.
fn tools(value: &Value) -> Vec<(String, Times)> {
    match value {
        Value::Array(values) => values.iter().flat_map(tools).collect(),
        Value::Object(tool) => {
            let name = tool.get("name").or_else(|| tool.get("pattern")).and_then(text);
            name.map(|name| (name, times(tool))).into_iter().collect()
        }
        value => text(value).map(|name| (name, Times::ONCE_OR_MORE)).into_iter().collect(),
    }
}

fn times(bounds: &Object) -> Times {
    let bound = |key: &str| bounds.get(key).and_then(Value::as_u64);
    let max = bound("max");
    let min = bound("min").unwrap_or(u64::from(max != Some(0)));
    Times { min, max }
}

fn sequence(value: &Value) -> Vec<String> {
    let steps = value.get("steps").unwrap_or(value).as_array();
    let name = |step: &Value| step.get("name").and_then(text).or_else(|| text(step));
    steps.into_iter().flatten().filter_map(name).collect()
}

/// Returns a check of the agent's turns, or of the calls of one tool.
fn steps(value: &Value) -> Option<Check> {
    let bounds = value.as_object()?;
    let most = bounds.get("max").and_then(Value::as_u64);
    match (bounds.get("type").and_then(Value::as_str), bounds.get("pattern").and_then(Value::as_str)) {
        (None, None) => {
            Some(Check::AtMost { of: Cost::Turns, most: most.filter(|_| !bounds.contains_key("min"))? })
        }
        (None | Some("tool"), Some(name)) if !name.contains(['*', '?', '[']) => {
            let min = bounds.get("min").and_then(Value::as_u64).unwrap_or(0);
            Some(Check::Tool { call: tool(name), times: Times { min, max: most } })
        }
        _ => None,
    }
}

fn tool(name: &str) -> Tool {
    Tool { name: name.into(), input: None }
}

fn seconds(milliseconds: f64) -> Option<u64> {
    let seconds = (milliseconds / 1000.0).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a day")]
    (1.0..=86_400.0).contains(&seconds).then_some(seconds as u64)
}
