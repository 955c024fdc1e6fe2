//! Writes `suite.toml`, which can express nearly everything.

use std::fmt::Write as _;

use serde_json::Value as Json;
use skilltune_orchestrator::snapshot::Brought;
use skilltune_phases::suites::checks::{Check, Comparison, Cost, Glob, How, Text, Times, Tool};
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::{Scenario, Tools};
use toml::{Table, Value};

use super::{SuiteWriter, has_default_id};

pub(super) fn text(page: &mut SuiteWriter<'_>) -> String {
    let suite = page.suite;
    let counted = suite.scenarios.iter().map(|scenario| (scenario, false));
    let all = counted.chain(suite.drafts.iter().map(|draft| (draft, true)));
    all.map(|(one, is_draft)| scenario(page, one, is_draft)).collect::<Vec<_>>().join("\n")
}

fn scenario(page: &mut SuiteWriter<'_>, scenario: &Scenario, is_draft: bool) -> String {
    let plain = Scenario::new(scenario.id.clone(), "");
    let mut lines = Lines("[[scenarios]]\n".to_owned());
    lines.set("id", scenario.id.as_str());
    lines.set("description", scenario.description.as_str());
    lines.set_some("draft", is_draft.then_some(true));
    lines.set_some("held_out", scenario.held_out.then_some(true));
    lines.set_list("tags", scenario.tags.iter().map(ToString::to_string));
    lines.set_list("requirements", scenario.requirements.iter().cloned());
    lines.set_some("input_args", Some(scenario.input_args.as_str()).filter(|args| !args.is_empty()));
    let criteria = scenario.success_criteria.as_str();
    lines.set_some("success_criteria", Some(criteria).filter(|criteria| *criteria != plain.success_criteria));
    lines.set_some("expected", scenario.expected.as_deref());
    let below = page.folder.clone();
    let brought = page.suite.starts.of(&scenario.id);
    for Brought { from, at } in brought.iter().filter(|one| **one != Brought::flat(one.from.clone())) {
        page.lose(scenario, &format!("{from} is placed under its own name instead of at {at}"));
    }
    let files = page.paths(scenario, brought.iter().map(|brought| &brought.from), &below);
    lines.set_list("files", files.into_iter());
    lines.set_list("setup", scenario.setup.iter().flatten().cloned());
    lines.set_some("git", scenario.git.then_some(true));
    lines.set_list("command", scenario.command.iter().flatten().cloned());
    lines.set_some(
        "tools",
        scenario.tools.map(|tools| match tools {
            Tools::Files => "files",
            Tools::Shell => "shell",
        }),
    );
    let asked = scenario.demands.iter().filter_map(|demand| Some((demand, demand.how.question()?)));
    let asked: Vec<String> = asked.map(|(demand, text)| expectation(scenario, demand, text)).collect();
    if !asked.is_empty() {
        writeln!(lines.0, "expectations = [\n  {},\n]", asked.join(",\n  ")).expect("a string takes it");
    }
    for demand in &scenario.demands {
        if let How::Check(check) = &demand.how {
            match self::check(page, scenario, demand, check) {
                Some(keys) => {
                    lines.0.push_str("\n[[scenarios.checks]]\n");
                    terms(scenario, demand, &mut lines);
                    lines.set_all(keys);
                }
                None => page.lose_demand(scenario, demand, "TOML has no such value"),
            }
        }
    }
    lines.0
}

fn expectation(scenario: &Scenario, demand: &Demand, text: &str) -> String {
    let mut terms = Lines(String::new());
    self::terms(scenario, demand, &mut terms);
    let text = Value::from(text);
    if terms.0.is_empty() {
        return text.to_string();
    }
    format!("{{ text = {text}, {} }}", terms.0.trim_end().replace('\n', ", "))
}

/// Writes each of them on one line.
fn terms(scenario: &Scenario, demand: &Demand, lines: &mut Lines) {
    lines.set_some("id", Some(demand.id.as_str()).filter(|_| !has_default_id(scenario, demand)));
    lines.set_some("weight", Some(i64::from(demand.weight)).filter(|weight| *weight != 1));
    lines.set_some("must_pass", demand.must_pass.then_some(true));
    lines.set_some("member", demand.member.as_deref());
}

type Keys = Vec<(&'static str, Value)>;

fn check(page: &mut SuiteWriter<'_>, scenario: &Scenario, demand: &Demand, check: &Check) -> Option<Keys> {
    let timed = |mut keys: Keys, times: &Times| {
        keys.extend(self::times(*times)?);
        Some(keys)
    };
    match check {
        Check::File { path, times } => timed(vec![("file", (&**path).into())], times),
        Check::Pattern { pattern, of, times } => {
            let mut keys = vec![("pattern", (&**pattern).into())];
            keys.extend(place(of).map(|place| ("in", place.into())));
            timed(keys, times)
        }
        Check::Tool { call, times } => {
            let mut keys = vec![("tool", (&*call.name).into())];
            keys.extend(call.input.as_deref().map(|input| ("input", input.into())));
            timed(keys, times)
        }
        Check::Json { path, pointer, is } => {
            let mut keys = vec![("json", (&**path).into())];
            keys.extend(Some(&**pointer).filter(|at| !at.is_empty()).map(|at| ("pointer", at.into())));
            keys.push(match is {
                Comparison::Equals(value) => ("equals", json(value)?),
                Comparison::AtLeast(least) => ("at_least", json(&Json::Number(least.clone()))?),
                Comparison::AtMost(most) => ("at_most", json(&Json::Number(most.clone()))?),
            });
            Some(keys)
        }
        Check::Schema { path, schema } => Some(vec![("json", (&**path).into()), ("schema", json(schema)?)]),
        Check::Touches { only } => Some(vec![("only_changes", list(only))]),
        Check::Skill { used } => Some(vec![("skill_used", (*used).into())]),
        Check::ToolOrder { before, after } => Some(vec![("before", tool(before)), ("after", tool(after))]),
        Check::AtMost { of, most } => {
            let of = match of {
                Cost::Tokens => "tokens",
                Cost::Seconds => "seconds",
                Cost::Turns => "turns",
            };
            Some(vec![("limit", of.into()), ("at_most", whole(*most)?)])
        }
        Check::Command { argv, exit, expected: _, grader: _ } => {
            let mut keys = vec![("command", argv.clone().into())];
            keys.extend((*exit != 0).then(|| ("exit", i64::from(*exit).into())));
            let below = page.folder.clone();
            let grader =
                page.paths(scenario, page.suite.starts.grader(&scenario.id, &demand.id).iter(), &below);
            keys.extend((!grader.is_empty()).then(|| ("grader", grader.into())));
            Some(keys)
        }
    }
}

fn times(times: Times) -> Option<Keys> {
    if times == Times::ONCE_OR_MORE {
        return Some(Vec::new());
    }
    Some(match times {
        Times { min, max: Some(max) } if min == max => vec![("times", whole(min)?)],
        Times { min: 0, max: Some(max) } => vec![("at_most", whole(max)?)],
        Times { min, max: Some(max) } => vec![("at_least", whole(min)?), ("at_most", whole(max)?)],
        Times { min, max: None } => vec![("at_least", whole(min)?)],
    })
}

/// Returns the place. A file with the name of another place is written with its folder.
fn place(of: &Text) -> Option<String> {
    match of {
        Text::Answer => None,
        Text::Transcript => Some("transcript".to_owned()),
        Text::Files(glob) if matches!(&**glob, "answer" | "transcript") => Some(format!("./{glob}")),
        Text::Files(glob) => Some(glob.to_string()),
    }
}

fn tool(tool: &Tool) -> Value {
    let Some(input) = &tool.input else { return (&*tool.name).into() };
    let pairs = [("tool", &tool.name), ("input", input)];
    Value::Table(pairs.map(|(key, text)| (key.to_owned(), Value::from(&**text))).into_iter().collect())
}

fn list(globs: &[Glob]) -> Value {
    globs.iter().map(|glob| Value::from(&**glob)).collect::<Vec<_>>().into()
}

fn whole(number: u64) -> Option<Value> {
    i64::try_from(number).ok().map(Value::from)
}

/// Converts a value to TOML, which has no null and a smaller number range.
fn json(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(is) => (*is).into(),
        Json::String(text) => text.as_str().into(),
        Json::Number(number) if number.is_f64() => number.as_f64()?.into(),
        Json::Number(number) => number.as_i64()?.into(),
        Json::Array(values) => values.iter().map(json).collect::<Option<Vec<_>>>()?.into(),
        Json::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| Some((key.clone(), json(value)?)));
            Value::Table(pairs.collect::<Option<Table>>()?)
        }
    })
}

/// Keys and values, one per line.
struct Lines(String);

impl Lines {
    fn set(&mut self, key: &str, value: impl Into<Value>) {
        writeln!(self.0, "{key} = {}", value.into()).expect("a string takes it");
    }

    fn set_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    fn set_all(&mut self, keys: Keys) {
        for (key, value) in keys {
            self.set(key, value);
        }
    }

    fn set_list(&mut self, key: &str, values: impl Iterator<Item = String>) {
        let values: Vec<String> = values.collect();
        self.set_some(key, Some(values).filter(|values| !values.is_empty()));
    }
}
