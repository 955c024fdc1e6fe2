//! `simulate` prints a table without agents, a project or a network.

use serde_json::json;

use crate::scene::Scene;

#[test]
fn a_simulation_prints_the_same_table_again_and_writes_nothing() {
    let scene = Scene::empty();
    let before = scene.everything();
    let line = ["simulate", "--policy", "rounds,keep-best", "--runs", "16,32", "--seeds", "5"];
    let table = scene.run(&line);
    assert_eq!((table.code, table.stderr.as_str()), (Some(0), ""), "{table:?}");
    assert_eq!(table.stdout, scene.run(&line).stdout);
    assert!(table.stdout.lines().all(|line| line.chars().count() <= 80), "{}", table.stdout);
    let rows =
        table.stdout.lines().filter(|line| line.starts_with("rounds") || line.starts_with("keep-best"));
    assert_eq!(rows.count(), 4, "{}", table.stdout);
    assert_eq!(scene.everything(), before);
}

#[test]
fn json_has_the_world_and_one_row_a_policy_and_budget() {
    let scene = Scene::empty();
    let line =
        ["simulate", "--runs", "16", "--seeds", "4", "--fixes", "0", "--breaks", "1", "--format", "json"];
    let all = scene.run(&line).json();
    assert_eq!((&all["world"]["fixes"], &all["world"]["breaks"]), (&json!(0.0), &json!(1.0)));
    let rows = all["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["policy"].as_str().unwrap()).collect();
    assert_eq!(names, ["draft", "rounds", "original", "keep-best"]);
    for row in rows {
        assert_eq!((&row["runs"], &row["seeds"]), (&json!(16), &json!(4)));
        assert!(row["quality"]["mean"].as_f64().unwrap() <= row["start"].as_f64().unwrap(), "{row}");
    }
}

#[test]
fn a_world_that_cannot_be_is_refused_in_one_line() {
    let scene = Scene::empty();
    let refusal = |line: &[&str]| {
        let message = scene.refusal(&[&["simulate"], line].concat());
        message.lines().next().unwrap().to_owned()
    };
    let refused = [
        &["--fixes", "1.5"][..],
        &["--breaks", "nan"],
        &["--leniency", "-51"],
        &["--noise=-1"],
        &["--pool", "5"],
        &["--start", "13"],
        &["--runs", "15"],
        &["--runs", "16,513"],
        &["--seeds", "0"],
        &["--policy", "luck"],
        &["--members", "3", "--broken", "4"],
    ];
    insta::assert_snapshot!(refused.map(refusal).join("\n"), @r"
    error: invalid value '1.5' for '--fixes <SHARE>': must be a number from 0 to 1
    error: invalid value 'nan' for '--breaks <SHARE>': must be a number from 0 to 1
    error: invalid value '-51' for '--leniency <POINTS>': must be a number from -50 to 50
    error: invalid value '-1' for '--noise <POINTS>': must be a number from 0 to 50
    error: invalid value '5' for '--pool <N>': must be a whole number from 6 to 100
    error: invalid value '13' for '--start <N>': must be a whole number from 0 to 12
    error: invalid value '15' for '--runs <N>': 15 is not in 16..=512
    error: invalid value '513' for '--runs <N>': 513 is not in 16..=512
    error: invalid value '0' for '--seeds <N>': 0 is not in 1..=100000
    error: invalid value 'luck' for '--policy <POLICIES>'
    error: a chain of 3 has no member 4
    ");
}

#[test]
fn a_chain_is_searched_by_what_differs_there_and_the_table_says_who_was_edited_first() {
    let scene = Scene::empty();
    let line =
        ["simulate", "--members", "3", "--broken", "1", "--start", "8", "--runs", "48", "--seeds", "4"];
    let table = scene.run(&line).stdout;
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let rows: Vec<&str> = table.lines().skip(2).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(rows, ["policy", "draft", "lowest"], "{table}");
    assert!(
        table.lines().nth(2).unwrap().ends_with("  broken") && table.lines().nth(3).unwrap().ends_with('%')
    );
    let all = scene.run(&[&line[..], &["--format", "json"]].concat()).json();
    assert_eq!((&all["world"]["members"], &all["world"]["broken"]), (&json!(3), &json!(1)));
    assert!(all["rows"].as_array().unwrap().iter().all(|row| row["broken_first"].is_number()), "{all}");
}
