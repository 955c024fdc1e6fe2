//! The words for answers and decisions in the journal of a run.

use skilltune_phases::judging::contract::CriterionId;
use skilltune_phases::loops::tune::{Answer, Decision, Run};

use crate::loops::tune::{improvers, judges, verdicts, words};
use crate::report::words::made;
use crate::text::figures;

pub fn answered(answer: &Answer) -> String {
    match answer {
        Answer::SetUp { tree } => format!("set up ({})", tree.short()),
        Answer::Exercised { artifacts, files, skill, .. } => {
            let files = figures::count(usize::try_from(*files).unwrap_or(usize::MAX), "file");
            let skill = skill.map_or(String::new(), |skill| format!("; the skill was {}", skill.word()));
            format!("wrote {files} ({}){skill}", artifacts.short())
        }
        Answer::Checked(results) => {
            let met = results.iter().filter(|result| result.met == Some(true)).count();
            format!("{met} of {} passed", figures::count(results.len(), "check"))
        }
        Answer::Judged(judgement) => match judgement.whole.scored.composite {
            Some(score) => format!("scored {score}"),
            None => "judged without a score".to_owned(),
        },
        Answer::Improved { tree, .. } => format!("made {}", tree.short()),
        Answer::Chosen(choice) => choice.word().to_owned(),
        Answer::Promoted => "champion applied".to_owned(),
        Answer::Conflict { .. } => "the skill was edited during the run; not applied".to_owned(),
        Answer::Proposed(proposal) => made(proposal),
        Answer::NotProposed { why } => format!("could not make a commit: {why}"),
    }
}

pub fn decided(run: &Run, decision: &Decision) -> String {
    match decision {
        Decision::Open { round, candidate, scenarios } => {
            let on: Vec<&str> = scenarios.iter().map(|nth| words::scenario(run, *nth)).collect();
            let on = if on.is_empty() { String::new() } else { format!(" on {}", on.join(", ")) };
            format!("round {round}: try {}{on}", candidate.short())
        }
        Decision::Target { criteria, .. } if criteria.is_empty() => "nothing to edit".to_owned(),
        Decision::Target { criteria, member } => {
            let faults: Vec<&str> = criteria.iter().map(CriterionId::as_str).collect();
            let member = member.and_then(|place| run.plan.task.target.members.get(place.0));
            let member = member.map(|member| format!("{}: ", member.name)).unwrap_or_default();
            format!("edit {member}{}", faults.join(", "))
        }
        Decision::Scored(measured) => match measured.score {
            Some(score) => format!("round score {score}"),
            None => format!(
                "no score: {} of {} judged",
                measured.judged,
                figures::count(measured.of as usize, "scenario")
            ),
        },
        Decision::Calibrate(_) => "suite calibrated".to_owned(),
        Decision::Keep(candidate) => format!("keep {}", candidate.short()),
        Decision::Drop { candidate, why } => format!("drop {}: {why}", candidate.short()),
        Decision::Focus(place) => format!("improve {} next", words::member(run, *place)),
        Decision::Turn(by) => format!("{} edits next", improvers::agent(run, *by)),
        Decision::Draft(candidate) => format!("draft {}", candidate.id.short()),
        Decision::NoDraft { failure, .. } => format!("no draft: {}", failure.why),
        Decision::Stop(reason) => format!("search stopped: {}", words::reason(&run.plan, *reason)),
        Decision::Compare { challenger, .. } => format!("compare {} with the start", challenger.short()),
        Decision::LookAgain { effect } => match effect {
            Some(effect) => format!("undecided so far ({} points)", figures::signed(effect.points)),
            None => "undecided so far".to_owned(),
        },
        Decision::Dismiss { seat, tally } => judges::dismissal(run, *seat, *tally),
        Decision::Consult { scenarios } if scenarios.is_empty() => "no scenario is close".to_owned(),
        Decision::Consult { scenarios } => judges::consulted(run, scenarios.len()),
        Decision::Retry { scenarios, .. } => {
            format!("retry {} that got much worse", figures::count(scenarios.len(), "scenario"))
        }
        Decision::Ship(shipment) => {
            format!("verdict {} ({})", verdicts::verdict(run, shipment), shipment.champion.short())
        }
        Decision::Close(ending) => format!("run ended: {}", words::ending(*ending)),
    }
}
