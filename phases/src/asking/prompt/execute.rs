//! The executor's prompt: carry out this skill on this scenario and write files.

use serde::Serialize;

use super::fence::{fence, files, plain};
use super::skill_files::skill_files;
use super::{READING, scenario};
use crate::base::material::{Folder, Named};
use crate::suites::scenario::Scenario;

#[derive(Clone, Copy, Debug)]
pub struct ExecuteBrief<'a> {
    pub skill: Named<'a>,
    /// The member's number and the number of members, from 1; `(1, 1)` for a single skill.
    pub position: (usize, usize),
    pub scenario: &'a Scenario,
    /// The output of the member before it, at its path in this workspace.
    pub upstream: Option<Named<'a>>,
    /// A second try after a crash: only `SKILL.md` of the skill's texts is shown.
    pub simplified: bool,
    /// The protected files that an earlier try has changed.
    pub breach: Option<&'a str>,
    /// The seed of the fence markers, unknown to the authors of the materials.
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
        files: skill_files(brief.seed, &skill, false, &[]),
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
