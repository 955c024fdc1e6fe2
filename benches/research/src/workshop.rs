//! The results of the simulated agents in one world: versions of the skill, and outputs of executions.
//!
//! A result depends on the agent's input and on how often it has worked on that input before. So the same trial of the
//! same version has the same result, whatever search asks for it.

use std::collections::HashMap;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::judging::contract::{CriterionId, Verdict};
use skilltune_phases::loops::tune::Improver;

use super::agents::{self, Product};
use super::skill::Skill;
use super::world::World;

/// The judge's result for a trial.
pub(super) struct Judged {
    pub(super) verdicts: Vec<(CriterionId, Verdict)>,
    pub(super) at_fault: Vec<(CriterionId, usize)>,
}

/// The results so far, by their tree.
#[derive(Debug)]
pub(super) struct Workshop {
    skills: HashMap<TreeId, Skill>,
    products: HashMap<TreeId, Product>,
    /// How often each was worked on; for versions, by executors on each scenario.
    times: HashMap<(TreeId, Option<usize>), u32>,
    runs: u32,
}

impl Workshop {
    pub(super) fn of(world: &World) -> Self {
        let start = world.start.iter().map(|skill| (TreeId(skill.version()), skill.clone()));
        let skills = start.collect();
        Self { skills, products: HashMap::new(), times: HashMap::new(), runs: 0 }
    }

    /// Returns the number of executor runs.
    pub(super) fn runs(&self) -> u32 {
        self.runs
    }

    pub(super) fn skill(&self, tree: TreeId) -> Option<&Skill> {
        self.skills.get(&tree)
    }

    /// Makes one more trial of a version, on the output of the previous member, and returns its output.
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

    /// Returns the verdicts on the members' outputs and, in a chain, which member is at fault.
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

    /// Creates a new version with an improver that gets these statements.
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

    /// Returns how often it was worked on before.
    fn times(&mut self, tree: TreeId, scenario: Option<usize>) -> u32 {
        let times = self.times.entry((tree, scenario)).or_default();
        *times += 1;
        *times - 1
    }
}
