//! Answers the question of a run of `tune`: may the champion replace the target? Anyone who is asked sees its diff.

use skilltune_orchestrator::engine::{self, tree_diff};
use skilltune_orchestrator::snapshot::{ObjectError, Objects};
use skilltune_phases::base::id::CandidateId;
use skilltune_phases::loops::tune::{self, Choice, Hold, Run, Step, Tune};

use crate::loops::tune::{dangers, verdicts};
use crate::terminal::complaint::Complaint;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{AnswerFrom, Answers, Person};
use crate::terminal::signals;
use crate::text::figures;

#[derive(Debug)]
pub struct AtTerminal {
    answer: AnswerFrom<Choice>,
    objects: Objects,
    printer: Printer,
}

impl AtTerminal {
    pub fn new(answer: AnswerFrom<Choice>, objects: Objects, printer: Printer) -> Self {
        Self { answer, objects, printer }
    }
}

impl engine::Person<Tune> for AtTerminal {
    fn ask(&mut self, run: &Run, step: &Step) -> Option<tune::Answer> {
        let Step::Ask(hold) = *step else { return None };
        let choice = match self.answer {
            AnswerFrom::Terminal => {
                let question = question(run, hold);
                self.show(run, hold);
                signals::unless_ended(move || chosen(&Person, &question, hold).ok())
            }
            AnswerFrom::Given(choice) => Some(choice),
            AnswerFrom::Default => Some(hold.default_choice()),
            AnswerFrom::Nobody => None,
        };
        choice.map(tune::Answer::Chosen)
    }
}

impl AtTerminal {
    /// Shows what a yes would change.
    fn show(&self, run: &Run, Hold::Apply { champion, .. }: Hold) {
        for line in dangers::of(run, champion) {
            self.printer.show(&format!("dangerous: {line}"));
        }
        match changes(&self.objects, run, champion) {
            Ok(text) => self.printer.show(text.trim_end()),
            Err(error) => self.printer.talk(&format!("cannot show the diff: {error}")),
        }
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
