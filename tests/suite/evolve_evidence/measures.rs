//! What is measured at the end if a person asks for it: wrong versions, and one executor that does everything alone.

use serde_json::{Value, json};

use super::{DISPUTED, ESCALATED, GREETS, RIGHT, SHORT, alone, play, project, receipt, word};
use crate::evolve::{Project, ended, writing};

/// Returns a script with right work, and wrong versions of it: the oracle rejects the first, passes the second, and cannot
/// run the third.
fn spoiled() -> Value {
    let version = |what: &str, old: &str, new: &str| json!({ "what": what, "edits": [{ "path": "greet.sh", "old": old, "new": new }] });
    let mut play = play(&["A1"], &[writing("greet.sh", RIGHT)], &json!({ "A1": [GREETS] }));
    play["versions"] = json!({ "A1": [
        version("it greets Ada alone", "hello $name", "hello Ada"),
        version("it shouts at Zoe", "name=$1", "name=$1; [ \"$1\" != Zoe ] || name=ZOE"),
        version("it cannot be read", "name=$1", "name=$1; if"),
    ] });
    play
}

fn page(project: &Project) -> String {
    project.scene().run(&["report"]).stdout
}

#[test]
fn strength_counts_the_wrong_versions_that_an_oracle_rejects() {
    let plain = project(&spoiled(), &[], SHORT);
    let ran = alone(&plain, &[]);
    assert_eq!((ended(&ran).as_str(), plain.begun("spoil-A1")), ("0 reached success", 0), "{ran:?}");
    assert_eq!(receipt(&ran, "A1")["oracle"]["strength"], Value::Null);

    let measured = project(&spoiled(), &[], SHORT);
    let ran = alone(&measured, &["--strength"]);
    assert_eq!((ended(&ran).as_str(), measured.begun("spoil-A1")), ("0 reached success", 1), "{ran:?}");
    let strength = json!({ "rejected": 1, "passed": ["it shouts at Zoe"], "not_counted": 1 });
    assert_eq!(receipt(&ran, "A1")["oracle"]["strength"], strength);
    assert_eq!(word(&ran, "A1"), ["verified", ""], "a weak oracle is shown, and changes no word");
    let page = page(&measured);
    assert!(
        page.contains("rejects 1 of 2 wrong versions; 1 not counted") && page.contains("it shouts at Zoe"),
        "{page}"
    );

    // There is nothing to measure where no result was reached.
    let mut play = spoiled();
    play["works"]["all"] = json!([writing("greet.sh", "echo hi\n# this claims A1\n")]);
    let short = project(&play, &[], SHORT);
    let ran = alone(&short, &["--strength"]);
    assert_eq!((ended(&ran).as_str(), short.begun("spoil-A1")), (ESCALATED, 0), "{ran:?}");
    assert_eq!(word(&ran, "A1"), ["disputed", DISPUTED]);
}

#[test]
fn a_control_does_everything_alone_and_changes_no_end() {
    let right = writing("greet.sh", &format!("{RIGHT}# alone\n"));
    // Without a script it only claims to meet the criterion.
    for (control, score, verified) in [(Some(right), 1.0, &["A1"][..]), (None, 0.0, &[])] {
        let mut play = play(&["A1"], &[writing("greet.sh", RIGHT)], &json!({ "A1": [GREETS] }));
        if let Some(control) = &control {
            play["works"]["control"] = json!([control]);
        }
        let project = project(&play, &[], SHORT);
        let ran = alone(&project, &["--control"]);
        assert_eq!(ended(&ran), "0 reached success", "{ran:?}");
        assert_eq!(["task-all", "task-control"].map(|page| project.begun(page)), [1, 1]);
        let result = ran.json();
        let control = &result["receipts"]["control"];
        let facts = ["score", "is_done", "verified"].map(|key| control[key].clone());
        assert_eq!(facts, [json!(score), json!(score > 0.5), json!(verified)], "{ran:?}");
        assert!(control["tree"].is_string() && control["tree"] != result["result"], "{control}");
        assert_eq!(project.commits().unwrap(), ["Do all", "Add the receipts of spec"], "it is in no commit");
        let page = page(&project);
        assert!(page.contains("One executor did everything alone"), "{page}");
    }
}
