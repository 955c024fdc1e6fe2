//! The prompts of builder and evaluator: a page for each turn, filled from the run and the folders of a workspace.
//!
//! All text from people, files and models is in fences. The judge's page has no place for a round, a score or an
//! earlier verdict: it is a function of the brief, the contract and the artifact.

use serde::Serialize;

use super::answers::{Asked, MOST_CRITERIA, MOST_PROPOSALS, MOST_TESTS, MOST_WEIGHT};
use super::contract::{Change, Contract, Criterion, Dimension};
use super::course::Item;
use super::evaluation::{Evaluation, Finding, Verdict};
use super::negotiation::{Negotiation, Proposal, Round};
use super::step::Reading;
use super::task::Brief;
use super::test_scenario::MOST_ACTS;
use crate::asking::prompt::{READING, fence, files, numbered, plain, render};
use crate::base::material::Folder;
use crate::judging::contract::DimensionId;

/// The parts of every page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub brief: &'a Brief,
    /// The files that came with the brief, if any did.
    pub given: Option<&'a Folder>,
    /// The code that an answer must repeat.
    pub nonce: &'a str,
    /// The reason why the previous answer could not be used.
    pub retry_error: Option<&'a str>,
}

/// The builder's brief for a sprint.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuildBrief<'a> {
    pub contract: &'a Contract,
    pub priority: &'a DimensionId,
    pub extra: &'a [Item],
    /// The evaluation of the files that it continues from; none in the first sprint.
    pub found: Option<&'a Evaluation>,
    /// Guidance from a person.
    pub guidance: &'a [&'a str],
    pub artifact: &'a Folder,
}

/// The brief of a judge.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgeBrief<'a> {
    pub contract: &'a Contract,
    pub asked: &'a Asked,
    pub reading: Reading,
    pub artifact: &'a Folder,
    pub screens: Option<&'a Folder>,
}

/// The tools with which a machine can try an artifact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tools {
    pub browser: bool,
    pub commands: bool,
}

impl Tools {
    pub(super) fn any(self) -> bool {
        self.browser || self.commands
    }

    pub(super) fn names(self) -> Vec<&'static str> {
        let all = [("browser", self.browser), ("command", self.commands)];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
    }
}

pub(super) fn draft(call: Call<'_>, profile: &Contract, tools: Tools) -> String {
    #[derive(Serialize)]
    struct Values {
        contract: String,
        most: usize,
        most_weight: u32,
        browser: bool,
        commands: bool,
        most_tests: usize,
        most_steps: usize,
    }
    let values = Values {
        contract: criteria(call.nonce, profile),
        most: MOST_CRITERIA,
        most_weight: MOST_WEIGHT,
        browser: tools.browser,
        commands: tools.commands,
        most_tests: MOST_TESTS,
        most_steps: MOST_ACTS,
    };
    page("draft", call, values)
}

pub(super) fn propose(call: Call<'_>, contract: &Contract, talk: &Negotiation) -> String {
    #[derive(Serialize)]
    struct Values {
        contract: String,
        declined: Option<String>,
        most: usize,
        most_weight: u32,
    }
    let last = talk.rounds.last().map(|Round { proposals, rulings }| {
        let declined = proposals.iter().zip(rulings).filter(|(_, ruling)| !ruling.is_accepted);
        let texts = declined.map(|(proposal, ruling)| {
            format!(
                "{}\nDeclined, by these words of the brief: “{}”. {}",
                proposal_text(proposal),
                ruling.cites,
                ruling.why
            )
        });
        numbered(call.nonce, "proposals", texts)
    });
    let contract = criteria(call.nonce, contract);
    page("propose", call, Values { contract, declined: last, most: MOST_PROPOSALS, most_weight: MOST_WEIGHT })
}

pub(super) fn rule(call: Call<'_>, contract: &Contract, proposals: &[Proposal]) -> String {
    #[derive(Serialize)]
    struct Values {
        contract: String,
        proposals: String,
    }
    let contract = criteria(call.nonce, contract);
    let proposals = numbered(call.nonce, "proposals", proposals.iter().map(proposal_text));
    page("rule", call, Values { contract, proposals })
}

pub(super) fn build(call: Call<'_>, brief: BuildBrief<'_>) -> String {
    #[derive(Serialize)]
    struct Values<'a> {
        at: &'a str,
        artifact: Option<String>,
        contract: String,
        avoid: Option<String>,
        unmet: Option<String>,
        met: Option<String>,
        priority: String,
        extra: Option<String>,
        guidance: Option<String>,
    }
    let BuildBrief { contract, priority, extra, found, guidance, artifact } = brief;
    let seed = call.nonce;
    let of = |is_passed: bool| {
        let findings = found.into_iter().flat_map(|found| &found.findings);
        findings.filter(move |finding| (finding.verdict == Verdict::Passed) == is_passed)
    };
    let patterns = found.into_iter().flat_map(|found| &found.patterns).map(|hit| {
        let pattern = contract.anti_patterns.iter().find(|pattern| pattern.id == hit.pattern);
        let pattern = pattern.map_or("", |pattern| &pattern.pattern);
        format!("{}: {pattern}\nSeen: {}", hit.pattern, hit.evidence)
    });
    let unmet = of(false).map(|finding| missed(contract, finding)).chain(patterns);
    let avoid = contract.anti_patterns.iter().map(|pattern| pattern.pattern.to_string());
    let priority = contract.dimension(priority).map_or("", |dimension| &dimension.name);
    let values = Values {
        at: &artifact.at,
        artifact: (!artifact.files.is_empty()).then(|| files(seed, artifact)),
        contract: criteria(seed, contract),
        avoid: list(seed, "to be avoided", avoid),
        unmet: list(seed, "what is missed", unmet),
        met: list(seed, "what is met", of(true).map(|finding| finding.criterion.to_string())),
        priority: plain(priority),
        extra: list(seed, "besides", extra.iter().map(item)),
        guidance: list(seed, "guidance", guidance.iter().map(ToString::to_string)),
    };
    page("build", call, values)
}

pub(super) fn judge(call: Call<'_>, brief: JudgeBrief<'_>) -> String {
    #[derive(Serialize)]
    struct Values<'a> {
        second: bool,
        at: &'a str,
        artifact: String,
        screens: Option<String>,
        dimensions: String,
        contract: Option<String>,
        entries: usize,
        most_wanted: usize,
        patterns: Option<String>,
        extra: Option<String>,
    }
    let JudgeBrief { contract, asked, reading, artifact, screens } = brief;
    let seed = call.nonce;
    let screens = screens.filter(|folder| !folder.files.is_empty()).map(|folder| {
        let paths =
            folder.files.iter().map(|file| format!("`{}`", plain(&format!("{}/{}", folder.at, file.path))));
        paths.collect::<Vec<_>>().join(", ")
    });
    let patterns = asked.patterns.iter().map(|pattern| format!("{}\n{}", pattern.id, pattern.pattern));
    let values = Values {
        second: reading == Reading::Second,
        at: &artifact.at,
        artifact: files(seed, artifact),
        screens,
        dimensions: numbered(seed, "dimensions", contract.dimensions.iter().map(dimension)),
        contract: list(seed, "criteria", asked.criteria.iter().map(criterion)),
        entries: asked.criteria.len(),
        most_wanted: asked.most_wanted,
        patterns: list(seed, "anti-patterns", patterns),
        extra: list(seed, "besides", asked.extra.iter().map(item)),
    };
    page("judge", call, values)
}

/// Returns the page of a turn: the common parts, and its own values.
fn page(turn: &str, call: Call<'_>, values: impl Serialize) -> String {
    #[derive(Serialize)]
    struct PromptPage<'a, V> {
        reading: &'static str,
        brief: String,
        given: Option<String>,
        nonce: &'a str,
        retry_error: Option<String>,
        #[serde(flatten)]
        values: V,
    }
    let Call { brief, given, nonce, retry_error } = call;
    let page = PromptPage {
        reading: READING,
        brief: fence(nonce, &brief.file, &brief.text),
        given: given.filter(|folder| !folder.files.is_empty()).map(|folder| files(nonce, folder)),
        nonce,
        retry_error: retry_error.map(|error| fence(nonce, "what was wrong", error)),
        values,
    };
    render(&format!("gan/{turn}"), page)
}

fn list(seed: &str, label: &str, texts: impl Iterator<Item = String>) -> Option<String> {
    let mut texts = texts.peekable();
    texts.peek().is_some().then(|| numbered(seed, label, texts))
}

fn criteria(seed: &str, contract: &Contract) -> String {
    let texts = contract.criteria.iter().map(|one| {
        let tests = contract.tests_of(&one.id).map(|test| {
            format!("\nA machine tries it ({}): {}", plain(&test.description), plain(&test.run.words()))
        });
        format!("{}{}", criterion(one), tests.collect::<String>())
    });
    numbered(seed, "criteria", texts)
}

fn criterion(criterion: &Criterion) -> String {
    let Criterion { id, dimension, criterion, verification, must_pass, .. } = criterion;
    let must = if *must_pass { ", must pass" } else { "" };
    format!("{id} ({dimension}{must})\n{criterion}\nHow to tell: {verification}")
}

fn dimension(dimension: &Dimension) -> String {
    let [quarter, half, solid, full] = &dimension.anchors;
    format!(
        "{} ({})\n0.25: {quarter}\n0.50: {half}\n0.75: {solid}\n1.00: {full}",
        dimension.id, dimension.name
    )
}

fn item(item: &Item) -> String {
    format!("{}\n{}\nHow to tell: {}", item.id, item.text, item.verification)
}

fn missed(contract: &Contract, finding: &Finding) -> String {
    let verdict = if finding.verdict == Verdict::Failed { "failed" } else { "could not be told" };
    let must = contract.criterion(&finding.criterion).is_some_and(|criterion| criterion.must_pass);
    let must = if must { ", must pass" } else { "" };
    let fix = finding.fix.as_deref().map(|fix| format!("\nTo pass: {fix}")).unwrap_or_default();
    format!("{} ({verdict}{must})\nSeen: {}{fix}", finding.criterion, finding.evidence)
}

fn proposal_text(proposal: &Proposal) -> String {
    let change = match &proposal.change {
        Change::Add(added) => format!("Add {}", criterion(added)),
        Change::Drop { criterion } => format!("Drop {criterion}."),
        Change::Reword { criterion, text, verification } => {
            format!("Reword {criterion}: {text}\nHow to tell: {verification}")
        }
        Change::MustPass { criterion, must: true } => format!("Let {criterion} be one that must pass."),
        Change::MustPass { criterion, must: false } => format!("Let {criterion} be one that need not pass."),
    };
    format!("{change}\nBecause: {}", proposal.why)
}
