//! `suite`: inspects suites of any format, and converts them.

mod add;
mod check;
mod convert;
mod shown;

use crate::args::suite::{SuiteArgs, SuiteCommand};
use crate::inputs::find;
use crate::inputs::suite::Suite;
use crate::loops::tune::suite_draft;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(args: &SuiteArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    match &args.command {
        SuiteCommand::Check(args) => check::run(args, env, printer),
        SuiteCommand::Convert(args) => convert::run(args, env, printer),
        SuiteCommand::Add(args) => add::run(args, env, printer),
        SuiteCommand::New(args) => suite_draft::run(args, env, printer),
    }
}

/// Loads the suite at a path, or that of a skill.
fn load(given: &str, env: &Environment) -> Result<Suite, Complaint> {
    let path = env.cwd.join(given);
    if path.symlink_metadata().is_ok() || given.contains('/') || given.contains('.') {
        return Suite::read(&path);
    }
    let skill = find::skills_for("suite check", given, env)?.remove(0);
    Suite::beside(&skill.path)?.ok_or_else(|| {
        Complaint::input(format!("the skill {} has no evals/evals.json", skill.name))
            .hint("pass the path of a suite")
    })
}
