//! The content of the workspace for each request of `tune`, and its layout.

use super::{INPUT, Improving, SKILL, START, TuneBrief, WORKSPACE, history, improving};
use crate::asking::order::{Access, Command, Installed, Placement};
use crate::base::delivery::Delivery;
use crate::base::id::{CandidateId, TreeId};
use crate::base::role::{Rights, Role};
use crate::loops::tune::results::{activity, notes};
use crate::loops::tune::trial::measure::{self, SEARCH};
use crate::loops::tune::{Plan, Run, Trial, Uses};
use crate::skills::candidate::Candidate;
use crate::skills::target::Place;
use crate::suites::scenario::Tools;

/// The folders of a workspace for what is judged, and for what an improver reads besides its draft; each followed by
/// the member's name.
pub(super) const ARTIFACTS: &str = "artifacts";
pub(super) const NEIGHBOURS: &str = "neighbours";
pub(super) const PASSED: &str = "passed";
/// The record of what an agent said and did, and the output of an improver's skill in its worst trial.
pub(super) const EVIDENCE: &str = "evidence";
pub(super) const PRODUCED: &str = "produced";

pub(super) fn path(folder: &str, plan: &Plan, member: Place) -> String {
    format!("{folder}/{}", plan.member(member).name)
}

/// Returns the path of the skill. An installed skill is where the executor's program looks for skills.
pub(super) fn skill_path(plan: &Plan, member: Place, brief: &TuneBrief) -> String {
    let installed = delivery(brief).and_then(Delivery::at);
    path(installed.unwrap_or(SKILL), plan, member)
}

fn delivery(brief: &TuneBrief) -> Option<&Delivery> {
    let TuneBrief::Execute { delivery, .. } = brief else { return None };
    delivery.as_ref()
}

pub(super) fn installed(plan: &Plan, brief: &TuneBrief) -> Option<Installed> {
    let TuneBrief::Execute { member, delivery: Some(delivery), .. } = brief else { return None };
    delivery.at()?;
    let name = plan.member(*member).name.to_string();
    let called = matches!(delivery, Delivery::Slash { .. });
    Some(Installed { name, at: skill_path(plan, *member, brief), called })
}

/// The folder of a workspace for the files of plugins.
const PLUGINS: &str = ".plugin";

/// Returns the folder that replaces the root of the skill's plugin, if there is a skill.
pub(super) fn plugin(plan: &Plan, brief: &TuneBrief) -> Option<String> {
    let TuneBrief::Execute { member, delivery: Some(_), .. } = brief else { return None };
    plan.member(*member).plugin.as_ref()?;
    Some(path(PLUGINS, plan, *member))
}

/// Places the plugin files that the skill names, and the version on trial at the skill's place in the plugin.
fn placed_plugin(plan: &Plan, member: Place, skill: TreeId, brief: &TuneBrief) -> Vec<Placement> {
    let (Some(at), Some(of)) = (plugin(plan, brief), &plan.member(member).plugin) else { return Vec::new() };
    let own = Placement::new(format!("{at}/{}", of.skill), skill, Access::Scratch);
    vec![Placement::new(at, of.tree, Access::Scratch), own.hiding(&plan.member(member).hidden)]
}

/// Returns the rights of a request. Only an executor ever gets a shell.
pub(super) fn rights(plan: &Plan, brief: &TuneBrief, own: Rights) -> Rights {
    let TuneBrief::Execute { trial, .. } = brief else { return own };
    if plan.task.tools(trial.scenario) == Tools::Shell { Rights::Shell } else { own }
}

type Made = (TuneBrief, Vec<Placement>);

pub(super) fn execute(run: &Run, member: Place, skill: TreeId, trial: Trial, input: Option<TreeId>) -> Made {
    let delivery = Some(&run.plan.task.delivery).filter(|_| skill != TreeId::EMPTY).cloned();
    let brief = TuneBrief::Execute { member, trial, delivery };
    let mut placements = placed_skill(&run.plan, member, skill, &brief);
    placements.extend(placed_plugin(&run.plan, member, skill, &brief));
    match member {
        Place(0) => {
            placements.extend(begin_with(input));
            let picked = &run.plan.task.scenarios[trial.scenario].of_skill;
            let whole = Placement::new(WORKSPACE, skill, Access::Scratch);
            let picks = whole.hiding(&run.plan.member(member).hidden).picking(picked);
            placements.extend(Some(picks).filter(|_| !picked.is_empty()));
        }
        _ => placements.extend(input.map(|tree| Placement::new(INPUT, tree, Access::Fixed))),
    }
    (brief, placements)
}

/// Places the skill, if there is one.
fn placed_skill(plan: &Plan, member: Place, skill: TreeId, brief: &TuneBrief) -> Vec<Placement> {
    let place = |delivery: &Delivery| {
        // An installed skill may keep files beside itself, as it does for its users.
        let access = if delivery.at().is_some() { Access::Scratch } else { Access::Fixed };
        let at = skill_path(plan, member, brief);
        Placement::new(at, skill, access).hiding(&plan.member(member).hidden)
    };
    delivery(brief).map(place).into_iter().collect()
}

/// Places the scenario's files in the workspace itself, to be worked on.
pub(super) fn begin_with(files: Option<TreeId>) -> Vec<Placement> {
    files.map(|tree| Placement::work(WORKSPACE, tree)).into_iter().collect()
}

pub(super) fn set_up(plan: &Plan, argv: Vec<String>) -> Command {
    let seconds = plan.roles.of(&Role::EXECUTOR).timeout_seconds;
    Command { is_shared: true, ..Command::new(argv, seconds, plan.task.confined) }
}

/// Gives the program of a check a copy of the member's whole workspace, and a folder that no agent has seen.
pub(super) fn check(left: TreeId, grader: Option<(&str, TreeId)>) -> Vec<Placement> {
    let grader = grader.map(|(at, tree)| Placement::new(at, tree, Access::Scratch));
    std::iter::once(Placement::work(WORKSPACE, left)).chain(grader).collect()
}

pub(super) fn judge_text(plan: &Plan, skills: &[TreeId]) -> Vec<Placement> {
    plan.places().zip(skills).map(|(place, &tree)| skill_of(SKILL, plan, place, tree)).collect()
}

pub(super) fn grade(
    plan: &Plan,
    artifacts: &[TreeId],
    evidence: &[TreeId],
    start: Option<TreeId>,
) -> Vec<Placement> {
    let each = |folder: &'static str, trees: &[TreeId]| -> Vec<Placement> {
        plan.places().zip(trees).map(|(place, &tree)| fixed(folder, plan, place, tree)).collect()
    };
    let start = start.map(|tree| Placement::new(START, tree, Access::Fixed));
    [each(ARTIFACTS, artifacts), each(EVIDENCE, evidence), Vec::from_iter(start)].concat()
}

pub(super) fn evaluate(
    plan: &Plan,
    skills: &[TreeId],
    artifacts: &[TreeId],
    start: Option<TreeId>,
) -> Vec<Placement> {
    [judge_text(plan, skills), grade(plan, artifacts, &[], start)].concat()
}

pub(super) fn improve(run: &Run, base: CandidateId, member: Place) -> Option<Made> {
    let (candidate, plan) = (run.candidate(base)?, &run.plan);
    let skill = candidate.trees[member.0];
    let worst = activity::shortest(run, base, member);
    let draft = Placement::new(path(SKILL, plan, member), skill, Access::Draft);
    let mut placements = vec![draft.hiding(&plan.member(member).hidden)];
    let passed = passed_on(run, candidate);
    let before = member.0.checked_sub(1).map(Place);
    let after = Some(Place(member.0 + 1)).filter(|after| after.0 < candidate.trees.len());
    // The output that this member gets from the previous member, and the output that it passes to the next one.
    for (neighbour, handed) in
        before.map(|place| (place, place)).into_iter().chain(after.map(|place| (place, member)))
    {
        placements.push(skill_of(NEIGHBOURS, plan, neighbour, candidate.trees[neighbour.0]));
        placements.extend(passed.get(handed.0).map(|&tree| fixed(PASSED, plan, neighbour, tree)));
    }
    let era = run.era_of(base);
    let produced = worst.first().and_then(|&scenario| {
        let left = measure::artifacts(run, candidate, Trial { scenario, ordinal: SEARCH, era });
        left.get(member.0).copied()
    });
    placements.extend(produced.map(|tree| fixed(PRODUCED, plan, member, tree)));
    let (met, unmet) = improving::met_and_missed(run, base, member);
    let improving = Improving {
        member,
        met,
        unmet,
        unfinished: notes::unfinished(run, base, era, member),
        suggestions: improving::suggestions(run, base, member),
        kept_changes: history::kept_changes(run, base, member),
        failed_changes: improving::failed_changes(run, base, member),
        before,
        after,
        uses: Uses::of(run, base, Some(member), SEARCH..=SEARCH),
        activity: activity::of_trials(run, base, member, &worst),
        worst: worst.first().copied().filter(|_| produced.is_some()),
    };
    Some((TuneBrief::Improve(Box::new(improving)), placements))
}

/// Places a skill for reading only.
fn skill_of(folder: &str, plan: &Plan, member: Place, tree: TreeId) -> Placement {
    fixed(folder, plan, member, tree).hiding(&plan.member(member).hidden)
}

fn fixed(folder: &str, plan: &Plan, member: Place, tree: TreeId) -> Placement {
    Placement::new(path(folder, plan, member), tree, Access::Fixed)
}

/// Returns what each member passed on in the first scenario that ran to its end.
fn passed_on(run: &Run, candidate: &Candidate) -> Vec<TreeId> {
    let era = run.era_of(candidate.id);
    let scenarios = measure::tried(&run.plan).into_iter();
    let trials = scenarios.map(|scenario| Trial { scenario, ordinal: SEARCH, era });
    let mut handed = trials.map(|trial| measure::artifacts(run, candidate, trial));
    handed.find(|trees| trees.len() == candidate.trees.len()).unwrap_or_default()
}
