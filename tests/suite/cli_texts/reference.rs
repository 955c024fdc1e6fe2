//! The reference pages that are made of what the program prints.

use std::fmt::Write as _;

use serde_json::{Map, Value};

const COMMANDS: &str = "\
# Commands

*Reference:* every command with its arguments and flags, as `--help` prints it.

`skilltune man --out DIR` writes the same as man pages, and `skilltune completions SHELL` prints a script that completes
commands and flags.

";

const SETTINGS: &str = "\
# Settings

*Reference:* every key of `skilltune.toml`, with its default, its values and its flag.

skilltune reads two files: `skilltune.toml` in the project, and `skilltune.toml` in `~/.config/skilltune` (or below
`XDG_CONFIG_HOME`). The project's file overrides yours key by key, and flags override both. A limit that your own file
sets is a ceiling: a project can lower it, and raises it only once you trust its file (`skilltune trust`).

`skilltune init` writes a file with every key as a comment, and `skilltune config show` lists the values in effect and
where each comes from. An editor that knows JSON schemas for TOML completes and checks the file:

```sh
skilltune config schema > skilltune.schema.json
```

```toml
#:schema ./skilltune.schema.json
```

";

const AGENTS: &str =
    "An agent of your own, for any program that reads a prompt and answers. See [agents.md](agents.md).";
const PRICES: &str = "Dollars per million tokens, for agents that report tokens but no cost, such as gemini.";
const WORKERS: &str = "Another machine that makes calls. Only your own settings may describe one. See [workers.md](workers.md).";

/// Returns the page of all commands, each below its own heading.
pub(super) fn commands(helps: &[(String, String)]) -> String {
    let anchor = |name: &str| name.replace(' ', "-");
    let links = helps.iter().skip(1).filter(|(name, _)| depth(name) == 1);
    let links = links.map(|(name, _)| format!("[{}](#{})", &name["skilltune ".len()..], anchor(name)));
    let mut page = COMMANDS.to_owned() + &links.collect::<Vec<_>>().join(", ") + "\n";
    for (name, help) in helps {
        let marks = "#".repeat(2 + depth(name).saturating_sub(1));
        let _ = writeln!(page, "\n{marks} {name}\n\n```text\n{}\n```", help.trim_end());
    }
    page
}

/// Returns how many commands a command is below the program.
fn depth(name: &str) -> usize {
    name.matches(' ').count()
}

/// Returns the page of all settings, from their schema.
pub(super) fn settings(schema: &Value) -> String {
    let mut page = SETTINGS.to_owned();
    for (table, of) in members(schema) {
        let (heading, about, rows) = match table.as_str() {
            "agents" => ("[agents.NAME]".to_owned(), AGENTS, nested("", &of["additionalProperties"])),
            "prices" => ("[prices.\"MODEL\"]".to_owned(), PRICES, nested("", &of["additionalProperties"])),
            "workers" => ("[workers.NAME]".to_owned(), WORKERS, nested("", &of["additionalProperties"])),
            name => (format!("[{name}]"), "", members(of).iter().map(|(key, of)| row(key, of)).collect()),
        };
        let about = if about.is_empty() { String::new() } else { format!("{about}\n\n") };
        let head = "| key | default | values | flag | what it does |\n|---|---|---|---|---|";
        let _ = writeln!(page, "## {heading}\n\n{about}{head}\n{}", rows.concat());
    }
    page.trim_end().to_owned() + "\n"
}

fn members(schema: &Value) -> &Map<String, Value> {
    schema["properties"].as_object().expect("a table has keys")
}

/// Returns the rows of a table whose schema is written by hand, with those of the tables in it.
fn nested(above: &str, schema: &Value) -> Vec<String> {
    let rows = members(schema).iter().flat_map(|(key, of)| match of.get("properties") {
        Some(_) => nested(&format!("{above}{key}."), of),
        None => vec![row(&format!("{above}{key}"), of)],
    });
    rows.collect()
}

fn row(key: &str, schema: &Value) -> String {
    let about = schema["description"].as_str().unwrap_or_default();
    let values = schema["x-values"].as_str().unwrap_or_default();
    let about = about.strip_suffix('.').and_then(|about| {
        let start = about.len().checked_sub(values.len()).filter(|_| !values.is_empty())?;
        about.get(start..).filter(|end| end.eq_ignore_ascii_case(values))?;
        Some(about[..start].trim_end())
    });
    let about = about.unwrap_or_else(|| schema["description"].as_str().unwrap_or_default());
    let default = match &schema["default"] {
        Value::Null => String::new(),
        value => format!("`{value}`"),
    };
    let flag = schema["x-flag"].as_str().map(|flag| format!("`{flag}`")).unwrap_or_default();
    let cells = [&format!("`{key}`"), &default, &allowed(schema), &flag, about];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// Returns the allowed values: each name with its meaning, else the words or the type of the schema.
fn allowed(schema: &Value) -> String {
    let texts = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let (names, meanings) = (texts(&schema["enum"]), texts(&schema["x-taplo"]["docs"]["enumValues"]));
    match (names, meanings) {
        (Some(names), Some(meanings)) => {
            let each = names.iter().zip(&meanings).map(|(name, meaning)| format!("`\"{name}\"`: {meaning}"));
            each.collect::<Vec<_>>().join("<br>")
        }
        (Some(names), None) => {
            names.iter().map(|name| format!("`\"{name}\"`")).collect::<Vec<_>>().join(", ")
        }
        (None, _) => match schema["x-values"].as_str() {
            Some(words) => words.to_owned(),
            None => type_of(schema),
        },
    }
}

fn type_of(schema: &Value) -> String {
    let name = match schema["type"].as_str() {
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        Some("array") => "a list of strings",
        Some("object") => "a table of strings",
        _ => "a string",
    };
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => name.to_owned(),
        (least, most) => format!("{name} from {least} to {most}"),
    }
}
