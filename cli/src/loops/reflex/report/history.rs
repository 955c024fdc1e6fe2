//! The words for answers and decisions in the journal of a run.

use skilltune_phases::loops::reflex::original::short;
use skilltune_phases::loops::reflex::verdict::Evaluation;
use skilltune_phases::loops::reflex::{Answer, Decision};

use crate::text::figures;

pub fn answered(answer: &Answer) -> String {
    match answer {
        Answer::Proposed(rules) => figures::count(rules.len(), "rule"),
        Answer::Agreed(_) => "agreed".to_owned(),
        Answer::Planned(steps) => figures::count(steps.len(), "step"),
        Answer::Written(artifact) => format!("{}, {}", artifact.name(), figures::bytes(artifact.bytes)),
        Answer::Prepared(checks) => figures::count(checks.len(), "check"),
        Answer::Allowed(true) => "allowed".to_owned(),
        Answer::Allowed(false) => "not allowed".to_owned(),
        Answer::Checked(results) => {
            let met = results.iter().filter(|result| result.met == Some(true)).count();
            format!("{met} of {} met", figures::count(results.len(), "check"))
        }
        Answer::Judged(results) => {
            let met = results.iter().filter(|result| result.verdict.met() == Some(true)).count();
            format!("{met} of {} met", figures::count(results.len(), "rule"))
        }
        Answer::Criticised(issues) => figures::count(issues.len(), "issue"),
    }
}

pub fn decided(decision: &Decision) -> String {
    match decision {
        Decision::Agreed(terms) => format!(
            "agreed to {} and at most {}",
            figures::count(terms.criteria.rules.len(), "rule"),
            figures::count(terms.max_iterations as usize, "iteration")
        ),
        Decision::Enter(phase) => format!("{} begins", phase.word()),
        Decision::Planned(steps) => format!("the plan has {}", figures::count(steps.len(), "step")),
        Decision::Produced { artifact, checks: None } => format!("wrote artifact {}", artifact.name()),
        Decision::Produced { artifact, checks: Some(checks) } => {
            let checks = figures::count(checks.len(), "check");
            format!("wrote artifact {}, {checks} prepared", artifact.name())
        }
        Decision::Prepared(checks) => format!("{} prepared", figures::count(checks.len(), "check")),
        Decision::Evaluated(evaluation) => evaluated(evaluation),
        Decision::Drop { hash, best } => format!("drop {}: it is worse than {}", short(hash), short(best)),
        Decision::Criticised(issues) => format!("{} to fix", figures::count(issues.len(), "issue")),
        Decision::Refined(artifact) => format!("refined into artifact {}", artifact.name()),
        Decision::Switch(level) => format!("level {level} starts with the same artifact"),
        Decision::Advance(iteration) => format!("iteration {iteration} starts"),
        Decision::Stop(stop) => {
            let note = stop.note.as_ref().map_or(String::new(), |note| format!(": {note}"));
            format!("the run ends ({}){note}", stop.reason.word())
        }
        Decision::Close => "run ended".to_owned(),
    }
}

fn evaluated(evaluation: &Evaluation) -> String {
    let Evaluation { level, score, passed, .. } = evaluation;
    let passed = if *passed { "passed" } else { "not passed" };
    format!("level {level}: score {}, {passed}", figures::score(*score))
}

#[cfg(test)]
mod tests;
