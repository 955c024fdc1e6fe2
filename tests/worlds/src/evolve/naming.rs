//! The names of steps, for tests that compare their order.

use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::evolve::Step;

use super::World;

impl World {
    /// Describes a step in a few words.
    pub fn name(&self, step: &Step) -> String {
        let of = |tree: &TreeId| self.content(*tree).name();
        match step {
            Step::Split => "split".to_owned(),
            Step::Classify => "classify".to_owned(),
            Step::Divide { round } => format!("divide {round}"),
            Step::Replan { tasks, .. } => format!("replan {}", tasks.join(", ")),
            Step::Follow { to, .. } => format!("follow {}", of(to)),
            Step::Group => "group".to_owned(),
            Step::Match => "match".to_owned(),
            Step::Advise { task, expert } => format!("advise {task} {expert}"),
            Step::Agree { task } => format!("agree {task}"),
            Step::SetUp { tree } => format!("set up {}", of(tree)),
            Step::Look { tree } => format!("look {}", of(tree)),
            Step::Run { tree, stage } => format!("{} {}", stage.word(), of(tree)),
            Step::Work { task, go, from } => format!("{task}.{go} from {}", of(from)),
            Step::Merge { batch, without } if without.is_empty() => format!("merge {batch}"),
            Step::Merge { batch, without } => format!("merge {batch} without {}", without.join(", ")),
            Step::Drift { batch } => format!("drift {batch}"),
            Step::Allow => "allow".to_owned(),
            Step::Interface => "names".to_owned(),
            Step::Oracle { criterion, go } => format!("oracle {criterion}.{go}"),
            Step::Probe { criterion, go, tree } => format!("probe {criterion}.{go} on {}", of(tree)),
            Step::Settle { tree, criterion } => format!("settle {criterion} on {}", of(tree)),
            Step::Spoil { tree, criterion } => format!("spoil {criterion} on {}", of(tree)),
            Step::Control => "control".to_owned(),
            Step::File { tree } => format!("file {}", of(tree)),
            Step::Judge { tree, .. } => format!("judge {}", of(tree)),
            Step::Amend { round, persona: None } => format!("amend {round}"),
            Step::Amend { round, persona: Some(persona) } => format!("amend {round} as {}", persona.word()),
            Step::Transplant { tree, onto } => format!("put {} on {}", of(tree), of(onto)),
            Step::Audit { tree } => format!("audit {}", of(tree)),
            Step::Ask { question, round } => format!("ask {question:?} {round}"),
            Step::Promote { from, to } => format!("promote {} to {}", of(from), of(to)),
            Step::Commit { tree, form } => format!("commit {} as {}", of(tree), form.word()),
        }
    }
}
