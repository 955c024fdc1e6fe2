//! The run commands for a run of `expert`. It has one answer and no versions, and asks a person nothing.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::expert::{Answer, Expert, Plan, Run, Step};
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
use crate::terminal::questions::Answers;
use crate::text::plain;

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

    /// Writes the draft of an expert to its file.
    fn hand_over(scope: &Scope<'_>, id: &RunId, _: Option<&dyn Answers>) -> Result<(), Complaint> {
        let known = scope.runs.load::<Self>(id)?;
        draft::save(&known.run, scope.runs.home.project(), scope.printer)
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

    const ASKS: (&'static str, &'static str) = ("an expert run asks nothing", "omit `--answer`");
    const REPEATS: bool = false;

    fn given(_: Reply<'_>, _: &Environment) -> Result<Option<()>, Complaint> {
        Ok(None)
    }

    fn default_answer(_: &Run, _: &Step) -> Option<Answer> {
        None
    }

    fn fitting(_: &Run, _: &Step, (): ()) -> Option<Result<Answer, String>> {
        None
    }

    fn ask(_: &Run, _: &Step, _: &Objects, _: Printer) -> Option<Answer> {
        None
    }
}
