//! Checks that a folder is a skill that can be tuned.

use std::io;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk::{self, DiskError};

use crate::inputs::find::error::FindError;
use crate::inputs::find::{PAGE, Skill};

/// More than any written page has.
const LARGEST: u64 = 16 << 20;

pub fn folder(given: &Path) -> Result<Skill, FindError> {
    let skill = named(given)?;
    let skill_md = skill_md(&skill.path)?;
    let unreadable = |source| FindError::Unreadable { path: skill_md.clone(), source };
    let text = disk::read(&skill_md, LARGEST).map_err(unreadable)?;
    let text = String::from_utf8(text)
        .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
    skilltune_phases::skills::skill::check(&text)
        .map_err(|source| FindError::Broken { path: skill_md, source })?;
    Ok(skill)
}

/// Returns a folder by its real path and its own name.
pub fn named(given: &Path) -> Result<Skill, FindError> {
    let real = real_path(given)?;
    let (Some(name), Some(_)) = (real.file_name().and_then(|name| name.to_str()), real.to_str()) else {
        return Err(if real.parent().is_none() { FindError::Root } else { FindError::NotUtf8(real) });
    };
    Ok(Skill { name: name.to_owned(), path: real })
}

/// Fails if a skill is listed twice or is inside another one: it would be changed twice.
pub fn require_separate(skills: &[Skill]) -> Result<(), FindError> {
    for (at, skill) in skills.iter().enumerate() {
        for other in &skills[at + 1..] {
            if skill.path == other.path {
                return Err(FindError::Twice(skill.path.clone()));
            }
            for (outer, inner) in [(skill, other), (other, skill)] {
                if inner.path.starts_with(&outer.path) {
                    return Err(FindError::Inside { outer: outer.path.clone(), inner: inner.path.clone() });
                }
            }
        }
    }
    Ok(())
}

fn real_path(given: &Path) -> Result<PathBuf, FindError> {
    let path = given.to_owned();
    match given.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(FindError::NotAFolder { path }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let broken = given.ancestors().find(|above| above.is_symlink() && !above.exists());
            Err(match broken.and_then(|link| Some((link.to_owned(), link.read_link().ok()?))) {
                Some((path, leads_to)) => FindError::Dangling { path, leads_to },
                None => FindError::Missing(path),
            })
        }
        Err(source) => Err(FindError::Unreadable { path, source }),
    }
}

/// Compares the listed names, because some file systems find `skill.md` under `SKILL.md` too.
fn skill_md(folder: &Path) -> Result<PathBuf, FindError> {
    let unreadable =
        |error: DiskError| FindError::Unreadable { path: folder.to_owned(), source: error.source };
    let mut otherwise = None;
    for name in disk::names(folder).map_err(unreadable)? {
        if name == PAGE {
            return Ok(folder.join(PAGE));
        }
        if name.eq_ignore_ascii_case(PAGE) {
            otherwise = name.into_string().ok();
        }
    }
    Err(FindError::NoSkillMd { path: folder.to_owned(), otherwise })
}
