//! Reads one `[[scenarios.checks]]` table. One key names the check, and the other keys are its options.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Number, Value};
use skilltune_phases::suites::checks::{Check, Comparison, Cost, Glob, Text, Times, Tool};

use super::{NO_COMMAND, Terms, is_command};
use crate::inputs::suite::files::text_below;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckEntry {
    id: Option<String>,
    weight: Option<u32>,
    #[serde(default)]
    must_pass: bool,
    member: Option<String>,

    file: Option<String>,
    pattern: Option<String>,
    json: Option<String>,
    only_changes: Option<Vec<String>>,
    skill_used: Option<bool>,
    tool: Option<String>,
    before: Option<ToolEntry>,
    limit: Option<Cost>,
    command: Option<Vec<String>>,

    #[serde(rename = "in")]
    place: Option<String>,
    pointer: Option<String>,
    equals: Option<toml::Value>,
    schema: Option<toml::Value>,
    input: Option<String>,
    after: Option<ToolEntry>,
    exit: Option<i32>,
    grader: Option<Vec<String>>,
    times: Option<u64>,
    at_least: Option<toml::Value>,
    at_most: Option<toml::Value>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a tool is its name, or a table with `tool` and `input`")]
enum ToolEntry {
    Name(String),
    Table(ToolTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolTable {
    tool: String,
    input: Option<String>,
}

impl CheckEntry {
    pub(super) fn terms(&self) -> Terms {
        let (id, member) = (self.id.clone(), self.member.clone());
        Terms { id, member, weight: self.weight, must_pass: self.must_pass }
    }

    /// Returns the check and the files of its grader, or what is wrong with it.
    pub(super) fn check(mut self, base: &Path) -> Result<(Check, Vec<String>), String> {
        let kind = self.kind()?;
        let mut grader = Vec::new();
        let check = match kind {
            "file" => Check::File { path: taken(&mut self.file, kind)?.into(), times: self.take_times()? },
            "pattern" => Check::Pattern {
                pattern: taken(&mut self.pattern, kind)?.into(),
                of: place(self.place.take().as_deref()),
                times: self.take_times()?,
            },
            "json" => self.take_json(base)?,
            "only_changes" => Check::Touches { only: globs(taken(&mut self.only_changes, kind)?) },
            "skill_used" => Check::Skill { used: taken(&mut self.skill_used, kind)? },
            "tool" => {
                let name = taken(&mut self.tool, kind)?;
                let call = Tool { name: name.into(), input: self.input.take().map(Into::into) };
                Check::Tool { call, times: self.take_times()? }
            }
            "before" => Check::ToolOrder {
                before: taken(&mut self.before, kind)?.tool(),
                after: taken(&mut self.after, "after")?.tool(),
            },
            "limit" => {
                let of = taken(&mut self.limit, kind)?;
                let most = taken(&mut self.at_most, "at_most")?;
                Check::AtMost { of, most: whole(&most, "at_most")? }
            }
            _ => {
                grader = self.grader.take().unwrap_or_default();
                let argv = taken(&mut self.command, kind)?;
                let uses_grader = argv.iter().any(|word| word.contains("{grader}"));
                match (is_command(&argv), uses_grader, grader.is_empty()) {
                    (false, ..) => return Err(format!("`command` {NO_COMMAND}")),
                    (true, true, true) => return Err("`{grader}` needs `grader = [...]`".to_owned()),
                    (true, false, false) => {
                        return Err("`grader` is never used: name it as `{grader}` in the command".to_owned());
                    }
                    (true, ..) => {}
                }
                let exit = self.exit.take().unwrap_or(0);
                Check::Command { argv, exit, expected: Box::default(), grader: None }
            }
        };
        match self.first_set() {
            Some(key) => Err(format!("`{key}` cannot be used with `{kind}`")),
            None => Ok((check, grader)),
        }
    }

    /// Returns the key that says what is checked.
    fn kind(&self) -> Result<&'static str, String> {
        let kinds = [
            ("file", self.file.is_some()),
            ("pattern", self.pattern.is_some()),
            ("json", self.json.is_some()),
            ("only_changes", self.only_changes.is_some()),
            ("skill_used", self.skill_used.is_some()),
            ("tool", self.tool.is_some()),
            ("before", self.before.is_some()),
            ("limit", self.limit.is_some()),
            ("command", self.command.is_some()),
        ];
        let set: Vec<&'static str> =
            kinds.iter().filter(|(_, is_set)| *is_set).map(|(key, _)| *key).collect();
        match set[..] {
            [kind] => Ok(kind),
            [] => {
                let all = kinds.map(|(key, _)| format!("`{key}`")).join(", ");
                Err(format!("it needs one of {all}"))
            }
            [one, other, ..] => Err(format!("`{one}` and `{other}` cannot be in one check")),
        }
    }

    fn take_json(&mut self, base: &Path) -> Result<Check, String> {
        let path = taken(&mut self.json, "json")?.into();
        if let Some(schema) = self.schema.take() {
            return Ok(Check::Schema { path, schema: schema_of(schema, base)? });
        }
        let pointer: Box<str> = self.pointer.take().unwrap_or_default().into();
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err("`pointer` must begin with `/`, such as \"/total\"".to_owned());
        }
        let is = match (self.equals.take(), self.at_least.take(), self.at_most.take()) {
            (Some(value), None, None) => Comparison::Equals(json(value)?),
            (None, Some(value), None) => Comparison::AtLeast(number(value, "at_least")?),
            (None, None, Some(value)) => Comparison::AtMost(number(value, "at_most")?),
            _ => {
                return Err(
                    "a `json` check needs `schema`, or one of `equals`, `at_least` and `at_most`".to_owned()
                );
            }
        };
        Ok(Check::Json { path, pointer, is })
    }

    /// Returns how often it must match; once or more by default.
    fn take_times(&mut self) -> Result<Times, String> {
        let least = self.at_least.take().map(|value| whole(&value, "at_least")).transpose()?;
        let most = self.at_most.take().map(|value| whole(&value, "at_most")).transpose()?;
        match (self.times.take(), least, most) {
            (Some(times), None, None) => Ok(Times { min: times, max: Some(times) }),
            (Some(_), ..) => Err("`times` is exact: leave out `at_least` and `at_most`".to_owned()),
            (None, None, None) => Ok(Times::ONCE_OR_MORE),
            (None, Some(least), Some(most)) if least > most => {
                Err("`at_least` is more than `at_most`".to_owned())
            }
            (None, least, max) => Ok(Times { min: least.unwrap_or(0), max }),
        }
    }

    /// Returns a key that was not used.
    fn first_set(&self) -> Option<&'static str> {
        let rest = [
            ("in", self.place.is_some()),
            ("pointer", self.pointer.is_some()),
            ("equals", self.equals.is_some()),
            ("schema", self.schema.is_some()),
            ("input", self.input.is_some()),
            ("after", self.after.is_some()),
            ("exit", self.exit.is_some()),
            ("grader", self.grader.is_some()),
            ("times", self.times.is_some()),
            ("at_least", self.at_least.is_some()),
            ("at_most", self.at_most.is_some()),
        ];
        rest.into_iter().find_map(|(key, is_set)| is_set.then_some(key))
    }
}

impl ToolEntry {
    fn tool(self) -> Tool {
        match self {
            Self::Name(name) => Tool { name: name.into(), input: None },
            Self::Table(ToolTable { tool, input }) => {
                Tool { name: tool.into(), input: input.map(Into::into) }
            }
        }
    }
}

fn taken<T>(value: &mut Option<T>, key: &str) -> Result<T, String> {
    value.take().ok_or_else(|| format!("`{key}` is missing"))
}

/// Returns where to look. `./answer` is a file of that name.
fn place(name: Option<&str>) -> Text {
    match name {
        None | Some("answer") => Text::Answer,
        Some("transcript") => Text::Transcript,
        Some(path) => Text::Files(path.strip_prefix("./").unwrap_or(path).into()),
    }
}

fn globs(paths: Vec<String>) -> Vec<Glob> {
    paths.into_iter().map(Into::into).collect()
}

/// Returns an inline schema, or one from a file beside the suite.
fn schema_of(schema: toml::Value, base: &Path) -> Result<Value, String> {
    let toml::Value::String(name) = schema else { return json(schema) };
    let text = text_below(base, &name)?;
    serde_json::from_str(&text).map_err(|error| format!("the schema {name:?} is not valid JSON: {error}"))
}

fn whole(value: &toml::Value, key: &str) -> Result<u64, String> {
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
    number.ok_or_else(|| format!("`{key}` must be a whole number, 0 or more"))
}

fn number(value: toml::Value, key: &str) -> Result<Number, String> {
    match json(value)? {
        Value::Number(number) => Ok(number),
        _ => Err(format!("`{key}` must be a number")),
    }
}

/// Converts a value to JSON, which has no dates and no infinities.
fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(is) => is.into(),
        toml::Value::Float(number) => Number::from_f64(number).ok_or("JSON has no infinite numbers")?.into(),
        toml::Value::Datetime(_) => return Err("JSON has no dates: write the date as text".to_owned()),
        toml::Value::Array(values) => values.into_iter().map(json).collect::<Result<Vec<_>, _>>()?.into(),
        toml::Value::Table(table) => {
            let pairs = table.into_iter().map(|(key, value)| Ok((key, json(value)?)));
            Value::Object(pairs.collect::<Result<_, String>>()?)
        }
    })
}
