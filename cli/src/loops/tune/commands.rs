//! The run commands for a run of `tune`.

use skilltune_orchestrator::disk::SafePath;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::TreeId;
use skilltune_phases::loops::tune::{Plan, Tune};
use skilltune_phases::skills::candidate::Candidate;

use crate::loops::tune::args::TuneArgs;
use crate::loops::tune::settings::{PromptSettings, TuneSettings};
use crate::loops::tune::{apply, dangers, report, words};
use crate::loops::{LoopCommands, Version};
use crate::runs::Known;
use crate::settings::table::Table;
use crate::terminal::complaint::Complaint;
use crate::text::{figures, plain};

impl LoopCommands for Tune {
    type Args = TuneArgs;

    fn tables() -> Vec<Box<dyn Table>> {
        vec![Box::new(TuneSettings::default()), Box::new(PromptSettings::default())]
    }

    /// Shows a round or a candidate.
    fn part(known: &Known<Self>, part: &str, _: &Objects) -> Result<String, Complaint> {
        match part.parse::<u32>() {
            Ok(number) => round(known, number),
            Err(_) => Ok(candidate(known, known.candidate(part)?)),
        }
    }

    fn members(plan: &Plan) -> Vec<&str> {
        plan.task.target.members.iter().map(|member| member.name.as_str()).collect()
    }

    fn start(known: &Known<Self>) -> Result<Version, Complaint> {
        Ok(known.run.state.candidates[0].clone().into())
    }

    fn version(known: &Known<Self>, name: &str) -> Result<Version, Complaint> {
        known.version(name).map(Version::from)
    }

    /// The only copies are what its champion has replaced and what its commands have displaced.
    fn only_copy(known: &Known<Self>, _: &Objects) -> Option<String> {
        let names = plain::one_line(&Self::members(&known.run.plan).join(", "));
        let candidates = &known.run.state.candidates;
        if apply::left(known) != candidates[0].trees {
            return Some(format!("its champion is applied to {names}, and only this run can roll it back"));
        }
        let is_made = |from: &[TreeId]| candidates.iter().any(|candidate| candidate.trees == from);
        let displaced = known.placings().any(|(from, _)| !is_made(from));
        displaced.then(|| format!("only this run has a copy of an edit of {names} that it replaced"))
    }
}

impl From<Candidate> for Version {
    fn from(candidate: Candidate) -> Self {
        Self {
            name: format!("candidate {}", candidate.id.short()),
            id: candidate.id.to_string(),
            trees: candidate.trees,
        }
    }
}

/// Reads a round's pages from disk.
fn round(known: &Known<Tune>, number: u32) -> Result<String, Complaint> {
    let round = known.run.state.rounds.iter().find(|round| round.number == number).ok_or_else(|| {
        Complaint::input(format!("run {} has no round {number}", known.run.plan.run))
            .hint(format!("it has {} so far", figures::count(known.run.state.rounds.len(), "round")))
    })?;
    let folder = known.folder.iteration(number);
    let changes = read(&folder.join(format!("iteration-{number}-changes.md")));
    Ok(report::evaluation(&known.run, round) + "\n" + &changes)
}

/// Larger than any page that we write.
const LARGEST: u64 = 64 << 20;

fn read(path: &SafePath) -> String {
    let page = path.read(LARGEST).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&page).into_owned()
}

fn candidate(known: &Known<Tune>, candidate: &Candidate) -> String {
    let mut lines = vec![format!("candidate {}", candidate.id)];
    if let Some(origin) = &candidate.origin {
        let member = &known.run.plan.member(origin.member).name;
        let (round, parent) = (origin.round, origin.parent.short());
        let kinds = words::kinds_after(&origin.kinds);
        lines.push(format!("made in round {round} from {parent}; edits {member}{kinds}"));
        lines.extend(origin.report.summary.as_ref().map(|summary| format!("summary: {summary}")));
    } else if candidate.trees == [TreeId::EMPTY] {
        lines.push("no skill".to_owned());
    } else if let Some(two) = known.run.plan.task.aim.sides() {
        let side = if candidate.id == known.run.start() { &two.start } else { &two.challenger };
        lines.push(side.to_string());
    } else {
        lines.push("the original skill".to_owned());
    }
    if let Some(score) = known.run.search_score(candidate.id) {
        lines.push(format!("search score {score}"));
    }
    lines.extend(dangers::of(&known.run, candidate.id).iter().map(|line| format!("dangerous: {line}")));
    let members = known.run.plan.task.target.members.iter().zip(&candidate.trees);
    lines.extend(members.map(|(member, tree)| format!("{}: {tree}", member.name)));
    lines.iter().map(|line| plain::one_line(line)).collect::<Vec<_>>().join("\n")
}
