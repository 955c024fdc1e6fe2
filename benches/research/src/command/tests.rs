use clap::Parser as _;
use serde_json::json;
use skilltune_research::Law;

use super::*;

fn parsed(line: &[&str]) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(["skilltune-research"].iter().chain(line)).and_then(Arguments::checked)
}

fn printed(line: &[&str]) -> String {
    let mut text = Vec::new();
    print(&parsed(line).unwrap(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn values(line: &[&str]) -> Value {
    serde_json::from_str(&printed(&[line, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn without_flags_it_is_the_default_world() {
    let args = parsed(&[]).unwrap();
    assert_eq!((args.world.law(), args.runs), (Law::default(), vec![16, 32, 64, 128]));
    assert!(args.policy.is_empty());
    let args = parsed(&["--policy", "rounds,original", "--leniency", "-6", "--overfits", "0.5"]).unwrap();
    assert_eq!(args.policy, [Policy::Rounds, Policy::Original]);
    assert_eq!(args.world.law(), Law { leniency: -6.0, overfits: 0.5, ..Law::default() });
}

#[test]
fn the_same_flags_print_the_same_table() {
    let line = ["--policy", "rounds,keep-best", "--runs", "16,32", "--seeds", "5"];
    let table = printed(&line);
    assert_eq!(table, printed(&line));
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let rows = table.lines().filter(|line| line.starts_with("rounds") || line.starts_with("keep-best"));
    assert_eq!(rows.count(), 4, "{table}");
}

#[test]
fn json_has_the_world_and_one_row_a_policy_and_budget() {
    let all = values(&["--runs", "16", "--seeds", "4", "--fixes", "0", "--breaks", "1"]);
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
    let refusal = |line: &[&str]| {
        let message = parsed(line).unwrap_err().to_string();
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
    let line = ["--members", "3", "--broken", "1", "--start", "8", "--runs", "48", "--seeds", "4"];
    let table = printed(&line);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let rows: Vec<&str> = table.lines().skip(2).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(rows, ["policy", "draft", "lowest"], "{table}");
    assert!(
        table.lines().nth(2).unwrap().ends_with("  broken") && table.lines().nth(3).unwrap().ends_with('%')
    );
    let all = values(&line);
    assert_eq!((&all["world"]["members"], &all["world"]["broken"]), (&json!(3), &json!(1)));
    assert!(all["rows"].as_array().unwrap().iter().all(|row| row["broken_first"].is_number()), "{all}");
}
