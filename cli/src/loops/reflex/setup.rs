//! The questions before a run starts: what kind of text it is, and what to make the rules from.

use skilltune_phases::loops::reflex::criteria::{Level, Rule, RuleId, Severity, Template, Weights};

use crate::loops::reflex::rules_file::OWN;
use crate::terminal::complaint::Complaint;
use crate::terminal::questions::Answers;

/// The user's answers.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupAnswers {
    pub template: Template,
    pub ideal: Option<String>,
    pub context: Vec<String>,
    /// The mandatory checks.
    pub must: Vec<Rule>,
    pub major: Option<String>,
}

impl SetupAnswers {
    /// Returns only the kind.
    pub fn only(template: Template) -> Self {
        Self { template, ideal: None, context: Vec::new(), must: Vec::new(), major: None }
    }
}

/// Asks briefly if the task shows its kind and the user wants no more, else one by one.
pub fn asked(
    guess: Option<Template>,
    weights: Weights,
    person: &dyn Answers,
) -> Result<SetupAnswers, Complaint> {
    if let Some(template) = guess {
        let short = format!("with the rules for {template}, and those that the evaluator proposes");
        let options =
            [short.as_str(), "step by step: kind, ideal result, mandatory checks, major issues", "quit"];
        match person.pick("How should this run be set up?", &options, 0)? {
            0 => return Ok(SetupAnswers::only(template)),
            1 => {}
            _ => return Err(Complaint::interrupted()),
        }
    }
    let names: Vec<&str> = Template::ALL.iter().map(|template| template.as_str()).collect();
    let start =
        guess.and_then(|guess| Template::ALL.iter().position(|template| *template == guess)).unwrap_or(0);
    let chosen = person.pick("What kind of text is it?", &names, start)?;
    let template = Template::ALL[chosen.min(Template::ALL.len() - 1)];
    let ideal = person.line("What would the ideal result be?", "enter to leave it open")?;
    let context = person.line(
        "Which files tell the agents about the project?",
        "paths separated by spaces; enter for DESCRIPTION.md, RULES.md etc.",
    )?;
    let context = context.as_deref().and_then(shlex::split).unwrap_or_default();
    let mut must: Vec<Rule> = Vec::new();
    while let Some(line) = person.line(
        "What must always hold?",
        "a rule, or `$ COMMAND artifact.md` that must succeed; enter when done",
    )? {
        must.push(demand(&line, Level::A, Severity::Fail, weights, &must));
    }
    let major = person.line("What is a major issue?", "in your words; enter to leave it to the rules")?;
    Ok(SetupAnswers { template, ideal, context, must, major })
}

/// Makes a rule from a line: a demand in words, or a command after a dollar sign.
pub fn demand(line: &str, level: Level, severity: Severity, weights: Weights, known: &[Rule]) -> Rule {
    let command = command(line);
    let description = match &command {
        Some(argv) => format!("`{}` succeeds.", argv.join(" ")),
        None => line.trim().to_owned(),
    };
    let id = free(&RuleId::made(level, OWN, &description), known);
    let rule = Rule::new(id.as_str(), severity, weights, &description).expect("a made id is of the form");
    Rule { command, ..rule }
}

/// Returns the program and its arguments, quoted as in a shell; nothing else of a shell is supported.
pub fn command(line: &str) -> Option<Vec<String>> {
    let argv = shlex::split(line.trim().strip_prefix('$')?)?;
    Some(argv).filter(|argv| argv.first().is_some_and(|program| !program.is_empty()))
}

/// Returns the id, or the first with a number that no rule has.
fn free(id: &RuleId, known: &[Rule]) -> RuleId {
    let is_taken = |id: &RuleId| known.iter().any(|rule| rule.id == *id);
    let ids = std::iter::once(id.clone()).chain((2..).map(|number| id.numbered(number)));
    ids.into_iter().find(|id| !is_taken(id)).expect("numbers do not end")
}

#[cfg(test)]
mod tests;
