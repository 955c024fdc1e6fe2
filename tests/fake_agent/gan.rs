//! The scripted agent in the builder/evaluator loop: it recognizes each turn by the title of its page.
//!
//! A build is a page with a line `met: ID` for each criterion that this version meets, and `shows: ID` for each of its
//! anti-patterns. The judge looks only at these lines.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::script::Script;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Play {
    /// For each build: the ids that its page meets; the last one is repeated with other words around it.
    builds: Vec<Vec<String>>,
    /// For each build: a whole page instead.
    pages: Vec<String>,
    /// An additional file of the build; `leaves_mode` is its mode.
    leaves: Option<String>,
    leaves_mode: Option<u32>,
    /// The criteria that the evaluator drafts.
    drafted: Vec<Value>,
    /// The test scenarios that the evaluator drafts for them.
    tests: Vec<Value>,
    /// The pass conditions that the evaluator drafts.
    conditions: Vec<Value>,
    /// For each round of the negotiation: the builder's proposals; after the last one it accepts.
    proposed: Vec<Vec<Value>>,
    /// For each round of the negotiation: which proposals are accepted, and the cited words of the brief.
    ruled: Vec<Vec<(bool, String)>>,
    /// By criterion: the second judge's verdict, independent of the page.
    second: BTreeMap<String, String>,
    /// The criteria that the judge would check next.
    wanted: Vec<Value>,
    /// The dimensions for whose levels the judge gives no reason.
    unreasoned: Vec<String>,
    /// Words on a page that make the judge pass everything.
    obeys: Option<String>,
    /// The turns with an invalid answer.
    rubbish: Vec<String>,
}

/// One page of the loop.
#[derive(Clone, Copy)]
pub(crate) struct Page<'a> {
    turn: &'static str,
    text: &'a str,
}

const TURNS: [(&str, &str); 6] = [
    ("# Say what you will judge by\n", "draft"),
    ("# Agree to what you will be judged by\n", "propose"),
    ("# Decide about proposals\n", "rule"),
    ("# Build what a brief asks for\n", "build"),
    ("# Judge what was built\n", "judge"),
    ("# Check whether the work can be accepted\n", "second"),
];

impl<'a> Page<'a> {
    /// Reads a page, or returns `None` for pages of other loops.
    pub(crate) fn of(prompt: &'a str) -> Option<Self> {
        let (_, turn) = TURNS.into_iter().find(|(title, _)| prompt.trim_start().starts_with(title))?;
        Some(Self { turn, text: prompt })
    }

    pub(crate) fn name(&self) -> String {
        self.turn.to_owned()
    }

    /// Returns the ids of a numbered list.
    fn ids(&self, heading: &str) -> Vec<&'a str> {
        let Some((_, rest)) = self.text.split_once(&format!("\n## {heading}\n")) else { return Vec::new() };
        let part = rest.split_once("\n## ").map_or(rest, |(part, _)| part);
        let numbered = |line: &'a str| {
            let (number, rest) = line.split_once(". ")?;
            number.parse::<u32>().ok()?;
            rest.split(' ').next()
        };
        part.lines().filter_map(numbered).collect()
    }

    fn code(&self) -> &'a str {
        let (_, rest) = self.text.rsplit_once("\"answer_to\": \"").expect("a code is asked for");
        rest.split_once('"').expect("a string ends").0
    }
}

/// Answers a page. `call` identifies this request.
pub(crate) fn answer(script: &Script, page: Page<'_>, call: &str) -> String {
    let play = &script.gan;
    if play.rubbish.iter().any(|turn| turn == page.turn) {
        return "It is {quite} good.\u{1b}[2J".to_owned();
    }
    let code = page.code();
    match page.turn {
        "draft" => {
            let (criteria, tests, conditions) = (&play.drafted, &play.tests, &play.conditions);
            let answer = json!({
                "answer_to": code, "criteria": criteria, "test_scenarios": tests, "pass_conditions": conditions,
            });
            answer.to_string()
        }
        "propose" => {
            let proposals = play.proposed.get(script.nth("propose", call)).cloned().unwrap_or_default();
            json!({ "answer_to": code, "proposals": proposals }).to_string()
        }
        "rule" => {
            let ruled = play.ruled.get(script.nth("rule", call)).cloned().unwrap_or_default();
            let ruling = |(nth, (accepted, cites)): (usize, (bool, String))| json!({ "proposal": nth, "accepted": accepted, "cites": cites, "why": "the brief says so" });
            let rulings: Vec<_> = (1..).zip(ruled).map(ruling).collect();
            json!({ "answer_to": code, "rulings": rulings }).to_string()
        }
        "build" => build(play, script.nth("build", call), code),
        _ => judge(play, page, code),
    }
}

/// Builds a page, also for an invalid answer; the notes claim every criterion.
fn build(play: &Play, nth: usize, code: &str) -> String {
    let met = play.builds.get(nth).or(play.builds.last()).cloned().unwrap_or_default();
    let line = |id: &String| if id.contains(": ") { id.clone() } else { format!("met: {id}") };
    let lines: Vec<String> = met.iter().map(|id| format!("<p>{}</p>", line(id))).collect();
    let page = format!("<!doctype html>\n<title>Version {}</title>\n{}\n", nth + 1, lines.join("\n"));
    let page = play.pages.get(nth).or(play.pages.last()).unwrap_or(&page);
    fs::write("artifact/index.html", page).expect("the copy can be written");
    if let Some(path) = play.leaves.as_ref().map(|path| Path::new("artifact").join(path)) {
        fs::create_dir_all(path.parent().expect("it is below the artifact")).expect("a folder can be made");
        fs::write(&path, "{}").expect("the copy can be written");
        if let Some(mode) = play.leaves_mode {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is ours");
        }
    }
    let claim = |id: &String| json!({ "criterion": id, "evidence": "index.html" });
    let claims: Vec<_> = met.iter().map(claim).collect();
    json!({ "answer_to": code, "notes": format!("version {}", nth + 1), "claims": claims }).to_string()
}

fn judge(play: &Play, page: Page<'_>, code: &str) -> String {
    let text = fs::read_to_string("artifact/index.html").expect("the page stands beside its judge");
    let obeys = play.obeys.as_ref().is_some_and(|words| text.contains(words));
    let has = |what: &str, id: &str| text.contains(&format!("<p>{what}: {id}</p>"));
    let finding = |id: &str| {
        let word = if obeys || has("met", id) { "passed" } else { "failed" };
        let other = play.second.get(id).filter(|_| page.turn == "second");
        let verdict = other.map_or(word, String::as_str);
        json!({ "id": id, "verdict": verdict, "evidence": format!("index.html: looked for {id}"), "fix": "" })
    };
    let findings = |heading: &str| page.ids(heading).into_iter().map(finding).collect::<Vec<_>>();
    let patterns = page.ids("What speaks against it").into_iter();
    let patterns = patterns.map(|id| {
        let present = has("shows", id);
        json!({ "id": id, "present": present, "evidence": if present { "index.html" } else { "" } })
    });
    let levels = page.ids("The dimensions, and what their levels look like").into_iter();
    let why = |id: &str| if play.unreasoned.iter().any(|one| one == id) { "" } else { "fine" };
    let levels = levels.map(|id| json!({ "dimension": id, "why": why(id), "level": 1.0 }));
    json!({
        "answer_to": code,
        "criteria": findings("The criteria"),
        "patterns": patterns.collect::<Vec<_>>(),
        "extra": findings("Besides"),
        "levels": levels.collect::<Vec<_>>(),
        "next": play.wanted,
    })
    .to_string()
}
