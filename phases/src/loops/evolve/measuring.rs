//! What is measured at the end if a person asks for it. Strength: do oracles reject wrong versions of the result? Control:
//! what does one executor alone make of the same specification? Neither changes how a run ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Run;
use super::decision::Ending;
use super::evaluate::{Judged, judged_control};
use super::evaluation::Evaluation;
use super::next::open;
use super::oracle::Light;
use super::spec::Id;
use super::step::{Answer, Step};
use crate::base::id::TreeId;
use crate::loops::shared::commands::Stage;
use crate::runs::run::StepState;

/// How many wrong versions of a result an oracle rejects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strength {
    pub rejected: u32,
    /// Versions that the oracle passes: what each does wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<Box<str>>,
    /// Versions on which the oracle does not run to an assertion, such as those that do not build.
    pub not_counted: u32,
}

/// What one executor made alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    pub tree: TreeId,
    /// The commands that are newly red with its work.
    pub red: Vec<Stage>,
    pub evaluation: Option<Evaluation>,
}

impl Strength {
    /// Returns the number of versions that count.
    pub fn all(&self) -> u32 {
        self.rejected + u32::try_from(self.passed.len()).unwrap_or(u32::MAX)
    }
}

/// Returns the steps that measure a result.
pub(super) fn measures(run: &Run, ending: Ending, tree: TreeId) -> Vec<Step> {
    let task = &run.plan.task;
    let mut steps = Vec::new();
    if task.has_strength && ending == Ending::Success {
        for (criterion, go) in run.greens(tree) {
            let spoil = Step::Spoil { tree, criterion: criterion.clone() };
            if let StepState::Answered(Answer::Spoiled(all)) = run.state_of(&spoil) {
                let probe = |tree: TreeId| Step::Probe { criterion: criterion.clone(), go, tree };
                steps.extend(all.iter().map(|wrong| probe(wrong.tree)));
            }
            steps.push(spoil);
        }
    }
    if task.has_control && matches!(ending, Ending::Success | Ending::HumanEscalation) {
        match run.state_of(&Step::Control) {
            StepState::Open => steps.push(Step::Control),
            StepState::Answered(Answer::Worked { made, .. }) => {
                steps.extend(judged_control(run, *made).err().into_iter().flatten());
            }
            StepState::Answered(_) | StepState::GivenUp(_) => {}
        }
    }
    open(run, steps)
}

impl Run {
    /// Returns the criteria whose oracles are green on a tree, and how often each was mended.
    fn greens(&self, tree: TreeId) -> Vec<(Id, u32)> {
        let criteria = self.state.contract.iter().flat_map(|contract| &contract.criteria);
        let green = criteria.filter_map(|one| {
            let standing = self.stands(&one.id)?;
            // A person's check tells a failed assertion from a failed build by no code.
            let probe = standing.probe().filter(|probe| !probe.is_check)?;
            let go = probe.go;
            let is_green = self.probed(&one.id, go, tree)?.light == Light::Green;
            is_green.then(|| (one.id.clone(), go))
        });
        green.collect()
    }

    /// Returns how many wrong versions of the result each oracle rejects, as far as that was measured.
    pub fn strength(&self) -> BTreeMap<Id, Strength> {
        let Some(tree) = self.state.end.as_ref().and_then(|end| end.tree) else { return BTreeMap::new() };
        let greens = self.greens(tree).into_iter().filter_map(|(criterion, go)| {
            let spoil = Step::Spoil { tree, criterion: criterion.clone() };
            let StepState::Answered(Answer::Spoiled(all)) = self.state_of(&spoil) else { return None };
            let mut strength = Strength::default();
            for wrong in all {
                let end = self.probed(&criterion, go, wrong.tree);
                match end.map(|end| end.light) {
                    Some(Light::Green) => strength.passed.push(wrong.what.clone()),
                    Some(Light::Red) => strength.rejected += 1,
                    Some(Light::Neither) | None => strength.not_counted += 1,
                }
            }
            Some((criterion, strength))
        });
        greens.collect()
    }

    /// Returns what one executor made alone, if that was measured.
    pub fn control(&self) -> Option<Control> {
        let StepState::Answered(Answer::Worked { made, .. }) = self.state_of(&Step::Control) else {
            return None;
        };
        let (red, evaluation) = match judged_control(self, *made).ok()? {
            Judged::Red(red) => (red, None),
            Judged::Whole(evaluation) => (Vec::new(), Some(evaluation)),
            Judged::Bare | Judged::Unjudged(_) => (Vec::new(), None),
        };
        Some(Control { tree: *made, red, evaluation })
    }
}
