//! The scripted agent in the reflex loop: it recognizes each phase by its page, in any role.
//!
//! A text is a list of sections. The section of a rule contains a line `met: RULE`, and the judge looks only at that
//! line. The script sets the sections of a version; otherwise a refiner adds the requested ones.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::script::Script;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Play {
    /// The rules that PROPOSE returns; by default as few as possible.
    proposed: Option<Vec<Value>>,
    /// By iteration: the sections that PRODUCE writes; by default it returns the text that it is shown.
    produced: BTreeMap<u32, Vec<String>>,
    /// By iteration: the sections that REFINE writes; by default the existing ones and the requested ones.
    refined: BTreeMap<u32, Vec<String>>,
    /// The text before all sections.
    preface: String,
    /// By rule: the checks from PREPARE, without the rule's id; by default a question to the judge.
    checks: BTreeMap<String, Vec<Value>>,
    /// By rule: a verdict that differs from the text's.
    verdicts: BTreeMap<String, String>,
    /// By phase: an invalid answer.
    odd: BTreeMap<String, Odd>,
    /// By phase: an invalid answer to the first call only.
    odd_once: BTreeMap<String, Odd>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Odd {
    Rubbish,
    Empty,
    /// A valid answer to another request.
    WrongCode,
}

/// One page of the loop, as far as the script needs it.
#[derive(Clone, Copy)]
pub(crate) struct Page<'a> {
    pub(crate) phase: &'a str,
    text: &'a str,
}

impl<'a> Page<'a> {
    /// Reads a page, or returns `None` for pages of other loops.
    pub(crate) fn of(prompt: &'a str) -> Option<Self> {
        let (phase, _) = prompt.strip_prefix("Phase ")?.split_once(" of run `")?;
        Some(Self { phase, text: prompt })
    }

    /// Returns the phase's name in a script.
    pub(crate) fn name(&self) -> String {
        self.phase.to_lowercase()
    }

    fn iteration(&self) -> u32 {
        let opening = self.text.lines().next().expect("a page has an opening");
        number_after(opening, ", iteration ").expect("this phase is told its iteration")
    }

    /// Returns the text under the last heading with these words, because text quoted above it can contain any heading.
    fn under(&self, heading: &str) -> &'a str {
        let (_, rest) = self.text.rsplit_once(&format!("\n## {heading}\n")).expect("the page has this part");
        rest.split_once("\n## ").map_or(rest, |(part, _)| part)
    }

    /// Returns the rules at the start of each entry of a numbered list.
    fn rules(&self, heading: &str) -> Vec<&'a str> {
        let numbered = |line: &'a str| {
            let (number, rest) = line.split_once(". ")?;
            number.parse::<u32>().ok()?;
            rest.split(' ').next()
        };
        self.under(heading).lines().filter_map(numbered).collect()
    }

    /// Returns the code that an answer in JSON must repeat.
    fn code(&self, key: &str) -> &'a str {
        let form = self.under("Your answer");
        let (_, rest) = form.split_once(&format!("\"{key}\": \"")).expect("a code is asked for");
        rest.split_once('"').expect("a string ends").0
    }
}

fn number_after(text: &str, words: &str) -> Option<u32> {
    let (_, rest) = text.split_once(words)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Answers a page. `call` identifies this request.
pub(crate) fn answer(script: &Script, page: Page<'_>, call: &str) -> String {
    let (play, name) = (&script.reflex, page.name());
    let once = play.odd_once.get(&name).filter(|_| script.is_first(&name, call));
    match play.odd.get(&name).or(once) {
        Some(Odd::Rubbish) => "It is {quite} good.\u{1b}[2J".to_owned(),
        Some(Odd::Empty) => String::new(),
        Some(Odd::WrongCode) => ordinary(play, page, |_| "another code"),
        None => ordinary(play, page, |code| code),
    }
}

fn ordinary<'a>(play: &Play, page: Page<'a>, code: impl Fn(&'a str) -> &'a str) -> String {
    match page.phase {
        "PROPOSE" => propose(play, page, code(page.code("answer_to"))),
        "PLAN" => plan(page, code(page.code("answer_to"))),
        "PRODUCE" => produce(play, page),
        "PREPARE" => prepare(play, page, code(page.code("answer_to"))),
        "EVALUATE" => evaluate(play, page, code(page.code("verdict_of"))),
        "CRITIQUE" => critique(page, code(page.code("answer_to"))),
        "REFINE" => refine(play, page),
        other => panic!("no such phase: {other}"),
    }
}

fn propose(play: &Play, page: Page<'_>, code: &str) -> String {
    let rule = |nth: u32| {
        let (id, description) = (format!("a.quality.point-{nth}"), format!("Point {nth} is told."));
        json!({ "id": id, "severity": "warn", "description": description, "check": "Look for it." })
    };
    // With a template the minimum can be zero: "at most".
    let least = number_after(page.under("How to propose"), "Propose ").unwrap_or(0);
    let rules = play.proposed.clone().unwrap_or_else(|| (1..=least).map(rule).collect());
    json!({ "answer_to": code, "rules": rules }).to_string()
}

/// Plans the minimum number of steps.
fn plan(page: Page<'_>, code: &str) -> String {
    let rules = page.rules("The rules");
    let least = number_after(page.under("How to plan"), "Make ").expect("it is told how many");
    let step = |rule: &&str| json!({ "step": format!("write the section on {rule}"), "rule_id": rule });
    let steps: Vec<_> = rules.iter().cycle().take(least as usize).map(step).collect();
    json!({ "answer_to": code, "plan": steps }).to_string()
}

fn produce(play: &Play, page: Page<'_>) -> String {
    match play.produced.get(&page.iteration()) {
        Some(sections) => written(play, sections),
        None => current_version(),
    }
}

fn prepare(play: &Play, page: Page<'_>, code: &str) -> String {
    let checks = page.rules("The rules").into_iter().flat_map(|rule| {
        let question = || vec![json!({ "type": "judge", "question": format!("Does it say `met: {rule}`?") })];
        let mut checks = play.checks.get(rule).cloned().unwrap_or_else(question);
        for check in &mut checks {
            check["rule_id"] = rule.into();
        }
        checks
    });
    json!({ "answer_to": code, "checks": checks.collect::<Vec<_>>() }).to_string()
}

fn evaluate(play: &Play, page: Page<'_>, code: &str) -> String {
    let text = current_version();
    let judged = page.rules("The rules").into_iter().map(|rule| {
        let line = met(rule);
        let word = if text.lines().any(|other| other == line) { "pass" } else { "fail" };
        let verdict = play.verdicts.get(rule).map_or(word, String::as_str);
        json!({ "id": rule, "verdict": verdict, "evidence": format!("looked for the line \"{line}\"") })
    });
    let judged: Vec<_> = judged.collect();
    format!("Here it is.\n```json\n{}\n```\n", json!({ "verdict_of": code, "criteria": judged }))
}

/// Returns the maximum number of issues.
fn critique(page: Page<'_>, code: &str) -> String {
    let most = number_after(page.under("How to criticise"), "Raise 1 to ").unwrap_or(1);
    let issue = |rule: &str| {
        json!({
            "rule_id": rule, "section": rule, "problem": "the section is absent",
            "fix_instruction": format!("add a section with the line `{}`", met(rule)), "expected_effect": "it is there",
        })
    };
    let issues: Vec<_> = page.rules("What is not met").into_iter().take(most as usize).map(issue).collect();
    json!({ "answer_to": code, "issues": issues }).to_string()
}

fn refine(play: &Play, page: Page<'_>) -> String {
    if let Some(sections) = play.refined.get(&page.iteration()) {
        return written(play, sections);
    }
    let asked = page.rules("What to change").into_iter();
    current_version() + &asked.map(section).collect::<String>()
}

/// Returns the current version from the workspace.
fn current_version() -> String {
    fs::read_to_string("artifact.md").expect("the text stands beside its reader")
}

fn written(play: &Play, sections: &[String]) -> String {
    let sections: String = sections.iter().map(|name| section(name)).collect();
    format!("# The text\n\n{}\n{sections}", play.preface)
}

/// Writes a section from `RULE` or `RULE: more words`; a name that is not a rule becomes an ordinary section.
fn section(name: &str) -> String {
    let (title, words) = name.split_once(": ").unwrap_or((name, "nothing more"));
    let line = if title.contains('.') { met(title) + "\n\n" } else { String::new() };
    format!("\n## {title}\n\n{line}{words}\n")
}

fn met(rule: &str) -> String {
    format!("met: {rule}")
}
