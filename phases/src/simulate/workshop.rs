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

/// What a judge says of a trial.
pub(super) struct Judged {
    pub(super) verdicts: Vec<(CriterionId, Verdict)>,
    pub(super) at_fault: Vec<(CriterionId, usize)>,
}

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
        let start = world.start.iter().map(|skill| (TreeId(skill.version()), skill.clone()));
        let skills = start.collect();
        Self { skills, products: HashMap::new(), times: HashMap::new(), runs: 0 }
    }

    /// How often an executor was run.
    pub(super) fn runs(&self) -> u32 {
        self.runs
    }

    pub(super) fn skill(&self, tree: TreeId) -> Option<&Skill> {
        self.skills.get(&tree)
    }

    /// What one more trial of a version leaves, on what the member before it has left.
    pub(super) fn execute(
        &mut self,
        world: &World,
        tree: TreeId,
        input: Option<TreeId>,
        scenario: usize,
    ) -> Option<TreeId> {
        let nth = self.times(tree, Some(scenario));
        let input = input.and_then(|input| self.products.get(&input));
        let product = agents::execute(world, self.skill(tree)?, input, scenario, nth);
        let artifacts = TreeId(product.id());
        self.products.insert(artifacts, product);
        self.runs += 1;
        Some(artifacts)
    }

    /// The verdicts on what the members have left, and, in a chain, who is named as being at fault.
    pub(super) fn judge(&mut self, world: &World, artifacts: &[TreeId]) -> Option<Judged> {
        let nth = self.times(*artifacts.last()?, None);
        let products: Option<Vec<Product>> =
            artifacts.iter().map(|tree| self.products.get(tree).cloned()).collect();
        let products = products?;
        let verdicts = agents::judge(world, &products, nth);
        let missed = verdicts.iter().filter(|(_, verdict)| *verdict == Verdict::Fail).map(|(id, _)| id);
        let at_fault =
            if products.len() > 1 { agents::blame(world, &products, missed, nth) } else { Vec::new() };
        Some(Judged { verdicts, at_fault })
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
