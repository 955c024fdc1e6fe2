//! `[review]`: who reviews, and when a review fails.

use std::convert::Infallible;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::ValueParser;
use serde_json::Value as Json;
use skilltune_phases::base::window::Percent;
use skilltune_phases::loops::review::finding::Severity;
use skilltune_phases::loops::review::task::Rules;
use toml::de::DeValue;

use crate::settings::proposed::ChecksName;
use crate::settings::range::{FEW, Range};
use crate::settings::setting::{Readable, Setting, readable_words, texts, texts_schema};
use crate::settings::table::{Table, flag, options};

options! {
    ReviewSettings, "review";
    with: Names = Setting::new(Names::usual()),
        "Experts that review, by name or by the first word of it.",
        flag("--with", "NAMES").help("Experts that review, by name or by its first word, comma-separated [default: security,performance,quality]");
    fail_on: SeverityName = Setting::new(SeverityName::High),
        "Lowest severity of a proved, confirmed or machine finding that fails a review.",
        flag("--fail-on", "SEVERITY").help("Exit with 3 if a proved, confirmed or machine finding is at least this bad [default: high]");
    unverified: Percent = Setting::new("20%".parse().expect("a percentage")),
        "Share of the findings that may stay unverified, such as `unverified = \"20%\"`; above it a review is incomplete.";
    most: u32 = Setting::within(FEW, 5), "Number of findings that are shown in full.",
        flag("--most", "N").help("Number of findings to show in full [default: 5]");
    commands: ChecksName = Setting::new(ChecksName::Ask),
        "What to do with commands that verifiers propose, and with commands that were found and not set; only your own settings may set run.",
        flag("--commands", "HOW").help("What to do with commands that agents propose or that were found");
}

impl Table for ReviewSettings {}

impl ReviewSettings {
    pub fn rules(&self) -> Rules {
        let unverified = u32::from(self.unverified.value.get());
        Rules { fail_on: self.fail_on.value.into(), unverified, most: self.most.value }
    }
}

/// The lowest severity that fails a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SeverityName {
    Critical,
    High,
    Medium,
    Low,
}

readable_words!(SeverityName);

impl From<SeverityName> for Severity {
    fn from(name: SeverityName) -> Self {
        match name {
            SeverityName::Critical => Self::Critical,
            SeverityName::High => Self::High,
            SeverityName::Medium => Self::Medium,
            SeverityName::Low => Self::Low,
        }
    }
}

/// Names of experts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Names {
    fn usual() -> Self {
        Self(["security", "performance", "quality"].map(str::to_owned).to_vec())
    }
}

impl FromStr for Names {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        Ok(Self(names.map(str::to_owned).collect()))
    }
}

impl Readable for Names {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        texts(value).map(Self)
    }

    fn must_be(_: Range) -> String {
        "a list of names, such as [\"security\", \"quality\"]".to_owned()
    }

    fn schema(_: Range) -> Json {
        texts_schema()
    }

    fn json(&self) -> Json {
        self.0.clone().into()
    }

    fn parser(_: Range) -> ValueParser {
        ValueParser::from(Self::from_str)
    }
}

/// A value of each key that differs from its default.
#[cfg(test)]
pub fn changes() -> Vec<(&'static str, &'static str)> {
    vec![
        ("review.with", "[\"security\"]"),
        ("review.fail_on", "\"medium\""),
        ("review.unverified", "\"10%\""),
        ("review.most", "7"),
        ("review.commands", "\"skip\""),
    ]
}
