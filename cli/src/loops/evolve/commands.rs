//! The run commands for a run of `evolve`. Its versions are the trees after each task.

use skilltune_orchestrator::snapshot::{Limits, Objects};
use skilltune_phases::base::id::TreeId;
use skilltune_phases::base::json;
use skilltune_phases::loops::evolve::{Answer, Decision, Evolve, Plan};

use crate::loops::evolve::args::EvolveArgs;
use crate::loops::evolve::settings::EvolveSettings;
use crate::loops::evolve::{again, oracles};
use crate::loops::{LoopCommands, Version};
use crate::runs::scope::Scope;
use crate::runs::{CHAMPION, Known};
use crate::settings::Settings;
use crate::settings::origin::Origin;
use crate::settings::setting::Setting;
use crate::settings::table::Table;
use crate::terminal::complaint::{Complaint, ours};
use crate::text::plain::one_line;

impl LoopCommands for Evolve {
    type Args = EvolveArgs;

    const WITHOUT_REASON: &'static str =
        "omit the reason; `resume --answer end` ends a run that asks how to continue";

    fn tables() -> Vec<Box<dyn Table>> {
        vec![Box::new(EvolveSettings::default())]
    }

    /// Agents side by side do worse than one on entangled work, and a project is larger than the output of a trial.
    fn set_defaults(settings: &mut Settings) {
        fn set<T: Clone>(setting: &mut Setting<T>, value: T) {
            if setting.origin == Origin::Default {
                setting.set(value, Origin::Default);
            }
        }
        let Limits { files, bytes } = Limits::default();
        set(&mut settings.calls.jobs, 2);
        set(&mut settings.limits.artifact_files, files);
        set(&mut settings.limits.artifact_bytes, bytes);
    }

    fn look_again(
        scope: &Scope<'_>,
        known: &Known<Self>,
        settings: &Settings,
    ) -> Result<Option<Decision>, Complaint> {
        again::found(scope, known, settings)
    }

    /// Shows the plan, the specification or the oracles.
    fn part(known: &Known<Self>, part: &str, objects: &Objects) -> Result<String, Complaint> {
        let run = &known.run;
        let missing = |what: &str| Complaint::input(format!("run {} has no {what}", run.plan.run));
        match part {
            "plan" | "plan.json" => {
                let plan = run.state.plan.as_ref().ok_or_else(|| missing("plan yet"))?;
                Ok(json::page(&plan.as_planned()))
            }
            "spec" => Ok(run.plan.task.spec.markdown()),
            "oracles" => oracles::page(run, objects).map_err(ours)?.ok_or_else(|| missing("oracles")),
            part => Self::version(known, part).map(|version| version.name).map_err(|_| {
                missing(&format!("{part:?}"))
                    .hint("its parts are `plan`, `spec` and `oracles`; `skilltune diff` shows a version")
            }),
        }
    }

    fn members(_: &Plan) -> Vec<&str> {
        vec!["project"]
    }

    fn start(known: &Known<Self>) -> Result<Version, Complaint> {
        Ok(version(known.run.base()))
    }

    /// Returns the tree after a task, or the one that starts so; the words `start`, `best` and `champion` are names too.
    fn version(known: &Known<Self>, name: &str) -> Result<Version, Complaint> {
        let run = &known.run;
        let merged = &run.state.merged;
        let named = match name {
            "start" => Some(run.base()),
            "best" | CHAMPION => run.result().or(Some(run.base())),
            name => merged.iter().rev().find(|work| *work.task == *name).map(|work| work.after),
        };
        let by_hash = || {
            let mut trees: Vec<TreeId> = merged.iter().map(|work| work.after).collect();
            trees.extend(run.state.rounds.iter().map(|round| round.tree));
            // The folder may have had edits of a person, and a rollback may have replaced some.
            trees.extend(run.promoted().iter().flat_map(|one| [one.from, one.to]));
            trees.extend(known.placings().flat_map(|(from, _)| from.iter().copied()));
            trees.sort_unstable();
            trees.dedup();
            let mut hits = trees.into_iter().filter(|tree| tree.to_string().starts_with(name));
            hits.next().filter(|_| hits.next().is_none())
        };
        named.or_else(by_hash).map(version).ok_or_else(|| {
            let tasks: Vec<&str> = merged.iter().map(|work| &*work.task).collect();
            let hint = match tasks.as_slice() {
                [] => "no task is merged; it has the version `start`".to_owned(),
                tasks => format!("it has {} (and the words start, best, champion)", tasks.join(", ")),
            };
            Complaint::input(format!("run {} has no version {name:?}", run.plan.run)).hint(one_line(&hint))
        })
    }

    /// Until the result is handed over, it is only here; what it replaced in the folder is only here for good.
    fn only_copy(known: &Known<Self>, _: &Objects) -> Option<String> {
        let run = &known.run;
        if run.is_in_folder() {
            return Some(format!("only this run has the earlier files of {}", run.plan.task.root));
        }
        match run.handed_over() {
            Some(Answer::Committed(proposal)) if proposal.patch.is_none() => None,
            _ => run.result().map(|_| "only this run has the result".to_owned()),
        }
    }
}

fn version(tree: TreeId) -> Version {
    Version { name: format!("tree {}", tree.short()), id: tree.to_string(), trees: vec![tree] }
}
