//! The inputs of a brief, read from possibly untrusted files: limited in size, as text, only from the named paths.

use std::path::Path;

use skilltune_orchestrator::disk;
use skilltune_phases::loops::gan::Brief;
use skilltune_phases::loops::gan::contract::Contract;
use skilltune_phases::loops::gan::inspect::{Given, NotGiven, sections, texts};
use skilltune_phases::loops::gan::original::Original;
use skilltune_phases::loops::gan::profile::{self, NotAProfile, Profile};

use crate::args::runs::command_hint;
use crate::loops::gan::args::GanArgs;
use crate::loops::gan::design_file;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;

/// The largest page that is read as a brief.
const LARGEST_BRIEF: u64 = 256 << 10;
const LARGEST: u64 = 4 << 20;
const LARGEST_PROFILE: u64 = 256 << 10;
/// For the name of a run, of a commit, of a line.
const LONGEST_NAME: usize = 60;

/// Returns the brief, and a name from its title.
pub fn brief(path: &Path) -> Result<(String, Brief), Complaint> {
    let text = text(path, "brief", LARGEST_BRIEF).map_err(|why| {
        why.hint(command_hint(path).unwrap_or_else(|| {
            "pass a Markdown file that says what to build; `skilltune status` shows the latest run".to_owned()
        }))
    })?;
    if text.trim().is_empty() {
        return Err(Complaint::input(format!("the brief {} is empty", path.display()))
            .hint("write what to build: a title, and a heading of level 2 for each section"));
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let title = text.lines().find_map(|line| line.trim().strip_prefix("# ")).map(str::trim);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = title.unwrap_or(&stem).chars().take(LONGEST_NAME).collect();
    Ok((name, Brief { file, text: text.into() }))
}

/// A file for an agent to read: its name there, and its text.
pub type Material = (&'static str, String);

/// Returns what was given with the brief: as data, and as the files that an agent reads.
pub fn given(args: &GanArgs, brief: &Brief, env: &Environment) -> Result<(Given, Vec<Material>), Complaint> {
    let (sections, copy) = (sections(&brief.text), texts(&brief.text));
    let mut given = Given { sections, copy, ..Given::default() };
    let mut files = Vec::new();
    if let Some(path) = &args.copy {
        let path = env.named(path)?;
        let text = text(&path, "copy", LARGEST)?;
        given.copy.extend(Given::copy(&text).map_err(|why| unread(&path, &why))?);
        files.push(("copy.json", text));
    }
    if let Some(path) = &args.design_tokens {
        let path = env.named(path)?;
        let text = text(&path, "tokens", LARGEST)?;
        given.tokens = Given::tokens(&text).map_err(|why| unread(&path, &why))?;
        files.push(("tokens.json", text));
    }
    Ok((given, files))
}

/// The criteria that the result is judged by.
#[derive(Debug)]
pub struct Judged {
    pub profile: Box<str>,
    pub asked: Contract,
    /// The original's own settings, if the named file has them.
    pub original: Option<Original>,
}

/// Reads a profile by its name or from a file. The original's settings go with its dimensions, which are built in.
pub fn judged(named: Option<&str>, env: &Environment) -> Result<Judged, Complaint> {
    let mut original = None;
    let profile = match named {
        None | Some("design") => profile::design(),
        Some("code") => profile::code(),
        Some(path) => {
            let path = env.named(Path::new(path))?;
            let text = text(&path, "profile", LARGEST_PROFILE)
                .map_err(|why| why.hint("pass design or code, which are built in, or a YAML file"))?;
            let no_profile = |why: NotAProfile| match why {
                NotAProfile::Setting { .. } => design_file::unusable(&path, &why.to_string()),
                why => Complaint::input(format!("{} is not a profile: {why}", path.display()))
                    .hint("docs/gan.md shows the form; design and code are built in"),
            };
            original = Original::read(&text).map_err(no_profile)?;
            match original {
                Some(_) => profile::design(),
                None => Profile::read(&text).map_err(no_profile)?,
            }
        }
    };
    let asked = profile.contract().map_err(|why| Complaint::input(format!("the profile: {why}")))?;
    Ok(Judged { profile: profile.name, asked, original })
}

fn unread(path: &Path, why: &NotGiven) -> Complaint {
    Complaint::input(format!("cannot use {}: {why}", path.display()))
}

fn text(path: &Path, what: &str, most: u64) -> Result<String, Complaint> {
    let cannot = || Complaint::input(format!("cannot read the {what} {}", path.display()));
    let bytes = disk::read(path, most).map_err(|error| cannot().caused_by(error))?;
    String::from_utf8(bytes).map_err(|_| cannot().caused_by("it is not UTF-8 text"))
}
