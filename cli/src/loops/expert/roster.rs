//! The experts that a person can ask: built-in ones, those of the project, and the user's own.
//!
//! A later source replaces an expert of the same name. A project's file is somebody else's instruction: it is read
//! through no symlink, and plays only once a person trusts its bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::{self, SafePath};
use skilltune_phases::experts::{self, Expert, Format, Kind, LARGEST, PAGE, stem};
use skilltune_phases::loops::expert::Origin;

use crate::loops::expert::settings::ExpertSettings;
use crate::settings::Settings;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::text::plain::one_line;
use crate::trust::file::TextFile;

/// The folders of other programs in a project and in a home.
const FOREIGN: [&str; 5] = [".claude/agents", GEMINI, ".opencode/agent", ".opencode/agents", ".codex/agents"];
const GEMINI: &str = ".gemini/agents";
/// More files of a source are not read.
const MOST_FILES: usize = 500;
/// A source may be a large folder. More paths of it are not looked at.
const MOST_PATHS: usize = 5_000;
/// How many folders deep the files of a source may be.
const DEEPEST: usize = 3;

#[derive(Debug)]
pub struct Entry {
    pub expert: Expert,
    pub origin: Origin,
    /// Its file, if it is not built in.
    pub file: Option<TextFile>,
    /// Whether it replaces a built-in expert.
    pub shadows: bool,
}

#[derive(Debug)]
pub struct Roster {
    pub entries: Vec<Entry>,
    pub broken: Vec<Broken>,
}

/// A file that is skipped.
#[derive(Debug)]
pub struct Broken {
    /// The name that its expert would have if it gives none.
    name: String,
    /// Its path, and why it is skipped.
    pub why: String,
}

/// A folder of experts, below a real path.
#[derive(Debug)]
struct Source {
    root: PathBuf,
    /// The root by which a person knows the files: those of an older revision are read elsewhere.
    named: PathBuf,
    below: PathBuf,
    origin: Origin,
}

/// A file that may be an expert.
#[derive(Debug)]
struct Candidate {
    /// Its path below the root of its source.
    path: PathBuf,
    format: Format,
}

impl Roster {
    /// Reads the experts. The files of the project are at `place`, and belong to `project`.
    pub fn read(place: &Path, project: &Path, settings: &Settings, env: &Environment) -> Self {
        let built_in = experts::built_in().into_iter();
        let entry = |expert| Entry { expert, origin: Origin::BuiltIn, file: None, shadows: false };
        let mut roster = Self { entries: built_in.map(entry).collect(), broken: Vec::new() };
        for source in sources(place, project, settings, env) {
            roster.add(&source);
        }
        roster
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.expert.name.as_str())
    }

    pub fn take(mut self, name: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.expert.name == name)?;
        Some(self.entries.swap_remove(at))
    }

    /// Returns the place of the expert with this name, or of the first reviewer whose name begins with it and a dash.
    pub fn place(&self, name: &str) -> Option<usize> {
        let is_short = |entry: &Entry| entry.short() == name && entry.expert.kind == Kind::Reviewer;
        let exact = self.entries.iter().position(|entry| entry.expert.name == name);
        exact.or_else(|| self.entries.iter().position(is_short))
    }

    /// Says why the file with this name is skipped, if one is.
    pub fn why_skipped(&self, name: &str) -> Option<&str> {
        let name = experts::name(name).ok()?;
        self.broken.iter().find(|broken| broken.name == name).map(|broken| broken.why.as_str())
    }

    fn add(&mut self, source: &Source) {
        let mut names = BTreeMap::new();
        for candidate in source.candidates() {
            let path = one_line(&source.named.join(&candidate.path).display().to_string());
            match source.expert(&candidate) {
                Err(why) => self.broken.push(Broken::new(&candidate, &path, &why)),
                Ok((expert, file)) => match names.entry(expert.name.clone()) {
                    MapEntry::Occupied(first) => {
                        let why = format!("{} has the same name", first.get());
                        self.broken.push(Broken::new(&candidate, &path, &why));
                    }
                    MapEntry::Vacant(place) => {
                        place.insert(path);
                        self.put(Entry { expert, origin: source.origin, file: Some(file), shadows: false });
                    }
                },
            }
        }
    }

    /// Puts an expert in place of one with the same name, or at the end.
    fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|known| known.expert.name == entry.expert.name) {
            Some(known) => {
                let shadows = known.shadows || known.origin == Origin::BuiltIn;
                *known = Entry { shadows, ..entry };
            }
            None => self.entries.push(entry),
        }
    }
}

impl Broken {
    fn new(file: &Candidate, path: &str, why: &str) -> Self {
        let name = experts::name(stem(&file.path)).unwrap_or_default();
        Self { name, why: one_line(&format!("{path}: {why}")) }
    }
}

impl Entry {
    /// Returns the first word of the expert's name.
    pub fn short(&self) -> &str {
        let name = &self.expert.name;
        name.split('-').next().unwrap_or(name)
    }

    /// Returns its file and its name, if they are the project's: a person has to trust them.
    pub fn foreign(&self) -> Option<(TextFile, String)> {
        let file = self.file.clone().filter(|_| self.origin == Origin::Project)?;
        Some((file, self.expert.name.clone()))
    }

    /// Says that an expert of a file replaces a built-in one.
    pub fn shadow(&self) -> Option<String> {
        let file = self.file.as_ref().filter(|_| self.shadows)?;
        let (name, path) = (&self.expert.name, file.path.display());
        Some(one_line(&format!("the {}'s {path} replaces the built-in expert {name}", self.origin.word())))
    }

    /// Says which fields of its file have no effect.
    pub fn ignored(&self) -> Option<String> {
        let fields: Vec<&str> = self.expert.unsupported().collect();
        let name = &self.expert.name;
        (!fields.is_empty()).then(|| {
            let text = format!(
                "{name} asks for {}, which skilltune does not apply: an expert only reads, and [experts] sets its model",
                fields.join(", ")
            );
            one_line(&text)
        })
    }
}

/// Returns the sources, the one that wins last.
fn sources(place: &Path, project: &Path, settings: &Settings, env: &Environment) -> Vec<Source> {
    let of_user = env.home.iter().flat_map(|home| FOREIGN.map(|folder| home.join(folder)));
    let of_user = of_user.chain([env.config.join("experts")]);
    let of_user: Vec<Source> = of_user.map(|place| Source::of_user(&place)).collect();
    // The home may be the project: its experts are the user's own.
    let is_users = |place: &Path| of_user.iter().any(|own| own.root == place);
    let mut all = of_project(place, project, settings);
    all.retain(|source| !is_users(&source.place()));
    all.extend(of_user);
    all
}

/// Returns the sources of a project, the one that wins last.
fn of_project(place: &Path, project: &Path, settings: &Settings) -> Vec<Source> {
    let (root, named) = (real(place), real(project));
    let source = |below: &Path| Source {
        root: root.clone(),
        named: named.clone(),
        below: below.to_owned(),
        origin: Origin::Project,
    };
    expert_folders(settings).map(source).collect()
}

/// Returns the folders of a project that may hold experts, the one that wins last.
pub fn expert_folders(settings: &Settings) -> impl Iterator<Item = &Path> {
    let own = settings.of::<ExpertSettings>().folder.value.as_path();
    FOREIGN.iter().map(Path::new).chain([own])
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Source {
    fn of_user(place: &Path) -> Self {
        Self { root: real(place), named: real(place), below: PathBuf::new(), origin: Origin::User }
    }

    fn place(&self) -> PathBuf {
        self.named.join(&self.below)
    }

    /// Returns the files that may be experts: those of the folder, and those of the folders in it.
    fn candidates(&self) -> Vec<Candidate> {
        let mut all = Vec::new();
        let mut left = self.inside(&self.below, DEEPEST);
        for _ in 0..MOST_PATHS {
            let Some((path, deeper)) = left.pop() else { break };
            let inside = if deeper == 0 { Vec::new() } else { self.inside(&path, deeper - 1) };
            let page = path.join(PAGE);
            if inside.iter().any(|(path, _)| *path == page) {
                all.extend(candidate(page));
            } else if !inside.is_empty() {
                left.extend(inside);
            } else if !self.ignores(&path) {
                all.extend(candidate(path));
            }
        }
        all.truncate(MOST_FILES);
        all
    }

    /// Returns the paths in a folder, the first one last, and how many folders deep to look below each.
    fn inside(&self, folder: &Path, deeper: usize) -> Vec<(PathBuf, usize)> {
        self.names(folder).iter().rev().map(|name| (folder.join(name), deeper)).collect()
    }

    /// Whether the program of the folder ignores the file.
    fn ignores(&self, path: &Path) -> bool {
        let is_draft = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"_"));
        is_draft && self.place().ends_with(GEMINI)
    }

    /// Returns the names in a folder below the root, sorted.
    fn names(&self, below: &Path) -> Vec<String> {
        let names = if self.is_own() {
            #[expect(clippy::disallowed_methods, reason = "the folder is the user's own")]
            let listed = fs::read_dir(self.root.join(below)).into_iter().flatten().flatten();
            let mut names: Vec<_> = listed.map(|entry| entry.file_name()).collect();
            names.sort();
            names
        } else {
            SafePath::below(&self.root, below).names().unwrap_or_default()
        };
        names.into_iter().take(MOST_FILES).filter_map(|name| name.into_string().ok()).collect()
    }

    /// Returns whether the user put the files there, and the symlinks.
    fn is_own(&self) -> bool {
        match self.origin {
            Origin::User => true,
            Origin::BuiltIn | Origin::Project => false,
        }
    }

    fn expert(&self, Candidate { path, format }: &Candidate) -> Result<(Expert, TextFile), String> {
        let bytes = self.bytes(path)?;
        let expert = Expert::read(&bytes, stem(path), *format).map_err(|why| why.to_string())?;
        let text = String::from_utf8(bytes).map_err(|why| why.to_string())?;
        Ok((expert, TextFile::drafted(&self.named.join(path), text)))
    }

    fn bytes(&self, below: &Path) -> Result<Vec<u8>, String> {
        if self.is_own() {
            return disk::read(&self.root.join(below), LARGEST).map_err(|error| error.to_string());
        }
        let read = SafePath::below(&self.root, below)
            .read(LARGEST)
            .map_err(|error| error.source().map_or_else(|| error.to_string(), ToString::to_string));
        read?.ok_or_else(|| "it is a symlink, or not a file".to_owned())
    }
}

fn candidate(path: PathBuf) -> Option<Candidate> {
    let format = Format::of(path.file_name()?.to_str()?)?;
    Some(Candidate { path, format })
}

/// Reads a project's expert to trust it; none if no expert can be at this path.
pub fn to_trust(path: &Path, env: &Environment) -> Result<Option<(TextFile, Expert)>, Complaint> {
    let project = real(&env.project_of(path));
    let Ok(settings) = crate::loops::settings(&project, env) else { return Ok(None) };
    let path = path.parent().map(real).unwrap_or_default().join(path.file_name().unwrap_or_default());
    for source in of_project(&project, &project, &settings) {
        let found = source.candidates().into_iter().find(|one| source.root.join(&one.path) == path);
        let Some(found) = found else { continue };
        let refused = |why: String| {
            Complaint::input(format!("cannot use {}: {why}", path.display()))
                .hint("docs/experts.md describes the file of an expert")
        };
        return source.expert(&found).map(|(expert, file)| Some((file, expert))).map_err(refused);
    }
    Ok(None)
}
