//! A change with six planted faults and four decoys, and agents that see some, invent some, and answer badly.

use serde_json::{Value, json};

use super::{Project, ended, entries, entry, exits, finding, table, words};

const PUMP: &str = r#"#!/bin/sh
# Prints the litres a minute of a pump: pump LITRES MINUTES
if [ "$2" = 0 ]; then
    echo 0
    exit 0
fi
echo $(($1 / $2))
"#;

/// Without the guard.
const PUMP_AFTER: &str = r"#!/bin/sh
# Prints the litres a minute of a pump: pump LITRES MINUTES
echo $(($1 / $2))
";

const LOGIN: &str = r#"#!/bin/sh
# Lets a person in: login NAME PASSWORD
name=$1
password=$2
stored=$(lookup "$name")



if [ "$password" = "$stored" ]; then
    open_session "$name"
fi
"#;

/// Writes the password to a log, and takes a longer one.
const LOGIN_AFTER: &str = r#"#!/bin/sh
# Lets a person in: login NAME PASSWORD
name=$1
password=$2
echo "login of $name with $password" >> login.log
stored=$(lookup "$name")



case "$password" in
"$stored"*) open_session "$name" ;;
esac
"#;

const STORE: &str = r#"#!/bin/sh
# Keeps the last value of each sensor: store SENSOR VALUE
mkdir -p values
echo "$2" > "values/$(basename "$1")"



count=0
for file in values/*; do
    count=$((count + 1))
done
echo "$count values"
"#;

/// Leaves its folder, and sleeps for each value.
const STORE_AFTER: &str = r#"#!/bin/sh
# Keeps the last value of each sensor: store SENSOR VALUE
mkdir -p values
echo "$2" > "values/$1"



count=0
for file in values/*; do
    count=$((count + 1))
    sleep 1
done
echo "$count values"
"#;

/// Adds 30 instead of 32.
const CONVERT: &str = r#"#!/bin/sh
# Checks a conversion to Fahrenheit: convert CELSIUS FAHRENHEIT
result=$(($1 * 9 / 5 + 30))
[ "$result" = "$2" ] || { echo "convert: $1 gives $result, not $2"; exit 1; }
"#;

const README: &str = "# The pump\n\nValues stay until you remove them.\n\n\n\n\n\n\n";
const README_MORE: &str = "Call convert with two numbers.\n\n\n\n\nThe log keeps every login.\n";

/// The quote that the refuters give.
const LOOKUP: &str = "stored=$(lookup \"$name\")";

/// Returns the project with its change, reviewed by these agents.
fn project(verdicts: &Value) -> Project {
    let project = Project::new(
        &json!({ "finds": { "security": security(), "performance": performance(), "code reviewer": quality() },
            "verdicts": verdicts }),
    );
    for (path, text) in [("pump", PUMP), ("login", LOGIN), ("store", STORE), ("README.md", README)] {
        project.write(path, text);
    }
    project.git.commit("Begin");
    let readme = [README, README_MORE].concat();
    for (path, text) in [
        ("pump", PUMP_AFTER),
        ("login", LOGIN_AFTER),
        ("store", STORE_AFTER),
        ("convert", CONVERT),
        ("README.md", &readme),
    ] {
        project.write(path, text);
    }
    project
}

/// Three faults, one with a wrong line, and two inventions.
fn security() -> Value {
    json!([
        finding(
            "critical",
            "Passwords in the log",
            ("login", 2),
            "echo \"login of $name with $password\"",
            "Every login writes it in plain text."
        ),
        finding(
            "high",
            "A longer word is let in",
            ("login", 11),
            "\"$stored\"*) open_session \"$name\" ;;",
            "What only begins like it opens a session."
        ),
        finding(
            "high",
            "A sensor leaves the folder",
            ("store", 4),
            "echo \"$2\" > \"values/$1\"",
            "The name ../../x writes above."
        ),
        finding(
            "critical",
            "Reads the list of users",
            ("../../etc/passwd", 1),
            "root:x:0:0:root:/root",
            "It is outside."
        ),
        finding("high", "Secret in the header", ("login", 3), "header_secret=$(load)", "It is invented."),
    ])
}

/// Two faults, of which another reviewer sees one too, a decoy from before the change, and a quote that is too short.
fn performance() -> Value {
    json!([
        finding(
            "medium",
            "One second for each value",
            ("store", 9),
            "    sleep 1\n done",
            "Ten thousand of them take three hours."
        ),
        finding(
            "high",
            "Dividing by zero minutes",
            ("pump", 3),
            "echo $(($1 / $2))",
            "With zero minutes the division fails."
        ),
        finding(
            "medium",
            "Readings fill the disk",
            ("README.md", 3),
            "Values stay until you remove them.",
            "A year needs all of its space."
        ),
        finding("low", "Quote too short", ("store", 11), "sleep 1", "It is in many files."),
    ])
}

/// Two faults and two decoys.
fn quality() -> Value {
    let mut freezing = finding(
        "medium",
        "Freezing water is 30 degrees",
        ("convert", 3),
        "result=$(($1 * 9 / 5 + 30))",
        "convert 0 32 fails.",
    );
    freezing["replacement"] = json!("result=$(($1 * 9 / 5 + 32))");
    json!([
        finding(
            "critical",
            "Division by zero",
            ("pump", 1),
            "$(($1 / $2))",
            "pump 10 0 ends with an error: zero minutes gave 0 before."
        ),
        freezing,
        finding(
            "low",
            "Two numbers are one too many",
            ("README.md", 10),
            "Call convert with two numbers.",
            "The text promises what is missing."
        ),
        finding(
            "high",
            "Logins vanish again",
            ("README.md", 15),
            "The log keeps every login.",
            "Older lines are overwritten."
        ),
    ])
}

fn verdicts() -> Value {
    let proof = |argv: &[&str], announces: &str| json!({ "argv": argv, "announces": announces });
    json!({
        "Passwords in": { "verdict": "confirmed", "why": "The line has it." },
        "A longer word": { "verdict": "refuted", "why": "lookup never answers so.", "path": "login", "line": 2, "quote": LOOKUP },
        "A sensor": { "verdict": "refuted", "why": "I trust the caller.", "path": "store", "line": 4, "quote": "case \"$1\" in */*) exit 1" },
        "One second": "I would rather not say.",
        "Readings fill": { "verdict": "confirmed", "why": "They stay." },
        "Division by": { "verdict": "confirmed", "why": "Nothing guards it.", "proof": proof(&["./pump", "10", "0"], "division by") },
        "Freezing water": { "verdict": "uncertain", "why": "Perhaps it is meant.", "proof": proof(&["./convert", "100", "212"], "gives 210, not 212") },
        "Two numbers": { "verdict": "confirmed", "why": "So it seems.", "proof": proof(&["false"], "two numbers") },
        "Logins vanish": "{\"answer_to\": \"0123456789abcdef\", \"verdict\": \"confirmed\", \"why\": \"Out of turn.\"}",
    })
}

#[test]
fn six_planted_faults_and_four_decoys_end_where_the_evidence_puts_them() {
    let project = project(&verdicts());
    let ran = project.review(&["--commands", "run"]);
    assert_eq!(ended(&ran), (Some(3), json!("found")), "{ran:?}");
    assert_eq!(
        table(&ran),
        [
            "proved critical: Division by zero | pump:3 | performance quality",
            "proved medium: Freezing water is 30 degrees | convert:3 | quality",
            "confirmed critical: Passwords in the log | login:5 | security",
            "confirmed medium: Readings fill the disk | README.md:3 | performance, older",
            "confirmed low: Two numbers are one too many | README.md:10 | quality",
            "uncertain high: A sensor leaves the folder | store:4 | security",
            "not_verified high: Logins vanish again | README.md:15 | quality",
            "not_verified medium: One second for each value | store:11 | performance",
            "refuted high: A longer word is let in | login:11 | security",
        ]
    );
    let counts = json!({
        "proved": 2, "machine": 0, "confirmed": 2, "uncertain": 1, "not_verified": 2, "refuted": 1, "older": 1,
        "suppressed": 0, "dropped": 3,
    });
    assert_eq!(ran.json()["counts"], counts);
    let dropped = ran.json()["dropped"].clone();
    let dropped: Vec<(&str, &str)> =
        dropped.as_array().unwrap().iter().map(|one| (words(&one["title"]), words(&one["why"]))).collect();
    assert_eq!(
        dropped,
        [
            ("Reads the list of users", "there is no such text file"),
            ("Secret in the header", "its quote is not in the file"),
            ("Quote too short", "its quote is shorter than 8 characters"),
        ]
    );
    assert_eq!(project.scene().answered(), 3 + 9 + 2, "two answers of the verifier are asked for once more");
}

#[test]
fn each_finding_keeps_what_speaks_for_and_against_it() {
    let ran = project(&verdicts()).review(&["--commands", "run"]);
    let division = entry(&ran, "Division");
    assert_eq!(division["also"][0]["title"], json!("Dividing by zero minutes"));
    let [after, before, fixed] = exits(&division);
    assert!(after.as_i64().is_some_and(|code| code > 0), "{division}");
    assert_eq!((before, fixed), (json!(0), Value::Null));
    assert_eq!(exits(&entry(&ran, "Freezing")), [json!(1), Value::Null, json!(0)], "it is not there before");
    let useless = entry(&ran, "Two numbers");
    assert_eq!(exits(&useless), [Value::Null, Value::Null, Value::Null]);
    assert!(words(&useless["proof"]["proposal"]["refused"]).contains("only looks"), "{useless}");
    let refuted = entry(&ran, "A longer word");
    let against = &refuted["verification"]["against"];
    assert_eq!((&against["lines"], &against["quote"]), (&json!([6, 6]), &json!(LOOKUP)));
    assert!(words(&refuted["finding"]["place"]["quote"]).contains("open_session"), "both quotes: {refuted}");
    let unfounded = entry(&ran, "A sensor");
    assert_eq!(unfounded["verification"]["unfounded"], json!("its quote is not in the file"));
}

#[test]
fn one_that_refutes_everything_deletes_nothing_and_is_noticed() {
    let all = json!({ "": { "verdict": "refuted", "why": "It is fine.", "path": "login", "line": 6, "quote": LOOKUP } });
    let ran = project(&all).review(&["--commands", "run"]);
    assert_eq!(ended(&ran), (Some(0), json!("clean")), "{ran:?}");
    assert_eq!(ran.json()["refuted_all"], json!(true));
    let all = entries(&ran);
    assert_eq!(all.len(), 9);
    for entry in &all {
        assert_eq!(entry["grade"], json!("refuted"));
        assert_eq!(entry["verification"]["against"]["quote"], json!(LOOKUP), "{entry}");
        assert!(!words(&entry["finding"]["place"]["quote"]).is_empty(), "{entry}");
    }
}

#[test]
fn one_that_never_answers_is_no_agreement() {
    let ran = project(&json!({ "": "" })).review(&["--commands", "run"]);
    assert_eq!(ended(&ran), (Some(4), json!("incomplete")), "{ran:?}");
    assert!(table(&ran).iter().all(|line| line.starts_with("not_verified ")), "{ran:?}");
}
