//! What the executor is told: carry out this skill on this scenario and leave files.

use serde::Serialize;

use super::fence::{fence, files, plain};
use super::{READING, scenario};
use crate::material::{Folder, Named};
use crate::scenario::Scenario;

#[derive(Clone, Copy, Debug)]
pub struct ExecuteBrief<'a> {
    pub skill: Named<'a>,
    /// Which member of how many, from 1; `(1, 1)` for a single skill.
    pub position: (usize, usize),
    pub scenario: &'a Scenario,
    /// What the member before it produced, where this one finds it.
    pub upstream: Option<Named<'a>>,
    /// A second try after a crash: of the skill's texts only `SKILL.md` is shown.
    pub simplified: bool,
    /// What an earlier try has changed that it was to leave alone.
    pub breach: Option<&'a str>,
    /// What the markers of fences are made from; unknown to whoever wrote the materials.
    pub seed: &'a str,
}

pub(super) fn values(brief: &ExecuteBrief<'_>) -> Values {
    let (member, of) = brief.position;
    let skill =
        if brief.simplified { main_file_only(brief.skill.folder) } else { brief.skill.folder.clone() };
    Values {
        reading: READING,
        name: plain(brief.skill.name),
        at: plain(&skill.at),
        member,
        of,
        files: files(brief.seed, &skill),
        simplified: brief.simplified,
        breach: brief.breach.map(|breach| fence(brief.seed, "what was changed", breach)),
        scenario: scenario(brief.seed, brief.scenario),
        upstream: brief.upstream.map(|upstream| Upstream {
            name: plain(upstream.name),
            at: plain(&upstream.folder.at),
            files: files(brief.seed, upstream.folder),
        }),
    }
}

fn main_file_only(skill: &Folder) -> Folder {
    let main = skill.files.iter().filter(|file| file.path == "SKILL.md");
    Folder { at: skill.at.clone(), files: main.cloned().collect() }
}

#[derive(Serialize)]
pub(super) struct Values {
    reading: &'static str,
    name: String,
    at: String,
    member: usize,
    of: usize,
    files: String,
    simplified: bool,
    breach: Option<String>,
    scenario: String,
    upstream: Option<Upstream>,
}

#[derive(Serialize)]
struct Upstream {
    name: String,
    at: String,
    files: String,
}
