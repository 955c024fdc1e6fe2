//! The simulated agents: how an executor, a judge and an improver err.
//!
//! Each is drawn by what it works on, and by how often it has worked on that before. So it does not matter what else has happened,
//! and a program that is started for one call, and reads and writes files, can do just the same.

use serde::{Deserialize, Serialize};

use super::skill::{Facet, Facets, Skill};
use super::world::{Law, World};
use crate::contract::{CriterionId, Verdict};
use crate::id::Digest;
use crate::loops::tune::Improver;

/// What an execution has left. Its JSON text can stand in a real file.
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

/// An execution of a skill on a scenario, the `nth` of this version there, from 0. A member of a chain works on what the one before
/// it has left, and shows its own facets besides.
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

/// The verdicts of one judge who is asked about these products of all members, for the `nth` time, from 0.
///
/// A judge's mood shifts all statements of a trial alike: in a mood of so many points, each passes that much more often
/// out of a hundred times, and so the score is that much higher on average. Asked again, it errs anew.
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

/// The member of a chain that the same judge names for each of these statements: the one that had to show the facet, or any.
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

/// The skill after the `nth` edit of this version, from 0, by somebody who was told of these statements that were missed.
///
/// It works on what was missed most often, and of equals on what it was told first. An edit of what was never wrong
/// fixes nothing, and may break something all the same; so does an edit of a member for what another has to show.
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

/// Each facet once, with the scenarios that missed it.
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
