//! The request to `evolve`, with nothing left to guess: the specification, the project, and what may run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::{self, SafePath};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::Rights;
use skilltune_phases::loops::evolve::plan::Planned;
use skilltune_phases::loops::evolve::spec::{self, Id, Specification};
use skilltune_phases::loops::evolve::task::{Apply, Rules, Set};
use skilltune_phases::loops::evolve::{Evolve, MergedWork};
use skilltune_phases::loops::shared::commands::{Found, Stage, found};
use skilltune_phases::runs::plan::RunId;
use skilltune_phases::suites::checks::{Commands, RunThem};

use crate::args::overrides::apply_shared_flags;
use crate::args::runs::command_hint;
use crate::casting::{self, system_confines};
use crate::loops::LoopCommands as _;
use crate::loops::evolve::advisers::{Advisers, advisers};
use crate::loops::evolve::args::{EvolveArgs, EvolveFlags};
use crate::loops::evolve::claimed::Claimed;
use crate::loops::evolve::settings::{EvolveSettings, ToolsName};
use crate::loops::expert::roster::Roster;
use crate::loops::start::Common;
use crate::loops::tune::scenarios::give_shell;
use crate::settings::commands::CommandWords;
use crate::settings::setting::Setting;
use crate::settings::{Settings, proposed};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;
use crate::trust::TrustStore;
use crate::trust::file::TextFile;

/// The name of a run, of a branch, of a line.
const LONGEST_NAME: usize = 60;
/// A larger plan is not one that we wrote.
const LARGEST_PLAN: u64 = 8 << 20;
/// A larger manifest suggests nothing.
const LARGEST_MANIFEST: u64 = 1 << 20;

/// The hint where this system cannot confine commands.
pub const UNCONFINED: &str =
    "set `limits.confine = false` in your own skilltune.toml to let them write wherever you can";

/// What a run is about, from files or from an earlier run.
#[derive(Debug)]
pub struct Subject {
    pub name: String,
    /// The real path of the specification.
    pub file: PathBuf,
    pub spec: Specification,
    pub plan: Option<Planned>,
    pub plan_only: bool,
    /// The real path of the project's folder.
    pub root: PathBuf,
    pub rerun: Option<Rerun>,
}

/// The tasks of an earlier run that are done again.
#[derive(Clone, Debug)]
pub struct Rerun {
    pub run: RunId,
    pub task: Id,
    /// The task, those that depend on it, and those that it needs and that the earlier run did not do.
    pub only: Vec<Id>,
    /// The project that the earlier run ended with, without its own work.
    pub base: TreeId,
    /// The work that led to its result.
    pub works: Vec<MergedWork>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of a person")]
pub struct Invocation {
    pub common: Common,
    pub advisers: Advisers,
    pub name: String,
    /// The real path of the specification.
    pub file: PathBuf,
    pub spec: Specification,
    pub plan: Option<Planned>,
    pub plan_only: bool,
    /// The tasks of an earlier run that are done again.
    pub rerun: Option<Rerun>,
    /// The result to verify; nothing else is done then.
    pub verify: Option<Box<Claimed>>,
    /// The real path of the project's folder.
    pub root: PathBuf,
    pub set: Vec<Set>,
    /// The command that makes a copy ready for the others.
    pub setup: Option<Vec<String>>,
    /// The commands of other stages that the project's manifests suggest now.
    pub found: Vec<Found>,
    /// Whether commands may run that are found; none if a person has to agree.
    pub finds: Option<bool>,
    /// What happens with the checks of the specification and with oracles.
    pub checks: Commands,
    pub has_oracles: bool,
    pub has_strength: bool,
    pub has_control: bool,
    pub has_shell: bool,
    pub apply: Apply,
    pub rules: Rules,
    pub retries: u32,
    /// Say which commands of the settings do not run.
    pub remarks: Vec<String>,
    pub seed: Option<u64>,
}

impl AsRef<Common> for Invocation {
    fn as_ref(&self) -> &Common {
        &self.common
    }
}

impl Invocation {
    pub fn new(args: &EvolveArgs, spec: &Path, env: &Environment) -> Result<Self, Complaint> {
        let (file, spec) = specification(spec, env)?;
        let plan = args.plan.as_ref().map(|path| planned(path, &spec, env)).transpose()?;
        let subject = Subject {
            name: name(&file.path),
            file: file.path,
            spec,
            plan,
            plan_only: args.plan_only,
            root: root(args.root.as_deref(), env)?,
            rerun: None,
        };
        Self::about(subject, &args.flags, env)
    }

    pub fn about(subject: Subject, args: &EvolveFlags, env: &Environment) -> Result<Self, Complaint> {
        let Subject { name, file, spec, plan, plan_only, root, rerun } = subject;
        let (common, advisers) = common(args, plan_only, env)?;
        let settings = &common.settings;
        let own = settings.of::<EvolveSettings>();
        let SetCommands { set, setup, remarks } = set(settings, &root, &common.project);
        let confined = system_confines(settings);
        if settings.limits.confine.value && !confined && !set.is_empty() && !plan_only {
            return Err(Complaint::input(
                "cannot run the project's commands: this system cannot confine them",
            )
            .hint(UNCONFINED));
        }
        let run = proposed::by_own_word("evolve.commands", "--commands", &own.commands)?;
        let run = proposed::confined(run, "--commands", settings.limits.confine.value, confined)?;
        let found = found_in(&root).into_iter().filter(|one| set.iter().all(|set| set.stage != one.stage));
        let checks = Commands { run: checks(run, args, settings), confined };
        let may_probe = own.oracles.value && !plan_only && checks.run != RunThem::Never;
        Ok(Self {
            advisers,
            name,
            found: found.collect(),
            finds: match run {
                _ if plan_only || set.len() == Stage::ALL.len() => Some(false),
                RunThem::Always => Some(true),
                RunThem::Ask => None,
                RunThem::Never => Some(false),
            },
            checks,
            has_oracles: own.oracles.value,
            has_strength: own.strength.value && may_probe,
            has_control: own.control.value && !plan_only,
            has_shell: own.tools.value == ToolsName::Shell,
            apply: own.apply(),
            rules: own.rules(),
            retries: own.retries.value,
            plan_only,
            rerun,
            verify: None,
            seed: args.seed,
            file,
            spec,
            plan,
            root,
            set,
            setup,
            remarks,
            common,
        })
    }

    /// Says that strength was asked for and cannot be measured.
    pub fn not_measured(&self) -> Option<String> {
        let is_asked = self.common.settings.of::<EvolveSettings>().strength.value && !self.plan_only;
        let is_vain = is_asked && !self.has_strength;
        is_vain.then(|| "--strength measures nothing: no oracle may run".to_owned())
    }

    /// Says which commands run that are found, and which do not.
    pub fn about_commands(&self) -> Option<String> {
        if self.plan_only || self.set.len() == Stage::ALL.len() {
            return None;
        }
        let found = self.found_now();
        let text = match self.finds {
            Some(true) if self.set.is_empty() && self.found.is_empty() => {
                "no command was found: if the work adds no command, nothing is judged; set [commands]"
                    .to_owned()
            }
            Some(true) => format!("commands that are found run on copies of the project: {found}"),
            None if self.set.is_empty() => format!(
                "commands that are found run if you agree, and without any the run does not begin: {found}"
            ),
            None => format!("commands that are found run if you agree: {found}"),
            Some(false) if self.set.is_empty() => format!(
                "no command may run, so the run does not begin; set [commands], pass --commands run, or pass --plan-only (found: {found})"
            ),
            Some(false) => format!(
                "commands that are found do not run; set them in [commands], or pass --commands run (found: {found})"
            ),
        };
        Some(one_line(&text))
    }

    /// Fails if no command may run: nothing could judge the result.
    pub fn require_commands(&self) -> Result<(), Complaint> {
        if self.plan_only || !self.set.is_empty() || self.finds == Some(true) {
            return Ok(());
        }
        let what = "cannot judge a result: no command that lints, builds or tests the project may run";
        let refused = self.remarks.iter().fold(Complaint::input(what), Complaint::caused_by);
        let refused = refused
            .hint("set a command in [commands] of skilltune.toml, such as `test = [\"make\", \"test\"]`");
        let refused = if self.found.is_empty() {
            refused
        } else {
            let found = one_line(&self.found_now());
            refused.hint(format!("or pass --commands run to run the commands that are found: {found}"))
        };
        Err(refused.hint("or pass --plan-only to only make the plan"))
    }

    /// Returns the commands that were found, in a line.
    fn found_now(&self) -> String {
        let found = self.found.iter().map(listed).collect::<Vec<_>>().join(", ");
        if found.is_empty() { "none so far".to_owned() } else { found }
    }
}

/// Returns a command that was found, with the file that suggests it.
pub fn listed(found: &Found) -> String {
    format!("{}: {} (found in {})", found.stage.word(), found.argv.join(" "), found.file)
}

/// Returns the settings, the agents, and the experts that may advise.
fn common(args: &EvolveFlags, plan_only: bool, env: &Environment) -> Result<(Common, Advisers), Complaint> {
    let project = env.project_here();
    let mut settings = crate::loops::settings(&project, env)?;
    Evolve::set_defaults(&mut settings);
    apply_shared_flags(&mut settings, args.agent.as_ref(), args.calls.timeout, &args.given);
    casting::fill(&mut settings, env);
    let own = settings.of::<EvolveSettings>();
    let has_shell = own.tools.value == ToolsName::Shell;
    let advisers = if plan_only || own.advisers.value == 0 {
        Advisers::default()
    } else {
        let roster = Roster::read(&project, &project, &settings, env);
        advisers(&own.roles.value, roster, &TrustStore::new(env), args.trust)?
    };
    let has_control = own.control.value && !plan_only;
    let roles = Evolve::roles_of(!advisers.experts.is_empty(), has_control, has_shell);
    let casting = casting::cast_models(&roles, &settings, env, "change a project")?;
    let mut common = Common { project, settings, casting, pinned: Vec::new(), epoch: args.run.epoch() };
    if has_shell {
        give_shell(&mut common, Rights::Build)?;
    }
    Ok((common, advisers))
}

fn specification(path: &Path, env: &Environment) -> Result<(TextFile, Specification), Complaint> {
    if path.as_os_str().is_empty() {
        return Err(Complaint::input("the specification has an empty name")
            .hint("pass a Markdown, YAML or JSON file with a goal and acceptance criteria"));
    }
    let path = env.named(path)?;
    let Some(file) = TextFile::read(&path)? else {
        let form = || "docs/evolve.md shows the form of a specification".to_owned();
        return Err(Complaint::input(format!("specification {} does not exist", path.display()))
            .hint(command_hint(&path).unwrap_or_else(form)));
    };
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let spec = spec::read(&name, file.text()).map_err(|fault| {
        Complaint::input(format!("cannot use the specification {}: {fault}", path.display()))
            .hint("docs/evolve.md shows the form of a specification; `skilltune evolve --from FILE` drafts one from any document")
    })?;
    Ok((file, spec))
}

/// Reads a plan that a person gives.
fn planned(path: &Path, spec: &Specification, env: &Environment) -> Result<Planned, Complaint> {
    let path = env.named(path)?;
    let cannot = || {
        Complaint::input(format!("cannot use the plan {}", path.display()))
            .hint("`skilltune config schema evolve-plan` prints the form of a plan")
    };
    let text = disk::read(&path, LARGEST_PLAN).map_err(|error| cannot().caused_by(error))?;
    let plan: Planned = serde_json::from_slice(&text).map_err(|error| cannot().caused_by(error))?;
    match plan.fault(&spec.criteria) {
        Some(fault) => Err(cannot().caused_by(one_line(&fault))),
        None => Ok(plan),
    }
}

/// Returns the folder to change, as a real path.
pub fn root(named: Option<&Path>, env: &Environment) -> Result<PathBuf, Complaint> {
    let path = match named {
        Some(path) if path.as_os_str().is_empty() => {
            return Err(
                Complaint::input("--in has an empty path").hint("pass --in DIR, the folder of a project")
            );
        }
        Some(path) => env.named(path)?,
        None => env.project_here(),
    };
    let cannot = |why: &str| Complaint::input(format!("cannot change {}: {why}", path.display()));
    let real = path.canonicalize().map_err(|error| cannot("it cannot be opened").caused_by(error))?;
    if !real.is_dir() {
        return Err(cannot("it is not a folder").hint("pass --in DIR, the folder of a project"));
    }
    if env.holds_everything(&real) {
        return Err(cannot("it holds all of your files").hint("pass --in DIR, the folder of one project"));
    }
    Ok(real)
}

fn name(file: &Path) -> String {
    let stem = file.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
    let name: String = one_line(&stem).trim().chars().take(LONGEST_NAME).collect();
    if name.is_empty() { "specification".to_owned() } else { name }
}

/// The commands that the settings name for a folder.
pub struct SetCommands {
    pub set: Vec<Set>,
    pub setup: Option<Vec<String>>,
    pub remarks: Vec<String>,
}

/// Returns the commands that are set. Those of a project's file are about the whole project.
pub fn set(settings: &Settings, root: &Path, project: &Path) -> SetCommands {
    let is_whole = project.canonicalize().is_ok_and(|project| project == root);
    let mut remarks = Vec::new();
    let mut taken = |word: &str, set: &Setting<CommandWords>| {
        if set.value.0.is_empty() {
            return None;
        }
        if is_whole || !set.origin.is_projects() {
            return Some(set.value.0.clone());
        }
        remarks.push(format!("commands.{word} does not run: it is a command of {}", project.display()));
        None
    };
    let setup = taken("setup", &settings.commands.setup);
    let of_stage =
        |stage: Stage| Some(Set { stage, argv: taken(stage.word(), settings.commands.of(stage))? });
    let set = Stage::ALL.into_iter().filter_map(of_stage).collect();
    SetCommands { set, setup, remarks }
}

/// Returns the commands that the manifests at the root of a project suggest.
fn found_in(root: &Path) -> Vec<Found> {
    found(&|name| {
        if name == "tests" {
            return root.join(name).is_dir().then(String::new);
        }
        let bytes = SafePath::below(root, name).read(LARGEST_MANIFEST).ok()??;
        String::from_utf8(bytes).ok()
    })
}

/// Decides what happens with the checks of the specification and with oracles. Their author is someone else.
fn checks(run: RunThem, args: &EvolveFlags, settings: &Settings) -> RunThem {
    let is_confined = system_confines(settings) || !settings.limits.confine.value;
    match run {
        RunThem::Ask if args.trust && is_confined => RunThem::Always,
        RunThem::Ask if args.run.yes => RunThem::Never,
        RunThem::Always | RunThem::Ask | RunThem::Never => run,
    }
}
