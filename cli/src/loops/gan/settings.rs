//! `[gan]`: the conditions for the builder/evaluator loop to pass, to end or to ask.

use std::collections::BTreeMap;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::ValueParser;
use skilltune_phases::judging::contract::DimensionId;
use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::gan::original::{Agreement, ContractLevels};
use skilltune_phases::loops::gan::rules::{FLOOR, Rules};
use skilltune_phases::loops::gan::{Apply, Level};
use skilltune_phases::runs::proposal::Form;
use skilltune_phases::suites::checks::RunThem;
use toml::de::DeValue;

use crate::settings::commands::CommandWords;
use crate::settings::proposed;
use crate::settings::proposed::ChecksName;
use crate::settings::range::{ANY, COUNT, FEW, POINTS, Range, SECONDS};
use crate::settings::setting::{Readable, Setting, readable_words};
use crate::settings::table::{Named, Table, flag, options, switch};
use crate::settings::values;
use crate::terminal::complaint::Complaint;

const PASS: Range = Range { low: FLOOR, high: 100.0 };

options! {
    GanSettings, "gan", Rules as usual;
    level: LevelName = Setting::new(LevelName::Standard), "How thoroughly to verify the result.",
        flag("--level", "LEVEL");
    contract: bool = Setting::new(false),
        "At level standard, let builder and evaluator agree on a contract first.",
        switch("--contract")
            .help("Let builder and evaluator agree on a contract first; always on at level thorough");
    threshold: Score = Setting::within(PASS, usual.threshold) => threshold, "Score to pass.",
        flag("--threshold", "SCORE").help("Score to pass, 60 to 100").by(|| ValueParser::from(values::points));
    minimums: Minimums = Setting::new(Minimums::default()),
        "Minimum scores of single dimensions, such as `minimums = \"craft=75, originality=50\"`.",
        flag("--minimums", "LIST").help("Minimum scores of single dimensions, such as craft=75,originality=50");
    strict: bool = Setting::new(usual.strict) => strict,
        "Require the threshold of every dimension, and at least strict_rounds rounds.",
        switch("--strict").help("Require the threshold of every dimension, and at least two rounds");
    strict_rounds: u32 = Setting::limit(COUNT, usual.strict_rounds) => strict_rounds,
        "Minimum number of rounds of a strict run.";
    max_rounds: u32 = Setting::limit(COUNT, usual.max_rounds) => max_rounds,
        "Maximum number of rounds; then the run asks how to continue.",
        flag("--max-rounds", "N").help("Maximum number of rounds");
    escalate_after: u32 = Setting::within(COUNT, usual.escalate_after) => escalate_after,
        "Ask how to continue after this many rounds without a pass.";
    gain: Score = Setting::within(POINTS, usual.gain) => gain,
        "Minimum gain of a round, in points of the passed share.";
    standstill: u32 = Setting::within(COUNT, usual.standstill) => standstill,
        "Ask how to continue after this many rounds in a row that gain less than the minimum.";
    cap: Score = Setting::within(POINTS, usual.cap) => cap,
        "Maximum level of a dimension that has an anti-pattern.";
    negotiation_rounds: usize = Setting::limit(FEW, usual.negotiation_rounds) => negotiation_rounds,
        "Maximum number of rounds in which the builder proposes changes to the contract.";
    apart: Score = Setting::within(POINTS, usual.disagreement) => disagreement,
        "Level thorough: warn when two judgements differ by more than this many points.";
    extra_items: usize = Setting::within(FEW, usual.extra_items) => extra_items,
        "Maximum number of items beyond the contract that a round shows without a score.";
    commands: ChecksName = Setting::new(ChecksName::Ask),
        "What to do with the commands of test scenarios; only your own settings may set run.",
        flag("--commands", "HOW").help("What to do with the commands of test scenarios");
    command_seconds: u64 = Setting::limit(SECONDS, 300),
        "Timeout of the command of a test scenario in seconds.";
    browser: bool = Setting::new(true), "Look at the result in Chromium or Chrome, if one is installed.",
        switch("--no-browser").help("Do not look at the result in a browser");
    browser_seconds: u64 = Setting::limit(SECONDS, 120), "Timeout of one browser check in seconds.";
    apply: ApplyName = Setting::new(ApplyName::Auto),
        "What to do with an accepted result.",
        flag("--apply", "HOW").help("What to do with an accepted result [default: auto]");
    preview: CommandWords = Setting::limit(ANY, CommandWords::default()),
        "Program that serves the result to the browser, with its arguments, such as `[\"python3\", \"-m\", \"http.server\", \"{port}\"]`; it runs in a copy of the result.";
    preview_path: PathWord = Setting::new(PathWord("/".to_owned())), "Path of the first page of the preview.";
    preview_seconds: u64 = Setting::limit(SECONDS, 60), "Timeout of the start of the preview in seconds.";
    retries: u32 = Setting::limit(FEW, 1), "Maximum number of retries after an invalid answer.";
}

impl GanSettings {
    pub fn rules(&self) -> Rules {
        Rules {
            minimums: self.minimums.value.0.clone(),
            judge_twice: self.level.value == LevelName::Thorough,
            ..self.as_rules()
        }
    }

    /// Returns what to do with the commands of test scenarios.
    pub fn run_them(&self) -> Result<RunThem, Complaint> {
        proposed::by_own_word("gan.commands", "--commands", &self.commands)
    }

    /// Returns whether a contract is agreed on first.
    pub fn is_negotiated(&self, levels: &ContractLevels) -> bool {
        match levels.at(self.level.value.into()) {
            Agreement::Always => true,
            Agreement::IfAsked => self.contract.value,
            Agreement::Never => false,
        }
    }
}

impl Table for GanSettings {
    fn needs_trust(&self) -> Option<&'static str> {
        (self.preview.origin.is_projects() && !self.preview.value.0.is_empty())
            .then_some("a program that serves the result to the browser (gan.preview)")
    }

    fn command(&self) -> Option<Named<'_>> {
        let preview = &self.preview;
        Some(Named { key: "gan.preview", words: &preview.value.0, origin: &preview.origin })
    }
}

/// How thoroughly to verify the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelName {
    /// The profile is the contract
    Minimal,
    /// With --contract, builder and evaluator agree on one first
    Standard,
    /// Builder and evaluator always agree on one first, and a pass is judged twice
    Thorough,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Minimal => Self::Minimal,
            LevelName::Standard => Self::Standard,
            LevelName::Thorough => Self::Thorough,
        }
    }
}

/// What to do with an accepted result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApplyName {
    /// Write it to the folder
    Auto,
    /// Leave it in the run's folder
    Never,
    /// Commit it on the branch skilltune/NAME
    Branch,
    /// Write a patch for `git am` to the run's folder
    Patch,
    /// Make a pull request with `gh`
    Pr,
}

impl From<ApplyName> for Apply {
    fn from(name: ApplyName) -> Self {
        match name {
            ApplyName::Auto => Self::Auto,
            ApplyName::Never => Self::Never,
            ApplyName::Branch => Self::Propose(Form::Branch),
            ApplyName::Patch => Self::Propose(Form::Patch),
            ApplyName::Pr => Self::Propose(Form::PullRequest),
        }
    }
}

readable_words!(LevelName, ApplyName);

/// A path on a server.
#[derive(Clone, Debug, PartialEq)]
pub struct PathWord(pub String);

impl Readable for PathWord {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        let is_plain =
            |text: &&str| text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic());
        value.as_str().filter(is_plain).map(|text| Self(text.to_owned()))
    }

    fn must_be(_: Range) -> String {
        "a path that begins with `/`".to_owned()
    }

    fn schema(_: Range) -> serde_json::Value {
        serde_json::json!({ "type": "string", "pattern": "^/[!-~]*$" })
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().into()
    }
}

/// The scores that single dimensions must reach: `craft=75, originality=50`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Minimums(pub BTreeMap<DimensionId, Score>);

impl FromStr for Minimums {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |part: &str| {
            let (dimension, score) = part.split_once('=').ok_or(MINIMUMS)?;
            let score = values::points(score.trim())?;
            Ok((DimensionId::new(dimension.trim()), score))
        };
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(one).collect::<Result<_, String>>().map(Self)
    }
}

const MINIMUMS: &str = "a list such as \"craft=75, originality=50\"";

impl Readable for Minimums {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        value.as_str()?.parse().ok()
    }

    fn must_be(_: Range) -> String {
        MINIMUMS.to_owned()
    }

    fn schema(_: Range) -> serde_json::Value {
        serde_json::json!({ "type": "string", "pattern": "^([^,=]+=[^,=]+,?)*$" })
    }

    fn json(&self) -> serde_json::Value {
        let one = |(dimension, score): (&DimensionId, &Score)| format!("{dimension}={}", score.typed());
        self.0.iter().map(one).collect::<Vec<_>>().join(", ").into()
    }

    fn parser(_: Range) -> ValueParser {
        ValueParser::from(Self::from_str)
    }
}

#[cfg(test)]
pub use tests::changes;

#[cfg(test)]
mod tests;
