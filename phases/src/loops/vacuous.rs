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
        let task = Task::of(&scenario.description);
        let whole = (plain(&scenario.description), plain(&scenario.input_args), start.brought());
        if let Some(other) = tasks.get(&whole) {
            add(None, Why::Duplicate((*other).clone()));
        } else {
            tasks.insert(whole, &scenario.id);
        }
        if scenario.demands.is_empty() && scenario.requirements.is_empty() && scenario.expected.is_none() {
            add(None, Why::NoDemand);
        }
        if let Some(named) = scenario.expected.as_deref().and_then(|expected| task.names(expected)) {
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

fn of_demand(demand: &Demand, task: &Task, start: &dyn Facts) -> Option<Why> {
    let check = match &demand.how {
        How::Question { text } => {
            return quoted(text).find_map(|quote| task.names(quote)).map(Why::NamesAnswer);
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
            let literal = || literal(pattern).and_then(|text| task.names(&text));
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

/// The description of a scenario, to search for its answer. A command that the agent is to run has many words that say
/// nothing about the result.
#[derive(Default)]
struct Task {
    /// Without its commands.
    words: String,
    commands: Vec<String>,
}

/// Stands for a command, and is part of no answer.
const COMMAND: &str = "\0";

/// The languages of a fenced block that holds commands.
const SHELLS: [&str; 6] = ["bash", "console", "sh", "shell", "shell-session", "zsh"];

/// Shorter words occur in many tasks.
const SHORTEST: usize = 4;

impl Task {
    /// Splits a description. A command is a line of a shell's block, a line after a prompt, or a code span of several
    /// words: one word in a span is a name.
    fn of(description: &str) -> Self {
        let (mut task, mut words, mut is_shell) = (Self::default(), Vec::new(), false);
        for line in description.lines().map(str::trim) {
            if let Some(language) = line.strip_prefix("```") {
                is_shell = SHELLS.contains(&language.trim());
            } else if let Some(command) = is_shell.then_some(line).or_else(|| prompted(line)) {
                task.commands.push(plain(command));
                words.push(COMMAND);
            } else {
                let parts: Vec<&str> = line.split('`').collect();
                for (at, &part) in parts.iter().enumerate() {
                    let is_span = at % 2 == 1 && at + 1 < parts.len();
                    if is_span && part.split_whitespace().nth(1).is_some() {
                        task.commands.push(plain(part));
                        words.push(COMMAND);
                    } else {
                        words.push(part);
                    }
                }
            }
        }
        task.words = plain(&words.join(" "));
        task
    }

    /// Returns the text if the task says it, or if it is a whole command of the task.
    fn names(&self, text: &str) -> Option<Box<str>> {
        let text = plain(&text.replace('`', " "));
        let is_said = || self.words.contains(&text) || self.commands.contains(&text);
        let is_named = text.chars().count() >= SHORTEST && is_said();
        is_named.then(|| text.into())
    }
}

/// Returns the command after a shell's prompt. An amount of money is none.
fn prompted(line: &str) -> Option<&str> {
    line.strip_prefix("$ ").filter(|command| command.starts_with(char::is_alphabetic))
}

/// Returns the parts in quotation marks or backticks. A quotation within another one is a part of that.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (at, open) = rest.char_indices().find(|(_, letter)| matches!(letter, '"' | '`' | '“'))?;
            let close = if open == '“' { '”' } else { open };
            rest = &rest[at + open.len_utf8()..];
            if let Some((quote, behind)) = rest.split_once(close) {
                rest = behind;
                return Some(quote);
            }
        }
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
