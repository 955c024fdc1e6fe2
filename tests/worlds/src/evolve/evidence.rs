//! What machines and agents say about evidence: oracles, their ends, wrong versions, and one executor alone.

use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::oracle::{GREEN, Interface, Light, Oracle, Probed, Proposal, RED};
use skilltune_phases::loops::evolve::step::Wrong;
use skilltune_phases::loops::evolve::{Answer, Run, Step};

use super::{Content, World};
use crate::drive::tree;

impl World {
    /// Has an oracle for each criterion.
    pub fn with_oracles() -> Self {
        let mut world = Self::new();
        world.plan.task.has_oracles = true;
        world
    }

    /// Makes wrong versions of the result.
    #[must_use]
    pub fn with_strength(mut self) -> Self {
        self.plan.task.has_strength = true;
        self
    }

    /// Lets one executor do everything alone as well.
    #[must_use]
    pub fn with_control(mut self) -> Self {
        self.plan.task.has_control = true;
        self.cast();
        self
    }

    /// Returns the tree with these works, which the world knows from now on.
    pub fn tree_of(&self, works: &[&str]) -> TreeId {
        self.keep(works.iter().fold(Content::default(), |content, work| content.with(work)))
    }

    pub(super) fn evidence(&self, run: &Run, step: &Step) -> Answer {
        match step {
            Step::Oracle { criterion, go } => Answer::Proposed(Box::new((self.proposes)(criterion, *go))),
            Step::Probe { criterion, go, tree } => {
                let content = self.content(*tree);
                let end = if run.is_check(criterion) {
                    checked((self.check)(criterion, &content))
                } else {
                    (self.probe)(criterion, *go, &content)
                };
                Answer::Probed(Box::new(end))
            }
            Step::Settle { criterion, .. } => Answer::Chosen((self.settle)(criterion)),
            Step::Spoil { tree, criterion } => {
                let whole = self.content(*tree);
                let wrong = |number: u32| Wrong {
                    what: format!("mistake {number} about {criterion}").into(),
                    tree: self.keep(Content { wrong: Some(number), ..whole.clone() }),
                };
                Answer::Spoiled((1..=(self.spoils)(criterion)).map(wrong).collect())
            }
            Step::Control => Answer::Worked {
                made: self.keep(self.content(run.base()).with("control.1")),
                summary: "summary of control.1".into(),
                is_blind: self.is_blind,
            },
            Step::File { tree } => Answer::Filed(self.keep(self.content(*tree).with("filed.1"))),
            _ => Answer::Interface(Box::new(self.interface.clone())),
        }
    }
}

pub(super) fn interface() -> Interface {
    Interface { note: "pump.py: def pump() -> int".into(), stub: Some(tree("stub")) }
}

/// Returns the oracle of a criterion, with files of its own.
pub fn oracle(criterion: &str, go: u32) -> Proposal {
    let argv = ["python3", "oracle.py", criterion, RED, GREEN].map(str::to_owned).into();
    let files = Some(tree(&format!("files of {criterion}.{go}")));
    Proposal::Oracle(Oracle { argv, files, uses_names: false, shows: format!("{criterion} holds").into() })
}

/// An oracle is green once there is work for its criterion: that on `t2` is for `A2`.
pub(super) fn probed(criterion: &str, content: &Content) -> Probed {
    let number = criterion.trim_start_matches(char::is_alphabetic);
    let has_work = content.has_task(&format!("t{number}")) || content.has_task("control");
    if has_work && content.wrong().is_none() { green() } else { red() }
}

fn checked(met: Option<bool>) -> Probed {
    match met {
        Some(true) => green(),
        Some(false) => red(),
        None => Probed { light: Light::Neither, exit: None, said: "it could not start".into() },
    }
}

pub fn green() -> Probed {
    Probed { light: Light::Green, exit: Some(0), said: "all assertions hold".into() }
}

pub fn red() -> Probed {
    Probed { light: Light::Red, exit: Some(1), said: "an assertion fails".into() }
}

/// Ends without any code of its own.
pub fn neither(exit: i32) -> Probed {
    Probed { light: Light::Neither, exit: Some(exit), said: "it cannot be built".into() }
}
