use skilltune_phases::suites::checks::accepts;
use toml::de::DeTable;

use super::*;
use crate::settings::origin::Origin;
use crate::settings::tests::{all_changes, switched_on};
use crate::settings::{Files, page::OWN};

fn schema() -> Json {
    crate::loops::default_settings().schema()
}

fn value(text: &str) -> Json {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Values of every kind, some of them out of all bounds.
const ODD: [&str; 17] = [
    "true",
    "0",
    "1",
    "-1",
    "0.9",
    "1.5",
    "1_000_000_000_000_000_000",
    "\"\"",
    "\"x\"",
    "\"/x\"",
    "\"a/../b\"",
    "\"a/.git\"",
    "\"30%\"",
    "[]",
    "[\"x\"]",
    "[1]",
    "{ a = 1 }",
];

#[test]
fn every_setting_takes_by_its_schema_what_it_takes_from_a_file() {
    for key in crate::loops::default_settings().keys() {
        let schema = key.slot.schema();
        for odd in ODD {
            let line = format!("key = {odd}");
            let table = DeTable::parse(&line).unwrap();
            let is_read = key.slot.read(table.get_ref()["key"].get_ref(), &Origin::Default).is_ok();
            assert_eq!(accepts(&schema, &value(&line)["key"]), is_read, "{} = {odd}", key.name);
        }
    }
}

#[test]
fn the_file_of_init_with_every_setting_uncommented_is_valid() {
    let schema = schema();
    let template = crate::loops::default_settings().template();
    let all = value(&switched_on(&template));
    assert!(accepts(&schema, &value(&template)) && accepts(&schema, &all));
    for (table, of) in schema["properties"].as_object().unwrap() {
        let keys = of["properties"].as_object().into_iter().flatten();
        let is_own = |key: &str| OWN.contains(&key);
        let missing = keys.map(|(key, _)| key).filter(|key| all[table].get(key.as_str()).is_none());
        let missing: Vec<_> = missing.filter(|key| !is_own(&format!("{table}.{key}"))).collect();
        assert!((all.get(table).is_some() || is_own(table)) && missing.is_empty(), "{table}: {missing:?}");
    }
    let lines = all_changes().iter().map(|(key, value)| format!("{key} = {value}\n")).collect::<Vec<_>>();
    let changed = lines.concat();
    Files::new(&changed, "").load();
    assert!(accepts(&schema, &value(&changed)));
}

#[test]
fn a_wrong_key_type_or_value_is_refused_as_the_program_refuses_it() {
    let schema = schema();
    let agent = "[agents.mine]\ncommand = [\"p\"]\n";
    let worker = "[workers.w]\nrun = [\"p\"]\n";
    let refused = [
        "tune = 1",
        "[tunes]",
        "[tune]\nthreshhold = 70",
        "[tune]\nthreshold = \"70\"",
        "[tune]\nthreshold = 101",
        "[tune]\npreset = \"fast\"",
        "[tune]\nconfidence = 0.5",
        "[calls]\njobs = 0",
        "[roles]\nexecutor = \"a b\"",
        "[roles]\npanel = [\"a\", \"b\", \"c\"]",
        "[gan]\nminimums = \"craft\"",
        "[agents.\"a b\"]\ncommand = [\"p\"]",
        "[agents.offline]\ncommand = [\"p\"]",
        "[agents.mine]",
        "[agents.mine]\ncommand = \"p\"",
        &format!("{agent}shell = true"),
        &format!("{agent}timeout = 0"),
        &format!("{agent}timeout = 604801"),
        &format!("{agent}verdict = \"claimed\""),
        &format!("{agent}cost.usd = \"cost\""),
        &format!("{agent}writes = [\"cache\"]"),
        "[workers.\"a b\"]\nrun = [\"p\"]",
        "[workers.w]",
        "[workers.w]\nrun = []",
        "[workers.w]\nrun = \"p\"",
        &format!("{worker}slots = 0"),
        &format!("{worker}slots = 10001"),
        &format!("{worker}agents = [\"a b\"]"),
        &format!("{worker}env.pass = [\"A=B\"]"),
        &format!("{worker}shell = true"),
        "[calls]\nworkers = [\"a b\"]",
        "[prices.m]\ninput = 1",
        "[prices.m]\ninput = 1\noutput = -1",
        "[prices.m]\ninput = 1\noutput = 1\ncache = 1",
    ];
    for text in refused {
        let files = Files::new(text, "");
        let is_read = crate::loops::settings(&files.project(), &files.env()).is_ok();
        assert!(!is_read && !accepts(&schema, &value(text)), "{text}");
    }
}

#[test]
fn every_setting_has_a_sentence_and_its_default_is_valid() {
    let schema = schema();
    for (table, keys) in schema["properties"].as_object().unwrap() {
        for (key, of) in keys["properties"].as_object().into_iter().flatten() {
            let described = of["description"].as_str().unwrap();
            assert!(described.ends_with('.') && !described.contains(".."), "{table}.{key}: {described}");
            assert!(of.get("default").is_none_or(|default| accepts(of, default)), "{table}.{key}");
        }
    }
}
