//! The schemas in `docs/schemas`: the program prints them, and what this repository has and shows is valid by them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skilltune_phases::suites::checks::accepts;
use walkdir::WalkDir;

use crate::frozen::stored;
use crate::scene::Scene;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

fn schema(name: &str) -> Value {
    let path = root().join("docs/schemas").join(format!("{name}.schema.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the files below a folder with this ending, with their texts.
fn files(folder: &str, end: &str) -> Vec<(PathBuf, String)> {
    let files = WalkDir::new(root().join(folder)).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = files.filter(|file| file.path().extension().is_some_and(|own| own == end));
    files.map(|file| (file.path().to_owned(), fs::read_to_string(file.path()).unwrap())).collect()
}

#[test]
fn the_program_prints_each_schema_and_no_other() {
    let scene = Scene::empty();
    let mut names = BTreeSet::new();
    for (path, text) in files("docs/schemas", "json") {
        let file = path.file_name().unwrap().to_str().unwrap();
        let name = file.strip_suffix(".schema.json").unwrap();
        let ran = scene.run(&["config", "schema", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), text.as_str()), "{name}: {}", ran.stderr);
        names.insert(name.to_owned());
    }
    assert_eq!(scene.run(&["config", "schema"]).stdout, scene.run(&["config", "schema", "settings"]).stdout);
    let help = scene.run(&["config", "schema", "--help"]).stdout;
    let values = help.lines().filter_map(|line| line.trim_start().strip_prefix("- ")?.split_once(':'));
    let listed: BTreeSet<String> = values.map(|(name, _)| name.to_owned()).collect();
    assert_eq!(listed, names, "{help}");
}

/// Returns what is in the TOML files of fixtures and in the fences of pages, with the place of each.
fn documents() -> Vec<(String, Value)> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for (path, text) in files("fixtures", "toml") {
        texts.push((path.display().to_string(), text));
    }
    let readme = (root().join("README.md"), fs::read_to_string(root().join("README.md")).unwrap());
    for (path, page) in files("docs", "md").into_iter().chain([readme]) {
        let fences = page.split("\n```toml").skip(1).filter_map(|rest| rest.split_once('\n'));
        let blocks = fences.filter_map(|(_, rest)| rest.split_once("\n```"));
        texts.extend(blocks.map(|(block, _)| (path.display().to_string(), block.to_owned())));
    }
    let read = |(path, text): (String, String)| {
        let value = toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
        (path, value)
    };
    texts.into_iter().map(read).collect()
}

#[test]
fn every_suite_and_every_settings_file_of_fixtures_and_pages_is_valid() {
    let (suite, settings) = (schema("suite"), schema("settings"));
    let tables = settings["properties"].as_object().unwrap();
    let (mut suites, mut files) = (0, 0);
    for (path, document) in documents() {
        let keys = document.as_object().unwrap();
        if keys.contains_key("scenarios") {
            assert!(accepts(&suite, &document), "{path}: {document}");
            suites += 1;
        } else if keys.keys().next().is_some_and(|key| tables.contains_key(key)) {
            assert!(accepts(&settings, &document), "{path}: {document}");
            files += 1;
        }
    }
    assert!(suites >= 6 && files >= 6, "{suites} suites and {files} files of settings");
}

#[test]
fn every_stored_report_and_status_is_valid() {
    let (report, review) = (schema("report"), schema("review"));
    let mut count = 0;
    for (path, text) in files("fixtures/frozen", "txt") {
        for (name, text) in stored::parse(&text) {
            let is_report = name.ends_with("/report.json")
                || ["said/report --format json", "said/status --format json"].contains(&name.as_str());
            if !is_report {
                continue;
            }
            let value: Value = serde_json::from_str(&text).unwrap();
            assert!(accepts(&report, &value), "{}: {name}", path.display());
            if value["loop"] == "review" {
                assert!(accepts(&review, &value), "{}: {name}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 80, "{count} reports");
}

#[test]
fn a_report_of_another_form_is_refused() {
    let schema = schema("report");
    let (_, page) =
        files("fixtures/frozen", "txt").into_iter().find(|(path, _)| path.ends_with("try.txt")).unwrap();
    let texts = stored::parse(&page);
    let text = texts.iter().find(|(name, _)| name.ends_with("/report.json")).unwrap().1;
    let good: Value = serde_json::from_str(text).unwrap();
    let changed = |key: &str, value: Value| {
        let mut report = good.clone();
        report[key] = value;
        report
    };
    assert!(accepts(&schema, &good));
    for (key, value) in [
        ("loop", "tunes".into()),
        ("outcome", "passed".into()),
        ("cost", Value::Null),
        ("notes", "a note".into()),
        ("limits", Value::Object(serde_json::Map::new())),
        ("blocked", "why".into()),
    ] {
        assert!(!accepts(&schema, &changed(key, value)), "{key}");
    }
}
