//! A simulated world: the needs of scenarios and the true worth of a skill.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use skilltune_phases::base::id::Digest;
use skilltune_phases::judging::contract::CriterionId;
use skilltune_phases::judging::proof::draw::Draw;
use skilltune_phases::loops::tune::Improver;
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;
use skilltune_phases::suites::scenario::Scenario;

use super::chain::Chain;
use super::skill::{FACETS, Facet, Skill};

/// The numbers of a world. Shares are from 0 to 1; all must be finite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Law {
    /// The number of facets, out of 12, that the skill has at the start.
    pub start: usize,
    /// The number of scenarios in the suite.
    pub pool: usize,
    /// How often an execution shows a facet that the skill has, and one that it lacks.
    pub shows: f64,
    pub shows_absent: f64,
    /// How often a judge fails a statement that is false, and one that is true.
    pub finds: f64,
    pub invents: f64,
    /// How much a judge's strictness varies from trial to trial, and how lenient it is on average, in points of a
    /// score.
    pub noise: f64,
    pub leniency: f64,
    /// The maximum number of weaknesses that an improver works on at once.
    pub edits: usize,
    /// How often it fixes one of them, and how often it breaks another facet.
    pub fixes: f64,
    pub breaks: f64,
    /// The same for a second improver, if there is one; by default as for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_fixes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_breaks: Option<f64>,
    /// The share of its fixes that hold only on the scenario that showed the weakness.
    pub overfits: f64,
    /// The number of members in the chain, each with its share of the facets; 1 for a single skill.
    pub members: usize,
    /// The member that has none of its facets at the start, from 1; 0 for none.
    pub broken: usize,
    /// How often a member passes on a facet that its input shows.
    pub hands_on: f64,
    /// The share of facets whose statements are about the end of the chain, not about the member that has to show them.
    pub at_end: f64,
    /// How often the judge blames the right member for a statement that it fails; otherwise it names any.
    pub names: f64,
}

impl Default for Law {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Law {
    /// The world of `benches/research/README.md`.
    pub const DEFAULT: Self = Self {
        start: 5,
        pool: 24,
        shows: 0.92,
        shows_absent: 0.2,
        finds: 0.85,
        invents: 0.05,
        noise: 8.0,
        leniency: 6.0,
        edits: 6,
        fixes: 0.5,
        breaks: 0.2,
        second_fixes: None,
        second_breaks: None,
        overfits: 0.0,
        members: 1,
        broken: 0,
        hands_on: 0.97,
        at_end: 0.7,
        names: 0.6,
    };
    /// The maximum number of facets of a skill.
    pub const FACETS: usize = FACETS;

    pub(super) fn improvers(self) -> impl Iterator<Item = Improver> {
        let has_second = self.second_fixes.or(self.second_breaks).is_some();
        Improver::ALL.into_iter().filter(move |by| *by == Improver::First || has_second)
    }

    /// Returns how often an improver fixes what it works on, and how often it breaks another facet.
    pub(super) fn skill_of(self, by: Improver) -> (f64, f64) {
        match by {
            Improver::First => (self.fixes, self.breaks),
            Improver::Second => {
                (self.second_fixes.unwrap_or(self.fixes), self.second_breaks.unwrap_or(self.breaks))
            }
        }
    }
}

/// The number of facets that a scenario needs.
const NEEDED: usize = 5;
/// The maximum weight of a facet in a scenario.
const HEAVIEST: usize = 3;
/// The number of future uses of the skill: its worth is the mean over these.
const POPULATION: usize = 400;

/// Everything that follows from a law and a seed.
#[derive(Debug)]
pub struct World {
    pub(super) law: Law,
    pub(super) seed: u64,
    /// One skill per member.
    pub start: Vec<Skill>,
    /// The suite. Each scenario demands one statement per facet that it needs.
    pub scenarios: Vec<Scenario>,
    statements: HashMap<CriterionId, (usize, Facet)>,
    /// The share of each facet in the worth of a skill.
    shares: [f64; FACETS],
    pub(super) chain: Chain,
}

impl World {
    pub fn new(law: Law, seed: u64) -> Self {
        let mut draw = Draw::new(seed, 0);
        let chain = Chain::of(law.members, law.broken, law.hands_on, law.at_end, seed);
        let start = chain.start(some(FACETS, &mut draw), law.start);
        let population: Vec<Needs> = (0..POPULATION).map(|_| needs(&mut draw)).collect();
        let shares = shares(&population);
        let (mut scenarios, mut statements) = (Vec::new(), HashMap::new());
        for nth in 0..law.pool {
            let (scenario, needed) = scenario(nth, &needs(&mut draw), &chain);
            let ids = scenario.demands.iter().map(|demand| scenario.criterion(demand));
            statements.extend(ids.zip(needed.into_iter().map(|facet| (nth, facet))));
            scenarios.push(scenario);
        }
        Self { law, seed, start, scenarios, statements, shares, chain }
    }

    /// Returns the true worth of a skill or a chain: the expected score over all scenarios, from a judge that never
    /// errs.
    pub fn truth(&self, skills: &[Skill]) -> f64 {
        let shares = self.shares.iter().enumerate();
        100.0 * shares.map(|(facet, share)| share * self.chance_to_arrive(skills, facet)).sum::<f64>()
    }

    fn chance_to_arrive(&self, skills: &[Skill], facet: Facet) -> f64 {
        let owner = skills.get(self.chain.owner(facet));
        let shows = self.chance_to_show(owner.is_some_and(|skill| skill.facets.has(facet)));
        shows * self.chain.arrives(facet)
    }

    pub(super) fn chance_to_show(&self, is_present: bool) -> f64 {
        if is_present { self.law.shows } else { self.law.shows_absent }
    }

    /// Returns the scenario that demands a statement, and the facet that it is about.
    pub(super) fn statement(&self, id: &CriterionId) -> Option<(usize, Facet)> {
        self.statements.get(id).copied()
    }

    /// Returns the statements of a scenario.
    pub(super) fn statements(&self, scenario: usize) -> impl Iterator<Item = (CriterionId, Facet)> + '_ {
        let demands = self.scenarios.get(scenario).into_iter();
        let ids = demands.flat_map(|one| one.demands.iter().map(|demand| one.criterion(demand)));
        ids.filter_map(|id| self.statement(&id).map(|(_, facet)| (id, facet)))
    }

    /// Returns random numbers for one event that do not depend on earlier events.
    pub(super) fn draw(&self, what: &str, of: &[&[u8]]) -> Draw {
        let seed = self.seed.to_le_bytes();
        let digest = Digest::of_parts([&seed, what.as_bytes()].into_iter().chain(of.iter().copied()));
        let first = digest.as_bytes().first_chunk().expect("a digest has 32 bytes");
        Draw::new(u64::from_le_bytes(*first), 0)
    }
}

/// Returns the mean share of each facet in the weight of a scenario. Expected scores are linear in them, so they are
/// exact.
fn shares(population: &[Needs]) -> [f64; FACETS] {
    let mut shares = [0.0; FACETS];
    let many: f64 = population.iter().map(|_| 1.0).sum();
    for needs in population {
        let all: u32 = needs.iter().map(|(_, weight)| weight).sum();
        for (facet, weight) in needs {
            shares[*facet] += f64::from(*weight) / f64::from(all) / many;
        }
    }
    shares
}

/// Draws different facets.
fn some(count: usize, draw: &mut Draw) -> Vec<Facet> {
    let mut facets: Vec<Facet> = (0..FACETS).collect();
    draw.shuffle(&mut facets);
    facets.truncate(count);
    facets
}

/// The facets that a scenario needs, with their weights.
type Needs = Vec<(Facet, u32)>;

fn needs(draw: &mut Draw) -> Needs {
    let facets = some(NEEDED, draw);
    let weight = |draw: &mut Draw| u32::try_from(1 + draw.below(HEAVIEST)).expect("a small number");
    facets.into_iter().map(|facet| (facet, weight(draw))).collect()
}

fn scenario(nth: usize, needs: &[(Facet, u32)], chain: &Chain) -> (Scenario, Vec<Facet>) {
    let demand = |&(facet, weight): &(Facet, u32)| {
        let how = How::Question { text: format!("The result shows facet {facet}.").into() };
        let member = Some(chain.about(facet)).filter(|member| member + 1 < chain.members()).map(Chain::name);
        Demand { weight, member, ..Demand::new(format!("facet-{facet}").parse().expect("a plain name"), how) }
    };
    let id = format!("scenario-{nth}").parse().expect("a plain name");
    let demands = needs.iter().map(demand).collect();
    (
        Scenario { demands, ..Scenario::new(id, format!("task {nth}")) },
        needs.iter().map(|need| need.0).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use skilltune_phases::judging::contract::Verdict;
    use skilltune_phases::judging::score::Score;
    use skilltune_phases::suites::demand::scored;

    /// Sums the score of every possible execution, weighted by its probability.
    fn expected(world: &World, skill: &Skill, scenario: &Scenario) -> f64 {
        let facets: Vec<Facet> =
            scenario.demands.iter().map(|one| world.statements[&scenario.criterion(one)].1).collect();
        let outcomes = (0..1_u32 << facets.len()).map(|outcome| {
            let is_shown = |nth: usize| outcome & 1 << nth != 0;
            let chance = |(nth, facet): (usize, &Facet)| {
                let shows = world.chance_to_show(skill.facets.has(*facet)) * world.chain.arrives(*facet);
                if is_shown(nth) { shows } else { 1.0 - shows }
            };
            let verdict = |nth| if is_shown(nth) { Verdict::Pass } else { Verdict::Fail };
            let demands = scenario.demands.iter().enumerate();
            let score = scored(demands.map(|(nth, demand)| (demand, verdict(nth)))).composite;
            score.map_or(0.0, Score::points) * facets.iter().enumerate().map(chance).product::<f64>()
        });
        outcomes.sum()
    }

    #[test]
    fn the_truth_is_the_mean_score_of_all_that_can_happen() {
        let mut world = World::new(Law { pool: 7, ..Law::default() }, 3);
        let needs = |scenario: &Scenario| {
            let facet = |demand| world.statements[&scenario.criterion(demand)].1;
            scenario.demands.iter().map(|demand| (facet(demand), demand.weight)).collect()
        };
        world.shares = shares(&world.scenarios.iter().map(needs).collect::<Vec<_>>());
        for skill in [&world.start[0], &Skill::start([].into_iter().collect(), 0)] {
            let all: f64 = world.scenarios.iter().map(|one| expected(&world, skill, one)).sum();
            let truth = world.truth(std::slice::from_ref(skill));
            assert!((truth - all / 7.0).abs() < 1e-3, "{truth} {}", all / 7.0);
        }
    }

    #[test]
    fn a_skill_with_everything_shows_as_much_as_can_be_shown() {
        let world = World::new(Law::default(), 1);
        let with = |facets: std::ops::Range<Facet>| [Skill::start(facets.collect(), 0)];
        assert!((world.truth(&with(0..FACETS)) - 92.0).abs() < 1e-9);
        assert!((world.truth(&with(0..0)) - 20.0).abs() < 1e-9);
    }
}
