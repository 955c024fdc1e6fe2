//! The simulated agents: how an executor, a judge and an improver err.

use super::skill::{Facet, Skill};
use super::world::{Law, Shown, World};
use crate::contract::{CriterionId, Verdict};
use crate::draw::Draw;

/// One execution of a skill on a scenario: what its result shows.
pub(super) fn execute(world: &World, skill: &Skill, scenario: usize, draw: &mut Draw) -> Shown {
    let needed = world.statements(scenario).map(|(_, facet)| facet);
    needed.filter(|facet| draw.share() < world.chance_to_show(skill.has(*facet, scenario))).collect()
}

/// The verdicts of one judge on one result.
///
/// A judge's mood shifts all statements of a trial alike: in a mood of so many points, each passes that much more often
/// out of a hundred times, and so the score is that much higher on average.
pub(super) fn judge(
    world: &World,
    scenario: usize,
    shown: Shown,
    draw: &mut Draw,
) -> Vec<(CriterionId, Verdict)> {
    let Law { finds, invents, noise, leniency, .. } = world.law;
    let mood = (leniency + noise * draw.normal()) / 100.0;
    let verdict = |facet| {
        let fails = if shown.has(facet) { invents } else { finds } - mood;
        if draw.share() < fails { Verdict::Fail } else { Verdict::Pass }
    };
    let (ids, facets): (Vec<CriterionId>, Vec<Facet>) = world.statements(scenario).unzip();
    ids.into_iter().zip(facets.into_iter().map(verdict)).collect()
}

/// The skill after an edit by somebody who was told of these statements that were missed.
///
/// It works on what was missed most often, and of equals on what it was told first. An edit of what was never wrong
/// fixes nothing, and may break something all the same.
pub(super) fn improve(world: &World, skill: &Skill, missed: &[(usize, Facet)], draw: &mut Draw) -> Skill {
    let mut skill = skill.clone();
    for (facet, scenarios) in most_missed(missed).into_iter().take(world.law.edits) {
        let is_fixed = draw.share() < world.law.fixes;
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
        if draw.share() < world.law.breaks {
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
