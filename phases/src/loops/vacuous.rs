//! Finds scenarios and demands that show nothing, without a call: in the suite itself, or in trials of past runs.

mod tally;

use std::collections::HashMap;

use crate::base::name::Name;
use crate::suites::checks::{Check, Facts, How, Text, Times, tell};
use crate::suites::demand::Demand;
use crate::suites::scenario::Scenario;

pub use tally::{Tally, never, passes_without};

/// A scenario that shows nothing, or one such demand of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vacuous {
    pub scenario: Name,
    pub demand: Option<Name>,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Another scenario has the same task, with files of the same names.
    Duplicate(Name),
    /// The task contains this part of the expected result.
    NamesAnswer(Box<str>),
    /// The scenario's own files meet it.
    MetAtStart,
    /// An agent that does nothing meets all its demands.
    MetByNothing,
    AlwaysMet,
    NeverMet,
    NoDemand,
    /// Every trial of runs met it.
    NeverFails(Trials),
    /// No trial of runs met it.
    NeverPasses(Trials),
    /// All trials without the skill met all its demands.
    PassesWithout {
        trials: usize,
    },
}

/// The number of trials with a result, and of versions of a skill in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    pub trials: usize,
    pub versions: usize,
}

impl Why {
    pub fn id(&self) -> &'static str {
        match self {
            Self::Duplicate(_) => "duplicate",
            Self::NamesAnswer(_) => "names-answer",
            Self::MetAtStart => "met-at-start",
            Self::MetByNothing => "met-by-nothing",
            Self::AlwaysMet => "always-met",
            Self::NeverMet => "never-met",
            Self::NoDemand => "no-demand",
            Self::NeverFails(_) => "never-fails",
            Self::NeverPasses(_) => "never-passes",
            Self::PassesWithout { .. } => "passes-without",
        }
    }
}

/// A trial of a scenario in which the agent does and says nothing.
pub trait Untouched: Facts {
    /// Identifies the scenario's files, so that tasks with other files are different tasks.
    fn brought(&self) -> String;
}

/// Returns everything that shows nothing, in the order of the scenarios.
pub fn vacuous<U: Untouched>(scenarios: &[Scenario], untouched: impl Fn(&Scenario) -> U) -> Vec<Vacuous> {
    let mut found = Vec::new();
    let mut tasks = HashMap::<(String, String, String), &Name>::new();
    for scenario in scenarios {
        let start = untouched(scenario);
        let mut add = |demand: Option<&Demand>, why: Why| {
            let demand = demand.map(|demand| demand.id.clone());
            found.push(Vacuous { scenario: scenario.id.clone(), demand, why });
        };
        let task = plain(&scenario.description);
        let whole = (task.clone(), plain(&scenario.input_args), start.brought());
        if let Some(other) = tasks.get(&whole) {
            add(None, Why::Duplicate((*other).clone()));
        } else {
            tasks.insert(whole, &scenario.id);
        }
        if scenario.demands.is_empty() && scenario.requirements.is_empty() && scenario.expected.is_none() {
            add(None, Why::NoDemand);
        }
        if let Some(named) = scenario.expected.as_deref().and_then(|expected| named(&task, expected)) {
            add(None, Why::NamesAnswer(named));
        }
        for demand in &scenario.demands {
            if let Some(why) = of_demand(demand, &task, &start) {
                add(Some(demand), why);
            }
        }
        if is_met_by_nothing(scenario, &start) {
            add(None, Why::MetByNothing);
        }
    }
    found
}

fn of_demand(demand: &Demand, task: &str, start: &dyn Facts) -> Option<Why> {
    let check = match &demand.how {
        How::Question { text } => {
            return quoted(text).find_map(|quote| named(task, quote)).map(Why::NamesAnswer);
        }
        How::Check(check) => check,
    };
    let met = || tell(check, start).0;
    match check {
        Check::Touches { only } if only.iter().any(|glob| &**glob == "**") => Some(Why::AlwaysMet),
        // Every text contains the empty text.
        Check::Pattern { of: Text::Answer | Text::Transcript, times: Times { max: Some(0), .. }, .. } => {
            (met() == Some(false)).then_some(Why::NeverMet)
        }
        Check::Pattern { pattern, of, times } if times.min > 0 => {
            let at_start = matches!(of, Text::Files(_)) && met() == Some(true);
            let literal = || literal(pattern).and_then(|text| named(task, &text));
            if at_start { Some(Why::MetAtStart) } else { literal().map(Why::NamesAnswer) }
        }
        Check::File { times, .. } if times.min > 0 => (met() == Some(true)).then_some(Why::MetAtStart),
        Check::Schema { .. } | Check::Json { .. } => (met() == Some(true)).then_some(Why::MetAtStart),
        Check::Pattern { .. }
        | Check::File { .. }
        | Check::Command { .. }
        | Check::Touches { .. }
        | Check::Skill { .. }
        | Check::Tool { .. }
        | Check::ToolOrder { .. }
        | Check::AtMost { .. } => None,
    }
}

/// Returns whether doing nothing meets all demands. A skill that must stay unused is a deliberate demand.
fn is_met_by_nothing(scenario: &Scenario, start: &dyn Facts) -> bool {
    let is_met = |demand: &Demand| match demand.how.check() {
        None | Some(Check::Skill { .. } | Check::Command { .. }) => false,
        Some(Check::AtMost { .. }) => true,
        Some(check) => tell(check, start).0 == Some(true),
    };
    !scenario.demands.is_empty() && scenario.demands.iter().all(is_met)
}

/// Returns the text in lower case, with single spaces.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Shorter words occur in many tasks.
const SHORTEST: usize = 4;

/// Returns the text if the plain task contains it.
fn named(task: &str, text: &str) -> Option<Box<str>> {
    let text = plain(text);
    let is_there = text.chars().count() >= SHORTEST && task.contains(&text);
    is_there.then(|| text.into())
}

/// Returns the parts in quotation marks or backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    [('"', '"'), ('`', '`'), ('“', '”')].into_iter().flat_map(move |(open, close)| {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (quote, behind) = rest.split_once(open)?.1.split_once(close)?;
            rest = behind;
            Some(quote)
        })
    })
}

/// Returns the only text that a pattern matches, if there is only one.
fn literal(pattern: &str) -> Option<String> {
    let mut rest = pattern;
    if let Some((flags, behind)) = pattern.strip_prefix("(?").and_then(|inner| inner.split_once(')')) {
        rest = if flags.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') {
            behind
        } else {
            return None;
        };
    }
    let mut text = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.push(chars.next().filter(|c| !c.is_alphanumeric())?),
            '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests;
