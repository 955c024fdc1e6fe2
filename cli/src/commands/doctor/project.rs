//! The project: its settings and whether they are trusted, its runs, and its locks.

use std::path::Path;

use serde::Serialize;
use skilltune_orchestrator::store::{Home, Locks};
use skilltune_phases::loops::tune::Tune;
use skilltune_phases::runs::plan::RunId;

use crate::casting;
use crate::casting::BuiltIn;
use crate::loops::LoopCommands;
use crate::loops::tune::prompts::Pages;
use crate::nights::check::{About, Check, State};
use crate::report::ui::with_loop;
use crate::runs::{RunStatus, Runs};
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain;
use crate::trust::TrustStore;

#[derive(Debug, Serialize)]
pub struct Project {
    pub root: String,
    pub settings_file: Option<String>,
    /// The error in the user's or the project's settings.
    pub settings_error: Option<String>,
    /// What to do about that error.
    #[serde(skip)]
    pub settings_fix: Option<String>,
    /// Why the settings alone do not assign an agent to each role.
    pub roles_error: Option<String>,
    /// Whether the agents and prompts that the project describes are used; none if it describes none.
    pub trusted: Option<bool>,
    /// Whether `--trust` trusts them for this command.
    #[serde(skip)]
    pub trusted_now: bool,
    pub git: bool,
    /// Whether git ignores our folder; none if the folder does not exist.
    pub ignored: Option<bool>,
    /// Why nothing in the project's state folder is used.
    pub state_error: Option<String>,
    pub runs: Vec<OpenRun>,
    /// Runs with an unreadable journal.
    pub damaged: Vec<String>,
    pub locks: Vec<Lock>,
}

/// A run that has not ended.
#[derive(Debug, Serialize)]
pub struct OpenRun {
    pub id: String,
    pub status: &'static str,
    pub target: String,
}

/// A lock that a process holds, in any project.
#[derive(Debug, Serialize)]
pub struct Lock {
    pub pid: u32,
    pub host: String,
    pub since: String,
    pub doing: String,
}

impl Project {
    pub fn look(root: &Path, settings: &Settings, broken: Option<&Complaint>, env: &Environment) -> Self {
        let file = settings.project_file.as_ref();
        let describes = settings.agents.values().any(|agent| matches!(agent.origin, Origin::Project(_)))
            || !settings.foreign_wishes().is_empty();
        let pages = Pages::trusted(settings, env);
        let trusts = |file| {
            let scripts = casting::scripts(settings, env);
            let trusts = scripts.and_then(|scripts| TrustStore::new(env).trusts(file, &scripts));
            pages.unwrap_or(true) && trusts.unwrap_or(false)
        };
        let found = Runs::of(root, env);
        let state_error = found.as_ref().err().map(|strange| strange.what.clone());
        let (runs, damaged) = found.map(|runs| open_runs(&runs)).unwrap_or_default();
        Self {
            root: root.display().to_string(),
            settings_file: file.map(|file| file.path.display().to_string()),
            settings_error: broken.map(whole),
            settings_fix: broken.and_then(|broken| broken.hints.first().cloned()),
            roles_error: casting::cast(Tune::ROLES, settings, env, BuiltIn::Knows)
                .err()
                .map(|complaint| complaint.what),
            trusted: file.filter(|_| describes || pages.is_some()).map(trusts),
            trusted_now: false,
            git: root.ancestors().any(|folder| folder.join(".git").exists()),
            ignored: ignored(&Home::of(root)),
            state_error,
            runs,
            damaged,
            locks: locks(env),
        }
    }

    pub fn checks(&self) -> Vec<Check> {
        let check = |state, text: String| Check::new(About::Project, state, text);
        let mut checks = vec![check(State::Fine, format!("folder: {}", self.root)), self.settings_check()];
        checks.push(match &self.roles_error {
            _ if self.settings_error.is_some() => {
                check(State::Unknown, "roles: not checked, because the settings cannot be read".to_owned())
            }
            None => check(State::Fine, "roles: every role has an agent".to_owned()),
            Some(why) => check(State::Unknown, format!("roles: {why}")),
        });
        if self.git {
            let (state, text) = match self.ignored {
                Some(false) => (State::Broken, ".skilltune has no .gitignore with `*`"),
                Some(true) => (State::Fine, ".skilltune is ignored"),
                None => (State::Fine, ".skilltune will ignore itself"),
            };
            checks.push(check(state, format!("git: {text}")));
        }
        checks.extend(self.state_error.iter().map(|why| check(State::Broken, why.clone())));
        checks.extend(self.runs.iter().map(|OpenRun { id, status, target }| {
            check(State::Unknown, format!("run {id}: {status}, {target}; skilltune status {id}"))
        }));
        let damaged = |id: &String| check(State::Broken, format!("run {id}: cannot read its journal"));
        checks.extend(self.damaged.iter().map(damaged));
        checks.extend(self.locks.iter().map(|Lock { pid, host, since, doing }| {
            check(State::Unknown, format!("lock: process {pid} on {host} since {since} ({doing})"))
        }));
        checks
    }

    fn settings_check(&self) -> Check {
        let (state, text) = match (&self.settings_error, &self.settings_file, self.trusted) {
            (Some(error), ..) => (State::Broken, error.clone()),
            (None, None, _) => {
                (State::Unknown, "no skilltune.toml; run `skilltune init` to create one".to_owned())
            }
            (None, Some(file), None) => (State::Fine, format!("{file}, no agents")),
            (None, Some(file), Some(true)) => (State::Fine, format!("{file}, trusted")),
            (None, Some(file), Some(false)) if self.trusted_now => {
                (State::Fine, format!("{file}, trusted for this run"))
            }
            (None, Some(file), Some(false)) => (State::Broken, format!("{file}, not trusted")),
        };
        Check::new(About::Project, state, format!("settings: {text}")).with_fix(self.settings_fix.as_deref())
    }
}

fn whole(complaint: &Complaint) -> String {
    [&[complaint.what.clone()][..], &complaint.causes].concat().join(": ")
}

/// More than any ignore file has.
const IGNORE_FILE: u64 = 64 << 10;

/// Returns whether our folder's own ignore file hides it from git.
fn ignored(home: &Home) -> Option<bool> {
    home.root().symlink_metadata().ok()?;
    let text = home.ignore_file().read(IGNORE_FILE).ok().flatten().unwrap_or_default();
    Some(String::from_utf8_lossy(&text).lines().any(|line| line.trim() == "*"))
}

fn open_runs(runs: &Runs) -> (Vec<OpenRun>, Vec<String>) {
    let (mut open, mut damaged) = (Vec::new(), Vec::new());
    for id in runs.ids(None) {
        match with_loop!(runs.kind(&id), L => open_run::<L>(runs, &id)) {
            Ok(run) => open.extend(run),
            Err(_) => damaged.push(id.to_string()),
        }
    }
    (open, damaged)
}

fn open_run<L: LoopCommands>(runs: &Runs, id: &RunId) -> Result<Option<OpenRun>, Complaint> {
    let run = runs.load::<L>(id)?.run;
    let standing = runs.status(&run);
    let (status, target) = (standing.word(&run), plain::one_line(&L::summary(&run, None).subject));
    Ok((standing != RunStatus::Ended).then(|| OpenRun { id: id.to_string(), status, target }))
}

fn locks(env: &Environment) -> Vec<Lock> {
    let held = Locks::at(&env.state).holders();
    let locks = held.into_iter().map(|holder| Lock {
        pid: holder.pid,
        host: plain::one_line(&holder.host),
        since: holder.since.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        doing: plain::one_line(&holder.doing),
    });
    locks.collect()
}
