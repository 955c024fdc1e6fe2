//! The TOML of Codex: `name`, `description`, `developer_instructions`, and settings of Codex.

use serde_json::Value;

use super::{Expert, ExpertError, Fields};
use crate::base::answer::capped;

const PERSONA: &str = "developer_instructions";

pub(super) fn fields(text: &str) -> Result<Fields, ExpertError> {
    let bad = |error: toml::de::Error| ExpertError::Toml(capped(error.message(), 300).into());
    let table: toml::Table = toml::from_str(text).map_err(bad)?;
    let read = serde_json::to_value(table).map_err(|error| ExpertError::Toml(error.to_string().into()))?;
    let Value::Object(mut all) = read else { return Err(ExpertError::NoFields) };
    let persona = super::text(&mut all, PERSONA)?.ok_or(ExpertError::Missing(PERSONA))?;
    Ok(Fields { all, persona })
}

/// Writes the three fields that Codex requires. Fields of other programs mean nothing to it.
pub(super) fn written(expert: &Expert) -> String {
    let texts = [("name", &expert.name), ("description", &expert.description), (PERSONA, &expert.persona)];
    let table: toml::Table =
        texts.into_iter().map(|(key, text)| (key.to_owned(), toml::Value::from(text.as_str()))).collect();
    toml::to_string_pretty(&table).expect("texts have a TOML text")
}
