//! The improver's prompt: what was missed and why, what must stay, what was tried, and two ways to answer.

use serde::{Deserialize, Serialize};

use super::fence::{Activity, activity, files, numbered, plain};
use super::skill_files::skill_files;
use super::{READING, fence, scenario, was_wrong};
use crate::base::delivery::Uses;
use crate::base::material::Named;
use crate::judging::contract::{CriterionId, Verdict};
use crate::judging::judgement::Suggestion;
use crate::suites::scenario::Scenario;

#[derive(Clone, Copy, Debug)]
pub struct ImproveBrief<'a> {
    /// The only member that may be changed.
    pub skill: Named<'a>,
    /// Whether the improver can open files: then it gets `SKILL.md` and the files that the faults name, and a list of the
    /// others if they are long.
    pub opens_files: bool,
    /// Whether the outcome of the skill makes its score.
    pub by_outcome: bool,
    /// The scenarios of the search.
    pub scenarios: &'a [&'a Scenario],
    /// The output of its worst trial, and that trial's scenario.
    pub produced: Option<(Named<'a>, &'a str)>,
    /// Failed and partial criteria with their evidence, the most important first.
    pub unmet: &'a [Missed],
    /// Scenarios whose trial did not finish, and why.
    pub unfinished: &'a [(&'a str, &'a str)],
    /// Criteria that must stay met.
    pub met: &'a [Asked],
    pub suggestions: &'a [Suggestion],
    /// Changes that this version has, oldest first.
    pub kept: &'a [EarlierChange],
    /// Changes that did not help, oldest first.
    pub tried: &'a [EarlierChange],
    pub before: Option<&'a Neighbour>,
    pub after: Option<&'a Neighbour>,
    /// The reason why the previous answer could not be used.
    pub retry_error: Option<&'a str>,
    /// How often the skill was used where it was installed.
    pub uses: Uses,
    /// The agent's activity in the worst trials, as far as reported: the scenario's name, and a digest.
    pub activity: &'a [(&'a str, &'a str)],
    pub seed: &'a str,
}

/// A criterion and its question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub id: CriterionId,
    pub question: String,
}

/// A criterion that was not met, and the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    pub asked: Asked,
    pub verdict: Verdict,
    pub evidence: Box<str>,
}

/// An earlier change of the skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierChange {
    pub summary: String,
    /// The outcome in words: never a score.
    pub outcome: String,
}

/// The chain member before or after the one to improve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub name: String,
    pub description: String,
    /// Paths of the files that pass between the two.
    pub files: Vec<String>,
}

// A longer list makes a prompt that is too hard to follow.
const MOST_SUGGESTIONS: usize = 12;
const MOST_CHANGES: usize = 8;
const MOST_FILES: usize = 40;

pub(super) fn values(brief: &ImproveBrief<'_>) -> Values {
    let seed = brief.seed;
    let scenarios: Vec<_> = brief.scenarios.iter().map(|one| scenario(seed, one)).collect();
    let suggestions = brief.suggestions.iter().take(MOST_SUGGESTIONS).map(suggested);
    Values {
        reading: READING,
        name: plain(brief.skill.name),
        at: plain(&brief.skill.folder.at),
        files: skill_files(seed, brief.skill.folder, brief.opens_files, &naming(brief)),
        by_outcome: brief.by_outcome,
        scenarios: scenarios.join("\n\n"),
        unused: brief.uses.offered,
        trials: brief.uses.trials(),
        produced: brief.produced.map(|(produced, scenario)| Produced {
            scenario: plain(scenario),
            at: plain(&produced.folder.at),
            files: files(seed, produced.folder),
        }),
        unmet: list(seed, "criteria missed", brief.unmet.iter().map(missed)),
        unfinished: list(
            seed,
            "unfinished trials",
            brief.unfinished.iter().map(|(scenario, why)| format!("{scenario}: {why}")),
        ),
        met: list(
            seed,
            "criteria met",
            brief.met.iter().map(|Asked { id, question }| format!("{id}: {question}")),
        ),
        suggestions: list(seed, "suggestions", suggestions),
        kept: list(seed, "changed before and kept", changes(brief.kept)),
        tried: list(seed, "tried before", changes(brief.tried)),
        before: brief.before.map(|one| neighbour(seed, "handed over to this skill", one)),
        after: brief.after.map(|one| neighbour(seed, "handed on by this skill", one)),
        activity: brief.activity.iter().map(|(name, digest)| activity(seed, name, digest)).collect(),
        retry_error: was_wrong(seed, brief.retry_error),
    }
}

/// Returns the texts that may name files of the skill: what was missed, what is suggested, and what was wrong before.
fn naming<'a>(brief: &ImproveBrief<'a>) -> Vec<&'a str> {
    let missed = brief.unmet.iter().flat_map(|one| [&*one.asked.question, &*one.evidence]);
    let suggested = brief.suggestions.iter().take(MOST_SUGGESTIONS).flat_map(|one| {
        let Suggestion { target_file, description, rationale, snippet, priority: _, member: _ } = one;
        [&**target_file, &**description, &**rationale].into_iter().chain(snippet.as_deref())
    });
    missed.chain(suggested).chain(brief.retry_error).collect()
}

/// Describes changes, latest first.
fn changes(all: &[EarlierChange]) -> impl Iterator<Item = String> {
    let latest = all.iter().rev().take(MOST_CHANGES);
    latest.map(|change| format!("{}\n{}", change.summary, change.outcome))
}

fn missed(missed: &Missed) -> String {
    let Missed { asked: Asked { id, question }, verdict, evidence } = missed;
    format!("{id} ({verdict}): {question}\nSeen: {evidence}")
}

fn suggested(suggestion: &Suggestion) -> String {
    let Suggestion { priority, target_file, description, rationale, snippet, member: _ } = suggestion;
    let snippet = snippet.as_ref().map(|text| format!("\nText to use:\n{text}")).unwrap_or_default();
    format!("[{priority}] {target_file}: {description}\nWhy: {rationale}{snippet}")
}

/// Returns a fenced list, or None if it is empty.
fn list(seed: &str, label: &str, texts: impl Iterator<Item = String>) -> Option<String> {
    let mut texts = texts.peekable();
    texts.peek().is_some().then(|| numbered(seed, label, texts))
}

fn neighbour(seed: &str, label: &str, one: &Neighbour) -> Beside {
    let paths: Vec<_> =
        one.files.iter().take(MOST_FILES).map(|path| format!("\n- {}", plain(path))).collect();
    let content = format!("{}: {}\n\nFiles:{}", one.name, one.description, paths.concat());
    Beside { name: plain(&one.name), about: fence(seed, label, &content) }
}

#[derive(Serialize)]
pub(super) struct Values {
    reading: &'static str,
    name: String,
    at: String,
    files: String,
    by_outcome: bool,
    scenarios: String,
    /// How often the skill was offered and not used, and in how many trials.
    unused: usize,
    trials: usize,
    produced: Option<Produced>,
    unmet: Option<String>,
    unfinished: Option<String>,
    met: Option<String>,
    suggestions: Option<String>,
    kept: Option<String>,
    tried: Option<String>,
    before: Option<Beside>,
    after: Option<Beside>,
    activity: Vec<Activity>,
    retry_error: Option<String>,
}

#[derive(Serialize)]
struct Produced {
    scenario: String,
    at: String,
    files: String,
}

#[derive(Serialize)]
struct Beside {
    name: String,
    about: String,
}
