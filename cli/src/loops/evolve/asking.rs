//! A person's answers to the questions of a run of `evolve`, at the terminal or by a flag.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::evolve::step::{Choice, Question};
use skilltune_phases::loops::evolve::{Answer, Evolve, Run, Step};

use crate::args::runs::Reply;
use crate::loops::ask::{self, Asks};
use crate::loops::evolve::{oracles, words};
use crate::settings::proposed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};
use crate::terminal::signals;
use crate::text::plain::unbroken;

/// An answer given beforehand.
#[derive(Clone, Debug)]
pub enum Given {
    /// Whether the checks and the oracles may run.
    Allows(bool),
    Chooses(Choice),
}

impl Asks for Evolve {
    type Given = Given;

    const ASKS: (&'static str, &'static str) = (
        "an evolve run asks whether checks and oracles may run, whether a disputed criterion is met, whether criteria may change, whether tests may be touched, and how to continue",
        "pass --answer run, skip, leave, holds, fails, approve, refuse, guide, accept or end",
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
            Step::Settle { .. } => Answer::Chosen(Choice::Leave),
            Step::Ask { question: Question::Amendment | Question::Weakened, .. } => {
                Answer::Chosen(Choice::Refuse)
            }
            Step::Ask { question: Question::Escalation, .. } => Answer::Chosen(Choice::End),
            _ => return None,
        })
    }

    fn fitting(run: &Run, step: &Step, given: Given) -> Option<Result<Answer, String>> {
        if !matches!(step, Step::Allow | Step::Settle { .. } | Step::Ask { .. }) {
            return None;
        }
        Some(match (step, given) {
            (Step::Allow, Given::Allows(allows)) => Ok(Answer::Allowed(allows)),
            (step, Given::Chooses(choice)) if is_answer(step, &choice) => Ok(Answer::Chosen(choice)),
            _ => {
                let names: Vec<&str> = words::offers(step).iter().map(|offer| offer.name).collect();
                let question = words::question(run, step);
                Err(format!("invalid answer: {question} Pass --answer {}", names.join(" or ")))
            }
        })
    }

    fn ask(run: &Run, step: &Step, objects: &Objects, printer: Printer) -> Option<Answer> {
        if matches!(step, Step::Allow) {
            return may_run(run, objects, printer).map(Answer::Allowed);
        }
        for line in words::matter(run, step, objects) {
            printer.warn(&line);
        }
        let (step, question) = (step.clone(), words::question(run, step));
        signals::unless_ended(move || chosen(&Person, &step, &question).ok().flatten()).map(Answer::Chosen)
    }
}

/// Shows the checks and the oracles, and asks whether they may run.
fn may_run(run: &Run, objects: &Objects, printer: Printer) -> Option<bool> {
    let head = if run.plan.task.verify.is_some() {
        "the receipts name these commands, and somebody else may have written them"
    } else if oracles::may_have(run) {
        "these commands tell whether the criteria are met; an oracle that cannot run is rewritten once, and you are not asked again"
    } else {
        "the criteria of the specification name these commands as checks"
    };
    for line in oracles::names(run) {
        printer.warn(&unbroken(&line));
    }
    let commands = oracles::commands(run, objects);
    let shown = proposed::shown(head, run.plan.task.checks.confined, commands);
    let hint = oracles::hint(run).map(|hint| format!("\n{hint}")).unwrap_or_default();
    ask::may_run(&format!("{shown}{hint}"), printer)
}

/// Returns the choice with this name, if it has no detail.
fn plain(name: &str) -> Option<Choice> {
    Some(match name {
        "approve" => Choice::Approve,
        "refuse" => Choice::Refuse,
        "accept" => Choice::Accept,
        "end" => Choice::End,
        "leave" => Choice::Leave,
        "holds" => Choice::Holds,
        "fails" => Choice::Fails,
        _ => return None,
    })
}

fn is_answer(step: &Step, choice: &Choice) -> bool {
    match step {
        Step::Ask { question: Question::Amendment | Question::Weakened, .. } => {
            matches!(choice, Choice::Approve | Choice::Refuse)
        }
        Step::Ask { question: Question::Escalation, .. } => {
            matches!(choice, Choice::Guide { .. } | Choice::Accept | Choice::End)
        }
        Step::Settle { .. } => matches!(choice, Choice::Leave | Choice::Holds | Choice::Fails),
        _ => false,
    }
}

/// Returns the choice of a person; none if they choose guidance and give none.
fn chosen(person: &dyn Answers, step: &Step, question: &str) -> Result<Option<Choice>, Complaint> {
    let offers = words::offers(step);
    let labels: Vec<String> = offers.iter().map(|offer| format!("{}: {}", offer.name, offer.about)).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    match offers[person.pick(question, &labels, 0)?].name {
        "guide" => {
            let text = person.line("What should the agents know?", "in a sentence or two")?;
            Ok(text.map(|text| Choice::Guide { text: text.into() }))
        }
        name => Ok(plain(name)),
    }
}

#[cfg(test)]
mod tests {
    use skilltune_phases::base::id::TreeId;

    use super::*;
    use crate::terminal::questions::scripted::Script;

    fn ask(question: Question) -> Step {
        Step::Ask { question, round: 0 }
    }

    fn settle() -> Step {
        Step::Settle { tree: TreeId::EMPTY, criterion: "A2".into() }
    }

    #[test]
    fn each_question_takes_its_answers_and_no_others() {
        let guide = Choice::Guide { text: "use the cache".into() };
        let all = [
            [Choice::Approve, Choice::Refuse].to_vec(),
            [guide, Choice::Accept, Choice::End].to_vec(),
            [Choice::Leave, Choice::Holds, Choice::Fails].to_vec(),
        ];
        for (step, takes) in [
            (ask(Question::Amendment), 0),
            (ask(Question::Weakened), 0),
            (ask(Question::Escalation), 1),
            (settle(), 2),
        ] {
            for (kind, choices) in all.iter().enumerate() {
                let taken = choices.iter().filter(|choice| is_answer(&step, choice)).count();
                assert_eq!(taken, if kind == takes { choices.len() } else { 0 }, "{step:?}: {choices:?}");
            }
            let offered: Vec<&str> = words::offers(&step).iter().map(|offer| offer.name).collect();
            assert_eq!(offered.len(), all[takes].len(), "{offered:?}");
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
        let first = |step| chosen(&script, &step, "Which one?").unwrap();
        assert_eq!(first(ask(Question::Amendment)), Some(Choice::Refuse));
        assert_eq!(first(ask(Question::Weakened)), Some(Choice::Refuse));
        assert_eq!(first(ask(Question::Escalation)), Some(Choice::End));
        assert_eq!(first(settle()), Some(Choice::Leave));
    }
}
