//! What the simulated agents make in one world: versions of the skill, and what executions leave.
//!
//! What an agent does follows from what it works on, and how often it has worked on that before. So the same trial of the same
//! version comes to the same, whatever search asks for it.

use std::collections::HashMap;

use super::agents::{self, Product};
use super::skill::Skill;
use super::world::World;
use crate::contract::{CriterionId, Verdict};
use crate::id::TreeId;
use crate::loops::tune::Improver;

/// What there is so far, by its tree.
#[derive(Debug)]
pub(super) struct Workshop {
    skills: HashMap<TreeId, Skill>,
    products: HashMap<TreeId, Product>,
    /// How often each was worked on; a version by executors on each scenario.
    times: HashMap<(TreeId, Option<usize>), u32>,
    runs: u32,
}

impl Workshop {
    pub(super) fn of(world: &World) -> Self {
        let skills = HashMap::from([(TreeId(world.start.version()), world.start.clone())]);
        Self { skills, products: HashMap::new(), times: HashMap::new(), runs: 0 }
    }

    /// How often an executor was run.
    pub(super) fn runs(&self) -> u32 {
        self.runs
    }

    pub(super) fn skill(&self, tree: TreeId) -> Option<&Skill> {
        self.skills.get(&tree)
    }

    /// What one more trial of a version leaves.
    pub(super) fn execute(&mut self, world: &World, tree: TreeId, scenario: usize) -> Option<TreeId> {
        let nth = self.times(tree, Some(scenario));
        let product = agents::execute(world, self.skill(tree)?, scenario, nth);
        let artifacts = TreeId(product.id());
        self.products.insert(artifacts, product);
        self.runs += 1;
        Some(artifacts)
    }

    pub(super) fn judge(&mut self, world: &World, artifacts: TreeId) -> Option<Vec<(CriterionId, Verdict)>> {
        let nth = self.times(artifacts, None);
        Some(agents::judge(world, self.products.get(&artifacts)?, nth))
    }

    /// A new version, made by an improver who is told these statements.
    pub(super) fn improve<'a>(
        &mut self,
        world: &World,
        base: TreeId,
        missed: impl Iterator<Item = &'a CriterionId>,
        by: Improver,
    ) -> Option<TreeId> {
        let nth = self.times(base, None);
        let skill = agents::improve(world, self.skill(base)?, missed, (by, nth));
        let tree = TreeId(skill.version());
        self.skills.insert(tree, skill);
        Some(tree)
    }

    /// How often it was worked on before.
    fn times(&mut self, tree: TreeId, scenario: Option<usize>) -> u32 {
        let times = self.times.entry((tree, scenario)).or_default();
        *times += 1;
        *times - 1
    }
}
