//! The user's answer on how to continue a run of `gan` that has not passed, at the terminal or by a flag.

use std::path::Path;

use skilltune_orchestrator::disk;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::judging::contract::{CriterionId, DimensionId};
use skilltune_phases::loops::gan::contract::{Change, Contract, Criterion, Origin};
use skilltune_phases::loops::gan::course::{Choice, Question, Who};
use skilltune_phases::loops::gan::{Answer, Gan, Run, Step};

use crate::args::runs::Reply;
use crate::loops::ask::{self, Asks};
use crate::loops::gan::report::words;
use crate::settings::proposed;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};
use crate::terminal::signals;

/// Larger than any contract's changes.
const LARGEST: u64 = 1 << 20;

/// An answer given beforehand.
#[derive(Clone, Debug)]
pub enum Given {
    /// How to continue the run.
    Goes(Choice),
    /// Whether commands may run.
    Allows(bool),
}

impl Asks for Gan {
    type Given = Given;

    const ASKS: (&'static str, &'static str) = (
        "a gan run without a pass asks how to continue",
        "pass --answer refocus, amend, guide, force, accept, end or abort",
    );
    /// The next question is different.
    const REPEATS: bool = false;

    fn given(reply: Reply<'_>, env: &Environment) -> Result<Option<Given>, Complaint> {
        let detail = |what: &str| {
            let text = reply.detail.map(str::trim).filter(|text| !text.is_empty());
            text.ok_or_else(|| {
                Complaint::input("this answer requires more detail").hint(format!("add --with {what}"))
            })
        };
        let choice = match reply.name {
            "refocus" => Choice::Refocus { dimension: DimensionId::new(detail("DIMENSION")?) },
            "amend" => Choice::Amend { changes: changes(detail("FILE")?, env)? },
            "guide" => Choice::Guide { text: detail("TEXT")?.into() },
            "force" => Choice::Force,
            "accept" => Choice::Accept,
            "end" => Choice::Stop,
            "abort" => Choice::Abort,
            "run" => return Ok(Some(Given::Allows(true))),
            "skip" => return Ok(Some(Given::Allows(false))),
            _ => return Ok(None),
        };
        Ok(Some(Given::Goes(choice)))
    }

    fn default_answer(run: &Run, step: &Step) -> Option<Answer> {
        match *step {
            Step::Allow => Some(Answer::Allowed(false)),
            Step::Ask { hold, .. } => Some(Answer::Chosen { choice: run.unattended(hold), by: Who::Default }),
            _ => None,
        }
    }

    fn fitting(run: &Run, step: &Step, given: Given) -> Option<Result<Answer, String>> {
        Some(match (step, given) {
            (Step::Allow, Given::Allows(allows)) => Ok(Answer::Allowed(allows)),
            (Step::Allow, Given::Goes(_)) => {
                Err("the run asks whether its commands may run: pass --answer run or --answer skip"
                    .to_owned())
            }
            (Step::Ask { hold, .. }, Given::Goes(choice)) if run.may_choose(*hold, &choice) => {
                Ok(Answer::Chosen { choice, by: Who::Person })
            }
            (Step::Ask { hold, .. }, Given::Goes(choice)) => {
                Err(format!("invalid answer: {}", unfit(run, *hold, &choice)))
            }
            (Step::Ask { .. }, Given::Allows(_)) => {
                Err("the run asks how to continue, not whether commands may run".to_owned())
            }
            _ => return None,
        })
    }

    fn ask(run: &Run, step: &Step, _: &Objects, printer: Printer) -> Option<Answer> {
        let Step::Ask { hold, .. } = *step else {
            let head = "the test scenarios of the contract run these commands";
            let shown = proposed::shown(head, run.plan.task.commands.confined, words::commands(run));
            return ask::may_run(&shown, printer).map(Answer::Allowed);
        };
        for line in words::standing(run) {
            printer.warn(&line);
        }
        let question = words::question(run, hold);
        let contract = run.state.contract()?.clone();
        let choice = signals::unless_ended(move || chosen(&Person, &question, hold, &contract).ok())?;
        run.may_choose(hold, &choice).then_some(Answer::Chosen { choice, by: Who::Person })
    }
}

/// Returns why an answer is invalid.
fn unfit(run: &Run, hold: Question, choice: &Choice) -> String {
    if !hold.allows(choice) {
        let name = words::choice(choice);
        return format!(
            "`{name}` is not an answer to this question; use one of {}",
            words::options(hold).join(", ")
        );
    }
    let contract = run.state.contract();
    match choice {
        Choice::Refocus { dimension } => {
            let all = contract.map(|contract| &*contract.dimensions).unwrap_or_default();
            let known: Vec<&str> = all.iter().map(|one| one.id.as_str()).collect();
            format!("the contract has no dimension {:?}; it has {}", dimension.as_str(), known.join(", "))
        }
        Choice::Amend { changes } => {
            let why = contract.and_then(|contract| contract.amended(changes).err());
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            format!("these changes make the contract invalid{why}")
        }
        Choice::Guide { .. } | Choice::Force | Choice::Accept | Choice::Stop | Choice::Abort => {
            "this answer is empty".to_owned()
        }
    }
}

fn changes(path: &str, env: &Environment) -> Result<Vec<Change>, Complaint> {
    let path = env.named(Path::new(path))?;
    let cannot = || Complaint::input(format!("cannot use the changes in {}", path.display()));
    let text = disk::read(&path, LARGEST).map_err(|error| cannot().caused_by(error))?;
    let changes: Vec<Change> = serde_json::from_slice(&text).map_err(|error| {
        cannot()
            .caused_by(error)
            .hint("such as [{\"must_pass\": {\"criterion\": \"spacing\", \"must\": false}}]")
    })?;
    Ok(changes.into_iter().map(amended).collect())
}

/// Marks a change as the user's, whatever its file says.
fn amended(change: Change) -> Change {
    match change {
        Change::Add(criterion) => {
            Change::Add(Criterion { origin: Origin::Amended, check: None, ..criterion })
        }
        other => other,
    }
}

fn chosen(
    person: &dyn Answers,
    question: &str,
    hold: Question,
    contract: &Contract,
) -> Result<Choice, Complaint> {
    let options = words::choices(hold);
    let labels: Vec<String> =
        options.iter().map(|offer| format!("{}: {}", offer.name, offer.about)).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    Ok(match options[person.pick(question, &labels, 0)?].name {
        "refocus" => {
            let all: Vec<&str> = contract.dimensions.iter().map(|one| one.id.as_str()).collect();
            let dimension = all[person.pick("Which dimension first?", &all, 0)?];
            Choice::Refocus { dimension: DimensionId::new(dimension) }
        }
        "guide" => {
            let text = person.line("What should the builder know?", "in a sentence or two")?;
            Choice::Guide { text: text.unwrap_or_default().into() }
        }
        "amend" => Choice::Amend { changes: vec![change(person, contract)?] },
        "force" => Choice::Force,
        "accept" => Choice::Accept,
        "end" => Choice::Stop,
        _ => Choice::Abort,
    })
}

/// Asks for one change of one criterion. Several changes, and new criteria, come from a file.
fn change(person: &dyn Answers, contract: &Contract) -> Result<Change, Complaint> {
    let all: Vec<&str> = contract.criteria.iter().map(|one| one.id.as_str()).collect();
    let criterion = &contract.criteria[person.pick("Which criterion?", &all, 0)?];
    let id: CriterionId = criterion.id.clone();
    let must = if criterion.must_pass { "make it optional" } else { "require it to pass" };
    Ok(match person.pick("What should change?", &["reword it", must, "drop it"], 0)? {
        0 => Change::Reword {
            criterion: id,
            text: person.edit("The criterion:", &criterion.criterion)?.into(),
            verification: person.edit("How to verify it:", &criterion.verification)?.into(),
        },
        1 => Change::MustPass { criterion: id, must: !criterion.must_pass },
        _ => Change::Drop { criterion: id },
    })
}
