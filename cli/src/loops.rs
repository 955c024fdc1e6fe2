//! The user interface of each loop, and what the run commands need from a loop: they are written once for all loops.

pub mod ask;
pub mod evolve;
pub mod expert;
pub mod gan;
pub mod reflex;
pub mod resume;
pub mod review;
pub mod start;
pub mod tune;

use std::path::Path;

use clap::{Args, Subcommand};
use serde_json::json;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::all_loops;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::runs::plan::{LoopKind, Plan, RunId};

use crate::args::runs::{RunCommand, StopArgs};
use crate::loops::ask::Asks;
use crate::progress::talk::Narrated;
use crate::report::outcome;
use crate::report::ui::Ui;
use crate::runs::peer::Reached;
use crate::runs::scope::Scope;
use crate::runs::{Known, RunStatus};
use crate::settings::Settings;
use crate::settings::error::SettingsError;
use crate::settings::table::Table;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Answers;
use crate::trust::file::TextFile;

/// The arguments of the command that starts a run of a loop. Their help is the command's.
pub trait LoopArgs: Args {
    fn run(self, env: &Environment, printer: Printer, on_runs: OnRuns) -> Result<Exit, Complaint>;

    /// Returns the command on existing runs that these arguments are, if any.
    fn on_runs(&self) -> Option<&RunCommand> {
        None
    }
}

/// The function that carries out a command on the runs of one loop.
pub type OnRuns = fn(RunCommand, Option<LoopKind>, &Environment, Printer) -> Result<Exit, Complaint>;

macro_rules! loop_commands {
    ([] $($loop:ident in $module:ident,)*) => {
        /// The commands that begin a run, one for each loop.
        #[derive(Debug, Subcommand)]
        pub enum LoopCommand {
            $($loop(Box<<skilltune_phases::loops::$module::$loop as LoopCommands>::Args>),)*
        }

        impl LoopCommand {
            pub fn run(self, env: &Environment, printer: Printer, on_runs: OnRuns) -> Result<Exit, Complaint> {
                match self {
                    $(Self::$loop(args) => args.run(env, printer, on_runs),)*
                }
            }

            pub fn on_runs(&self) -> Option<&RunCommand> {
                match self {
                    $(Self::$loop(args) => args.on_runs(),)*
                }
            }
        }

        fn tables() -> Vec<Box<dyn Table>> {
            [$(skilltune_phases::loops::$module::$loop::tables(),)*].into_iter().flatten().collect()
        }
    };
}

all_loops!(loop_commands);

/// Returns the settings of a project, with the tables of all loops.
pub fn settings(project: &Path, env: &Environment) -> Result<Settings, SettingsError> {
    Settings::load(tables(), project, env)
}

/// Returns the settings with this file of a project.
pub fn settings_of(project: Option<TextFile>, env: &Environment) -> Result<Settings, SettingsError> {
    Settings::load_with(tables(), project, env)
}

/// Returns the default settings.
pub fn default_settings() -> Settings {
    Settings::new(tables())
}

/// A stored version of what a run works on.
#[derive(Debug)]
pub struct Version {
    /// Such as `candidate 1a2b3c4d`.
    pub name: String,
    /// The whole id, for scripts.
    pub id: String,
    /// One for each of the loop's members.
    pub trees: Vec<TreeId>,
}

pub trait LoopCommands: Ui + Narrated + Asks {
    type Args: LoopArgs;

    /// The hint if a reason is passed to a `stop` that only pauses the run.
    const WITHOUT_REASON: &'static str = "omit the reason";

    /// Returns the settings tables of the loop.
    fn tables() -> Vec<Box<dyn Table>>;

    /// Sets the defaults of shared settings that differ in this loop.
    fn set_defaults(_: &mut Settings) {}

    /// `show RUN PART`.
    fn part(known: &Known<Self>, part: &str, objects: &Objects) -> Result<String, Complaint>;

    /// Returns the names of a version's trees.
    fn members(plan: &Plan<Self>) -> Vec<&str>;

    /// Returns the version that the run started from.
    fn start(known: &Known<Self>) -> Result<Version, Complaint>;

    /// Returns the version with this name. In every loop `champion` is the best so far.
    fn version(known: &Known<Self>, name: &str) -> Result<Version, Complaint>;

    /// `resume`: gives the results of an ended run to the user.
    fn hand_over(_: &Scope<'_>, _: &RunId, _: Option<&dyn Answers>) -> Result<(), Complaint> {
        Ok(())
    }

    /// `resume`: looks at what the run works on, and returns what it has to know before it goes on.
    fn look_again(_: &Scope<'_>, _: &Known<Self>, _: &Settings) -> Result<Option<Self::Decision>, Complaint> {
        Ok(None)
    }

    /// Only pauses the run: `resume` continues it as if nothing had happened.
    fn stop(scope: &Scope<'_>, known: &Known<Self>, args: &StopArgs) -> Result<Exit, Complaint> {
        let (id, kind) = (&known.run.plan.run, Self::KIND.word());
        if args.parts().1.is_some() {
            let what = format!("`stop` only pauses a {kind} run, and records no reason");
            return Err(Complaint::input(what).hint(Self::WITHOUT_REASON));
        }
        let process = match scope.runs.status(&known.run) {
            RunStatus::Running { pid } => Reached::by(pid)?,
            RunStatus::Ended | RunStatus::Held | RunStatus::Open => None,
        };
        let (outcome, line) = if let Some(process) = process {
            process.ask_to_finish()?;
            let resume = format!("`skilltune resume {id}` continues it");
            ("stopping", format!("stopping run {id} after its current steps; {resume}"))
        } else {
            ("not_running", format!("run {id} is not running"))
        };
        outcome::print(args.format, scope.printer, &[line], &json!({ "run_id": id, "outcome": outcome }))
    }

    /// `clean`: returns why this run holds the only copy of something, if it does.
    fn only_copy(known: &Known<Self>, objects: &Objects) -> Option<String>;

    /// `clean`: removes files that one of our runs has written outside its folder.
    fn tidy(_: &Known<Self>, _: Printer) -> Result<(), Complaint> {
        Ok(())
    }
}
