//! Reads the answers of reviewers and verifiers. Nothing that they claim is looked up here.

use serde_json::Value;

use super::finding::{Dropped, Severity, Side};
use super::proof::{Proposal, Verdict};
use super::quote::Claim;
use super::{AgentRequest, MOST_FINDINGS};
use crate::base::answer::{Object, OffSchema, capped, coded, shape, words};
use crate::loops::shared::request::off_schema;
use crate::runs::event::Outcome;

const LONGEST_TITLE: usize = 160;
const LONGEST_TEXT: usize = 1_200;
const LONGEST_PATH: usize = 400;
/// The most of a quote that is kept of a finding that does not count.
const LONGEST_SHOWN: usize = 400;
const MOST_WORDS: usize = 40;

/// A finding as a reviewer reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct RawFinding {
    pub severity: Severity,
    pub title: Box<str>,
    pub path: String,
    pub line: Option<u32>,
    pub side: Side,
    pub quote: String,
    pub what: Box<str>,
    pub suggestion: Box<str>,
    /// The exact text for the quote's place.
    pub replacement: Option<String>,
}

/// The answer of a verifier, with the quote that speaks against a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct RawVerdict {
    pub verdict: Verdict,
    pub why: Box<str>,
    pub path: String,
    pub line: Option<u32>,
    pub quote: String,
    pub proposal: Option<Proposal>,
}

/// The findings of an answer, and those that cannot be read.
pub(super) type RawFindings = (Vec<RawFinding>, Vec<Dropped>);

impl AgentRequest {
    pub fn raw_findings(&self, answer: &str) -> Outcome<RawFindings> {
        coded(answer, &self.code, "findings", findings).map_err(|why| off_schema(&why))
    }

    pub fn raw_verdict(&self, answer: &str) -> Outcome<RawVerdict> {
        coded(answer, &self.code, "verdict", verdict).map_err(|why| off_schema(&why))
    }
}

impl RawFinding {
    pub fn claim(&self) -> Claim<'_> {
        Claim { path: &self.path, side: self.side, line: self.line, quote: &self.quote }
    }

    pub fn dropped(&self, why: &str) -> Dropped {
        let place = self.line.map_or_else(|| self.path.clone(), |line| format!("{}:{line}", self.path));
        let quote = capped(&self.quote, LONGEST_SHOWN).into();
        Dropped { title: self.title.clone(), place: place.into(), quote, why: why.into() }
    }
}

impl RawVerdict {
    pub fn claim(&self) -> Claim<'_> {
        Claim { path: &self.path, side: Side::New, line: self.line, quote: &self.quote }
    }
}

fn findings(mut object: Object) -> Result<RawFindings, OffSchema> {
    let Some(Value::Array(list)) = object.remove("findings") else {
        return Err(shape("`findings` must be a list"));
    };
    let (mut read, mut dropped) = (Vec::new(), Vec::new());
    for (at, entry) in list.iter().enumerate() {
        let refused = |why: &str| {
            let text = |key, most| words(entry.get(key), most).unwrap_or_default();
            let (title, place) = (text("title", LONGEST_TITLE), text("path", LONGEST_PATH));
            Dropped { title, place, quote: text("quote", LONGEST_SHOWN), why: why.into() }
        };
        match finding(entry) {
            _ if at >= MOST_FINDINGS => {
                dropped.push(refused("the answer has more findings than were asked for"));
            }
            Ok(finding) => read.push(finding),
            Err(why) => dropped.push(refused(why)),
        }
    }
    Ok((read, dropped))
}

fn finding(entry: &Value) -> Result<RawFinding, &'static str> {
    let text = |key, most| words(entry.get(key), most);
    let severity = entry.get("severity").and_then(Value::as_str).and_then(Severity::of);
    let side = match entry.get("side").and_then(Value::as_str) {
        None | Some("new") => Side::New,
        Some("old") => Side::Old,
        Some("absent") => Side::Absent,
        Some(_) => return Err("its side is none of new, old and absent"),
    };
    Ok(RawFinding {
        severity: severity.ok_or("its severity is none of critical, high, medium and low")?,
        title: text("title", LONGEST_TITLE).ok_or("it has no title")?,
        path: path(entry).ok_or("it names no file")?,
        line: line(entry),
        side,
        quote: quote(entry),
        what: text("what", LONGEST_TEXT).ok_or("it does not say what fails")?,
        suggestion: text("suggestion", LONGEST_TEXT).unwrap_or_default(),
        replacement: entry
            .get("replacement")
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .map(str::to_owned),
    })
}

fn verdict(object: Object) -> Result<RawVerdict, OffSchema> {
    let entry = Value::Object(object);
    let verdict = match entry.get("verdict").and_then(Value::as_str) {
        Some("confirmed") => Verdict::Confirmed,
        Some("refuted") => Verdict::Refuted,
        Some("uncertain") => Verdict::Uncertain,
        _ => return Err(shape("`verdict` must be confirmed, refuted or uncertain")),
    };
    let why = words(entry.get("why"), LONGEST_TEXT).ok_or_else(|| shape("`why` must say why"))?;
    let proposal = entry.get("proof").and_then(proposal);
    let (path, line) = (path(&entry).unwrap_or_default(), line(&entry));
    Ok(RawVerdict { verdict, why, path, line, quote: quote(&entry), proposal })
}

/// Reads a command. An odd one is none, for a verdict counts without it.
fn proposal(entry: &Value) -> Option<Proposal> {
    let given = entry.get("argv")?.as_array()?;
    let argv: Vec<String> = given.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect();
    let is_whole = argv.len() == given.len() && (1..=MOST_WORDS).contains(&argv.len());
    let is_plain = argv.iter().all(|word| !word.contains('\0') && word.len() <= LONGEST_TEXT);
    let announces = entry.get("announces").and_then(Value::as_str).unwrap_or_default();
    (is_whole && is_plain).then(|| Proposal::new(argv, &capped(announces, LONGEST_SHOWN)))
}

/// Reads a path, without the name of the folder that the agent finds the files in.
fn path(entry: &Value) -> Option<String> {
    let path = words(entry.get("path"), LONGEST_PATH)?;
    let path = path.trim_start_matches("./");
    let path = path.strip_prefix("project/").unwrap_or(path);
    // Some agents add the line.
    let (name, line) = path.rsplit_once(':').unwrap_or((path, ""));
    let has_line = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    Some(if has_line { name } else { path }.to_owned())
}

fn line(entry: &Value) -> Option<u32> {
    entry.get("line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok())
}

fn quote(entry: &Value) -> String {
    entry.get("quote").and_then(Value::as_str).unwrap_or_default().to_owned()
}
