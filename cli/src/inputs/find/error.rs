//! The reasons why a skill cannot be tuned, with hints.

use std::io;
use std::path::PathBuf;

use skilltune_phases::skills::skill::SkillError;

use crate::inputs::find::SHELVES;
use crate::terminal::complaint::{Complaint, ErrorKind};

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("empty name in the list of skills {0:?}")]
    EmptyName(String),
    #[error("cannot expand {0:?}: HOME is not set")]
    NoHome(String),
    #[error("no skill named {name:?}")]
    Nowhere { name: String, looked_below: Vec<PathBuf>, near: Option<String>, is_here: bool },
    #[error("{} skills are named {name:?}", .hits.len())]
    Ambiguous { name: String, hits: Vec<PathBuf> },
    #[error("no skill at {}", .0.display())]
    Missing(PathBuf),
    #[error("{} is a broken symlink to {}", .path.display(), .leads_to.display())]
    Dangling { path: PathBuf, leads_to: PathBuf },
    #[error("{} is not a folder", .path.display())]
    NotAFolder { path: PathBuf },
    #[error("the root folder cannot be a skill")]
    Root,
    #[error("the path of the skill is not valid UTF-8: {}", .0.display())]
    NotUtf8(PathBuf),
    #[error("cannot read {}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} has no SKILL.md", .path.display())]
    NoSkillMd { path: PathBuf, otherwise: Option<String> },
    #[error("agents cannot load {}", .path.display())]
    Broken { path: PathBuf, source: SkillError },
    #[error("duplicate skill: {}", .0.display())]
    Twice(PathBuf),
    #[error("nested skills: {} is inside {}", .inner.display(), .outer.display())]
    Inside { outer: PathBuf, inner: PathBuf },
}

impl FindError {
    pub(super) fn hints(&self) -> Vec<String> {
        match self {
            Self::EmptyName(_) => vec!["separate skills with single commas, without spaces".to_owned()],
            Self::Nowhere { name, looked_below, near, is_here } => {
                let near = near.as_ref().map(|near| format!("did you mean `{near}`?"));
                let here = is_here.then(|| format!("for the folder here, use ./{name}"));
                let looked = looked_in(looked_below);
                let path = "for a skill elsewhere, pass its path, such as ./my-skill".to_owned();
                near.into_iter().chain(here).chain([looked, path]).collect()
            }
            Self::Ambiguous { hits, .. } => {
                let hits = hits.iter().map(|hit| format!("found {}", hit.display()));
                hits.chain(["pass the path of the one you mean".to_owned()]).collect()
            }
            Self::NoSkillMd { otherwise: Some(otherwise), .. } => {
                vec![format!("rename {otherwise} to SKILL.md: agents look for that name")]
            }
            Self::Twice(_) => {
                vec!["list each skill once; a symlink to a skill counts as that skill".to_owned()]
            }
            Self::Missing(_)
            | Self::NotAFolder { .. }
            | Self::Root
            | Self::NoSkillMd { otherwise: None, .. } => {
                vec!["pass the folder that contains SKILL.md, or the name of a skill".to_owned()]
            }
            Self::Dangling { .. } => vec!["fix the symlink, or remove it".to_owned()],
            Self::NoHome(_) => vec!["set HOME, or pass the absolute path".to_owned()],
            Self::NotUtf8(_) => {
                vec!["rename it; skilltune writes paths into journals and prompts as text".to_owned()]
            }
            Self::Unreadable { .. } => {
                vec!["check its permissions, and that SKILL.md is UTF-8 text".to_owned()]
            }
            Self::Broken { .. } => {
                vec![
                    "start it with a `---` line, then `name:` and `description:`, then another `---` line"
                        .to_owned(),
                ]
            }
            Self::Inside { .. } => vec!["pass only the outer skill; it contains the other".to_owned()],
        }
    }
}

pub(super) fn looked_in(below: &[PathBuf]) -> String {
    let below: Vec<_> = below.iter().map(|path| path.display().to_string()).collect();
    format!("looked in {} below {}", SHELVES.join(", "), below.join(", "))
}

impl From<FindError> for Complaint {
    fn from(error: FindError) -> Self {
        error.hints().into_iter().fold(Self::of(ErrorKind::Input, &error), Self::hint)
    }
}
