//! The run commands for a run of `review`. It has findings and no versions, and asks only whether proposed commands may
//! run.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::review::markdown::markdown;
use skilltune_phases::loops::review::sarif::sarif;
use skilltune_phases::loops::review::{Answer, Plan, Review, Run, Step};

use crate::args::runs::Reply;
use crate::loops::ask::{self, Asks};
use crate::loops::review::args::ReviewArgs;
use crate::loops::review::settings::ReviewSettings;
use crate::loops::review::ui;
use crate::loops::{LoopCommands, Version};
use crate::runs::Known;
use crate::settings::proposed;
use crate::settings::table::Table;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;

impl LoopCommands for Review {
    type Args = ReviewArgs;

    fn tables() -> Vec<Box<dyn Table>> {
        vec![Box::new(ReviewSettings::default())]
    }

    /// Shows the comment or the SARIF of the findings so far.
    fn part(known: &Known<Self>, part: &str, _: &Objects) -> Result<String, Complaint> {
        let run = &known.run;
        let text = match part {
            "markdown" | "review.md" => markdown(run),
            "sarif" | "review.sarif" => sarif(run),
            _ => {
                return Err(Complaint::input(format!("run {} has no {part:?}", run.plan.run))
                    .hint("its parts are `markdown` and `sarif`"));
            }
        };
        Ok(text.trim_end().to_owned())
    }

    fn members(_: &Plan) -> Vec<&str> {
        vec!["review"]
    }

    fn start(known: &Known<Self>) -> Result<Version, Complaint> {
        Err(no_versions(known))
    }

    fn version(known: &Known<Self>, _: &str) -> Result<Version, Complaint> {
        Err(no_versions(known))
    }

    /// The findings were shown, and the change can be reviewed again.
    fn only_copy(_: &Known<Self>, _: &Objects) -> Option<String> {
        None
    }
}

fn no_versions(known: &Known<Review>) -> Complaint {
    let run = &known.run.plan.run;
    Complaint::input(format!("run {run} reviewed a change, and has no versions"))
        .hint(format!("`skilltune show {run} markdown` shows its findings"))
}

impl Asks for Review {
    /// Whether the proposed commands may run.
    type Given = bool;

    const ASKS: (&'static str, &'static str) =
        ("a review asks only whether the proposed commands may run", "pass --answer run or --answer skip");
    const REPEATS: bool = false;

    fn given(reply: Reply<'_>, _: &Environment) -> Result<Option<bool>, Complaint> {
        Ok(match reply.name {
            "run" => Some(true),
            "skip" => Some(false),
            _ => None,
        })
    }

    fn default_answer(_: &Run, step: &Step) -> Option<Answer> {
        matches!(step, Step::Allow).then_some(Answer::Allowed(false))
    }

    fn fitting(_: &Run, step: &Step, given: bool) -> Option<Result<Answer, String>> {
        matches!(step, Step::Allow).then_some(Ok(Answer::Allowed(given)))
    }

    fn ask(run: &Run, _: &Step, _: &Objects, printer: Printer) -> Option<Answer> {
        let head = "the second agent proposes these commands to show findings";
        let shown = proposed::shown(head, run.plan.task.commands.confined, ui::commands(run));
        ask::may_run(&shown, printer).map(Answer::Allowed)
    }
}
