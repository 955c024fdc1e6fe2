//! The simulated agents: how an executor, a judge and an improver err.
//!
//! Each result is drawn from the agent's input and from how often it has worked on that input before. So other events
//! have no effect, and a program that is started for one call and reads and writes files can produce the same result.

use serde::{Deserialize, Serialize};
use skilltune_phases::base::id::Digest;
use skilltune_phases::judging::contract::{CriterionId, Verdict};
use skilltune_phases::loops::tune::Improver;

use super::skill::{Facet, Facets, Skill};
use super::world::{Law, World};

/// The output of an execution. Its JSON text can be stored in a real file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    pub(super) id: Digest,
    pub(super) scenario: usize,
    pub(super) shown: Facets,
}

impl Product {
    pub fn id(&self) -> Digest {
        self.id
    }
}

/// Executes a skill on a scenario, as the `nth` execution of this version there, from 0. A member of a chain works on
/// the output of the previous member, and shows its own facets as well.
pub fn execute(world: &World, skill: &Skill, input: Option<&Product>, scenario: usize, nth: u32) -> Product {
    let (scenario_bytes, nth) = ((scenario as u64).to_le_bytes(), nth.to_le_bytes());
    let own = [&skill.version.as_bytes()[..], &scenario_bytes, &nth];
    let of = own.into_iter().chain(input.map(|input| &input.id.as_bytes()[..])).collect::<Vec<_>>();
    let mut draw = world.draw("execute", &of);
    let chance = |facet: Facet| {
        if world.chain.owner(facet) == skill.member {
            world.chance_to_show(skill.has(facet, scenario))
        } else if input.is_some_and(|input| input.shown.has(facet)) {
            world.chain.hands_on()
        } else {
            0.0
        }
    };
    let needed = world.statements(scenario).map(|(_, facet)| facet);
    let shown = needed.filter(|facet| draw.share() < chance(*facet)).collect();
    Product { id: Digest::of_parts(of), scenario, shown }
}

/// Returns the verdicts of one judge that is asked about these products of all members, for the `nth` time, from 0.
///
/// A judge's mood shifts all statements of a trial alike: in a mood of n points, each passes n more times out of a
/// hundred, and so the score is n points higher on average. Each new question has new errors.
pub fn judge(world: &World, products: &[Product], nth: u32) -> Vec<(CriterionId, Verdict)> {
    let Some(product) = products.last() else { return Vec::new() };
    let mut draw = world.draw("judge", &[product.id.as_bytes(), &nth.to_le_bytes()]);
    let Law { finds, invents, noise, leniency, .. } = world.law;
    let mood = (leniency + noise * draw.normal()) / 100.0;
    let verdict = |facet| {
        let judged = products.get(world.chain.about(facet)).unwrap_or(product);
        let fails = if judged.shown.has(facet) { invents } else { finds } - mood;
        if draw.share() < fails { Verdict::Fail } else { Verdict::Pass }
    };
    let (ids, facets): (Vec<CriterionId>, Vec<Facet>) = world.statements(product.scenario).unzip();
    ids.into_iter().zip(facets.into_iter().map(verdict)).collect()
}

/// Returns the member of a chain that the same judge blames for each of these statements: the one that had to show the
/// facet, or any.
pub(super) fn blame<'a>(
    world: &World,
    products: &[Product],
    missed: impl Iterator<Item = &'a CriterionId>,
    nth: u32,
) -> Vec<(CriterionId, usize)> {
    let Some(product) = products.last() else { return Vec::new() };
    let mut draw = world.draw("blame", &[product.id.as_bytes(), &nth.to_le_bytes()]);
    let named = missed.filter_map(|id| {
        let (_, facet) = world.statement(id)?;
        let (is_right, any) = (draw.share() < world.law.names, draw.below(world.chain.about(facet) + 1));
        Some((id.clone(), if is_right { world.chain.owner(facet) } else { any }))
    });
    named.collect()
}

/// Returns the skill after the `nth` edit of this version, from 0, by an improver that gets these missed statements.
///
/// It works on the facets that were missed most often, and in case of a tie on the first ones. An edit for a facet that
/// was not wrong fixes nothing but may still break something; so does an edit of a member for a facet that another
/// member has to show.
pub fn improve<'a>(
    world: &World,
    skill: &Skill,
    missed: impl Iterator<Item = &'a CriterionId>,
    (by, nth): (Improver, u32),
) -> Skill {
    let (fixes, breaks) = world.law.skill_of(by);
    let of = [&skill.version.as_bytes()[..], &nth.to_le_bytes()];
    let mut draw = world.draw("improve", &of);
    let missed: Vec<_> = missed.filter_map(|id| world.statement(id)).collect();
    let mut skill = Skill { version: Digest::of_parts(of), ..skill.clone() };
    for (facet, scenarios) in most_missed(&missed).into_iter().take(world.law.edits) {
        let is_fixed = draw.share() < fixes && world.chain.owner(facet) == skill.member;
        let is_overfitted = draw.share() < world.law.overfits;
        match (is_fixed, is_overfitted) {
            (true, false) => skill.facets.add(facet),
            (true, true) => {
                for on in scenarios {
                    skill.only_on.entry(on).or_default().add(facet);
                }
            }
            (false, _) => {}
        }
        if draw.share() < breaks {
            let others: Vec<Facet> = skill.facets.iter().filter(|other| *other != facet).collect();
            if !others.is_empty() {
                skill.remove(others[draw.below(others.len())]);
            }
        }
    }
    skill
}

/// Returns each facet once, with the scenarios that missed it.
fn most_missed(missed: &[(usize, Facet)]) -> Vec<(Facet, Vec<usize>)> {
    let mut facets: Vec<(Facet, Vec<usize>)> = Vec::new();
    for &(scenario, facet) in missed {
        match facets.iter_mut().find(|(known, _)| *known == facet) {
            Some((_, scenarios)) => scenarios.push(scenario),
            None => facets.push((facet, vec![scenario])),
        }
    }
    facets.sort_by_key(|(_, scenarios)| std::cmp::Reverse(scenarios.len()));
    facets
}
