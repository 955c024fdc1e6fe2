//! `show`: a run told again, one of its rounds, or one of its candidates.

use skilltune_orchestrator::safe_path::SafePath;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::candidate::Candidate;

use skilltune_phases::loops::tune::Tune;

use crate::args::ShowArgs;
use crate::complaint::Complaint;
use crate::exit::Exit;
use crate::folders::Surroundings;
use crate::printer::Printer;
use crate::progress;
use crate::report::{self, plain};
use crate::runs::{Known, Runs};

pub fn run(args: &ShowArgs, around: &Surroundings, printer: Printer) -> Result<Exit, Complaint> {
    let runs = Runs::here(around)?;
    let known = runs.find(args.run.run.as_deref())?;
    let text = match args.what.as_deref() {
        None => {
            progress::retell(&known.records, Objects::at(runs.home.objects()), around, printer)?;
            return Ok(Exit::Reached);
        }
        Some(what) => match what.parse::<u32>() {
            Ok(number) => round(&known, number)?,
            Err(_) => candidate(&known, known.candidate(what)?),
        },
    };
    printer.data(text.trim_end())?;
    Ok(Exit::Reached)
}

/// A round's pages, as they stand on the disk.
fn round(known: &Known<Tune>, number: u32) -> Result<String, Complaint> {
    let round = known.run.course.rounds.iter().find(|round| round.number == number).ok_or_else(|| {
        Complaint::input(format!("run {} has no round {number}", known.run.plan.run))
            .hint(format!("it has {} so far", known.run.course.rounds.len()))
    })?;
    let folder = known.folder.iteration(number);
    let changes = read(&folder.join(format!("iteration-{number}-changes.md")));
    Ok(report::evaluation(&known.run, round) + "\n" + &changes)
}

/// More than any page of ours has.
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
        lines.push(format!("made in round {round} from {parent} by an edit of {member}"));
        lines.extend(origin.report.summary.as_ref().map(|summary| format!("its improver says: {summary}")));
    } else {
        lines.push("the target as it was found".to_owned());
    }
    if let Some(score) = known.run.search_score(candidate.id) {
        lines.push(format!("scored {score} in the search"));
    }
    let members = known.run.plan.task.target.members.iter().zip(&candidate.trees);
    lines.extend(members.map(|(member, tree)| format!("{}: {tree}", member.name)));
    lines.iter().map(|line| plain::one_line(line)).collect::<Vec<_>>().join("\n")
}
