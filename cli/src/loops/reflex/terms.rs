//! Agrees on criteria and limits together: after each change the user sees all of them again.

use skilltune_phases::judging::score::Score;
use skilltune_phases::loops::reflex::criteria::{Criteria, Level, Rule, RuleId, Severity, Thresholds};
use skilltune_phases::loops::reflex::{Confirmed, Rules, Task, Terms};
use skilltune_phases::suites::checks::RunThem;

use crate::loops::reflex::setup::{command, demand};
use crate::settings::values;
use crate::terminal::complaint::Complaint;
use crate::terminal::questions::Answers;
use crate::text::figures::{self, count};
use crate::text::plain;
use crate::text::width::wrapped;

/// Returns all that is agreed on, in lines of at most `width` columns. Rules that were not there at first are marked.
pub fn lines(task: &Task, first: &Criteria, width: usize) -> Vec<String> {
    let criteria = &task.criteria;
    let mut lines = vec![format!("rules ({}):", plain::one_line(&criteria.name))];
    for level in Level::ALL {
        let threshold = criteria.thresholds.at(level).typed();
        let none = if criteria.at(level).next().is_none() { " no rules of its own" } else { "" };
        lines.push(format!("  level {level}, goal {threshold} of 100:{none}"));
        let numbered = criteria.rules.iter().zip(1..).filter(|(rule, _)| rule.level == level);
        lines.extend(numbered.flat_map(|(one, number)| rule(one, number, first.rule(&one.id), width)));
    }
    lines.extend(wrapped(&format!("limits: {}", limits(&task.rules).join(", ")), width, "  "));
    let commands = format!("commands that agents propose as checks: {}", commands(task.commands.run));
    lines.extend(wrapped(&commands, width, "  "));
    lines
}

fn rule(rule: &Rule, number: usize, first: Option<&Rule>, width: usize) -> Vec<String> {
    const LEAD: usize = 5;
    let news = match first {
        None => ", new",
        Some(first) if first != rule => ", changed",
        Some(_) => "",
    };
    let Rule { id, severity, weight, description, command, .. } = rule;
    let head = format!("{id} ({severity}, weight {weight}{news})");
    let command = command.as_ref().map(|argv| format!("checked by {argv:?}"));
    let texts = [Some(head), Some(description.to_string()), command].into_iter().flatten();
    let lines = texts.flat_map(|text| wrapped(&plain::one_line(&text), width.saturating_sub(LEAD), ""));
    let leads = std::iter::once(format!("{number:>4} ")).chain(std::iter::repeat(" ".repeat(LEAD)));
    leads.zip(lines).map(|(lead, line)| format!("{lead}{line}")).collect()
}

fn limits(rules: &Rules) -> Vec<String> {
    let Rules { max_iterations, max_seconds, stall, .. } = rules;
    let rounds = count(*max_iterations as usize, "iteration");
    let seconds = max_seconds.map_or("no time limit".to_owned(), |most| {
        format!("{} of completed phases", figures::milliseconds(most.saturating_mul(1000)))
    });
    let still = format!(
        "stop when the score rises by less than {} over {}",
        stall.gain,
        count(stall.window, "evaluation")
    );
    vec![rounds, seconds, still]
}

fn commands(run: RunThem) -> &'static str {
    match run {
        RunThem::Always => "run without asking",
        RunThem::Ask => "shown to you first",
        RunThem::Never => "not run; the judge decides instead",
    }
}

/// Returns the terms after the last change.
pub fn terms(task: Task, confirmed: Confirmed) -> Terms {
    let Rules { max_iterations, max_seconds, .. } = task.rules;
    Terms { criteria: task.criteria, max_iterations, max_seconds, confirmed }
}

/// Asks the user to agree, again after each change.
pub fn agreed(
    mut task: Task,
    first: &Criteria,
    person: &dyn Answers,
    width: usize,
    show: impl Fn(&str),
) -> Result<Terms, Complaint> {
    show(&lines(&task, first, width).join("\n"));
    show(&CHANGES.join("\n"));
    loop {
        while let Some(why) = once(&mut task, person)? {
            if why.is_empty() {
                return Ok(terms(task, Confirmed::Person));
            }
            show(&why);
        }
        show(&lines(&task, first, width).join("\n"));
    }
}

const CHANGES: [&str; 4] = [
    "  2      reword rule 2             t 80 90  goals of levels A and B",
    "  +      add a rule                i 6      iterations",
    "  -3     remove rule 3             s 10m    time limit; s 0 for none",
    "  m 1 4  only 1 and 4 are major    q        quit; resume asks again",
];

/// Reads one line from the user. Returns `None` after a change, why it failed, or an empty text if they agree.
fn once(task: &mut Task, person: &dyn Answers) -> Result<Option<String>, Complaint> {
    let Some(line) =
        person.line("Start with these?", "enter to start, or type a change; ? lists the changes")?
    else {
        let fault = task.criteria.fault().map(|fault| format!("cannot start: {fault}"));
        return Ok(Some(fault.unwrap_or_default()));
    };
    let change = match Change::read(&line, &task.criteria) {
        Ok(Change::Help) => return Ok(Some(CHANGES.join("\n"))),
        Ok(Change::Leave) => return Err(Complaint::interrupted()),
        Ok(change) => change,
        Err(why) => return Ok(Some(why)),
    };
    change.make(task, person)
}

/// A command that the user can type.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    Reword(RuleId),
    Add,
    Remove(Vec<RuleId>),
    Major(Vec<RuleId>),
    Goals(Thresholds),
    Iterations(u32),
    Seconds(Option<u64>),
    Help,
    Leave,
}

impl Change {
    fn read(line: &str, criteria: &Criteria) -> Result<Self, String> {
        let line = line.trim();
        let (head, rest) = match line.chars().next() {
            Some(sign) if !sign.is_ascii_digit() => line.split_at(sign.len_utf8()),
            _ => ("", line),
        };
        let values: Vec<&str> = rest.split([' ', ',']).filter(|value| !value.is_empty()).collect();
        let rules = || rules(&values, criteria);
        match (head, values.as_slice()) {
            ("", [number]) => Ok(Self::Reword(rule_of(number, criteria)?)),
            ("+", []) => Ok(Self::Add),
            ("-", [_, ..]) => rules().map(Self::Remove),
            ("m", _) => rules().map(Self::Major),
            ("t", [a, b]) => Ok(Self::Goals(Thresholds { a: goal(a)?, b: goal(b)? })),
            ("i", [number]) => {
                values::rounds(number).map(Self::Iterations).map_err(|why| format!("iterations {why}"))
            }
            ("s", ["0"]) => Ok(Self::Seconds(None)),
            ("s", [time]) => values::seconds(time)
                .map(|most| Self::Seconds(Some(most)))
                .map_err(|why| format!("the time limit {why}")),
            ("q", []) => Ok(Self::Leave),
            ("?", []) => Ok(Self::Help),
            _ => Err(format!("`{}` is not a change", plain::one_line(line))),
        }
    }

    /// Makes the change. Returns why it failed, if it did.
    fn make(self, task: &mut Task, person: &dyn Answers) -> Result<Option<String>, Complaint> {
        let weights = task.setup.weights;
        let criteria = &mut task.criteria;
        match self {
            Self::Reword(id) => {
                let Some(rule) = criteria.rule(&id).cloned() else { return Ok(None) };
                let rule = reworded(rule, person)?;
                let severity = severity(rule.severity, person)?;
                let changed = severity != rule.severity;
                criteria.set(if changed { rule.of_severity(severity, weights) } else { rule });
            }
            Self::Add => {
                let help = "a rule, or `$ COMMAND artifact.md` that must succeed; enter to add none";
                let Some(line) = person.line("What must hold?", help)? else { return Ok(None) };
                let level = match person.pick("At which level?", &["A: correct, complete", "B: good"], 0)? {
                    0 => Level::A,
                    _ => Level::B,
                };
                let severity = severity(Severity::Fail, person)?;
                criteria.set(demand(&line, level, severity, weights, &criteria.rules));
            }
            Self::Remove(ids) => criteria.rules.retain(|rule| !ids.contains(&rule.id)),
            Self::Major(ids) => {
                for rule in &mut criteria.rules {
                    let severity = match (ids.contains(&rule.id), rule.severity) {
                        (true, _) => Severity::Fail,
                        (false, Severity::Fail) => Severity::Warn,
                        (false, severity) => severity,
                    };
                    if severity != rule.severity {
                        *rule = rule.clone().of_severity(severity, weights);
                    }
                }
            }
            Self::Goals(thresholds) => criteria.thresholds = thresholds,
            Self::Iterations(most) => task.rules.max_iterations = most,
            Self::Seconds(most) => task.rules.max_seconds = most,
            Self::Help | Self::Leave => {}
        }
        Ok(None)
    }
}

fn reworded(rule: Rule, person: &dyn Answers) -> Result<Rule, Complaint> {
    let description = person.edit("What must hold?", &rule.description)?;
    let how = match &rule.command {
        Some(argv) => format!("$ {}", shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_default()),
        None => rule.check.to_string(),
    };
    let check = person.edit("How should this be checked? (in words, or `$ COMMAND artifact.md`)", &how)?;
    let description = if description.is_empty() { rule.description } else { description.into() };
    Ok(match command(&check) {
        Some(argv) => Rule { description, command: Some(argv), ..rule },
        None => Rule { description, check: check.into(), command: None, ..rule },
    })
}

fn severity(now: Severity, person: &dyn Answers) -> Result<Severity, Complaint> {
    const ALL: [(Severity, &str); 3] = [
        (Severity::Fail, "fail: required to pass a level"),
        (Severity::Warn, "warn: costs points"),
        (Severity::Info, "info: a remark"),
    ];
    let start = ALL.iter().position(|(severity, _)| *severity == now).unwrap_or(0);
    let chosen = person.pick("How much does it matter?", &ALL.map(|(_, label)| label), start)?;
    Ok(ALL[chosen.min(ALL.len() - 1)].0)
}

fn rules(numbers: &[&str], criteria: &Criteria) -> Result<Vec<RuleId>, String> {
    let numbers = numbers.iter().map(|number| number.trim_start_matches('-'));
    numbers.map(|number| rule_of(number, criteria)).collect()
}

fn rule_of(number: &str, criteria: &Criteria) -> Result<RuleId, String> {
    let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let rule = at.and_then(|at| criteria.rules.get(at)).map(|rule| rule.id.clone());
    rule.ok_or_else(|| format!("there is no rule {}", plain::one_line(number)))
}

fn goal(text: &str) -> Result<Score, String> {
    values::points(text).map_err(|why| format!("a goal {why}"))
}

#[cfg(test)]
mod tests;
