//! Trust: a project's settings and suites name programs, and nothing from a repository runs before a person has agreed.
//!
//! Trust is bound to the bytes of a settings file, a suite or rules, of the prompts that it names, and of the project
//! files that its commands name. Agents and prompts of the user's own file need no trust.

pub mod file;
pub mod guard;
pub mod pinned;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skilltune_orchestrator::disk;
use skilltune_phases::base::id::Digest;
use skilltune_phases::runs::plan::RunId;

use crate::terminal::complaint::{Complaint, ErrorKind};
use crate::terminal::environment::Environment;
use crate::terminal::questions::Answers;
use crate::text::plain::shell_path;
use crate::trust::file::TextFile;
use crate::trust::pinned::{Pinned, Pins, digest_of};

/// The version of the file format that this program writes.
const FORMAT: u32 = 1;

#[derive(Debug)]
pub struct TrustStore {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    format: u32,
    /// The real path of each trusted file, and the digest of its content.
    trusted: BTreeMap<String, Digest>,
    /// For a run: the files that it may run, as they were when it could last begin a call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pinned: Vec<Pins>,
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("cannot read {}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("cannot write {}", .path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("the trust record is damaged: {}", .path.display())]
    Damaged { path: PathBuf, source: serde_json::Error },
    #[error("{} has format {format}; this version of skilltune reads up to {FORMAT}", .path.display())]
    Newer { path: PathBuf, format: u32 },
    #[error("the path of the settings file is not valid UTF-8: {}", .0.display())]
    NotUtf8(PathBuf),
}

impl TrustStore {
    pub fn new(env: &Environment) -> Self {
        Self { path: env.state.join("trust.json") }
    }

    /// Returns the store of what was trusted for one run only.
    pub fn of_run(env: &Environment, run: &RunId) -> Self {
        Self { path: env.state.join("trusted-runs").join(format!("{run}.json")) }
    }

    /// Removes the record of a deleted run.
    #[expect(clippy::disallowed_methods, reason = "the file is in the user's own state folder")]
    pub fn forget(&self) {
        // A record without its run is harmless.
        let _ = fs::remove_file(&self.path);
    }

    /// Returns true if the current contents of the file, and of all others that it names, are trusted.
    pub fn trusts(&self, file: &TextFile, named: &[Pinned]) -> Result<bool, TrustError> {
        Ok(self.doubts(file, named)?.is_none())
    }

    /// Returns the reasons why a file and those that it names are not trusted, if any; for a file that was never
    /// trusted, the list is empty.
    pub fn doubts(&self, file: &TextFile, named: &[Pinned]) -> Result<Option<Vec<String>>, TrustError> {
        let trusted = self.read()?.trusted;
        let known = |path: &Path| Ok::<_, TrustError>(trusted.get(name(path)?));
        let Some(agreed) = known(&file.path)? else { return Ok(Some(Vec::new())) };
        let mut doubts = Vec::new();
        if *agreed != file.digest {
            doubts.push(format!("{} changed since you trusted it", file.path.display()));
        }
        for Pinned { path, digest } in named {
            match known(path)? {
                Some(agreed) if agreed == digest => {}
                Some(_) => doubts.push(format!("{} changed since you trusted it", path.display())),
                None => doubts.push(format!("{} is not trusted", path.display())),
            }
        }
        Ok((!doubts.is_empty()).then_some(doubts))
    }

    pub fn record(&self, file: &TextFile, named: &[Pinned]) -> Result<(), TrustError> {
        let mut content = self.read()?;
        for Pinned { path, digest } in named.iter().chain([&Pinned::from(file)]) {
            content.trusted.insert(name(path)?.to_owned(), *digest);
        }
        self.write(&content)
    }

    /// Records the files that a run may run, and replaces the earlier list.
    pub fn pin(&self, pins: &[Pins]) -> Result<(), TrustError> {
        let content = self.read()?;
        if content.pinned == pins {
            return Ok(());
        }
        self.write(&Content { pinned: pins.to_vec(), ..content })
    }

    /// Returns the files that a run may run.
    pub fn pinned(&self) -> Result<Vec<Pins>, TrustError> {
        Ok(self.read()?.pinned)
    }

    /// Returns true if these bytes of the file are trusted.
    fn knows(&self, path: &Path, digest: &Digest) -> Result<bool, TrustError> {
        Ok(self.read()?.trusted.get(name(path)?) == Some(digest))
    }

    fn write(&self, content: &Content) -> Result<(), TrustError> {
        let unwritable = |source| TrustError::Unwritable { path: self.path.clone(), source };
        self.replace(content).map_err(unwritable)
    }

    fn read(&self) -> Result<Content, TrustError> {
        let path = || self.path.clone();
        let bytes = match disk::read(&self.path, LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::empty()),
            read => read.map_err(|source| TrustError::Unreadable { path: path(), source })?,
        };
        let damaged = |source| TrustError::Damaged { path: path(), source };
        let version: Version = serde_json::from_slice(&bytes).map_err(damaged)?;
        if version.format > FORMAT {
            return Err(TrustError::Newer { path: path(), format: version.format });
        }
        serde_json::from_slice(&bytes).map_err(damaged)
    }

    /// Replaces the file with a temporary one that no one else can read.
    fn replace(&self, content: &Content) -> io::Result<()> {
        let folder = self.path.parent().expect("the file is in the state folder");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, content)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        #[expect(clippy::disallowed_methods, reason = "the user's own state folder")]
        let folder = fs::File::open(folder)?;
        folder.sync_all()
    }
}

#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Larger than any real record.
const LARGEST: u64 = 16 << 20;

impl Content {
    fn empty() -> Self {
        Self { format: FORMAT, trusted: BTreeMap::new(), pinned: Vec::new() }
    }
}

/// The things in a file that skilltune would run or say.
#[derive(Clone, Copy, Debug)]
pub enum Named<'a> {
    Agents(&'a [String]),
    Programs(&'a [String]),
    Prompts(&'a [String]),
    /// An expert of a project, whose persona instructs an agent.
    Experts(&'a [String]),
    /// Settings that need trust, where no agent does.
    Settings(&'a [String]),
}

impl Named<'_> {
    fn names(self) -> String {
        match self {
            Self::Agents(names)
            | Self::Programs(names)
            | Self::Prompts(names)
            | Self::Experts(names)
            | Self::Settings(names) => names.join(", "),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Agents(_) => "agents",
            Self::Programs(_) => "programs",
            Self::Prompts(_) => "prompts",
            Self::Experts(_) => "experts",
            Self::Settings(_) => "settings",
        }
    }

    fn power(self) -> &'static str {
        match self {
            Self::Agents(_) | Self::Programs(_) => "which programs to run",
            Self::Settings(_) => "what agents and programs may do",
            Self::Prompts(_) => "the prompts of agents",
            Self::Experts(_) => "the instructions of an expert",
        }
    }
}

/// The way in which a person agrees.
#[derive(Clone, Copy)]
pub enum Consent<'a> {
    /// By `--trust`, for this run.
    Given,
    /// Beforehand, or now if a user can be asked.
    Asked(Option<&'a dyn Answers>),
}

impl<'a> Consent<'a> {
    pub fn of(is_given: bool, person: Option<&'a dyn Answers>) -> Self {
        if is_given { Self::Given } else { Self::Asked(person) }
    }
}

/// Fails unless the file and the files that it names are trusted; the user may agree now.
pub fn ensure(
    file: &TextFile,
    named: &[Pinned],
    what: Named<'_>,
    store: &TrustStore,
    consent: Consent<'_>,
) -> Result<(), Complaint> {
    let Consent::Asked(person) = consent else { return Ok(()) };
    let Some(doubts) = store.doubts(file, named)? else { return Ok(()) };
    let (path, listed) = (file.path.display(), what.names());
    let claim = format!("{path} sets {} ({listed})", what.power());
    let question = [&[claim][..], &doubts, &["Trust it?".to_owned()]].concat().join(". ");
    if person.map(|person| person.agree(&question)).transpose()?.unwrap_or(false) {
        return Ok(store.record(file, named)?);
    }
    let read = match what {
        Named::Prompts(_) => "the file and its prompts",
        Named::Experts(_) => "the file",
        Named::Agents(_) | Named::Programs(_) | Named::Settings(_) if named.is_empty() => "the file",
        Named::Agents(_) | Named::Programs(_) | Named::Settings(_) => {
            "the file and the files its commands use"
        }
    };
    let refusal = Complaint::input(format!("the {} of {path} are not trusted: {listed}", what.word()));
    Err(doubts
        .into_iter()
        .fold(refusal, Complaint::caused_by)
        .hint(format!("read {read}, then run `skilltune trust {}`", shell_path(&file.path)))
        .hint("or pass --trust to trust them for this run"))
}

/// Returns the files that a run may still run. Fails if a file has changed and is not trusted again.
pub fn renew(pins: Pins, store: &TrustStore, consent: Consent<'_>) -> Result<Pins, Complaint> {
    let (mut files, mut doubts) = (Vec::new(), Vec::new());
    for Pinned { path, digest } in pins.files {
        let (now, shown) = (digest_of(&path, &pins.root)?, path.display());
        match now {
            Some(now) if now == digest || store.knows(&path, &now)? => {}
            Some(_) => doubts.push(format!("{shown} changed since you trusted it")),
            None => doubts.push(format!("{shown} is missing")),
        }
        files.extend(now.map(|digest| Pinned { path, digest }));
    }
    let renewed = Pins { files, ..pins };
    let Consent::Asked(person) = consent else { return Ok(renewed) };
    if doubts.is_empty() {
        return Ok(renewed);
    }
    let question = format!("{}. Trust the current files for this run?", doubts.join(". "));
    if person.map(|person| person.agree(&question)).transpose()?.unwrap_or(false) {
        return Ok(renewed);
    }
    let named_in = &renewed.named_in;
    let what = format!("the files that commands of {} use are not trusted", named_in.display());
    let refusal = doubts.into_iter().fold(Complaint::input(what), Complaint::caused_by);
    Err(refusal
        .hint(format!("read them, then run `skilltune trust {}`", shell_path(named_in)))
        .hint("or pass --trust to trust them for this run"))
}

fn name(path: &Path) -> Result<&str, TrustError> {
    path.to_str().ok_or_else(|| TrustError::NotUtf8(path.to_owned()))
}

impl From<TrustError> for Complaint {
    fn from(error: TrustError) -> Self {
        let kind = match error {
            TrustError::Unreadable { .. } | TrustError::Unwritable { .. } => ErrorKind::Ours,
            TrustError::Damaged { .. } | TrustError::Newer { .. } | TrustError::NotUtf8(_) => {
                ErrorKind::Input
            }
        };
        let complaint = Self::of(kind, &error);
        match error {
            TrustError::Damaged { path, .. } => complaint.hint(format!(
                "delete {}, then run `skilltune trust` for your projects again",
                path.display()
            )),
            TrustError::Newer { .. } => complaint.hint("update skilltune"),
            TrustError::Unreadable { .. } | TrustError::Unwritable { .. } | TrustError::NotUtf8(_) => {
                complaint
            }
        }
    }
}

#[cfg(test)]
mod tests;
