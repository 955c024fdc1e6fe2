//! The run commands for a run of `expert`. It has one answer and no versions. Before it drafts a specification it may ask
//! a person.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::expert::{Answer, Expert, Inquiry, Plan, Run, Step};
use skilltune_phases::runs::plan::RunId;

use crate::args::runs::Reply;
use crate::loops::ask::Asks;
use crate::loops::expert::args::ExpertArgs;
use crate::loops::expert::draft;
use crate::loops::expert::settings::ExpertSettings;
use crate::loops::{LoopCommands, Version};
use crate::runs::Known;
use crate::runs::scope::Scope;
use crate::settings::table::Table;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;
use crate::terminal::questions::{Answers, Person};
use crate::terminal::signals;
use crate::text::plain::{self, one_line};

impl LoopCommands for Expert {
    type Args = ExpertArgs;

    fn tables() -> Vec<Box<dyn Table>> {
        vec![Box::new(ExpertSettings::default())]
    }

    /// Shows the answer.
    fn part(known: &Known<Self>, part: &str, _: &Objects) -> Result<String, Complaint> {
        let run = &known.run;
        let answer = run.answer().filter(|_| part == "answer");
        answer.map(plain::pictured).ok_or_else(|| {
            Complaint::input(format!("run {} has no {part:?}", run.plan.run))
                .hint("once the expert has answered, its only part is `answer`")
        })
    }

    fn members(_: &Plan) -> Vec<&str> {
        vec!["answer"]
    }

    fn start(known: &Known<Self>) -> Result<Version, Complaint> {
        Err(no_versions(known))
    }

    fn version(known: &Known<Self>, _: &str) -> Result<Version, Complaint> {
        Err(no_versions(known))
    }

    /// Writes a draft to its file.
    fn hand_over(scope: &Scope<'_>, id: &RunId, person: Option<&dyn Answers>) -> Result<(), Complaint> {
        let known = scope.runs.load::<Self>(id)?;
        draft::save(&known.run, scope.runs.home.project(), person, scope.printer)
    }

    /// The answer was shown, and can be asked for again.
    fn only_copy(_: &Known<Self>, _: &Objects) -> Option<String> {
        None
    }
}

fn no_versions(known: &Known<Expert>) -> Complaint {
    let run = &known.run.plan.run;
    Complaint::input(format!("run {run} asked an expert, and has no versions"))
        .hint(format!("`skilltune show {run} answer` shows the answer"))
}

impl Asks for Expert {
    type Given = ();

    const ASKS: (&'static str, &'static str) =
        ("an expert run takes no such answers", "omit `--answer`; questions before a draft need a terminal");
    const REPEATS: bool = false;

    fn given(_: Reply<'_>, _: &Environment) -> Result<Option<()>, Complaint> {
        Ok(None)
    }

    fn default_answer(_: &Run, step: &Step) -> Option<Answer> {
        (*step == Step::Reply).then(|| Answer::Replied(Vec::new()))
    }

    fn fitting(_: &Run, _: &Step, (): ()) -> Option<Result<Answer, String>> {
        None
    }

    fn ask(run: &Run, _: &Step, _: &Objects, _: Printer) -> Option<Answer> {
        let questions = run.questions().to_vec();
        signals::unless_ended(move || replies(&Person, &questions).ok()).map(Answer::Replied)
    }
}

/// Asks each question. An empty reply leaves the decision to the agent.
fn replies(person: &dyn Answers, questions: &[Inquiry]) -> Result<Vec<Box<str>>, Complaint> {
    let ask = |Inquiry { question, why }: &Inquiry| -> Result<Box<str>, Complaint> {
        let help = format!("{}; enter lets the agent decide", one_line(why).trim_end_matches('.'));
        Ok(person.line(&one_line(question), &help)?.unwrap_or_default().into())
    };
    questions.iter().map(ask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::questions::scripted::Script;

    #[test]
    fn each_question_is_asked_on_one_line_and_may_stay_open() {
        let inquiry = |question: &str| Inquiry { question: question.into(), why: "It is open.".into() };
        let script = Script { lines: std::cell::RefCell::new(["metres"].into()), ..Script::default() };
        let given = replies(&script, &[inquiry("Which\nunits?"), inquiry("How many?")]).unwrap();
        assert_eq!(given.iter().map(|one| &**one).collect::<Vec<_>>(), ["metres", ""]);
        assert_eq!(*script.asked.borrow(), ["Which units?", "How many?"]);
    }
}
