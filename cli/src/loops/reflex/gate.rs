//! The questions of a run of `reflex` to a person: whether to use these criteria and limits, and whether commands that
//! an agent has proposed as checks may run. A model wrote them, so a person sees them first.

use skilltune_orchestrator::engine;
use skilltune_phases::loops::reflex::criteria::Level;
use skilltune_phases::loops::reflex::{Answer, Confirmed, Reflex, Run, Step, Task, shown_commands};

use crate::loops::reflex::terms;
use crate::settings::proposed;
use crate::terminal::columns::talk_width;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{AnswerFrom, Answers as _, Person};
use crate::terminal::signals;

#[derive(Debug)]
pub struct Gatekeeper {
    allows: AnswerFrom<bool>,
    /// Only consent can be given beforehand.
    agrees: AnswerFrom<()>,
    printer: Printer,
    width: usize,
}

impl Gatekeeper {
    /// Creates a gate. `allows` decides on commands beforehand; `yes` agrees to the terms, whatever they are.
    pub fn new(allows: Option<bool>, yes: bool, env: &Environment, printer: Printer) -> Self {
        Self {
            allows: AnswerFrom::of(allows, yes, env),
            agrees: AnswerFrom::of(None, yes, env),
            printer,
            width: talk_width(env),
        }
    }

    fn agree(&self, run: &Run) -> Option<Answer> {
        let first = run.plan.task.criteria.clone();
        let task = Task { criteria: run.proposed(), ..run.plan.task.clone() };
        let terms = match self.agrees {
            AnswerFrom::Terminal => {
                let (printer, width) = (self.printer, self.width);
                signals::unless_ended(move || {
                    terms::agreed(task, &first, &Person, width, |text| printer.talk(text)).ok()
                })
            }
            AnswerFrom::Given(()) | AnswerFrom::Default => Some(terms::terms(task, Confirmed::Declared)),
            AnswerFrom::Nobody => None,
        };
        terms.map(|terms| Answer::Agreed(Box::new(terms)))
    }

    fn allow(&self, run: &Run, level: Level) -> Option<Answer> {
        let allowed = match self.allows {
            AnswerFrom::Terminal => {
                self.printer.talk(&question(run, level));
                signals::unless_ended(|| Person.agree("Run these commands?").ok())
            }
            AnswerFrom::Given(allowed) => Some(allowed),
            // The judge is asked instead.
            AnswerFrom::Default => Some(false),
            AnswerFrom::Nobody => None,
        };
        allowed.map(Answer::Allowed)
    }
}

impl engine::Person<Reflex> for Gatekeeper {
    fn ask(&mut self, run: &Run, step: &Step) -> Option<Answer> {
        match *step {
            Step::Agree => self.agree(run),
            Step::Allow { level } => self.allow(run, level),
            _ => None,
        }
    }
}

/// Returns the commands as they would run, one per line, each argument in quotes.
pub fn question(run: &Run, level: Level) -> String {
    let head = format!("an agent proposed these commands to check the rules of level {level}");
    proposed::shown(&head, run.plan.task.commands.confined, shown_commands(run, level))
}
