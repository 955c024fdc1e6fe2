//! The request to `gan`, with nothing left to guess.

use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, access};
use skilltune_orchestrator::process::can_confine;
use skilltune_phases::loops::gan::contract::Contract;
use skilltune_phases::loops::gan::inspect::{Given, Preview};
use skilltune_phases::loops::gan::original::{Agreement, ContractLevels};
use skilltune_phases::loops::gan::rules::Rules;
use skilltune_phases::loops::gan::{Apply, ArtifactDir, Brief, Gan, Level};
use skilltune_phases::runs::proposal::Form;
use skilltune_phases::skills::edit::acts_by_itself;
use skilltune_phases::suites::checks::RunThem;

use crate::args::overrides::apply_shared_flags;
use crate::casting;
use crate::casting::system_confines;
use crate::loops::gan::args::GanArgs;
use crate::loops::gan::browser::{self, Found};
use crate::loops::gan::design_file::DesignFile;
use crate::loops::gan::inputs::{self, Judged, Material};
use crate::loops::gan::settings::{ApplyName, GanSettings};
use crate::loops::start::Common;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::settings::{Settings, proposed};
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

#[derive(Debug)]
pub struct Invocation {
    pub common: Common,
    pub name: String,
    pub brief: Brief,
    pub given: Given,
    /// The same as files, for an agent to read.
    pub materials: Vec<Material>,
    pub profile: Box<str>,
    pub asked: Contract,
    pub level: Level,
    pub negotiated: bool,
    /// The folder in the project that gets the sprints too.
    pub artifact_dir: Option<ArtifactDir>,
    pub remarks: Vec<String>,
    pub into: Option<PathBuf>,
    pub apply: Apply,
    pub rules: Rules,
    /// What to do with the commands of test scenarios.
    pub commands: RunThem,
    pub command_seconds: u64,
    pub browser: Option<Found>,
    pub browser_seconds: u64,
    pub preview: Option<Preview>,
    /// Whether the system confines the programs of the run to its folders.
    pub confines: bool,
    pub retries: u32,
    pub seed: Option<u64>,
}

impl AsRef<Common> for Invocation {
    fn as_ref(&self) -> &Common {
        &self.common
    }
}

impl Invocation {
    pub fn new(args: &GanArgs, env: &Environment) -> Result<Self, Complaint> {
        let (name, brief) = inputs::brief(&env.named(&args.brief)?)?;
        let (given, materials) = inputs::given(args, &brief, env)?;
        let Judged { profile, asked, original } = inputs::judged(args.profile.as_deref(), env)?;
        let into = args.into.as_ref().map(|path| destination(&env.named(path)?, env)).transpose()?;
        let project = env.project_here();
        let mut settings = crate::loops::settings(&project, env)?;
        let mut design = match (original, &args.profile) {
            (Some(original), Some(path)) => DesignFile::named(path, original),
            _ => DesignFile::found(&project, args.trust, env)?,
        };
        design.apply(&mut settings);
        apply_shared_flags(&mut settings, args.agent.as_ref(), args.calls.timeout, &args.given);
        casting::fill(&mut settings, env);
        let casting = casting::cast_models(Gan::ROLES, &settings, env, "build anything")?;
        let gan = settings.of::<GanSettings>();
        let rules = rules(gan, &asked, design.name())?;
        let browser = gan.browser.value.then(|| browser::found(env)).flatten();
        let apply = apply(&gan.apply);
        if matches!(apply, Apply::Propose(_)) && into.is_none() {
            return Err(Complaint::input("cannot propose the result: no folder is named")
                .hint("pass --into DIR, or --apply never to leave the result in the run's folder"));
        }
        into.iter().filter(|_| apply == Apply::Auto).try_for_each(|path| require_writable(path))?;
        let levels = design.original().levels();
        design.remarks.extend(idle_contract(gan, &levels));
        Ok(Self {
            level: gan.level.value.into(),
            negotiated: gan.is_negotiated(&levels),
            artifact_dir: design.artifact_dir(&project, into.as_deref())?,
            remarks: design.remarks,
            retries: gan.retries.value,
            commands: commands(gan, &settings, args.run.yes)?,
            command_seconds: gan.command_seconds.value,
            preview: preview(&settings, browser.is_some(), env)?,
            browser,
            browser_seconds: gan.browser_seconds.value,
            confines: system_confines(&settings),
            seed: args.seed,
            name,
            brief,
            given,
            materials,
            profile,
            asked,
            into,
            apply,
            rules,
            common: Common { project, settings, casting, pinned: Vec::new(), epoch: args.run.epoch() },
        })
    }
}

/// Says that `--contract` has no effect, if that is so at this level.
fn idle_contract(gan: &GanSettings, levels: &ContractLevels) -> Option<String> {
    let level = Level::from(gan.level.value);
    let why = match levels.at(level) {
        Agreement::Always => "a contract is always agreed on",
        Agreement::Never => "no contract is agreed on",
        Agreement::IfAsked => return None,
    };
    let is_asked = gan.contract.value && matches!(gan.contract.origin, Origin::Flag(_));
    is_asked.then(|| format!("--contract has no effect: at level {} {why}", level.word()))
}

/// Accepts a program in the PATH or a full path: a relative path could mean a file of the project, or of the result.
fn preview(settings: &Settings, has_browser: bool, env: &Environment) -> Result<Option<Preview>, Complaint> {
    let gan = settings.of::<GanSettings>();
    let mut argv = gan.preview.value.0.clone();
    let Some(name) = argv.first_mut().filter(|_| gan.browser.value) else { return Ok(None) };
    let origin = &gan.preview.origin;
    if !has_browser {
        return Err(Complaint::input("cannot preview: there is no Chromium or Chrome on your PATH")
            .hint(format!("install one, pass --no-browser, or remove gan.preview ({origin})")));
    }
    let cannot = |why: &str| Complaint::input(format!("cannot preview with {name:?}: {why}"));
    if settings.limits.confine.value && !can_confine() {
        return Err(cannot("it runs code of an agent, and this system cannot confine it").hint(
            "set `limits.confine = false` in your own skilltune.toml to let it write wherever you can",
        ));
    }
    if name.contains('/') && !Path::new(&name).is_absolute() {
        return Err(cannot("it is a relative path")
            .hint(format!("name a program on your PATH, or a full path ({origin})")));
    }
    let found = casting::on_path(name, env).map_err(|_| {
        cannot("program not found").hint(format!("install it, or change gan.preview ({origin})"))
    })?;
    *name = found.to_string_lossy().into_owned();
    let (path, seconds) = (gan.preview_path.value.0.clone(), gan.preview_seconds.value);
    Ok(Some(Preview { argv, path, seconds }))
}

/// With `--yes` no person can allow commands, so the evaluator drafts none.
fn commands(gan: &GanSettings, settings: &Settings, yes: bool) -> Result<RunThem, Complaint> {
    let run = match gan.run_them()? {
        RunThem::Ask if yes => RunThem::Never,
        run => run,
    };
    proposed::confined(run, "--commands", settings.limits.confine.value, can_confine())
}

/// Fails if the settings contradict each other. `design` is the file of the original that sets some of them.
fn rules(gan: &GanSettings, asked: &Contract, design: Option<&str>) -> Result<Rules, Complaint> {
    let rules = gan.rules();
    if let Some(unknown) = rules.minimums.keys().find(|id| asked.dimension(id).is_none()) {
        let known: Vec<&str> = asked.dimensions.iter().map(|dimension| dimension.id.as_str()).collect();
        return Err(Complaint::input(format!("the profile has no dimension {:?}", unknown.as_str()))
            .hint(format!("it has {}", known.join(", "))));
    }
    rules.checked().map_err(|why| {
        let design = design.map_or_else(String::new, |name| format!(" and of {name}"));
        Complaint::input(why.to_string())
            .hint(format!("check --threshold, --max-rounds and the settings of [gan]{design}"))
    })
}

/// Decides how to apply. A project's file may be someone else's: it alone sends nothing to a server.
fn apply(set: &Setting<ApplyName>) -> Apply {
    match set.value.into() {
        Apply::Propose(Form::PullRequest) if !set.origin.is_persons() => Apply::Propose(Form::Branch),
        apply => apply,
    }
}

/// Returns a folder, or a path where one can be created. The missing part of a path must not contain `..`.
fn destination(path: &Path, env: &Environment) -> Result<PathBuf, Complaint> {
    let cannot = |why: &str| Complaint::input(format!("cannot build into {}: {why}", path.display()));
    let there = path.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    let there = there.ok_or_else(|| cannot("no parent folder exists"))?;
    if !there.is_dir() {
        return Err(cannot(&format!("{} is not a folder", there.display())).hint("pass another folder"));
    }
    let missing = path.strip_prefix(there).expect("an ancestor is a prefix");
    if !missing.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(cannot("a parent folder does not exist").hint("pass a path without `..`"));
    }
    let real = there.canonicalize().map_err(|error| cannot("it cannot be read").caused_by(error))?;
    let real = if missing.as_os_str().is_empty() { real } else { real.join(missing) };
    // Agents read all files in it.
    if env.holds_everything(&real) {
        return Err(cannot("it holds all of your files").hint("pass a separate folder"));
    }
    let is_ours = |part: Component<'_>| part.as_os_str() == ".git" || part.as_os_str() == ".skilltune";
    if real.components().any(is_ours) || acts_by_itself(&format!("{}/", real.display())) {
        return Err(cannot("git, skilltune, agents or editors read files there by themselves")
            .hint("pass another folder"));
    }
    Ok(real)
}

/// Fails before anything is paid for.
fn require_writable(path: &Path) -> Result<(), Complaint> {
    let there = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(path);
    access(there, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| {
        let cannot = Complaint::input(format!("cannot build into {}", path.display()));
        cannot.caused_by(io::Error::from(error)).hint("pass a writable folder, or --apply never")
    })
}
