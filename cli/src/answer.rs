//! How the question of a run of `tune` is answered: may the champion replace the target?

use skilltune_orchestrator::engine;
use skilltune_phases::loops::tune::{Choice, Hold, Outcome, Run, Step, Tune};

use crate::folders::Surroundings;
use crate::questions::{Answers, Person};
use crate::report::figures;
use crate::signals;

/// How a question of the run is answered.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Whoever sits at the terminal is asked.
    Ask,
    Given(Choice),
    /// The declared default.
    Default,
    /// Nobody is there: the run waits.
    Wait,
}

#[derive(Debug)]
pub struct AtTerminal {
    answer: Answer,
    somebody_there: bool,
}

impl AtTerminal {
    pub fn new(answer: Answer, around: &Surroundings) -> Self {
        Self { answer, somebody_there: around.is_interactive() }
    }
}

impl engine::Person<Tune> for AtTerminal {
    fn ask(&mut self, run: &Run, step: &Step) -> Option<Outcome> {
        let Step::Ask(hold) = *step else { return None };
        let choice = match self.answer {
            Answer::Ask if self.somebody_there => {
                let question = question(run, hold);
                signals::unless_ended(move || Person.hold(&question, hold).ok())
            }
            Answer::Ask | Answer::Wait => None,
            Answer::Given(choice) => Some(choice),
            Answer::Default => Some(hold.default_choice()),
        };
        choice.map(Outcome::Chosen)
    }
}

fn question(run: &Run, hold: Hold) -> String {
    match hold {
        Hold::Apply { .. } => {
            let (from, to) = (figures::score(run.initial_score()), figures::score(run.final_score()));
            format!("The champion scored {to}, the target as it is {from}. May it replace the target?")
        }
    }
}
