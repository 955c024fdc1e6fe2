//! Criteria and limits are agreed to together: whoever changes one of them sees all of them again.

use skilltune_orchestrator::process::can_confine;
use skilltune_phases::loops::reflex::criteria::{Criteria, Level, Rule, Template};
use skilltune_phases::loops::reflex::{Rules, RunThem};

use crate::loops::reflex::settings::ReflexSettings;
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::terminal::complaint::Complaint;
use crate::terminal::questions::Answers;
use crate::text::figures::count;
use crate::text::width::wrapped;

/// What is agreed to.
#[derive(Clone, Debug)]
pub struct Terms {
    pub template: Template,
    pub criteria: Criteria,
    pub rules: Rules,
    pub commands: RunThem,
}

impl Terms {
    pub fn of(settings: &Settings, template: Template) -> Result<Self, Complaint> {
        let reflex = settings.of::<ReflexSettings>();
        Ok(Self {
            template,
            criteria: reflex.criteria(template),
            rules: reflex.rules(settings.budget.usd.value),
            commands: held(reflex.run_them()?, settings.limits.confine.value, can_confine())?,
        })
    }

    /// The whole of it, in lines of no more than so many columns.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let mut lines = vec![format!("criteria: {}", self.template)];
        for level in Level::ALL {
            let threshold = self.criteria.thresholds.at(level).typed();
            lines.push(format!("  level {level}, goal {threshold} of 100:"));
            lines.extend(self.criteria.at(level).flat_map(|of_level| rule(of_level, width)));
        }
        lines.push(format!("limits: {}", self.limits().join(", ")));
        lines.push(format!("commands that agents propose as checks: {}", commands(self.commands)));
        lines
    }

    fn limits(&self) -> Vec<String> {
        let Rules { max_iterations, max_seconds, usd, stall, .. } = &self.rules;
        let rounds = count(*max_iterations as usize, "iteration");
        let seconds = max_seconds.map_or("no time limit".to_owned(), |most| {
            format!("{} of completed phases", count(usize::try_from(most).unwrap_or(usize::MAX), "second"))
        });
        let money = usd.map_or("no cost limit".to_owned(), |usd| format!("{usd} dollars"));
        let still = format!(
            "stop when the score rises by less than {} over {}",
            stall.gain,
            count(stall.window, "evaluation")
        );
        vec![rounds, seconds, money, still]
    }
}

fn rule(rule: &Rule, width: usize) -> Vec<String> {
    const INDENT: &str = "      ";
    let head = format!("    {} ({}, weight {})", rule.id, rule.severity, rule.weight);
    let told = wrapped(&rule.description, width.saturating_sub(INDENT.len()), "");
    std::iter::once(head).chain(told.iter().map(|line| format!("{INDENT}{line}"))).collect()
}

/// Commands that nobody is shown need the kernel to hold them, or the person's word that nothing shall.
fn held(run: RunThem, wants: bool, can: bool) -> Result<RunThem, Complaint> {
    match run {
        RunThem::Always if wants && !can => {
            Err(Complaint::input("cannot run the commands of a model: --checks run shows them to nobody, and this system cannot confine them")
                .hint("pass --checks ask to see each command first, or --checks skip to let the judge decide")
                .hint("or set `limits.confine = false` in your own skilltune.toml to let them write wherever you can"))
        }
        RunThem::Always | RunThem::Ask | RunThem::Never => Ok(run),
    }
}

fn commands(run: RunThem) -> &'static str {
    match run {
        RunThem::Always => "run without asking",
        RunThem::Ask => "shown to you first",
        RunThem::Never => "not run; the judge decides instead",
    }
}

/// Has a person agree to the terms, as often as they change them.
pub fn agreed(
    settings: &mut Settings,
    template: Template,
    person: &dyn Answers,
    width: usize,
    show: impl Fn(&str),
) -> Result<Terms, Complaint> {
    let mut template = template;
    loop {
        let terms = Terms::of(settings, template)?;
        show(&terms.lines(width).join("\n"));
        let options = [
            "start with these",
            "choose other criteria",
            "change the number of iterations",
            "set a time limit",
            "leave",
        ];
        match person.pick("Start with these criteria and limits?", &options, 0)? {
            0 => return Ok(terms),
            1 => template = template_of(person)?,
            2 => {
                let told =
                    person.number("Maximum number of iterations?", u64::from(terms.rules.max_iterations))?;
                let reflex = settings.of_mut::<ReflexSettings>();
                reflex.max_iterations.set(u32::try_from(told.clamp(1, 100)).unwrap_or(100), Origin::Answer);
            }
            3 => {
                let told = person.number(
                    "Maximum seconds of completed phases? 0 means no limit.",
                    terms.rules.max_seconds.unwrap_or(0),
                )?;
                let reflex = settings.of_mut::<ReflexSettings>();
                reflex.max_seconds.set(Some(told).filter(|&most| most > 0), Origin::Answer);
            }
            _ => return Err(Complaint::interrupted()),
        }
    }
}

/// The criteria that a person names.
pub fn template_of(person: &dyn Answers) -> Result<Template, Complaint> {
    let names: Vec<&str> = Template::ALL.iter().map(|template| template.as_str()).collect();
    let chosen = person.pick("What kind of text is it?", &names, 0)?;
    Ok(Template::ALL[chosen.min(Template::ALL.len() - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_nothing_holds_run_unseen_only_by_a_persons_word() {
        let runs = |run, wants, can| held(run, wants, can).is_ok();
        assert!(runs(RunThem::Always, true, true), "the kernel holds them");
        assert!(!runs(RunThem::Always, true, false));
        assert!(runs(RunThem::Always, false, false), "limits.confine = false is such a word");
        assert!(runs(RunThem::Ask, true, false) && runs(RunThem::Never, true, false));
    }
}
