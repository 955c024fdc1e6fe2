//! A promptfoo configuration, or its list of tests.

mod assert;

use std::path::Path;

use serde_json::{Map, Value};
use skilltune_orchestrator::disk::SafePath;
use skilltune_phases::base::yaml;

use super::case::{Case, Reading, first_text, text};
use super::files::{inside, text_below};

/// Variables that may hold the task if there is no prompt.
const TASKS: [&str; 4] = ["prompt", "input", "query", "task"];

const TOP: [&str; 6] = ["description", "prompts", "tests", "defaultTest", "$schema", "providers"];
const TEST: [&str; 4] = ["vars", "assert", "description", "metadata"];
/// More files than any suite is split into.
const MOST_FILES: usize = 200;

type Object = Map<String, Value>;

pub(super) fn read(top: &Value, base: &Path) -> Reading {
    let mut source = Source { base, notes: Vec::new(), files: 0 };
    let empty = Object::new();
    let config = top.as_object().unwrap_or(&empty);
    for key in config.keys().filter(|key| !TOP.contains(&key.as_str())) {
        source.note(format!("`{key}` is not read"));
    }
    let prompt = source.prompt(config.get("prompts"));
    let default = match config.get("defaultTest") {
        Some(Value::String(name)) => source.values(name).into_iter().next().unwrap_or_default(),
        Some(default) => default.clone(),
        None => Value::Null,
    };
    let tests = match top {
        Value::Array(_) => top,
        _ => config.get("tests").unwrap_or(&Value::Null),
    };
    let tests = source.tests(tests);
    let cases = tests.iter().map(|test| source.case(test, prompt.as_deref(), &default)).collect();
    Reading { base: base.to_owned(), cases, notes: source.notes }
}

/// The folder of the configuration, which contains all other files.
struct Source<'a> {
    base: &'a Path,
    notes: Vec<String>,
    files: usize,
}

impl Source<'_> {
    fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Returns the first prompt, the template for the variables.
    fn prompt(&mut self, prompts: Option<&Value>) -> Option<String> {
        let first = match prompts? {
            Value::Array(prompts) => {
                if prompts.len() > 1 {
                    self.note(format!("only the first of {} prompts is used", prompts.len()));
                }
                prompts.first()?.clone()
            }
            one => one.clone(),
        };
        let raw = match &first {
            Value::Object(prompt) => first_text(prompt, &["raw", "id"])?,
            prompt => text(prompt)?,
        };
        if !raw.starts_with("file://") && is_path(&raw) {
            self.note(format!("the prompt {raw:?} is read as text; for a file, write file://{raw}"));
        }
        match self.filled_in(&raw) {
            Ok(text) => Some(text),
            Err(why) => {
                self.note(format!("the prompt is not read: {why}"));
                None
            }
        }
    }

    /// Returns a text, or the content of the file that it names.
    fn filled_in(&self, raw: &str) -> Result<String, String> {
        match raw.strip_prefix("file://") {
            None => Ok(raw.to_owned()),
            // promptfoo runs it and uses its output.
            Some(name) if is_program(name) => Err(format!("{name:?} is a program, which is not run")),
            Some(name) => text_below(self.base, name),
        }
    }

    fn tests(&mut self, tests: &Value) -> Vec<Object> {
        match tests {
            Value::Array(tests) => tests.iter().flat_map(|test| self.tests(test)).collect(),
            Value::Object(test) => vec![test.clone()],
            Value::String(name) => {
                let values = self.values(name);
                let lists = values.into_iter().flat_map(|value| match value {
                    Value::Array(tests) => tests,
                    one => vec![one],
                });
                // A listed file must not name further files, or reading might never end.
                lists
                    .filter_map(|test| if let Value::Object(test) = test { Some(test) } else { None })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Reads the files that a `file://` names; `*` matches any part of a file's name.
    fn values(&mut self, name: &str) -> Vec<Value> {
        let plain = name.strip_prefix("file://").unwrap_or(name);
        let names = match plain.rsplit_once('/') {
            _ if !plain.contains('*') => vec![plain.to_owned()],
            Some((folder, pattern)) => self.matching(Some(folder), pattern),
            None => self.matching(None, plain),
        };
        if names.is_empty() {
            self.note(format!("no file matches {name:?}"));
        }
        let mut values = Vec::new();
        for name in names {
            self.files += 1;
            if self.files > MOST_FILES {
                self.note(format!("only the first {MOST_FILES} files are read"));
                break;
            }
            let is_data = [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
            let read = if is_data {
                text_below(self.base, &name)
            } else {
                Err("it is neither YAML nor JSON".to_owned())
            };
            let read = read.and_then(|text| match serde_json::from_str(&text) {
                Ok(value) => Ok(value),
                Err(_) => yaml::value(&text).map_err(|error| error.to_string()),
            });
            match read {
                Ok(value) => values.push(value),
                Err(why) => self.note(format!("the file {name:?} is not read: {why}")),
            }
        }
        values
    }

    fn matching(&self, folder: Option<&str>, pattern: &str) -> Vec<String> {
        let place = match folder.map(inside) {
            None => SafePath::from(self.base),
            Some(Some(folder)) => SafePath::below(self.base, folder.as_path()),
            Some(None) => return Vec::new(),
        };
        let names = place.names().unwrap_or_default().into_iter().filter_map(|name| name.into_string().ok());
        let names = names.filter(|name| matches(pattern, name));
        names.map(|name| folder.map_or_else(|| name.clone(), |folder| format!("{folder}/{name}"))).collect()
    }

    fn case(&self, test: &Object, prompt: Option<&str>, default: &Value) -> Case {
        let mut notes = Vec::new();
        let vars = self.vars(test, default, &mut notes);
        let fill = |text: &str| filled(text, &vars);
        let task = match prompt {
            Some(prompt) => Some(fill(prompt)),
            None => TASKS
                .iter()
                .find_map(|key| vars.iter().find(|(name, _)| name == key))
                .map(|(_, text)| text.clone()),
        };
        let mut case = Case::new(task.unwrap_or_default());
        case.notes = notes;
        if case.scenario.description.contains("{{") || case.scenario.description.contains("{%") {
            case.note("its prompt has template code that is not filled in");
        }
        case.title = first_text(test, &["description"]);
        if let Some(metadata) = test.get("metadata").and_then(Value::as_object) {
            case.id = metadata.get("id").and_then(text);
            ["tags", "category"].iter().filter_map(|key| metadata.get(*key)).for_each(|tags| case.tag(tags));
        }
        let shared = default.get("assert").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let own = test.get("assert").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for assert in shared.iter().chain(own) {
            assert::read(assert, &mut case, &|text| {
                fill(&self.filled_in(text).unwrap_or_else(|_| text.to_owned()))
            });
        }
        case.note_unread(test, &TEST);
        case
    }

    /// Returns the variables of a test, which override those of all tests.
    fn vars(&self, test: &Object, default: &Value, notes: &mut Vec<String>) -> Vec<(String, String)> {
        let mut filled: Vec<(String, String)> = Vec::new();
        let all = [test.get("vars"), default.get("vars")].into_iter().flatten();
        for (name, value) in all.filter_map(Value::as_object).flatten() {
            if filled.iter().any(|(known, _)| known == name) {
                continue;
            }
            let value = match value {
                Value::Array(values) => {
                    notes.push(format!("only the first value of `{name}` is used"));
                    values.first().unwrap_or(&Value::Null)
                }
                value => value,
            };
            let plain = match value {
                Value::Null | Value::Object(_) | Value::Array(_) => value.to_string(),
                Value::Bool(is) => is.to_string(),
                value => text(value).unwrap_or_default(),
            };
            match self.filled_in(&plain) {
                Ok(value) => filled.push((name.clone(), value)),
                Err(why) => notes.push(format!("the variable `{name}` is not read: {why}")),
            }
        }
        filled
    }
}

/// Returns whether its name ends like a program's, with an optional function name.
fn is_program(name: &str) -> bool {
    let ends = ["js", "cjs", "mjs", "ts", "cts", "mts", "py", "rb", "go", "sh"];
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    let file = file.split_once(':').map_or(file, |(file, _)| file);
    file.rsplit_once('.').is_some_and(|(_, end)| ends.contains(&end))
}

fn is_path(prompt: &str) -> bool {
    let ends = [".txt", ".md", ".json", ".yaml", ".yml", ".js", ".mjs", ".py", ".j2"];
    !prompt.contains(char::is_whitespace) && ends.iter().any(|end| prompt.ends_with(end))
}

/// Replaces each `{{name}}` once; a value is not expanded again.
fn filled(template: &str, vars: &[(String, String)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let value = after.split_once("}}").and_then(|(name, behind)| {
            let (_, value) = vars.iter().find(|(known, _)| known == name.trim())?;
            Some((value, behind))
        });
        let (piece, behind) = value.map_or(("{{", after), |(value, behind)| (value.as_str(), behind));
        text.push_str(piece);
        rest = behind;
    }
    text + rest
}

/// Returns whether a name contains all parts of a pattern, separated by `*`, in order.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_filled_in_once_and_what_it_holds_is_not() {
        let vars = [("a".to_owned(), "{{b}}".to_owned()), ("b".to_owned(), "B".to_owned())];
        assert_eq!(filled("x {{ a }} {{b}} {{c}} {{", &vars), "x {{b}} B {{c}} {{");
    }

    #[test]
    fn a_program_is_known_by_its_name() {
        for (name, is) in
            [("a.cjs", true), ("x/a.py:main", true), ("a.txt", false), ("a", false), ("js", false)]
        {
            assert_eq!(is_program(name), is, "{name}");
        }
    }

    #[test]
    fn a_star_is_any_part_of_a_name() {
        for (pattern, name, is) in [
            ("*.yaml", "a.yaml", true),
            ("a*b*c", "a-b-c", true),
            ("a*b", "a", false),
            ("a", "ab", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), is, "{pattern} {name}");
        }
    }
}
