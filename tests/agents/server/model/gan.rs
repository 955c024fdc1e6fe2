//! The model's answers to the pages of `gan`: it builds the page of `fixtures/pages` with two faults, fixes both once
//! they are reported, and judges what machines cannot check.

use serde_json::{Value, json};

use super::pages::{bound, code, fenced, listed};
use super::{Talk, Turn};

const DRAFT: &str = "# Say what you will judge by";
const PROPOSE: &str = "# Agree to what you will be judged by";
const RULE: &str = "# Decide about proposals";
const BUILD: &str = "# Build what a brief asks for";
const JUDGE: &str = "# Judge what was built";

/// The criterion that the evaluator drafts itself.
pub(crate) const OWN: &str = "functionality.order";
/// The builder's notes on its first build, and the judge's fix.
pub(crate) const NOTES: &str = "Four files: a page, its answer, a style and a drawing.";
pub(crate) const FIX: &str = "Let the table be as wide as the rest.";

macro_rules! page {
    ($path:literal) => {
        include_str!(concat!("../../../../fixtures/pages/", $path))
    };
}

/// The files of the first build.
const FILES: [(&str, &str); 4] = [
    ("index.html", page!("faulty/copy-changed/index.html")),
    ("style.css", page!("faulty/fixed-width/style.css")),
    ("thanks.html", page!("clean/site/thanks.html")),
    ("loaf.svg", page!("clean/site/loaf.svg")),
];

/// The changes of the second build.
const FIXES: [(&str, &str, &str); 2] = [
    ("index.html", "long before the boats return", "before the boats come in"),
    ("style.css", WIDE, "width: 100%"),
];
const WIDE: &str = "min-width: 640px";

/// Returns the model's turn, or `None` if the page is not one of `gan`.
pub(super) fn turn(talk: &Talk, space: &str) -> Option<Turn> {
    let words = talk.words.as_str();
    let text = |answer: Value| Some(Turn::Text(answer.to_string()));
    if words.contains(DRAFT) {
        text(draft(words))
    } else if words.contains(PROPOSE) {
        text(propose(words))
    } else if words.contains(RULE) {
        text(rule(words))
    } else if words.contains(BUILD) {
        Some(build(talk, space))
    } else if words.contains(JUDGE) {
        Some(judge(talk, space))
    } else {
        None
    }
}

fn draft(words: &str) -> Value {
    let own = json!({
        "id": OWN, "dimension": "functionality", "criterion": "An order is answered by a page of its own.",
        "verification": "Send the form.", "must_pass": true, "weight": 1,
    });
    let step = |act: &str, on: &str, text: &str| json!({ "act": act, "on": on, "text": text });
    let order = json!({
        "id": "order", "criterion": OWN, "description": "Somebody orders a loaf.", "tool": "browser",
        "steps": [
            step("fill", "Your name", "Ada"),
            step("click", "Keep one for me", ""),
            step("see", "Your loaf is kept", ""),
        ],
        "argv": [],
    });
    let mut answer = bound(words, "criteria", [own]);
    answer["test_scenarios"] = json!([order]);
    answer["pass_conditions"] = json!([{ "dimension": "functionality", "minimum": 0.75 }]);
    answer
}

/// Proposes once to drop a criterion, then accepts.
fn propose(words: &str) -> Value {
    let was_declined = words.contains("## What was declined");
    let drop = json!({ "change": "drop", "id": OWN, "why": "a page more is more work" });
    bound(words, "proposals", (!was_declined).then_some(drop))
}

fn rule(words: &str) -> Value {
    let ruling = json!({
        "proposal": 1, "accepted": false, "cites": "the answer is a page of its own", "why": "the brief asks for it",
    });
    bound(words, "rulings", [ruling])
}

fn build(talk: &Talk, space: &str) -> Turn {
    let path = |name: &str| format!("{space}/artifact/{name}");
    let notes = |notes: &str| {
        let claims = [json!({ "criterion": OWN, "evidence": "thanks.html" })];
        Turn::Text(
            json!({ "answer_to": code(&talk.words, "answer_to"), "notes": notes, "claims": claims })
                .to_string(),
        )
    };
    if !talk.words.contains("## What it misses") {
        return match FILES.get(talk.results) {
            Some((name, content)) => Turn::Write { path: path(name), content: (*content).to_owned() },
            None => notes(NOTES),
        };
    }
    // Each file is read before it is changed.
    match FIXES.get(talk.results / 2) {
        Some((name, _, _)) if talk.results.is_multiple_of(2) => Turn::Read { path: path(name) },
        Some((name, old, new)) => {
            Turn::Edit { path: path(name), old: (*old).to_owned(), new: (*new).to_owned() }
        }
        None => notes("The text is the given one, and the table fits."),
    }
}

/// Judges after a look at the screenshot of the narrow page.
fn judge(talk: &Talk, space: &str) -> Turn {
    if talk.results == 0 {
        return Turn::Read { path: format!("{space}/screens/index-375x667.png") };
    }
    let words = talk.words.as_str();
    let is_fine = !fenced(words, "artifact/style.css").contains(WIDE);
    let verdict = |id: &&str| {
        if *id == "design.consistent" && !is_fine {
            let evidence = format!("style.css: `{WIDE}`");
            json!({ "id": id, "verdict": "failed", "evidence": evidence, "fix": FIX })
        } else {
            json!({ "id": id, "verdict": "passed", "evidence": "index.html: `<section id=\"order\"`", "fix": "" })
        }
    };
    let absent = |id: &&str| json!({ "id": id, "present": false, "evidence": "" });
    let level = |id: &&str| json!({ "dimension": id, "why": "nothing is missing", "level": if is_fine { 1.0 } else { 0.5 } });
    let each = |label: &str, entry: &dyn Fn(&&str) -> Value| -> Vec<Value> {
        listed(words, label).iter().map(entry).collect()
    };
    let mut answer = bound(words, "criteria", each("criteria", &verdict));
    answer["patterns"] = each("anti-patterns", &absent).into();
    answer["extra"] = each("besides", &verdict).into();
    answer["levels"] = each("dimensions", &level).into();
    answer["next"] = json!([]);
    for key in ["patterns", "extra"] {
        // The schema allows only the requested keys.
        if answer[key] == json!([]) {
            answer.as_object_mut().expect("it is an object").remove(key);
        }
    }
    Turn::Text(answer.to_string())
}
