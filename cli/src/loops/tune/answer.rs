//! Answers the question of a run of `tune`: may the champion replace the target? Anyone who is asked sees its diff.

use skilltune_orchestrator::engine::tree_diff;
use skilltune_orchestrator::snapshot::{ObjectError, Objects};
use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::{Answer, Choice, Hold, Run, Step, Tune};

use crate::args::runs::Reply;
use crate::loops::ask::Asks;
use crate::loops::tune::{dangers, verdicts};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};
use crate::terminal::signals;
use crate::text::figures;

impl Asks for Tune {
    type Given = Choice;

    const ASKS: (&'static str, &'static str) =
        ("a tune run asks whether to apply its champion", "pass `--answer apply` or `--answer keep`");
    const REPEATS: bool = true;

    fn given(reply: Reply<'_>, _: &Environment) -> Result<Option<Choice>, Complaint> {
        Ok([Choice::Apply, Choice::Keep].into_iter().find(|choice| choice.word() == reply.name))
    }

    fn default_answer(_: &Run, step: &Step) -> Option<Answer> {
        let Step::Ask(hold) = step else { return None };
        Some(Answer::Chosen(hold.default_choice()))
    }

    fn fitting(_: &Run, _: &Step, choice: Choice) -> Option<Result<Answer, String>> {
        Some(Ok(Answer::Chosen(choice)))
    }

    fn ask(run: &Run, step: &Step, objects: &Objects, printer: Printer) -> Option<Answer> {
        let Step::Ask(hold) = *step else { return None };
        show(run, hold, objects, printer);
        let question = question(run, hold);
        signals::unless_ended(move || chosen(&Person, &question, hold).ok()).map(Answer::Chosen)
    }
}

/// Shows what a yes would change.
fn show(run: &Run, Hold::Apply { champion, .. }: Hold, objects: &Objects, printer: Printer) {
    for line in dangers::of(run, champion) {
        printer.show(&format!("dangerous: {line}"));
    }
    match changes(objects, run, champion) {
        Ok(text) => printer.show(text.trim_end()),
        Err(error) => printer.warn(&format!("cannot show the diff: {error}")),
    }
}

fn changes(objects: &Objects, run: &Run, champion: CandidateId) -> Result<String, ObjectError> {
    let (Some(start), Some(champion)) = (run.candidate(run.start()), run.candidate(champion)) else {
        return Ok(String::new());
    };
    let mut text = String::new();
    let members = run.plan.task.target.members.iter().zip(start.trees.iter().zip(&champion.trees));
    for (member, (&from, &to)) in members.filter(|(_, (from, to))| from != to) {
        let diff = tree_diff(objects, from, to)?;
        text.extend([&member.name, ": ", &diff.files.join(", "), "\n", &diff.unified]);
    }
    Ok(text)
}

fn question(run: &Run, hold: Hold) -> String {
    match hold {
        Hold::Apply { .. } => {
            let (from, to) = (figures::score(run.initial_score()), figures::score(run.final_score()));
            let caution = verdicts::caution(run).map(|caution| format!(" {caution}")).unwrap_or_default();
            format!("The champion scored {to}, the current skill {from}.{caution} Apply the champion?")
        }
    }
}

fn chosen(person: &dyn Answers, question: &str, hold: Hold) -> Result<Choice, Complaint> {
    let options = hold.options();
    let words: Vec<&str> = options.iter().map(|choice| choice.word()).collect();
    let start = options.iter().position(|&choice| choice == hold.default_choice()).unwrap_or(0);
    Ok(options[person.pick(question, &words, start)?])
}
