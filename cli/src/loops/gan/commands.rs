//! The run commands for a run of `gan`. Its versions are the artifacts that it built.

use std::collections::BTreeSet;
use std::path::Path;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::gan::{Answer, Gan, Plan, projection};

use crate::loops::gan::args::GanArgs;
use crate::loops::gan::settings::GanSettings;
use crate::loops::{LoopCommands, Version};
use crate::runs::{CHAMPION, Known};
use crate::settings::table::Table;
use crate::terminal::complaint::Complaint;
use crate::text::figures;

impl LoopCommands for Gan {
    type Args = GanArgs;

    const WITHOUT_REASON: &'static str =
        "omit the reason; `resume --answer end` ends a run that asks how to continue";

    fn tables() -> Vec<Box<dyn Table>> {
        vec![Box::new(GanSettings::default())]
    }

    /// Shows the findings of a round, or the trees of a version.
    fn part(known: &Known<Self>, part: &str, _: &Objects) -> Result<String, Complaint> {
        let run = &known.run;
        let Ok(number) = part.parse::<usize>() else {
            let version = Self::version(known, part)?;
            return Ok(version.name);
        };
        let rounds = &run.state.course.rounds;
        match number.checked_sub(1).and_then(|nth| rounds.get(nth)) {
            Some(round) => Ok(projection::report(run, number, round).trim_end().to_owned()),
            None => Err(Complaint::input(format!("run {} has no round {number}", run.plan.run))
                .hint(format!("it has judged {} so far", figures::count(rounds.len(), "round")))),
        }
    }

    fn members(_: &Plan) -> Vec<&str> {
        vec!["artifact"]
    }

    fn start(known: &Known<Self>) -> Result<Version, Complaint> {
        Ok(version(known.run.plan.task.start))
    }

    /// Returns the artifact of a round, such as `2`, or the one whose tree starts so; the words `start`, `best` and
    /// `champion` are names too.
    fn version(known: &Known<Self>, name: &str) -> Result<Version, Complaint> {
        let run = &known.run;
        let built = run.state.sprints.iter().filter_map(|sprint| sprint.artifact);
        // A rollback may have replaced a version with edits of the user.
        let displaced = known.placings().flat_map(|(from, _)| from.iter().copied());
        let all: BTreeSet<TreeId> = built.chain(displaced).collect();
        // A number below 100 is a round: trees are not shortened to two digits.
        let number = name.parse::<u32>().ok().filter(|number| *number < 100);
        let named = match (name, number) {
            ("start", _) => Some(run.plan.task.start),
            ("best" | CHAMPION, _) => run.result(),
            (_, Some(number)) => {
                let built = run.state.sprints.iter().find(|sprint| sprint.number == number);
                built.and_then(|sprint| sprint.artifact)
            }
            (name, None) => {
                let mut hits = all.iter().copied().filter(|tree| tree.to_string().starts_with(name));
                hits.next().filter(|_| hits.next().is_none())
            }
        };
        named.map(version).ok_or_else(|| {
            let known: Vec<_> = all.iter().map(TreeId::short).collect();
            let hint = match known.as_slice() {
                [] => "the run has built nothing yet".to_owned(),
                known => {
                    let rounds = figures::count(run.state.sprints.len(), "round");
                    format!("it has {rounds}, {} (and the words start, best, champion)", known.join(", "))
                }
            };
            Complaint::input(format!("run {} has no version {name:?}", run.plan.run)).hint(hint)
        })
    }

    /// Until the result is in the user's folder, it is only here; what it replaced there is only here for good.
    fn only_copy(known: &Known<Self>, _: &Objects) -> Option<String> {
        let run = &known.run;
        if run.is_in_folder() {
            let into = run.plan.task.into.as_ref().filter(|_| run.plan.task.start != TreeId::EMPTY)?;
            return Some(format!("only this run has the earlier files of {}", Path::new(into).display()));
        }
        match run.handed_over() {
            Some(Answer::Committed(proposal)) if proposal.patch.is_none() => None,
            _ => run.result().map(|_| "only this run has the result".to_owned()),
        }
    }
}

fn version(tree: TreeId) -> Version {
    Version { name: format!("artifact {}", tree.short()), id: tree.to_string(), trees: vec![tree] }
}
