//! Writes a promptfoo configuration as JSON, which is also valid YAML.

use serde_json::{Value, json};
use skilltune_phases::suites::checks::{Check, Cost, How, Text, Times, Tool};

use super::javascript::{literal, to_javascript};
use super::{SuiteWriter, has_default_id, pretty};

pub(super) fn text(page: &mut SuiteWriter<'_>) -> String {
    let mut tests = Vec::new();
    for scenario in page.scenarios() {
        page.lose_fields(scenario, &["tags"]);
        if scenario.description.contains("{{") || scenario.description.contains("{%") {
            page.lose(scenario, "promptfoo reads the `{{` in the task as a variable");
        }
        let mut asserts = Vec::new();
        for demand in &scenario.demands {
            match assert(&demand.how) {
                Ok(mut assert) => {
                    page.lose_terms(scenario, demand, &["weight", "id"]);
                    if demand.weight != 1 {
                        assert["weight"] = demand.weight.into();
                    }
                    if !has_default_id(scenario, demand) {
                        assert["metric"] = demand.id.as_str().into();
                    }
                    asserts.push(assert);
                }
                Err(why) => page.lose_demand(scenario, demand, why),
            }
        }
        let mut test = json!({
            "description": scenario.id.as_str(),
            "vars": {"prompt": scenario.description},
            "assert": asserts,
        });
        test["metadata"] = json!({"id": scenario.id.as_str()});
        if !scenario.tags.is_empty() {
            test["metadata"]["tags"] = scenario.tags.iter().map(|tag| Value::from(&**tag)).collect();
        }
        tests.push(test);
    }
    page.lost.add(None, "`providers` is empty: add yours");
    pretty(
        &json!({"description": "Written by skilltune", "prompts": ["{{prompt}}"], "providers": [], "tests": tests}),
    )
}

fn assert(how: &How) -> Result<Value, &'static str> {
    let check = match how {
        How::Question { text } => return Ok(json!({"type": "llm-rubric", "value": text})),
        How::Check(check) => check,
    };
    match check {
        Check::Pattern { pattern, of: Text::Answer, times } => {
            let not = negation(*times).ok_or("promptfoo does not count matches")?;
            if let Some((text, is_exact)) = literal(pattern) {
                let kind = if is_exact { "contains" } else { "icontains" };
                return Ok(json!({"type": format!("{not}{kind}"), "value": text}));
            }
            match to_javascript(pattern) {
                Some((pattern, flags)) if flags.is_empty() => {
                    Ok(json!({"type": format!("{not}regex"), "value": pattern}))
                }
                Some(_) | None => Err("promptfoo has no such pattern"),
            }
        }
        Check::Pattern { .. } => Err("promptfoo looks at the answer only"),
        Check::Skill { used } => {
            let not = if *used { "" } else { "not-" };
            Ok(json!({"type": format!("{not}skill-used"), "value": {"pattern": "*"}}))
        }
        Check::Tool { call: Tool { name, input: None }, times } => {
            if let Some(not) = negation(*times) {
                return Ok(json!({"type": format!("{not}trajectory:tool-used"), "value": name}));
            }
            let mut value = json!({"name": name, "min": times.min});
            times.max.into_iter().for_each(|max| value["max"] = max.into());
            Ok(json!({"type": "trajectory:tool-used", "value": value}))
        }
        Check::ToolOrder { before: Tool { name, input: None }, after: Tool { name: after, input: None } } => {
            let value = json!({"mode": "in_order", "steps": [name, after]});
            Ok(json!({"type": "trajectory:tool-sequence", "value": value}))
        }
        Check::Tool { .. } | Check::ToolOrder { .. } => {
            Err("promptfoo has no pattern for the input of a tool")
        }
        Check::AtMost { of: Cost::Seconds, most } => Ok(json!({"type": "latency", "threshold": most * 1000})),
        Check::AtMost { of: Cost::Turns, most } => {
            Ok(json!({"type": "trajectory:step-count", "value": {"max": most}}))
        }
        Check::AtMost { of: Cost::Tokens, .. } => Err("promptfoo has no bound of tokens"),
        Check::File { .. } | Check::Schema { .. } | Check::Json { .. } | Check::Touches { .. } => {
            Err("promptfoo does not look at files")
        }
        Check::Command { .. } => Err("promptfoo runs no commands"),
    }
}

/// Returns the prefix of an assert type for this number of matches.
fn negation(times: Times) -> Option<&'static str> {
    match times {
        Times::ONCE_OR_MORE => Some(""),
        Times::NEVER => Some("not-"),
        Times { .. } => None,
    }
}
