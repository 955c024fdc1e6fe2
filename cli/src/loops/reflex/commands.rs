//! The run commands for a run of `reflex`. Its versions are the texts that it wrote.

use std::path::Path;

use serde_json::json;
use skilltune_orchestrator::engine::reflex::page;
use skilltune_orchestrator::evolution::Evolution;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Journal;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::reflex::original::{Alias, artifact_hash};
use skilltune_phases::loops::reflex::{Artifact, Event, Judged, Plan, Reflex, Run, Task};
use skilltune_phases::runs::plan::RunId;

use crate::args::runs::StopArgs;
use crate::loops::reflex::args::ReflexArgs;
use crate::loops::reflex::files::{below, refused};
use crate::loops::reflex::progress::lines::{evaluated, fixes};
use crate::loops::reflex::progress::shelf::on_disk;
use crate::loops::reflex::settings::ReflexSettings;
use crate::loops::reflex::{out, report as reflex_report};
use crate::loops::{LoopCommands, Version};
use crate::report::outcome;
use crate::runs::ownership::Ownership;
use crate::runs::peer::Reached;
use crate::runs::scope::Scope;
use crate::runs::{CHAMPION, Known, RunStatus, session};
use crate::settings::table::Table;
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::terminal::questions::Answers;
use crate::text::plain;

impl LoopCommands for Reflex {
    type Args = ReflexArgs;

    fn tables() -> Vec<Box<dyn Table>> {
        vec![Box::new(ReflexSettings::default())]
    }

    /// Shows the findings of an iteration, or a text.
    fn part(known: &Known<Self>, part: &str, objects: &Objects) -> Result<String, Complaint> {
        let run = &known.run;
        let Ok(number) = part.parse::<u32>() else {
            return Ok(plain::pictured(&page(objects, text(known, part)?.tree).map_err(ours)?));
        };
        let judged: Vec<&Judged> =
            run.state.judged.iter().filter(|judged| judged.iteration == number).collect();
        if run.state.judged.is_empty() {
            let state = if run.closed_at.is_some() {
                "ended before anything was judged"
            } else {
                "has judged nothing yet"
            };
            return Err(Complaint::input(format!("run {} {state}", run.plan.run))
                .hint(format!("`skilltune history {}` shows what it did", run.plan.run)));
        }
        if judged.is_empty() {
            return Err(Complaint::input(format!(
                "run {} has no evaluation in iteration {number}",
                run.plan.run
            ))
            .hint(format!("it is in iteration {}", run.state.iteration)));
        }
        let lines = judged.into_iter().flat_map(|judged| {
            let results = judged.evaluation.results.iter().map(|result| {
                plain::one_line(&format!("{}: {}: {}", result.rule, result.verdict, result.details))
            });
            let lines = evaluated(run, judged, UNBOUNDED).into_iter().chain(fixes(&judged.issues, UNBOUNDED));
            lines.chain(results)
        });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    fn members(plan: &Plan) -> Vec<&str> {
        vec![&plan.task.alias]
    }

    fn start(known: &Known<Self>) -> Result<Version, Complaint> {
        text(known, "start").map(Version::from)
    }

    fn version(known: &Known<Self>, name: &str) -> Result<Version, Complaint> {
        text(known, name).map(Version::from)
    }

    fn hand_over(scope: &Scope<'_>, id: &RunId, person: Option<&dyn Answers>) -> Result<(), Complaint> {
        let known = scope.runs.load::<Self>(id)?;
        out::hand_over(&known.run, &scope.objects(), person, scope.env, scope.printer)
    }

    /// Ends the run for good and records the reason. Current steps finish first, because they are paid for. The process
    /// that works on the run ends it itself, but it may have died meanwhile.
    fn stop(scope: &Scope<'_>, known: &Known<Self>, args: &StopArgs) -> Result<Exit, Complaint> {
        let (runs, env, printer) = (&scope.runs, scope.env, scope.printer);
        let (id, reason) = (&known.run.plan.run, args.parts().1);
        let print = |outcome: &str, line: String| {
            outcome::print(args.format, printer, &[line], &json!({ "run_id": id, "outcome": outcome }))
        };
        Ownership::new(env).require(known)?;
        match runs.status(&known.run) {
            RunStatus::Ended => {
                return print("already_ended", format!("run {id} has already ended"));
            }
            RunStatus::Running { pid } => {
                printer.talk(&format!("ending run {id} for good after its current steps"));
                if let Some(process) = Reached::by(pid)? {
                    known.folder.keep_stop_reason(reason).map_err(ours)?;
                    process.ask_to_finish()?;
                    process.see_off()?;
                    known.folder.keep_stop_reason(None).map_err(ours)?;
                }
            }
            RunStatus::Held | RunStatus::Open => {}
        }
        let _locks = session::lock(env, printer, &known.targets(), id.as_str())?;
        let run = close(known, reason)?;
        session::settle(env, printer, &runs.home, &run)?;
        let outcome_text = reflex_report::words::outcome_text(&run);
        out::hand_over(&run, &scope.objects(), None, env, printer)?;
        print("ended", format!("run {id} has ended for good: {}", plain::one_line(&outcome_text)))
    }

    /// Unless it was saved with `--out`, the text exists only among the files that `clean` deletes with the run.
    fn only_copy(known: &Known<Self>, objects: &Objects) -> Option<String> {
        let run = &known.run;
        let is_elsewhere = run.plan.task.out.is_some() && run.deliverable().is_some();
        let hash = on_disk(run, objects).filter(|_| !is_elsewhere)?;
        let is_ours = run.state.artifacts.iter().any(|artifact| artifact.hash == hash);
        is_ours.then(|| format!("its text is only in {}", reflex_report::words::artifact_path(run)))
    }

    fn tidy(known: &Known<Self>, printer: Printer) -> Result<(), Complaint> {
        let Task { project, evolution, alias, .. } = &known.run.plan.task;
        let Some(name) = Alias::parse(alias) else { return Ok(()) };
        let folder = Evolution::open(Path::new(project), &below(evolution)?).map_err(refused)?;
        let Some(folder) = folder else { return Ok(()) };
        let artifacts = &known.run.state.artifacts;
        let ours = |bytes: &[u8]| artifacts.iter().any(|artifact| artifact.hash == artifact_hash(bytes));
        if !folder.writer(&name, known.run.plan.run.as_str()).remove(ours).map_err(refused)? {
            printer.talk(&format!("kept {evolution}/{alias}: it holds files that this run did not write"));
        }
        Ok(())
    }
}

impl From<&Artifact> for Version {
    fn from(artifact: &Artifact) -> Self {
        Self {
            name: format!("artifact {}", artifact.name()),
            id: artifact.hash.clone(),
            trees: vec![artifact.tree],
        }
    }
}

/// Returns the text whose hash starts with this name; the words `start`, `best`, `head` and `champion` are names too.
fn text<'a>(known: &'a Known<Reflex>, name: &str) -> Result<&'a Artifact, Complaint> {
    let run = &known.run;
    let all = &run.state.artifacts;
    let named = match name {
        "start" => all.first(),
        "best" | CHAMPION => run.result(),
        "head" => run.state.artifact.as_ref(),
        hash => {
            let mut hits: Vec<_> = all.iter().filter(|artifact| artifact.hash.starts_with(hash)).collect();
            hits.dedup_by(|a, b| a.hash == b.hash);
            (hits.len() == 1).then(|| hits[0])
        }
    };
    named.ok_or_else(|| {
        let hashes: Vec<&str> = all.iter().map(Artifact::name).collect();
        let hint = match hashes.as_slice() {
            [] => "the run has written no text yet".to_owned(),
            hashes => format!("it has {} (and the words start, best, head, champion)", hashes.join(", ")),
        };
        Complaint::input(format!("run {} has no text {name:?}", run.plan.run)).hint(hint)
    })
}

/// Records the user's decision, unless the run has ended meanwhile.
fn close(known: &Known<Reflex>, reason: Option<&str>) -> Result<Run, Complaint> {
    let (mut journal, history) = Journal::resume::<Reflex>(&known.folder.history()).map_err(ours)?;
    let mut run = Run::replay(&history.records).map_err(ours)?;
    while let Some(decision) = Reflex::on_stop(&run, reason) {
        let record = journal.append(session::now(), Event::Decided(decision)).map_err(ours)?;
        run.apply(&record);
    }
    journal.barrier().map_err(ours)?;
    Ok(run)
}
