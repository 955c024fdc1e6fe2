//! Why a skill cannot be tuned, with what to do about it.

use std::io;
use std::path::PathBuf;

use skilltune_phases::skill::SkillError;

use super::SHELVES;
use crate::complaint::{Complaint, Kind};

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("an empty name in the list of skills {0:?}")]
    EmptyName(String),
    #[error("cannot tell what {0:?} is: HOME is not set")]
    NoHome(String),
    #[error("no skill is named {name:?}")]
    Nowhere { name: String, looked_below: Vec<PathBuf>, near: Option<String>, is_here: bool },
    #[error("{name:?} is the name of {} different skills", .hits.len())]
    Ambiguous { name: String, hits: Vec<PathBuf> },
    #[error("there is no skill at {}", .0.display())]
    Missing(PathBuf),
    #[error("{} is a symlink that leads nowhere, to {}", .path.display(), .leads_to.display())]
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
    #[error("agents could not load {}", .path.display())]
    Broken { path: PathBuf, source: SkillError },
    #[error("the same skill is given twice: {}", .0.display())]
    Twice(PathBuf),
    #[error("one skill is inside another: {} in {}", .inner.display(), .outer.display())]
    Inside { outer: PathBuf, inner: PathBuf },
}

impl FindError {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::EmptyName(_) => vec!["separate skills by single commas, without spaces".to_owned()],
            Self::Nowhere { name, looked_below, near, is_here } => {
                let near = near.as_ref().map(|near| format!("did you mean `{near}`?"));
                let here = is_here.then(|| format!("for the folder here, say ./{name}"));
                let below: Vec<_> = looked_below.iter().map(|path| path.display().to_string()).collect();
                let looked = format!("looked in {} below {}", SHELVES.join(", "), below.join(", "));
                let path = "for a skill elsewhere, give its path, such as ./my-skill".to_owned();
                near.into_iter().chain(here).chain([looked, path]).collect()
            }
            Self::Ambiguous { hits, .. } => {
                let hits = hits.iter().map(|hit| format!("found {}", hit.display()));
                hits.chain(["give the path of the one you mean".to_owned()]).collect()
            }
            Self::NoSkillMd { otherwise: Some(otherwise), .. } => {
                vec![format!("there is a {otherwise}: agents look for SKILL.md, in capitals")]
            }
            Self::Twice(_) => vec!["name each skill once; a symlink to a skill is that skill".to_owned()],
            Self::Missing(_)
            | Self::NotAFolder { .. }
            | Self::Root
            | Self::NoSkillMd { otherwise: None, .. } => {
                vec!["give the folder that holds SKILL.md, or the bare name of a skill".to_owned()]
            }
            Self::Dangling { .. } => vec!["make the link lead to a skill, or remove it".to_owned()],
            Self::NoHome(_) => vec!["set HOME, or give the whole path".to_owned()],
            Self::NotUtf8(_) => vec!["rename it: paths stand in journals and prompts, as text".to_owned()],
            Self::Unreadable { .. } => {
                vec!["a skill is files and folders that you can read, in UTF-8".to_owned()]
            }
            Self::Broken { .. } => {
                vec![
                    "it begins with a line `---`, then `name:` and `description:`, then `---` again"
                        .to_owned(),
                ]
            }
            Self::Inside { .. } => vec!["name the outer one alone: it holds the other".to_owned()],
        }
    }
}

impl From<FindError> for Complaint {
    fn from(error: FindError) -> Self {
        error.hints().into_iter().fold(Self::of(Kind::Input, &error), Self::hint)
    }
}
