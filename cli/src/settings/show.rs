//! Every setting as a row: key, value, origin.

use serde::Serialize;
use serde_json::{Value as Json, json};
use skilltune_orchestrator::agent::EnvSettings;
use skilltune_phases::skills::keys;

use crate::settings::Settings;
use crate::settings::agent_settings::AgentEntry;
use crate::settings::origin::Origin;
use crate::settings::prices::{self, ModelPrice};
use crate::settings::setting::{Over, Setting, Slot as _};
use crate::settings::table::Key;
use crate::settings::worker_settings::WorkerEntry;

/// One key as `config show` displays it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub key: String,
    pub value: Json,
    pub origin: &'static str,
    pub file: Option<String>,
    /// The user's own limit, if the project asks for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Json>,
    /// The origin in words.
    #[serde(skip)]
    pub origin_text: String,
}

impl Settings {
    pub fn rows(&self) -> Vec<Row> {
        let mut own = self.clone();
        let slots = own.keys().into_iter().map(|Key { name, slot, .. }| Row {
            ceiling: slot.over().map(|over| over.ceiling),
            origin_text: origin_text(slot.origin(), slot.over()),
            ..row(name, slot.json(), slot.origin())
        });
        let agents = self.agents.iter().flat_map(|(name, agent)| agent_rows(name, agent));
        let prices = self.prices.iter().flat_map(|(model, price)| price_rows(model, price));
        let workers = self.workers.values().flat_map(worker_rows);
        slots.chain(agents).chain(prices).chain(workers).collect()
    }
}

/// Describes the origin of the value, and its relation to the user's own limit.
fn origin_text(origin: &Origin, over: Option<Over>) -> String {
    match over {
        None => origin.to_string(),
        Some(Over { ceiling: Json::Null, is_allowed: true, .. }) => format!("{origin}, trusted"),
        Some(Over { ceiling, is_allowed: true, .. }) => {
            format!("{origin}, trusted; your own value is {ceiling}")
        }
        Some(Over { asked, asks, .. }) => format!("{origin}, a limit; {asks} asks for {asked}"),
    }
}

fn agent_rows(name: &str, agent: &AgentEntry) -> Vec<Row> {
    let settings = &agent.settings;
    let (env, cost) = (&settings.env, &settings.cost);
    let fixed = [
        ("command", json!(settings.command)),
        ("output", json!(settings.output)),
        ("timeout", json!(settings.timeout)),
        ("env.pass", json!(env.pass)),
        ("cost.usd", json!(cost.usd)),
        ("cost.input_tokens", json!(cost.input_tokens)),
        ("cost.output_tokens", json!(cost.output_tokens)),
        ("writes", json!(settings.writes)),
        ("verdict", json!(settings.verdict)),
    ];
    rows_of(&format!("agents.{name}"), &fixed, env, &agent.origin)
}

fn worker_rows(worker: &WorkerEntry) -> Vec<Row> {
    let WorkerEntry { name, run, slots, agents, env, origin } = worker;
    let fixed = [
        ("run", json!(run)),
        ("slots", json!(slots)),
        ("agents", json!(agents)),
        ("env.pass", json!(env.pass)),
    ];
    rows_of(&format!("workers.{name}"), &fixed, env, origin)
}

/// Shows only that a variable is set, because its value may be a secret.
fn rows_of(table: &str, fixed: &[(&str, Json)], env: &EnvSettings, origin: &Origin) -> Vec<Row> {
    let fixed = fixed.iter().map(|(key, value)| row(&format!("{table}.{key}"), value.clone(), origin));
    let set = env.set.keys().map(|variable| format!("{table}.env.set.{variable}"));
    fixed.chain(set.map(|key| row(&key, json!("(set)"), origin))).collect()
}

fn price_rows(model: &str, price: &Setting<ModelPrice>) -> Vec<Row> {
    let (value, over) = (price.json(), price.over());
    let of = |over: &Over, key: &str| Over {
        ceiling: over.ceiling[key].clone(),
        asked: over.asked[key].clone(),
        ..over.clone()
    };
    let rows = prices::KEYS.map(|key| {
        let over = over.as_ref().map(|over| of(over, key));
        Row {
            ceiling: over.as_ref().map(|over| over.ceiling.clone()),
            // The project may ask for two of the three prices only.
            origin_text: origin_text(&price.origin, over.filter(|over| !over.asked.is_null())),
            ..row(&format!("prices.{model}.{key}"), value[key].clone(), &price.origin)
        }
    });
    rows.into()
}

/// Removes keys from the arguments of a command.
fn without_keys(value: Json) -> Json {
    match serde_json::from_value::<Vec<String>>(value.clone()) {
        Ok(command) => json!(keys::without_keys_in_arguments(&command)),
        Err(_) => value,
    }
}

fn row(key: &str, value: Json, origin: &Origin) -> Row {
    Row {
        key: key.to_owned(),
        value: without_keys(value),
        origin: origin.word(),
        file: origin.file().map(|path| path.display().to_string()),
        ceiling: None,
        origin_text: origin.to_string(),
    }
}
