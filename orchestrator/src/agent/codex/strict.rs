//! Converts a JSON Schema to the form of codex's service: objects have only the named keys, and all of them are
//! required.
//!
//! An optional value becomes null or an empty list: the reader of the answer treats them alike.

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
    for kind in schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        fit(kind);
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
    use skilltune_phases::judging::judgement::{Ask, VerdictShape, schema};
    use skilltune_phases::judging::rubric;
    use skilltune_phases::loops::reflex::criteria::{Criteria, Level, Rule, Template, Weights};
    use skilltune_phases::loops::reflex::forms;

    use super::*;

    /// Collects every object that the schema describes, with the path of its description.
    fn objects<'s>(at: &str, schema: &'s Value, found: &mut Vec<(String, &'s Value)>) {
        if schema["type"] == "object" {
            found.push((at.to_owned(), schema));
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        let parts = properties
            .map(|(name, part)| (name.as_str(), part))
            .chain(schema.get("items").map(|items| ("*", items)))
            .chain(schema["anyOf"].as_array().into_iter().flatten().map(|kind| ("?", kind)));
        for (name, part) in parts {
            objects(&format!("{at}/{name}"), part, found);
        }
    }

    fn assert_strict(object: &Value) {
        assert_eq!(object["additionalProperties"], false, "{object}");
        let keys: Vec<_> = object["properties"].as_object().unwrap().keys().collect();
        assert_eq!(object["required"], json!(keys), "{object}");
    }

    #[test]
    fn no_kind_of_check_is_left_open_and_nothing_of_it_can_be_nothing() {
        let criteria = Criteria::of(Template::Api, Weights::default(), Template::Api.thresholds());
        let rules: Vec<&Rule> = criteria.active(Level::A).collect();
        let ours = forms::checks(&rules, 2);
        let strict: Value = serde_json::from_str(&fitted(&ours.to_string())).unwrap();
        let mut found = Vec::new();
        objects("", &strict, &mut found);
        let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(places, ["", "/checks/*/?", "/checks/*/?", "/checks/*/?"]);
        for (_, object) in found {
            assert_strict(object);
        }
        for kind in 0..3 {
            let place = format!("/properties/checks/items/anyOf/{kind}/properties");
            assert_eq!(strict.pointer(&place), ours.pointer(&place));
        }
    }

    #[test]
    fn a_verdict_names_all_keys_of_all_objects_and_what_could_be_missing_can_be_nothing() {
        let contract = rubric::tune();
        for members in [&[][..], &["a", "b"]] {
            let shape = VerdictShape::Evidenced;
            let ours = schema(&Ask { contract: &contract, nonce: "code", members, at_fault: members, shape });
            let strict: Value = serde_json::from_str(&fitted(&ours.to_string())).unwrap();
            let mut found = Vec::new();
            objects("", &strict, &mut found);
            let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
            assert_eq!(places, ["", "/criteria/*", "/suggestions/*"]);
            for (_, object) in found {
                assert_strict(object);
            }
            assert_eq!(strict["properties"]["claimed_score"]["type"], json!(["number", "null"]));
            assert_eq!(
                strict["properties"]["strengths"],
                json!({ "type": "array", "items": { "type": "string" } })
            );
            let suggestion = &strict["properties"]["suggestions"]["items"]["properties"];
            assert_eq!(suggestion["snippet"]["type"], json!(["string", "null"]));
            // The converted schema still requires our fields.
            let entry = |schema: &Value| schema["properties"]["criteria"]["items"]["properties"].clone();
            assert_eq!(entry(&strict), entry(&ours));
            assert_eq!(
                strict["properties"]["criteria"]["minItems"],
                ours["properties"]["criteria"]["minItems"]
            );
        }
    }
}
