//! The older run of a regrade: its plan, and the trials that are reused.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use skilltune_orchestrator::skill_files::load_captured;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::role::RoleSpec;
use skilltune_phases::loops::tune::aims::regrade::Regrading;
use skilltune_phases::loops::tune::{Aim, LeftOut, Plan, Regraded, Sides, Tune};
use skilltune_phases::runs::plan::Roles;
use skilltune_phases::skills::lint::File;
use skilltune_phases::skills::target::Member;
use skilltune_phases::suites::leak::AnswerKeys;

use crate::casting::{Casting, Part};
use crate::loops::tune::member::withheld;

/// The reused trials, and the plan of the run that they come from.
#[derive(Clone, Debug)]
pub struct Older {
    pub plan: Arc<Plan>,
    pub regrading: Regrading,
}

impl Older {
    fn regraded(&self) -> &Regraded {
        &self.regrading.regraded
    }

    /// Returns the comparison of the older run's versions under their names in that run.
    pub fn aim(&self) -> Aim {
        let named = |which: &str| format!("{}/{which}", self.regraded().run).into();
        let (start, challenger) = match self.plan.task.aim.sides() {
            Some(sides) => (sides.start.clone(), sides.challenger.clone()),
            None => (named("start"), named(&self.regrading.challenger.id.short())),
        };
        Aim::Compare(Box::new(Sides {
            start,
            challenger,
            trees: self.regrading.challenger.trees.clone(),
            regraded: Some(self.regraded().clone()),
        }))
    }

    /// Returns the older run's skills. Nothing is ever written to their paths, so the suite is locked instead.
    pub fn members(&self, suite: &Path) -> Vec<Member> {
        let path = suite.to_string_lossy();
        let member = |member: &Member| Member { path: path.to_string(), ..member.clone() };
        self.plan.task.target.members.iter().map(member).collect()
    }

    /// Returns which of the current answers its trials could see, one line each.
    pub fn answers_seen(&self, objects: &Objects) -> Vec<String> {
        let Regrading { scenarios, start, challenger, .. } = &self.regrading;
        let mut seen = BTreeSet::new();
        let files = |tree: TreeId| load_captured(&objects.manifest(tree).ok()?, "", objects).ok();
        let versions = start.trees.iter().zip(&challenger.trees);
        for (member, (&start, &challenger)) in self.plan.task.target.members.iter().zip(versions) {
            for version in [start, challenger].into_iter().filter_map(files) {
                seen.extend(withheld(&version, &member.hidden, scenarios).paths);
            }
        }
        let keys = AnswerKeys::new(scenarios, "");
        for scenario in scenarios {
            let files = scenario.files.and_then(files).unwrap_or_default();
            let is_key = |file: &&File| {
                let held = file.text().and_then(|text| keys.held(&file.path, text));
                held.is_some_and(|held| held.is_for(&scenario.id))
            };
            seen.extend(files.files().iter().filter(is_key).map(|file| file.path.clone()));
        }
        let run = &self.regraded().run;
        seen.iter().map(|path| format!("the trials of {run} could see {path}, which holds answers")).collect()
    }

    /// Returns the agents of the older run, overridden by today's settings. The panel is today's, if there is one.
    pub fn roles(&self, casting: &Casting) -> Roles {
        let then = |spec: &RoleSpec| self.plan.roles.get(&spec.role).filter(|_| !spec.is_optional).cloned();
        let cast = |spec: &RoleSpec| {
            let now = casting.get(&spec.role).map(Part::cast);
            Some((spec.role.clone(), now.or_else(|| then(spec))?))
        };
        Tune::ROLES.iter().filter_map(cast).collect()
    }
}

/// Returns why a scenario is left out, in words for people.
pub fn reason(why: LeftOut) -> &'static str {
    match why {
        LeftOut::Gone => "no longer in the suite",
        LeftOut::New => "not in that comparison",
        LeftOut::TaskChanged => "its task has changed",
        LeftOut::FilesChanged => "its files have changed",
        LeftOut::SetupChanged => "its set-up has changed",
        LeftOut::ToolsChanged => "its tools have changed",
        LeftOut::NotKept => "it had no checks then, so no files were stored for them",
    }
}
