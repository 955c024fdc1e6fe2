//! May the commands be run that an agent has proposed as checks? A model wrote them, so a person is shown them first.

use skilltune_orchestrator::engine;
use skilltune_phases::loops::reflex::criteria::Level;
use skilltune_phases::loops::reflex::{Answer, Reflex, Run, Step, told_commands};

use crate::terminal::printer::Printer;
use crate::terminal::questions::{AnswerFrom, Answers, Person};
use crate::terminal::signals;
use crate::text::plain;

#[derive(Debug)]
pub struct Gatekeeper {
    answer: AnswerFrom<bool>,
    printer: Printer,
}

impl Gatekeeper {
    pub fn new(answer: AnswerFrom<bool>, printer: Printer) -> Self {
        Self { answer, printer }
    }
}

impl engine::Person<Reflex> for Gatekeeper {
    fn ask(&mut self, run: &Run, step: &Step) -> Option<Answer> {
        let Step::Allow { level } = *step else { return None };
        let allowed = match self.answer {
            AnswerFrom::Terminal => {
                self.printer.talk(&question(run, level));
                signals::unless_ended(|| Person.agree("Run these commands?").ok())
            }
            AnswerFrom::Given(allowed) => Some(allowed),
            // The judge is asked in their place.
            AnswerFrom::Default => Some(false),
            AnswerFrom::Nobody => None,
        };
        allowed.map(Answer::Allowed)
    }
}

/// The commands as they would be run, one a line, each argument in quotes.
pub fn question(run: &Run, level: Level) -> String {
    let commands = told_commands(run, level);
    let each = commands.iter().map(|command| format!("  {}", plain::one_line(command)));
    let where_they_run = if run.plan.task.commands.confined {
        "each on a copy of the artifact; the kernel refuses it, and all that it starts, to write anywhere else, but not \
         to use the network or to change the modes of your files (bubblewrap, `bwrap`, does)"
    } else {
        "each on a copy of the artifact, but not confined: it can write wherever you can"
    };
    let head =
        format!("an agent proposed these commands to check the rules of level {level}; {where_they_run}:");
    std::iter::once(head).chain(each).collect::<Vec<_>>().join("\n")
}
