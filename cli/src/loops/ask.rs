//! Answers the questions of a run, in any loop: by `--answer`, by the person at the terminal, or with `--yes` by the
//! default. Without any of them the run waits.

use std::fmt::Debug;

use skilltune_orchestrator::engine;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::runs::run::Run;

use crate::args::runs::Reply;
use crate::report::ui::Ui;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers as _, Person};
use crate::terminal::signals;

/// How a loop asks its questions.
pub trait Asks: Ui {
    /// An answer that was given beforehand.
    type Given: Clone + Debug;

    /// The error and its hint for an answer that the loop does not offer.
    const ASKS: (&'static str, &'static str);
    /// Whether the given answer also counts for later questions.
    const REPEATS: bool;

    /// Reads `--answer` and `--with`; none if no question of the loop offers that answer.
    fn given(reply: Reply<'_>, env: &Environment) -> Result<Option<Self::Given>, Complaint>;

    /// Returns the default answer; none if the step is not a question.
    fn default_answer(run: &Run<Self>, step: &Self::Step) -> Option<Self::Answer>;

    /// Returns the given answer, or why it is not one to this question; none if it is about other questions.
    fn fitting(
        run: &Run<Self>,
        step: &Self::Step,
        given: Self::Given,
    ) -> Option<Result<Self::Answer, String>>;

    /// Asks the person at the terminal, who first sees what the question is about.
    fn ask(run: &Run<Self>, step: &Self::Step, objects: &Objects, printer: Printer) -> Option<Self::Answer>;
}

/// Answers the questions of a run.
#[derive(Debug)]
pub struct Respondent<L: Asks> {
    given: Option<L::Given>,
    yes: bool,
    is_interactive: bool,
    objects: Objects,
    printer: Printer,
}

impl<L: Asks> Respondent<L> {
    pub fn new(yes: bool, objects: Objects, env: &Environment, printer: Printer) -> Self {
        Self { given: None, yes, is_interactive: env.is_interactive(), objects, printer }
    }

    /// Fails for an answer that no question of the loop offers.
    pub fn with(self, reply: Option<Reply<'_>>, env: &Environment) -> Result<Self, Complaint> {
        let given = |reply| {
            let (asks, takes) = L::ASKS;
            L::given(reply, env)?.ok_or_else(|| Complaint::input(asks).hint(takes))
        };
        Ok(Self { given: reply.map(given).transpose()?, ..self })
    }
}

impl<L: Asks> engine::Person<L> for Respondent<L> {
    fn ask(&mut self, run: &Run<L>, step: &L::Step) -> Option<L::Answer> {
        let default = L::default_answer(run, step)?;
        if let Some(fitting) = self.given.clone().and_then(|given| L::fitting(run, step, given)) {
            self.given = self.given.take().filter(|_| L::REPEATS);
            return fitting.map_err(|why| self.printer.warn(&why)).ok();
        }
        match (self.yes, self.is_interactive) {
            (true, _) => Some(default),
            (false, true) => L::ask(run, step, &self.objects, self.printer),
            (false, false) => None,
        }
    }
}

/// Asks whether the shown commands may run.
pub fn may_run(commands: &str, printer: Printer) -> Option<bool> {
    printer.warn(commands);
    signals::unless_ended(|| Person.agree("Run these commands?").ok())
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::Loop as _;
    use skilltune_phases::runs::plan::LoopKind;

    use super::*;
    use crate::report::ui::with_loop;

    /// Returns whether `--answer` takes this name.
    fn takes<L: Asks>(name: &str, detail: Option<&str>) -> bool {
        let given = L::given(Reply { name, detail }, &Environment::fake("/w", &[]));
        !matches!(given, Ok(None))
    }

    #[test]
    fn each_loop_takes_the_answers_that_it_offers_and_no_others() {
        let all = || LoopKind::ALL.iter().flat_map(|&kind| with_loop!(kind, L => L::OFFERS));
        for &kind in LoopKind::ALL {
            let own = with_loop!(kind, L => L::OFFERS);
            for offer in all() {
                let is_own = own.iter().any(|own| own.name == offer.name);
                let is_taken = with_loop!(kind, L => takes::<L>(offer.name, offer.detail));
                assert_eq!(is_taken, is_own, "{kind:?} {}", offer.name);
            }
        }
    }
}
