//! The JSON schema of `skilltune.toml`, from the option tables. Editors complete and check the file with it, and
//! `docs/settings.md` is made of it.

use serde_json::{Map, Value as Json, json};
use skilltune_phases::skills::offline;

use crate::settings::Settings;
use crate::settings::prices::ModelPrice;
use crate::settings::range::{ANY, SLOTS, plain};
use crate::settings::setting::Readable as _;
use crate::settings::table::Key;
use crate::settings::values::AGENT_NAME;
use crate::text::plain::capitalised;

/// The schema of one agent, which is written by hand.
const AGENT: &str = include_str!("../../../docs/schemas/agent.schema.json");

impl Settings {
    /// Returns the schema; its defaults are the present values.
    pub fn schema(&self) -> Json {
        let mut own = self.clone();
        let mut tables: Map<String, Json> = Map::new();
        for key in own.keys() {
            let (table, name) = key.name.split_once('.').expect("every setting is in a table");
            let table = tables.entry(table).or_insert_with(
                || json!({ "type": "object", "additionalProperties": false, "properties": {} }),
            );
            table["properties"][name] = described(&key);
        }
        tables.insert("agents".to_owned(), agents());
        tables.insert("prices".to_owned(), prices());
        tables.insert("workers".to_owned(), workers());
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "urn:skilltune:settings:1",
            "title": "skilltune.toml",
            "description": "The settings of a project, or of a user in ~/.config/skilltune.",
            "type": "object",
            "additionalProperties": false,
            "properties": tables,
        })
    }
}

/// Returns the schema of one setting, with its purpose, its valid values in words, its default and its flag.
fn described(key: &Key<'_>) -> Json {
    let values = key.slot.must_be();
    let mut schema = json!({ "description": format!("{} {}.", key.about, capitalised(&values)) });
    let of_type = key.slot.schema();
    schema.as_object_mut().expect("an object").extend(of_type.as_object().cloned().into_iter().flatten());
    match key.slot.json() {
        Json::Null => {}
        Json::Number(number) => schema["default"] = number.as_f64().map_or(Json::Null, plain),
        other => schema["default"] = other,
    }
    schema["x-values"] = values.into();
    if let Some(flag) = key.flag {
        let value = flag.value.map(|value| format!(" {value}")).unwrap_or_default();
        schema["x-flag"] = format!("{}{value}", flag.long).into();
    }
    schema
}

fn agents() -> Json {
    let mut agent = agent();
    // Only a whole document has these.
    agent
        .as_object_mut()
        .expect("an object")
        .retain(|key, _| !["$schema", "$id", "title"].contains(&key.as_str()));
    json!({
        "description": "Agents of your own, by name. A project's agent runs only after `skilltune trust`.",
        "type": "object",
        "propertyNames": { "pattern": format!("{AGENT_NAME}$"), "not": { "const": offline::NAME } },
        "additionalProperties": agent,
    })
}

fn agent() -> Json {
    serde_json::from_str(AGENT).expect("it is JSON")
}

fn workers() -> Json {
    let name = format!("{AGENT_NAME}$");
    let mut slots = SLOTS.schema("integer");
    slots["description"] = "Number of calls that it makes at a time.".into();
    slots["default"] = 1.into();
    json!({
        "description": "Other machines that make calls, by name. Only your own settings may describe them.",
        "type": "object",
        "propertyNames": { "pattern": name },
        "additionalProperties": {
            "type": "object",
            "required": ["run"],
            "additionalProperties": false,
            "properties": {
                "run": {
                    "description": "Program and arguments, one string each, that start `skilltune step --take -` on that machine.",
                    "type": "array",
                    "minItems": 1,
                    "items": { "type": "string" },
                },
                "slots": slots,
                "agents": {
                    "description": "Names of the agents that it calls; any if empty.",
                    "type": "array",
                    "items": { "type": "string", "pattern": name },
                },
                "env": agent()["properties"]["env"],
            },
        },
    })
}

fn prices() -> Json {
    json!({
        "description": "Dollars per million tokens by model, for agents that report tokens but no cost.",
        "type": "object",
        "additionalProperties": ModelPrice::schema(ANY),
    })
}

#[cfg(test)]
mod tests;
