//! Test scenarios: the actions of a machine on the artifact, and the expected outcome. Each decides the criterion that
//! it names.

use serde::{Deserialize, Serialize};

use crate::judging::contract::CriterionId;
use crate::suites::checks::{Check, fault, shell_fault};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestScenario {
    pub id: CriterionId,
    pub criterion: CriterionId,
    pub description: Box<str>,
    pub run: Tool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// A browser does these one after the other, starting at the first page.
    Browser(Vec<Act>),
    /// A program that must end with exit code 0. It runs in a copy of the artifact.
    Command(Vec<String>),
}

/// One step in a browser.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    pub act: Verb,
    /// A path, a width, the words on a control or beside a field, or a text to look for.
    pub on: Box<str>,
    /// The text to type into a field.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub text: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Open,
    Width,
    Click,
    Fill,
    See,
    Miss,
}

pub const MOST_ACTS: usize = 12;
const LONGEST: usize = 200;
/// Possible screen widths, in pixels.
const WIDTHS: std::ops::RangeInclusive<u32> = 200..=4000;

impl TestScenario {
    /// Returns the fault of the scenario, if there is one.
    pub fn fault(&self) -> Option<String> {
        if self.description.trim().is_empty() {
            return Some("it needs a description".to_owned());
        }
        match &self.run {
            Tool::Browser(acts) => acts_fault(acts),
            Tool::Command(argv) => {
                let check = Check::Command { argv: argv.clone(), exit: 0, expected: "".into(), grader: None };
                fault(&check).or_else(|| shell_fault(argv))
            }
        }
    }

    pub fn command(&self) -> Option<&[String]> {
        match &self.run {
            Tool::Command(argv) => Some(argv),
            Tool::Browser(_) => None,
        }
    }
}

fn acts_fault(acts: &[Act]) -> Option<String> {
    if acts.is_empty() || acts.len() > MOST_ACTS {
        return Some(format!("it must have 1 to {MOST_ACTS} steps"));
    }
    if !acts.iter().any(|act| act.act == Verb::See) {
        return Some("no step says what to `see`".to_owned());
    }
    acts.iter().find_map(Act::fault)
}

impl Act {
    fn fault(&self) -> Option<String> {
        let Self { act, on, text } = self;
        let is_long = [on, text].iter().any(|words| words.chars().count() > LONGEST);
        if is_long || on.trim().is_empty() {
            return Some(format!("`on` must have 1 to {LONGEST} characters, and `text` no more"));
        }
        let is_wrong = match act {
            Verb::Open => crate::skills::lint::resolved("", on).is_none() || on.contains(':'),
            Verb::Width => self.width().is_none(),
            Verb::Click | Verb::Fill | Verb::See | Verb::Miss => false,
        };
        is_wrong.then(|| format!("`{on}` cannot be used with {}", act.word()))
    }

    pub fn width(&self) -> Option<u32> {
        self.on.trim().parse().ok().filter(|width| WIDTHS.contains(width))
    }

    /// Describes the step, for people and agents.
    pub fn words(&self) -> String {
        let Self { act, on, text } = self;
        match act {
            Verb::Open => format!("open {on}"),
            Verb::Width => format!("make the window {on} pixels wide"),
            Verb::Click => format!("click “{on}”"),
            Verb::Fill => format!("fill “{on}” with “{text}”"),
            Verb::See => format!("see “{on}”"),
            Verb::Miss => format!("do not see “{on}”"),
        }
    }
}

impl Verb {
    pub const ALL: [Self; 6] = [Self::Open, Self::Width, Self::Click, Self::Fill, Self::See, Self::Miss];

    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Width => "width",
            Self::Click => "click",
            Self::Fill => "fill",
            Self::See => "see",
            Self::Miss => "miss",
        }
    }
}

impl Tool {
    /// Describes the actions or the command, for people and agents.
    pub fn words(&self) -> String {
        match self {
            Self::Browser(acts) => acts.iter().map(Act::words).collect::<Vec<_>>().join(", "),
            Self::Command(argv) => serde_json::to_string(argv).expect("words have a JSON text"),
        }
    }
}
