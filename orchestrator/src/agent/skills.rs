//! Skills in the folders of agents: which ones an agent offered, which it used, and how the candidate was used.

use std::path::Path;

use serde::{Deserialize, Serialize};
use skilltune_phases::asking::order::Installed;
use skilltune_phases::base::delivery::SkillUse;

/// A folder with this file is a skill.
pub(super) const PAGE: &str = "SKILL.md";

/// How an agent reads skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skills {
    /// The folder of the workspace where the agent looks for skills.
    pub at: &'static str,
    /// Whether a prompt can call one as `/name`.
    pub by_name: bool,
}

/// The report of an agent about skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillTalk {
    /// All skills that the agent offered; none if it does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Vec<String>>,
    /// The folders that the agent refused as skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<UsedSkill>,
}

/// A skill that was used: loaded with the skill tool, or read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedSkill {
    pub name: String,
    /// The skill's folder, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The id of the tool call, by which its failure is recognized.
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

    /// Counts a file read as a use of a skill if it is the skill's page: `.../skills/NAME/SKILL.md`.
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

    /// Sets the folder of the next skill that has none yet: results come in the order of their calls.
    pub(super) fn found_at(&mut self, folder: &str) {
        if let Some(next) = self.used.iter_mut().find(|one| one.folder.is_none()) {
            next.folder = Some(folder.to_owned());
        }
    }

    /// Returns how an installed skill was used, in a call that has answered in this workspace.
    ///
    /// The folder distinguishes it from another skill of the same name, whatever name the agent uses.
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
        let is_listed = self.offered.as_ref().is_none_or(|all| all.contains(&installed.name));
        let is_offered = is_listed && !self.refused.iter().any(|folder| own(folder));
        match (named.is_empty(), is_offered) {
            (false, _) if named.iter().any(|one| one.folder.is_none()) => SkillUse::Used,
            (false, _) => SkillUse::Shadowed,
            // A call by name puts the skill directly into the first request.
            (true, true) if installed.called => SkillUse::Used,
            (true, true) => SkillUse::Offered,
            (true, false) => SkillUse::NotOffered,
        }
    }
}

#[cfg(test)]
mod tests;
