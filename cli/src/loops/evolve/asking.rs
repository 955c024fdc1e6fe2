//! A person's answers to the questions of a run of `evolve`, at the terminal or by a flag.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::evolve::step::{Choice, Question};
use skilltune_phases::loops::evolve::{Answer, Evolve, Run, Step};

use crate::args::runs::Reply;
use crate::loops::ask::{self, Asks};
use crate::loops::evolve::words;
use crate::settings::proposed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};
use crate::terminal::signals;

/// An answer given beforehand.
#[derive(Clone, Debug)]
pub enum Given {
    /// Whether the checks may run.
    Allows(bool),
    Chooses(Choice),
}

impl Asks for Evolve {
    type Given = Given;

    const ASKS: (&'static str, &'static str) = (
        "an evolve run asks whether checks may run, whether criteria may change, whether tests may be touched, and how to continue",
        "pass --answer run, skip, approve, refuse, guide, accept or end",
    );
    /// The next question is different.
    const REPEATS: bool = false;

    fn given(reply: Reply<'_>, _: &Environment) -> Result<Option<Given>, Complaint> {
        let choice = match reply.name {
            "run" => return Ok(Some(Given::Allows(true))),
            "skip" => return Ok(Some(Given::Allows(false))),
            "guide" => {
                let text = reply.detail.map(str::trim).filter(|text| !text.is_empty());
                let text = text.ok_or_else(|| {
                    Complaint::input("this answer requires more detail").hint("add --with TEXT")
                })?;
                Choice::Guide { text: text.into() }
            }
            name => match plain(name) {
                Some(choice) => choice,
                None => return Ok(None),
            },
        };
        Ok(Some(Given::Chooses(choice)))
    }

    fn default_answer(_: &Run, step: &Step) -> Option<Answer> {
        Some(match step {
            Step::Allow => Answer::Allowed(false),
            Step::Ask { question: Question::Amendment | Question::Weakened, .. } => {
                Answer::Chosen(Choice::Refuse)
            }
            Step::Ask { question: Question::Escalation, .. } => Answer::Chosen(Choice::End),
            _ => return None,
        })
    }

    fn fitting(_: &Run, step: &Step, given: Given) -> Option<Result<Answer, String>> {
        if !matches!(step, Step::Allow | Step::Ask { .. }) {
            return None;
        }
        Some(match (step, given) {
            (Step::Allow, Given::Allows(allows)) => Ok(Answer::Allowed(allows)),
            (Step::Ask { question, .. }, Given::Chooses(choice)) if is_answer(*question, &choice) => {
                Ok(Answer::Chosen(choice))
            }
            _ => {
                let names: Vec<&str> = words::offers(step).iter().map(|offer| offer.name).collect();
                Err(format!("invalid answer: {} Pass --answer {}", words::question(step), names.join(" or ")))
            }
        })
    }

    fn ask(run: &Run, step: &Step, _: &Objects, printer: Printer) -> Option<Answer> {
        if matches!(step, Step::Allow) {
            let head = "the criteria of the specification name these commands as checks";
            let shown = proposed::shown(head, run.plan.task.checks.confined, words::checks(run));
            return ask::may_run(&shown, printer).map(Answer::Allowed);
        }
        for line in words::matter(run, step) {
            printer.talk(&line);
        }
        let step = step.clone();
        signals::unless_ended(move || chosen(&Person, &step).ok().flatten()).map(Answer::Chosen)
    }
}

/// Returns the choice with this name, if it has no detail.
fn plain(name: &str) -> Option<Choice> {
    Some(match name {
        "approve" => Choice::Approve,
        "refuse" => Choice::Refuse,
        "accept" => Choice::Accept,
        "end" => Choice::End,
        _ => return None,
    })
}

fn is_answer(question: Question, choice: &Choice) -> bool {
    match question {
        Question::Amendment | Question::Weakened => matches!(choice, Choice::Approve | Choice::Refuse),
        Question::Escalation => matches!(choice, Choice::Guide { .. } | Choice::Accept | Choice::End),
    }
}

/// Returns the choice of a person; none if they choose guidance and give none.
fn chosen(person: &dyn Answers, step: &Step) -> Result<Option<Choice>, Complaint> {
    let offers = words::offers(step);
    let labels: Vec<String> = offers.iter().map(|offer| format!("{}: {}", offer.name, offer.about)).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    match offers[person.pick(words::question(step), &labels, 0)?].name {
        "guide" => {
            let text = person.line("What should the agents know?", "in a sentence or two")?;
            Ok(text.map(|text| Choice::Guide { text: text.into() }))
        }
        name => Ok(plain(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::questions::scripted::Script;

    fn ask(question: Question) -> Step {
        Step::Ask { question, round: 0 }
    }

    #[test]
    fn each_question_takes_its_answers_and_no_others() {
        let guide = Choice::Guide { text: "use the cache".into() };
        let all = [Choice::Approve, Choice::Refuse, guide, Choice::Accept, Choice::End];
        for (question, takes) in [
            (Question::Amendment, [true, true, false, false, false]),
            (Question::Weakened, [true, true, false, false, false]),
            (Question::Escalation, [false, false, true, true, true]),
        ] {
            assert_eq!(all.each_ref().map(|choice| is_answer(question, choice)), takes, "{question:?}");
            let offered: Vec<&str> = words::offers(&ask(question)).iter().map(|offer| offer.name).collect();
            assert_eq!(offered.len(), takes.iter().filter(|takes| **takes).count(), "{offered:?}");
        }
    }

    #[test]
    fn an_answer_has_the_detail_that_it_needs() {
        let env = Environment::fake("/w", &[]);
        let given = |name, detail| Evolve::given(Reply { name, detail }, &env);
        assert!(given("guide", None).is_err() && given("guide", Some(" ")).is_err());
        assert!(matches!(
            given("guide", Some("use the cache")),
            Ok(Some(Given::Chooses(Choice::Guide { .. })))
        ));
        assert!(matches!(given("amend", None), Ok(None)));
    }

    #[test]
    fn the_first_offer_is_the_careful_one() {
        let script = Script::default();
        let first = |question| chosen(&script, &ask(question)).unwrap();
        assert_eq!(first(Question::Amendment), Some(Choice::Refuse));
        assert_eq!(first(Question::Weakened), Some(Choice::Refuse));
        assert_eq!(first(Question::Escalation), Some(Choice::End));
    }
}
