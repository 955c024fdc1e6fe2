//! A JSON Schema as its service takes one: no object has other keys than those that are named, and none may be missing.
//!
//! What may be missing elsewhere is null here, or a list without entries: whoever reads the answer makes no difference.

use serde_json::{Value, json};

pub(super) fn fitted(schema: &str) -> String {
    let mut schema = serde_json::from_str(schema).expect("a schema of ours is JSON");
    fit(&mut schema);
    schema.to_string()
}

fn fit(schema: &mut Value) {
    if let Some(items) = schema.get_mut("items") {
        fit(items);
    }
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties.iter_mut() {
        fit(property);
        if !required.contains(&json!(name)) && property["type"].is_string() && property["type"] != "array" {
            property["type"] = json!([property["type"], "null"]);
        }
    }
    let all: Vec<&String> = properties.keys().collect();
    (schema["required"], schema["additionalProperties"]) = (json!(all), json!(false));
}

#[cfg(test)]
mod tests {
    use skilltune_phases::judgement::{Ask, schema};
    use skilltune_phases::rubric;

    use super::*;

    /// Every object that is described, with the place of its description.
    fn objects<'s>(at: &str, schema: &'s Value, found: &mut Vec<(String, &'s Value)>) {
        if schema["type"] == "object" {
            found.push((at.to_owned(), schema));
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        let parts = properties
            .map(|(name, part)| (name.as_str(), part))
            .chain(schema.get("items").map(|items| ("*", items)));
        for (name, part) in parts {
            objects(&format!("{at}/{name}"), part, found);
        }
    }

    #[test]
    fn a_verdict_names_all_keys_of_all_objects_and_what_could_be_missing_can_be_nothing() {
        let contract = rubric::tune();
        for members in [&[][..], &["a", "b"]] {
            let ours = schema(&Ask { contract: &contract, nonce: "code", members });
            let strict: Value = serde_json::from_str(&fitted(&ours.to_string())).unwrap();
            let mut found = Vec::new();
            objects("", &strict, &mut found);
            let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
            assert_eq!(places, ["", "/criteria/*", "/suggestions/*"]);
            for (place, object) in found {
                assert_eq!(object["additionalProperties"], false, "{place}");
                let keys: Vec<_> = object["properties"].as_object().unwrap().keys().collect();
                assert_eq!(object["required"], json!(keys), "{place}");
            }
            assert_eq!(strict["properties"]["claimed_score"]["type"], json!(["number", "null"]));
            assert_eq!(
                strict["properties"]["strengths"],
                json!({ "type": "array", "items": { "type": "string" } })
            );
            let suggestion = &strict["properties"]["suggestions"]["items"]["properties"];
            assert_eq!(suggestion["snippet"]["type"], json!(["string", "null"]));
            // What we ask for is asked for still.
            let entry = |schema: &Value| schema["properties"]["criteria"]["items"]["properties"].clone();
            assert_eq!(entry(&strict), entry(&ours));
            assert_eq!(
                strict["properties"]["criteria"]["minItems"],
                ours["properties"]["criteria"]["minItems"]
            );
        }
    }
}
