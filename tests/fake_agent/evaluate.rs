//! The scripted evaluator: its verdicts give the quality that the skills in its workspace state.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::script::{Judges, Script};
use crate::{name_of, skills, stated_quality};

/// The quality of a skill that states none.
const PLAIN: u32 = 70;

/// The request of a prompt.
struct Asked {
    nonce: String,
    /// The ids of the criteria, with their truth where it is known.
    criteria: Vec<(String, Option<bool>)>,
}

pub(crate) fn answer(script: &Script, prompt: &str) -> String {
    if script.rubbish {
        return "It is {quite} good.".to_owned();
    }
    let members: Vec<(String, u32)> =
        skills().iter().map(|skill| (name_of(skill), stated_quality(skill).unwrap_or(PLAIN))).collect();
    let lowest = members.iter().map(|(_, quality)| *quality).min().expect("there is a skill to judge");
    let asked = asked(prompt);
    let whole =
        script.lucky.get(&lowest).filter(|_| script.is_first(&lowest.to_string(), &asked.nonce)).copied();
    let whole = whole.unwrap_or(lowest);
    if script.claims {
        return claim(whole);
    }
    let mut criteria = verdicts(&asked, whole, None);
    if members.len() > 1 {
        for (name, quality) in &members {
            criteria.extend(verdicts(&asked, *quality, Some(name)));
        }
    }
    let answer = json!({
        "verdict_of": asked.nonce,
        "criteria": criteria,
        "claimed_score": 100,
        "strengths": ["SKILL.md states its quality"],
        "weaknesses": [format!("SKILL.md: the quality is only {lowest}")],
        "suggestions": [{
            "priority": "high", "target_file": "SKILL.md",
            "description": "raise the quality", "rationale": "more is better",
            "snippet": "Say it better.",
        }],
    });
    format!("Here is my verdict.\n```json\n{answer}\n```\n")
}

fn between(line: &str, open: &str, close: &str) -> Option<String> {
    Some(line.split_once(open)?.1.split_once(close)?.0.to_owned())
}

/// Returns the last code: a skill can contain one of its own.
fn nonce(prompt: &str) -> Option<String> {
    prompt.lines().rev().find_map(|line| between(line, "\"verdict_of\": \"", "\""))
}

/// Judges statements such as `Its quality is at least 60.` and `A file says "600".` by the result; all other statements
/// are true.
pub(crate) fn grade(script: &Script, prompt: &str) -> String {
    let made: Vec<String> = fs::read_dir("artifacts")
        .expect("what was produced is in the workspace")
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("out.md")).ok())
        .collect();
    let reached =
        made.iter().filter_map(|text| between(text, "with quality ", "\n")?.parse::<u32>().ok()).max();
    let evidence = format!("out.md: quality {reached:?}");
    judged(prompt, &evidence, script.at_fault.as_deref(), |_, line| {
        let least = between(line, "at least ", ".").and_then(|least| least.parse::<u32>().ok());
        let said = line.split_once(" says \"").and_then(|(_, said)| Some(said.rsplit_once('"')?.0));
        let is_said = said.is_none_or(|said| says(Path::new("artifacts"), said));
        let is_so = || is_said && least.is_none_or(|least| reached >= Some(least));
        match script.judges {
            Judges::Honest => known(line).unwrap_or_else(is_so),
            Judges::AllTrue => true,
            Judges::BelievesFiles => known(line).is_some() || is_so(),
        }
    })
}

/// Answers each statement of the prompt, by its id and its line. `at_fault` is the member blamed for false ones.
pub(crate) fn judged(
    prompt: &str,
    evidence: &str,
    at_fault: Option<&str>,
    is_true: impl Fn(&str, &str) -> bool,
) -> String {
    let (_, statements) = prompt.rsplit_once("## The statements").expect("statements are asked about");
    let is_statement = |line: &&str| line.starts_with('`') && !line.starts_with("```");
    let criteria = statements.lines().filter(is_statement).map(|line| {
        let id = between(line, "`", "`").expect("a statement has an id");
        let verdict = if is_true(&id, line) { "pass" } else { "fail" };
        let at_fault = at_fault.filter(|_| verdict == "fail");
        json!({ "id": id, "verdict": verdict, "evidence": evidence, "at_fault": at_fault })
    });
    let criteria: Vec<_> = criteria.collect();
    let code = nonce(prompt).expect("a code is asked for");
    json!({ "verdict_of": code, "criteria": criteria, "strengths": [], "weaknesses": ["out.md: short"] })
        .to_string()
}

/// Returns the truth of a statement about the produced files with which skilltune tests a judge.
pub(crate) fn known(line: &str) -> Option<bool> {
    let produced = || {
        let members = fs::read_dir("artifacts").into_iter().flatten();
        members.map(|entry| entry.expect("what was produced can be read").path())
    };
    let holds_one = |folder: PathBuf| fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    if line.contains("At least one file was produced.") {
        Some(produced().any(holds_one))
    } else if line.contains("No file was produced.") {
        Some(!produced().any(holds_one))
    } else {
        let path = between(line, "Among the files that were produced there is `", "`.")?;
        Some(produced().any(|folder| folder.join(&path).is_file()))
    }
}

/// Returns whether a file below the folder contains the text.
fn says(folder: &Path, text: &str) -> bool {
    let entries = fs::read_dir(folder).expect("what was produced can be read");
    entries.map(|entry| entry.expect("readable").path()).any(|path| {
        if path.is_dir() {
            return says(&path, text);
        }
        String::from_utf8_lossy(&fs::read(path).expect("readable")).contains(text)
    })
}

fn asked(prompt: &str) -> Asked {
    let nonce = nonce(prompt);
    let page = prompt.rsplit_once("## The criteria").expect("criteria are asked for").1;
    let criteria = page.lines().filter(|line| line.starts_with("- `"));
    let criteria = criteria.filter_map(|line| Some((between(line, "- `", "`")?, known(line))));
    Asked { nonce: nonce.expect("a code is asked for"), criteria: criteria.collect() }
}

/// Passes as many half criteria of each dimension as come closest to the score.
fn verdicts(asked: &Asked, score: u32, member: Option<&str>) -> Vec<Value> {
    let dimension = |id: &str| id.split_once('.').map_or(id, |(dimension, _)| dimension).to_owned();
    let count = |of: &str| asked.criteria.iter().filter(|(id, _)| dimension(id) == of).count();
    let mut nth = std::collections::HashMap::<String, u32>::new();
    let judged = asked.criteria.iter().map(|(id, known)| {
        let of = dimension(id);
        let halves = u32::try_from(count(&of)).expect("few criteria") * 2;
        let met = (score * halves + 50) / 100;
        let place = nth.entry(of).or_default();
        let verdict = match (known, met.saturating_sub(*place * 2)) {
            (Some(false), _) | (None, 0) => "fail",
            (None, 1) => "partial",
            (Some(true) | None, _) => "pass",
        };
        *place += 1;
        let mut entry = json!({ "id": id, "verdict": verdict, "evidence": "SKILL.md: \"Quality\"" });
        if let Some(member) = member {
            entry["member"] = member.into();
        }
        entry
    });
    judged.collect()
}

fn claim(score: u32) -> String {
    let names = ["clarity", "completeness", "correctness", "effectiveness", "efficiency"];
    let dimensions: Vec<_> = names.iter().map(|id| json!({ "id": id, "score": score })).collect();
    json!({ "composite_score": 99, "dimensions": dimensions, "strengths": [], "weaknesses": [], "suggestions": [] })
        .to_string()
}
