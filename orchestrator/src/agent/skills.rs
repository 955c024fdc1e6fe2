//! Skills where agents look for them: which an agent offered, which it used, and what became of the one on trial.

use std::path::Path;

use serde::{Deserialize, Serialize};
use skilltune_phases::delivery::SkillUse;
use skilltune_phases::order::Installed;

/// The file that makes a folder a skill.
pub(super) const PAGE: &str = "SKILL.md";

/// How an agent comes by skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skills {
    /// The folder of its workspace in which it looks for them.
    pub at: &'static str,
    /// Whether a prompt can call one as `/name`.
    pub by_name: bool,
}

/// What an agent reported about skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillTalk {
    /// All that it had to offer; nothing where it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Vec<String>>,
    /// The folders of those that it did not take for skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<UsedSkill>,
}

/// A skill that was used: loaded by the tool that does it, or read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedSkill {
    pub name: String,
    /// Its folder, where that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The tool's call, by which its failure is known.
    #[serde(skip)]
    pub(super) call: String,
}

impl SkillTalk {
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn loads(&mut self, call: &str, name: &str) {
        self.used.push(UsedSkill { name: name.to_owned(), folder: None, call: call.to_owned() });
    }

    /// A file that is read is a skill's use if it is the page of one: `.../skills/NAME/SKILL.md`.
    pub(super) fn reads(&mut self, call: &str, file: &str) {
        let Some(folder) = file.strip_suffix(PAGE).and_then(|folder| folder.strip_suffix('/')) else {
            return;
        };
        let Some((above, name)) = folder.rsplit_once('/') else { return };
        if above == "skills" || above.ends_with("/skills") {
            let folder = Some(folder.to_owned());
            self.used.push(UsedSkill { name: name.to_owned(), folder, call: call.to_owned() });
        }
    }

    pub(super) fn failed(&mut self, call: &str) {
        self.used.retain(|one| one.call != call);
    }

    /// Where the next skill stands of which that was not told: results come in the order of their calls.
    pub(super) fn found_at(&mut self, folder: &str) {
        if let Some(next) = self.used.iter_mut().find(|one| one.folder.is_none()) {
            next.folder = Some(folder.to_owned());
        }
    }

    /// What became of an installed skill, in a call that has answered in this workspace.
    ///
    /// Its folder tells it from another one of its name, whatever name the agent knows it by.
    pub(crate) fn skill_use(&self, installed: &Installed, space: &Path) -> SkillUse {
        let own = |folder: &str| {
            let folder = Path::new(folder.trim_end_matches('/'));
            folder == space.join(&installed.at) || folder == Path::new(&installed.at)
        };
        let used = &self.used;
        if used.iter().any(|one| one.folder.as_deref().is_some_and(own)) {
            return SkillUse::Used;
        }
        let named: Vec<_> = used.iter().filter(|one| one.name == installed.name).collect();
        let is_told = self.offered.as_ref().is_none_or(|all| all.contains(&installed.name));
        let is_offered = is_told && !self.refused.iter().any(|folder| own(folder));
        match (named.is_empty(), is_offered) {
            (false, _) if named.iter().any(|one| one.folder.is_none()) => SkillUse::Used,
            (false, _) => SkillUse::Shadowed,
            // A call by name puts the skill into the first request, without another word.
            (true, true) if installed.called => SkillUse::Used,
            (true, true) => SkillUse::Offered,
            (true, false) => SkillUse::NotOffered,
        }
    }
}

#[cfg(test)]
mod tests;
