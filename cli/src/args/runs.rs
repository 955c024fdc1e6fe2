//! The arguments of the commands on runs and settings.
//!
//! A unique prefix of its id or the alias of its task names a run, of any loop; without one, commands take the latest run.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Command, Subcommand, ValueEnum};
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::loops::{Loop as _, Offer};
use skilltune_phases::runs::plan::LoopKind;
use skilltune_phases::runs::proposal::Form;
use skilltune_phases::with_loop;

use crate::args::examples;
use crate::args::schemas::SchemaName;
use crate::args::shared::CEILINGS;
use crate::settings::common::{BudgetSettings, CallSettings};
use crate::settings::flags::{Flags, Given, Group, Placing};
use crate::settings::origin::Origin;
use crate::settings::table::{Key, Keyed as _};
use crate::settings::values::{Format, Streamed, UnpricedName};
use crate::settings::worker_settings::WorkerNames;

/// The commands on runs: of every loop, and below the name of a loop of that one alone.
#[derive(Clone, Debug, Subcommand)]
pub enum RunCommand {
    /// Show the state of a run
    #[command(after_help = examples::STATUS)]
    Status(ViewArgs),
    /// Continue a run that was paused or killed
    #[command(after_help = examples::RESUME)]
    Resume(Box<ResumeArgs>),
    /// Stop a run after its current steps; a reflex run ends for good
    #[command(after_help = examples::STOP)]
    Stop(StopArgs),
    /// List the runs of this project
    #[command(after_help = examples::LIST)]
    List(ListArgs),
    /// Show the events of a run in order
    #[command(after_help = examples::HISTORY)]
    History(ViewArgs),
    /// Show a run, a round or a version
    #[command(after_help = examples::SHOW)]
    Show(ShowArgs),
    /// Show what a version changes
    #[command(after_help = examples::DIFF)]
    Diff(DiffArgs),
    /// Replace the skill with a candidate, or create a commit with it
    #[command(after_help = examples::APPLY)]
    Apply(ApplyArgs),
    /// Restore the skill or the folder that a run replaced
    #[command(after_help = examples::ROLLBACK)]
    Rollback(RollbackArgs),
    /// Copy a version to a new folder
    #[command(after_help = examples::EXPORT)]
    Export(ExportArgs),
    /// Print the report of a run, or open it in your browser
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Delete old runs and the files that only they need
    #[command(after_help = examples::CLEAN)]
    Clean(CleanArgs),
}

/// Returns the command that was meant by a file that does not exist, as in `skilltune gan status`.
pub fn command_hint(missing: &Path) -> Option<String> {
    let word = missing.file_name()?.to_str()?;
    let commands = RunCommand::augment_subcommands(Command::new("skilltune"));
    commands.find_subcommand(word).map(|_| format!("for a run of any loop, use `skilltune {word}`"))
}

#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// Run id, a unique prefix of it, or the alias of a task [default: the latest run]
    pub run: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct ViewArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub view: ViewArgs,
    /// Write the page of the run, print its path, and open it in your browser
    #[arg(long, conflicts_with = "format")]
    pub open: bool,
}

#[derive(Clone, Debug, Default, Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Answer to the question of a paused run
    #[arg(long, value_name = "OPTION", value_parser = PossibleValuesParser::new(offered()))]
    pub answer: Option<String>,
    #[arg(long = "with", value_name = "TEXT", requires = "answer", allow_hyphen_values = true, help = details())]
    pub detail: Option<String>,
    #[command(flatten)]
    pub going: GoingArgs,
}

/// The name of an answer, and its details.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    pub name: &'a str,
    pub detail: Option<&'a str>,
}

impl ResumeArgs {
    pub fn reply(&self) -> Option<Reply<'_>> {
        Some(Reply { name: self.answer.as_deref()?, detail: self.detail.as_deref() })
    }
}

/// Returns the answers that the questions of all loops offer.
fn offered() -> Vec<PossibleValue> {
    let mut all: Vec<(String, &'static Offer)> = Vec::new();
    for &kind in LoopKind::ALL {
        for offer in with_loop!(kind, L => L::OFFERS) {
            match all.iter_mut().find(|(_, known)| known.name == offer.name) {
                Some((loops, _)) => loops.extend([", ", kind.word()]),
                None => all.push((kind.word().to_owned(), offer)),
            }
        }
    }
    let value = |(loops, Offer { name, about, help, detail }): (String, &'static Offer)| {
        let detail = detail.map_or_else(String::new, |detail| format!("; --with {detail}"));
        PossibleValue::new(*name).help(format!("{loops}: {}{detail}", help.unwrap_or(about)))
    };
    all.into_iter().map(value).collect()
}

/// Returns what the details of answers are, in all loops.
fn details() -> String {
    let of = |&kind: &LoopKind| with_loop!(kind, L => Some(format!("{}: {}", kind.word(), L::DETAILS?)));
    LoopKind::ALL.iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

#[derive(Clone, Debug, Args)]
pub struct StopArgs {
    /// Run id, a unique prefix of it, or the alias of a task [default: the latest run that is running]
    pub run: Option<String>,
    /// Reason to record, for a reflex run
    pub reason: Option<String>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("what").args(["take", "export"]).required(true))]
pub struct StepArgs {
    /// Run whose calls to export [default: the latest run]
    #[arg(requires = "export")]
    pub run: Option<String>,
    /// Write the calls that the run waits for into this folder, and take the replies that are there: `resume --export`
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Make the call that this file holds, and write the reply beside it; `-` reads from stdin and writes to stdout
    #[arg(long, value_name = "FILE")]
    pub take: Option<PathBuf>,
    /// Run commands of suites and projects too
    #[arg(long, requires = "take")]
    pub allow_commands: bool,
}

impl StepArgs {
    /// Returns `resume RUN --export DIR`.
    pub fn exporting(self) -> RunCommand {
        let (run, going) =
            (RunArgs { run: self.run }, GoingArgs { export: self.export, ..GoingArgs::default() });
        RunCommand::Resume(Box::new(ResumeArgs { run, going, ..ResumeArgs::default() }))
    }
}

/// How a resumed run proceeds.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person gives or not")]
#[derive(Clone, Debug, Default, Args)]
pub struct GoingArgs {
    /// Ask no questions and use the defaults
    #[arg(short, long)]
    pub yes: bool,
    #[command(flatten)]
    pub jobs: Flags<Self, 0>,
    /// Trust the project's agents for this run
    #[arg(long)]
    pub trust: bool,
    #[command(flatten)]
    pub wait: Flags<Self, 1>,
    /// Fail if an agent changed since the run began
    #[arg(long)]
    pub strict_agents: bool,
    /// Make as many trials again for a comparison that stayed open, if its run set aside a look for them: for nights
    #[arg(long, hide = true)]
    pub extend: bool,
    #[command(flatten)]
    pub limits: Flags<Self, 2>,
    /// Write the calls that are due into this folder, for `step --take` on any machine, and pause; takes replies like --replies
    #[arg(long, value_name = "DIR", conflicts_with = "replies")]
    pub export: Option<PathBuf>,
    /// Take the replies to exported calls from this folder
    #[arg(long, value_name = "DIR")]
    pub replies: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Streamed,
    #[command(flatten)]
    pub given: Given,
}

impl Placing for GoingArgs {
    type Tables = (BudgetSettings, CallSettings);

    const GROUPS: &'static [Group] = &[(None, "calls.jobs calls.workers"), (None, "calls.wait"), CEILINGS];
}

impl GoingArgs {
    /// Overrides the settings that the rest of a run follows; the others are those of its plan, like its workers if no flag
    /// names others.
    pub fn apply_to(&self, calls: &mut CallSettings, planned: &[String]) {
        calls.workers.set(WorkerNames(planned.to_vec()), Origin::Run);
        let is_taken = |key: &Key<'_>| matches!(key.name, "calls.jobs" | "calls.workers" | "calls.wait");
        self.given.apply_to(calls.keys().into_iter().filter(is_taken));
    }

    /// Returns the ceilings that its flags set.
    pub fn ceilings(&self) -> Ceilings {
        let mut budget = BudgetSettings::default();
        self.given.apply_to(budget.keys());
        let allow_unpriced = budget.unpriced.value == UnpricedName::Allow;
        Ceilings {
            allow_unpriced: self.given.has("budget.unpriced").then_some(allow_unpriced),
            ..budget.ceilings()
        }
    }
}

impl RunCommand {
    /// The run that is named, if one is.
    pub fn run(&self) -> Option<&str> {
        match self {
            Self::Stop(args) => args.parts().0,
            Self::Resume(args) => args.run.run.as_deref(),
            Self::Status(ViewArgs { run, .. })
            | Self::History(ViewArgs { run, .. })
            | Self::Report(ReportArgs { view: ViewArgs { run, .. }, .. })
            | Self::Show(ShowArgs { run, .. })
            | Self::Diff(DiffArgs { run, .. })
            | Self::Apply(ApplyArgs { run, .. })
            | Self::Rollback(RollbackArgs { run, .. }) => run.run.as_deref(),
            Self::Export(args) => Some(&args.run),
            Self::Clean(args) => args.run.as_deref(),
            Self::List(_) => None,
        }
    }

    /// The format of its errors; `resume` reports its own.
    pub fn format(&self) -> Format {
        match self {
            Self::Status(args) | Self::History(args) | Self::Report(ReportArgs { view: args, .. }) => {
                args.format
            }
            Self::Stop(args) => args.format,
            Self::List(args) => args.format,
            Self::Show(args) => args.format,
            Self::Diff(args) => args.format,
            Self::Apply(args) => args.format,
            Self::Rollback(args) => args.format,
            Self::Export(args) => args.format,
            Self::Clean(args) => args.format,
            Self::Resume(_) => Format::Human,
        }
    }
}

impl StopArgs {
    /// The run and the reason. What cannot name a run is the reason of whatever runs, as the original has it.
    pub fn parts(&self) -> (Option<&str>, Option<&str>) {
        let is_named = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        match (self.run.as_deref(), self.reason.as_deref()) {
            (Some(first), None) if !first.bytes().all(is_named) => (None, Some(first)),
            parts => parts,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// List only runs of this loop
    #[arg(long = "loop", value_name = "LOOP", value_parser = loop_kinds())]
    pub kind: Option<LoopKind>,
    /// List only the latest N runs [default: 200 in the table, all as JSON]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// List all runs, and every calibration, not only the latest one of each skill
    #[arg(long)]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

fn loop_kinds() -> impl TypedValueParser<Value = LoopKind> {
    let words = LoopKind::ALL.iter().map(|kind| kind.word());
    PossibleValuesParser::new(words).map(|word| {
        let kind = LoopKind::ALL.iter().copied().find(|kind| kind.word() == word);
        kind.expect("clap accepts only these words")
    })
}

#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Round number, alone that of the latest run, or a unique prefix of a version's id
    #[arg(value_name = "ROUND|VERSION")]
    pub part: Option<String>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Version id (or a unique prefix), also of a version that `apply` replaced, or start, best, head or champion [default: champion]
    pub candidate: Option<String>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct ApplyArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Candidate id (or a unique prefix), the id of a version that `apply` replaced, or start, best, head or champion [default: champion]
    pub candidate: Option<String>,
    /// Merge the candidate with your changes since the run; on conflicts, list them and change nothing
    #[arg(long, conflicts_with = "force")]
    pub merge: bool,
    /// Replace the skill even if it changed since the run
    #[arg(long)]
    pub force: bool,
    /// Leave the skill unchanged, and create a git commit instead
    #[arg(long = "as", value_enum, value_name = "FORM", conflicts_with_all = ["force", "merge"])]
    pub form: Option<FormName>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

/// How a change is handed to git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormName {
    /// A commit on the branch skilltune/NAME
    Branch,
    /// A patch file for `git am`
    Patch,
    /// A pushed branch, and a pull request that `gh` creates
    Pr,
}

impl From<FormName> for Form {
    fn from(name: FormName) -> Self {
        match name {
            FormName::Branch => Self::Branch,
            FormName::Patch => Self::Patch,
            FormName::Pr => Self::PullRequest,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub struct RollbackArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Replace the skill or the folder even if it changed since the run
    #[arg(long)]
    pub force: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Run id, a unique prefix of it, or the alias of a task
    pub run: String,
    /// Version id (or a unique prefix), also of a version that `apply` replaced, or start, best, head or champion
    pub candidate: String,
    /// Folder to create
    pub dir: PathBuf,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct CleanArgs {
    /// Run id, a unique prefix of it, or the alias of a task [default: all runs that have ended]
    #[arg(conflicts_with_all = ["all", "keep"])]
    pub run: Option<String>,
    /// Delete all runs except running ones, even those that can be resumed, that `rollback` needs or whose winner waits
    #[arg(long, conflicts_with = "keep")]
    pub all: bool,
    /// Keep the latest N runs
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Show what would be deleted, then exit
    #[arg(long)]
    pub dry_run: bool,
    /// Delete without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct TrustArgs {
    /// Settings file, its folder, a suite, a file of rules, a file of jobs, an expert, or moai's design.yaml
    /// [default: the skilltune.toml of the project]
    pub path: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// Folder for the example, new or empty
    #[arg(default_value = "skilltune-demo")]
    pub dir: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub command: ConfigCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// List every setting, its value, and where the value comes from
    #[command(after_help = examples::CONFIG_SHOW)]
    Show {
        /// Output format
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        format: Format,
    },
    /// Print a JSON schema: editors complete and check a file with it
    #[command(after_help = examples::CONFIG_SCHEMA)]
    Schema {
        /// What it describes
        #[arg(value_enum, value_name = "NAME", default_value_t)]
        name: SchemaName,
    },
}
