//! The questions of a run of `reflex` to a person: whether to use these criteria and limits, and whether commands that
//! an agent has proposed as checks may run. A model wrote them, so a person sees them first.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::criteria::Level;
use skilltune_phases::loops::reflex::{Answer, Confirmed, Reflex, Run, Step, Task, shown_commands};

use crate::args::runs::Reply;
use crate::loops::ask::{self, Asks};
use crate::loops::reflex::terms;
use crate::settings::proposed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Person;
use crate::terminal::signals;

impl Asks for Reflex {
    /// Whether the commands may run. Only consent to the terms can be given beforehand, by `--yes`.
    type Given = bool;

    const ASKS: (&'static str, &'static str) =
        ("a reflex run asks whether to run check commands", "pass `--answer run` or `--answer skip`");
    const REPEATS: bool = true;

    fn given(reply: Reply<'_>, _: &Environment) -> Result<Option<bool>, Complaint> {
        Ok(match reply.name {
            "run" => Some(true),
            "skip" => Some(false),
            _ => None,
        })
    }

    fn default_answer(run: &Run, step: &Step) -> Option<Answer> {
        match step {
            Step::Agree => {
                Some(Answer::Agreed(Box::new(terms::terms(proposed_task(run), Confirmed::Declared))))
            }
            // The judge is asked instead.
            Step::Allow { .. } => Some(Answer::Allowed(false)),
            _ => None,
        }
    }

    fn fitting(_: &Run, step: &Step, allowed: bool) -> Option<Result<Answer, String>> {
        matches!(step, Step::Allow { .. }).then_some(Ok(Answer::Allowed(allowed)))
    }

    fn ask(run: &Run, step: &Step, _: &Objects, printer: Printer) -> Option<Answer> {
        match *step {
            Step::Agree => {
                let (first, task) = (run.plan.task.criteria.clone(), proposed_task(run));
                let terms = signals::unless_ended(move || {
                    terms::agreed(task, &first, &Person, printer.talk_width, |text| printer.warn(text)).ok()
                });
                terms.map(|terms| Answer::Agreed(Box::new(terms)))
            }
            Step::Allow { level } => ask::may_run(&question(run, level), printer).map(Answer::Allowed),
            _ => None,
        }
    }
}

/// Returns the task with the criteria to agree on.
fn proposed_task(run: &Run) -> Task {
    Task { criteria: run.proposed(), ..run.plan.task.clone() }
}

/// Returns the commands as they would run, one per line, each argument in quotes.
pub fn question(run: &Run, level: Level) -> String {
    let head = format!("an agent proposed these commands to check the rules of level {level}");
    proposed::shown(&head, run.plan.task.commands.confined, shown_commands(run, level))
}
