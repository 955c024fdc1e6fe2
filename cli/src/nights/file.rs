//! The file of jobs, `skilltune-night.toml`.

use std::path::{Path, PathBuf};

use jiff::civil::Time;
use serde::{Deserialize, Deserializer, de};
use skilltune_phases::base::ceiling::Ceilings;
use skilltune_phases::base::name::Name;
use skilltune_phases::base::window::Percent;
use skilltune_phases::judging::proof::Confidence;

use crate::loops::tune::args::MOST_EXTENSIONS;
use crate::loops::tune::settings::{ApplyWhen, Preset};
use crate::settings::values::word;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::{one_line, shell_path};
use crate::trust::file::TextFile;
use crate::trust::pinned::{self, Pinned};
use crate::trust::{TrustError, TrustStore};

/// Its name in a project's folder.
const NIGHT_FILE: &str = "skilltune-night.toml";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NightFile {
    /// The time to stop: nothing new begins, and calls under way finish and are saved.
    #[serde(deserialize_with = "time")]
    pub until: Option<Time>,
    /// A scheduled night that starts later than this does nothing.
    #[serde(deserialize_with = "time")]
    pub latest_start: Option<Time>,
    pub overlap: Overlap,
    /// The number of jobs at a time.
    pub parallel: usize,
    /// The number of nights whose pages are kept.
    pub keep: usize,
    /// The share of each reported usage window that must stay free.
    pub keep_free: Option<Percent>,
    /// The limits of one night.
    pub night: Limits,
    /// The limits of seven days.
    pub week: Limits,
    /// A command that gets the JSON of a night that needs a person, on its standard input.
    pub notify: Vec<String>,
    /// Whether the command gets the JSON of every night.
    pub notify_always: bool,
    /// A command that is started at the end of every night, so that somebody else can notice a night that did not run.
    pub heartbeat: Vec<String>,
    pub jobs: Vec<JobEntry>,
}

/// What to do if another night is still under way at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// Do nothing.
    #[default]
    Skip,
    /// Start when the other night has ended.
    Queue,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    #[serde(rename = "max_usd")]
    pub usd: Option<f64>,
    #[serde(rename = "max_tokens")]
    pub tokens: Option<u64>,
    #[serde(rename = "max_calls")]
    pub calls: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobEntry {
    /// The job's name; by default the skill's name.
    pub name: Option<String>,
    /// One skill; every skill in a folder, with `/*` at the end; or several skills, which form a chain.
    pub skill: Skills,
    pub suite: Option<PathBuf>,
    pub preset: Option<String>,
    pub runs: Option<u32>,
    pub apply: Option<String>,
    pub confidence: Option<Confidence>,
    #[serde(default = "one")]
    pub priority: u32,
    /// The number of scenarios that a night measures; 0 measures none.
    #[serde(default = "usual_sample")]
    pub sample: usize,
    /// How often the comparison is extended while its verdict stays open.
    #[serde(default = "usual_retries")]
    pub retries: u32,
    pub agent: Option<String>,
    pub executor: Option<String>,
    pub evaluator: Option<String>,
    pub improver: Option<String>,
    /// The limits of this job in one night.
    #[serde(default)]
    pub limits: Limits,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Skills {
    One(String),
    Chain(Vec<String>),
}

/// A file that was read and is trusted, and its path.
#[derive(Clone, Debug)]
pub struct NightPlan {
    pub file: TextFile,
    /// The folder that its paths are relative to.
    pub folder: PathBuf,
    /// The name of its state: the file's name without its extension.
    pub name: Name,
    pub content: NightFile,
}

impl Default for NightFile {
    fn default() -> Self {
        Self {
            until: None,
            latest_start: None,
            overlap: Overlap::default(),
            parallel: 1,
            keep: 30,
            keep_free: None,
            night: Limits::default(),
            week: Limits::default(),
            notify: Vec::new(),
            notify_always: false,
            heartbeat: Vec::new(),
            jobs: Vec::new(),
        }
    }
}

impl NightFile {
    /// Returns the commands that a night runs at its end, by their keys.
    pub fn commands(&self) -> [(&'static str, &Vec<String>); 2] {
        [("notify", &self.notify), ("heartbeat", &self.heartbeat)]
    }
}

impl Skills {
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::One(one) => vec![one],
            Self::Chain(many) => many.iter().map(String::as_str).collect(),
        }
    }
}

impl Limits {
    pub fn ceilings(self) -> Ceilings {
        Ceilings { usd: self.usd, tokens: self.tokens, calls: self.calls, ..Ceilings::default() }
    }
}

impl NightPlan {
    /// Returns the path of the named file, or of the project's file.
    pub fn path(named: Option<&Path>, env: &Environment) -> PathBuf {
        named.map_or_else(|| env.project_here().join(NIGHT_FILE), |path| env.cwd.join(path))
    }

    pub fn read(named: Option<&Path>, env: &Environment) -> Result<Self, Complaint> {
        let path = Self::path(named, env);
        let Some(file) = TextFile::read(&path)? else {
            return Err(Complaint::input(format!("{} does not exist", path.display()))
                .hint("`skilltune night add SKILL --suite FILE` makes one, or pass --file"));
        };
        Self::of(file)
    }

    /// Returns whether a file is meant as a file of jobs, valid or not.
    pub fn is_one(file: &TextFile) -> bool {
        file.path.ends_with(NIGHT_FILE)
            || file.toml::<toml::Table>().is_ok_and(|table| table.contains_key("jobs"))
    }

    pub fn of(file: TextFile) -> Result<Self, Complaint> {
        let bad = |why: &str| Complaint::input(format!("{}: {}", file.path.display(), one_line(why)));
        let content: NightFile = file.toml().map_err(|why| bad(&why))?;
        check(&content).map_err(|why| bad(&why))?;
        let folder = file.path.parent().expect("a file is in a folder").to_owned();
        let stem = file.path.file_stem().and_then(|stem| stem.to_str());
        let name = stem.and_then(|stem| stem.parse().ok()).ok_or_else(|| bad("its name is not UTF-8"))?;
        Ok(Self { file, folder, name, content })
    }

    /// Returns the files of the project that its commands name.
    pub fn scripts(&self, env: &Environment) -> Result<Vec<Pinned>, TrustError> {
        let commands = self.content.commands();
        pinned::scripts(&self.file, commands.into_iter().map(|(_, command)| command), env)
    }

    /// Fails unless a person has trusted the current file, because it decides what is spent, applied and run.
    pub fn require_trust(&self, env: &Environment) -> Result<(), Complaint> {
        let (store, scripts) = (TrustStore::new(env), self.scripts(env)?);
        if store.trusts(&self.file, &scripts)? {
            return Ok(());
        }
        let path = shell_path(&self.file.path);
        let (what, read) = if store.trusts(&self.file, &[])? {
            let given = self.content.commands().into_iter().filter(|(_, command)| !command.is_empty());
            let names = given.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
            (format!("a script that {names} names"), "read the script")
        } else {
            (self.file.path.display().to_string(), "read it")
        };
        Err(Complaint::input(format!("{what} is not trusted, or changed since"))
            .caused_by("a file of jobs decides what skilltune spends, applies and runs")
            .hint(format!("{read}, then run `skilltune trust {path}`")))
    }
}

fn check(file: &NightFile) -> Result<(), String> {
    if !(1..=16).contains(&file.parallel) {
        return Err("`parallel` must be from 1 to 16".to_owned());
    }
    for (name, command) in file.commands() {
        if command.first().is_some_and(|program| program.trim().is_empty()) {
            return Err(format!("`{name}` must begin with a program"));
        }
    }
    if file.keep == 0 {
        return Err("`keep` must be at least 1".to_owned());
    }
    let limits = [file.night, file.week].into_iter().chain(file.jobs.iter().map(|job| job.limits));
    if limits.filter_map(|limits| limits.usd).any(|usd| !usd.is_finite() || usd <= 0.0) {
        return Err("`max_usd` must be above 0".to_owned());
    }
    for job in &file.jobs {
        one_of::<ApplyWhen>("apply", job.apply.as_deref())?;
        one_of::<Preset>("preset", job.preset.as_deref())?;
        if job.priority == 0 {
            return Err("`priority` must be at least 1".to_owned());
        }
        if i64::from(job.retries) > MOST_EXTENSIONS {
            return Err(format!("`retries` must be at most {MOST_EXTENSIONS}"));
        }
        if job.apply.as_deref() == Some("ask") {
            return Err(
                "`apply = \"ask\"` needs a person; use \"never\", \"patch\", \"branch\", \"pr\" or \"auto\""
                    .to_owned(),
            );
        }
        let names = job.skill.names();
        if names.is_empty() || names.iter().any(|name| name.trim().is_empty() || name.contains(',')) {
            return Err("`skill` must name skills, without commas".to_owned());
        }
    }
    Ok(())
}

fn one_of<T: clap::ValueEnum>(key: &str, given: Option<&str>) -> Result<(), String> {
    let Some(given) = given.filter(|given| T::from_str(given, false).is_err()) else { return Ok(()) };
    let known: Vec<String> = T::value_variants().iter().map(word).collect();
    Err(format!("`{key}` is {given:?}; it must be one of {}", known.join(", ")))
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    let text = String::deserialize(from)?;
    let read = Time::strptime("%H:%M", &text);
    read.map(Some).map_err(|_| de::Error::custom(format!("{text:?} is not a time; write it like \"06:30\"")))
}

fn one() -> u32 {
    1
}

fn usual_sample() -> usize {
    4
}

fn usual_retries() -> u32 {
    1
}
