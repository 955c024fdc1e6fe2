//! Runs git with our own environment and settings, under a guardian.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use skilltune_phases::skills::keys::{self, Keys};

use super::special;
use crate::disk::{self, DiskError, OnDisk as _, atomic};
use crate::process::{Call, CancelToken, GuardianPool, How, ProcessError};

/// The git of this machine, its `gh` if installed, and the user's environment.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    pub gh: Option<PathBuf>,
    pub env: BTreeMap<String, String>,
}

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{said}")]
    Failed { code: Option<i32>, said: String },
    #[error("git printed more than expected")]
    TooLarge,
    #[error("cannot parse the output of git")]
    Garbled,
    #[error("cannot read {path}", path = path.display())]
    Unread { path: PathBuf, source: std::io::Error },
    #[error("git would hang: {path} is not a regular file", path = path.display())]
    Special { path: PathBuf },
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// Runs git on one folder.
#[derive(Clone, Debug)]
pub struct Git<'a> {
    program: &'a Program,
    folder: PathBuf,
    /// An empty folder of ours for its input and output.
    room: &'a Path,
    pool: &'a GuardianPool,
    cancel_token: &'a CancelToken,
    /// The user's keys: a program may repeat one in its output.
    keys: Keys,
    /// Additional environment variables.
    env: Vec<(String, String)>,
    commands: Rc<Cell<u32>>,
    /// The folders whose repositories were already checked for files that git would wait for.
    looked: Rc<RefCell<BTreeSet<PathBuf>>>,
}

/// One git command.
#[derive(Debug)]
pub(super) struct Command {
    arguments: Vec<OsString>,
    input: Option<Vec<u8>>,
    env: Vec<(String, String)>,
    most: u64,
    deadline: Duration,
}

/// The variables of the user's environment that git needs: its configuration, the user's identity, and the key agents.
const INHERITED: [&str; 15] = [
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "EMAIL",
    "GNUPGHOME",
    "SSH_AUTH_SOCK",
    "XDG_RUNTIME_DIR",
    "TZ",
];

/// No transport starts to fetch missing objects, and nothing prompts at the terminal.
const ENV: [(&str, &str); 7] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// No hooks and other programs run. Git writes only the files that a command is for, and syncs them.
const SETTINGS: [&str; 12] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.safecrlf=false",
    "core.fsync=all",
    "index.sparse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
];

/// The number of bytes kept of an error message.
const SAID: u64 = 4096;
/// The output limit of most commands.
const PRINTED: u64 = 1 << 20;
const DEADLINE: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(1);

impl<'a> Git<'a> {
    /// `room` is an empty folder of ours.
    pub fn new(
        program: &'a Program,
        folder: &Path,
        room: &'a Path,
        pool: &'a GuardianPool,
        cancel_token: &'a CancelToken,
    ) -> Self {
        let (env, commands, looked) = (Vec::new(), Rc::default(), Rc::default());
        let keys = Keys::new(keys::of_environment(&program.env));
        Self { program, folder: folder.to_owned(), room, pool, cancel_token, keys, env, commands, looked }
    }

    /// Returns the same git for another folder.
    pub(super) fn at(&self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..self.clone() }
    }

    /// Returns the same git with additional environment variables.
    pub(super) fn with_env(&self, env: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { env: self.env.iter().cloned().chain(env).collect(), ..self.clone() }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn room(&self) -> &Path {
        self.room
    }

    /// Returns the variables with these names from the user's environment.
    pub(super) fn persons(&self, names: &[&str]) -> Vec<(String, String)> {
        let env = &self.program.env;
        names.iter().filter_map(|name| Some(((*name).to_owned(), env.get(*name)?.clone()))).collect()
    }

    pub(super) fn gh(&self) -> Option<&'a Path> {
        self.program.gh.as_deref()
    }

    /// Runs a command and returns its output.
    pub(super) fn run(&self, command: Command) -> Result<Vec<u8>, GitError> {
        if self.looked.borrow_mut().insert(self.folder.clone())
            && let Some(path) = special::find(&self.folder)
        {
            return Err(GitError::Special { path });
        }
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let options = ["--no-pager", "-C"].into_iter().map(OsString::from);
        let argv = std::iter::once(self.program.path.clone().into_os_string())
            .chain(settings.map(OsString::from))
            .chain(options)
            .chain(std::iter::once(self.folder.clone().into_os_string()));
        let own = ENV.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let env = self.persons(&INHERITED).into_iter().chain(own).chain(self.env.iter().cloned());
        self.run_program(argv.collect(), env.collect(), command)
    }

    /// Runs another program in an empty folder with this environment and returns its output.
    pub(super) fn run_program(
        &self,
        program: Vec<OsString>,
        env: Vec<(String, String)>,
        command: Command,
    ) -> Result<Vec<u8>, GitError> {
        let call = self.call(program, env, command)?;
        let ended = self.pool.acquire()?.run(&call, self.cancel_token)?;
        let failed = |code, said: String| Err(GitError::Failed { code, said });
        match ended.how {
            How::Exited(0) if ended.stdout_truncated => Err(GitError::TooLarge),
            How::Exited(0) if ended.stdout_bytes == 0 => Ok(Vec::new()),
            How::Exited(0) => disk::read(&call.stdout, call.keep_bytes)
                .map_err(|source| GitError::Unread { path: call.stdout, source }),
            How::Exited(code) => {
                let said = disk::text(&call.stderr, SAID)?;
                let said = self.keys.hide(&said);
                failed(Some(code), said.trim().trim_start_matches("fatal: ").to_owned())
            }
            How::TimedOut => failed(None, "it timed out".to_owned()),
            How::NotStarted { why } | How::Lost { why } => failed(None, why),
            How::Cancelled | How::OutputClosed => failed(None, "it was cancelled".to_owned()),
            How::Signalled(signal) => failed(None, format!("it was ended by signal {signal}")),
        }
    }

    /// Runs a command and returns its output; `None` if it exits with code 1, which means not found.
    pub(super) fn find(&self, command: Command) -> Result<Option<Vec<u8>>, GitError> {
        match self.run(command) {
            Ok(printed) => Ok(Some(printed)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Runs a command and returns the one line that it prints.
    pub(super) fn line(&self, command: Command) -> Result<String, GitError> {
        let mut printed = self.run(command)?;
        printed.pop_if(|last| *last == b'\n');
        String::from_utf8(printed).map_err(|_| GitError::Garbled)
    }

    /// Runs a command and returns the object id that it prints.
    pub(super) fn id(&self, command: Command) -> Result<String, GitError> {
        let line = self.line(command)?;
        if is_id(&line) { Ok(line) } else { Err(GitError::Garbled) }
    }

    fn call(
        &self,
        program: Vec<OsString>,
        env: Vec<(String, String)>,
        command: Command,
    ) -> Result<Call, GitError> {
        let nth = self.commands.get();
        self.commands.set(nth + 1);
        let place = self.room.join(format!("git-{nth}"));
        std::fs::create_dir(&place).on_disk("create the folder", &place)?;
        let stdin = command.input.is_some().then(|| place.join("stdin"));
        if let Some((path, bytes)) = stdin.as_ref().zip(command.input) {
            atomic::create(path, &bytes)?;
        }
        Ok(Call {
            argv: program.into_iter().chain(command.arguments).collect(),
            env: env.into_iter().chain(command.env).collect(),
            cwd: place.clone(),
            confinement: None,
            hidden: None,
            stdin,
            stdout: place.join("stdout"),
            stderr: place.join("stderr"),
            writes_itself: false,
            keep_bytes: command.most.max(SAID),
            deadline: command.deadline,
            grace: GRACE,
            record: place.join("ended.json"),
        })
    }
}

impl Command {
    pub(super) fn new<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { arguments, input: None, env: Vec::new(), most: PRINTED, deadline: DEADLINE }
    }

    pub(super) fn more<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(super) fn input(self, bytes: impl Into<Vec<u8>>) -> Self {
        Self { input: Some(bytes.into()), ..self }
    }

    pub(super) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the output limit.
    pub(super) fn most(self, most: u64) -> Self {
        Self { most, ..self }
    }

    pub(super) fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }
}

/// Returns true if the text can be the id of an object.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
