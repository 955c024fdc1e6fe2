//! The scripted evaluator: verdicts that come to the quality which the skills in its workspace state.

use serde_json::{Value, json};

use crate::script::Script;
use crate::{name_of, quality_of, skills};

/// What the prompt asks for.
struct Asked {
    nonce: String,
    criteria: Vec<String>,
}

pub(crate) fn answer(script: &Script, prompt: &str) -> String {
    if script.rubbish {
        return "It is {quite} good.".to_owned();
    }
    let members: Vec<(String, u32)> =
        skills().iter().map(|skill| (name_of(skill), quality_of(skill))).collect();
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

fn asked(prompt: &str) -> Asked {
    let between = |line: &str, open: &str, close: &str| -> Option<String> {
        Some(line.split_once(open)?.1.split_once(close)?.0.to_owned())
    };
    // The last one: a skill may hold one of its own.
    let nonce = prompt.lines().rev().find_map(|line| between(line, "\"verdict_of\": \"", "\""));
    let page = prompt.rsplit_once("## The criteria").expect("criteria are asked for").1;
    let criteria =
        page.lines().filter(|line| line.starts_with("- `")).filter_map(|line| between(line, "- `", "`"));
    Asked { nonce: nonce.expect("a code is asked for"), criteria: criteria.collect() }
}

/// As many halves of each dimension's criteria as come nearest to the score.
fn verdicts(asked: &Asked, score: u32, member: Option<&str>) -> Vec<Value> {
    let dimension = |id: &str| id.split_once('.').map_or(id, |(dimension, _)| dimension).to_owned();
    let count = |of: &str| asked.criteria.iter().filter(|id| dimension(id) == of).count();
    let mut nth = std::collections::HashMap::<String, u32>::new();
    let judged = asked.criteria.iter().map(|id| {
        let of = dimension(id);
        let halves = u32::try_from(count(&of)).expect("few criteria") * 2;
        let met = (score * halves + 50) / 100;
        let place = nth.entry(of).or_default();
        let verdict = match met.saturating_sub(*place * 2) {
            0 => "fail",
            1 => "partial",
            _ => "pass",
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
