//! Runs that the original has written, as far as its files tell them.
//!
//! Nobody has verified what stands there, and nothing of it is run or believed: what is absent is said to be.

use skilltune_phases::loops::reflex::original::{
    Check, Evaluation, FoundLine, FoundRun, Fraction, History, How, Phase, Verdict, Word, artifact_hash,
};

use super::status::{self, entry};
use crate::report::{figures, plain};

const UNTOLD: &str = "not told";

/// `artifact` is what is in the artifact's file, where there is one.
pub(crate) fn found_status(found: &FoundRun, history: &History, artifact: Option<&[u8]>) -> Vec<String> {
    let hash = artifact.map(artifact_hash);
    let standing = Standing::of(found, hash.as_deref());
    let mut lines = vec![
        entry("run", &format!("{}, reflex, as the original has written it", told(found.run_id.as_deref()))),
        entry("task", &told(found.task.as_ref().map(|task| task.prompt.as_str()))),
        entry("status", &status(found)),
        entry("iteration", &place(found)),
        entry("artifact", &standing.told(found, hash.as_deref())),
    ];
    if let (Standing::Evaluated, Some(evaluation)) = (standing, &found.evaluation) {
        lines.extend(judged(found, evaluation));
    }
    let checks = found.prepared_checks.iter().flat_map(|prepared| &prepared.checks);
    lines.extend(checks.map(|check| entry("check", &unverified(check))));
    lines.extend(doubts(found, history).iter().map(|doubt| entry("doubt", doubt)));
    lines
}

/// What is in the file, held against what was judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    NotCreated,
    Unevaluated,
    /// It was judged, and the file does not say which version of it.
    Unbound,
    Stale,
    Evaluated,
}

impl Standing {
    fn of(found: &FoundRun, hash: Option<&str>) -> Self {
        match (hash, &found.evaluation) {
            (None, _) => Self::NotCreated,
            (Some(_), None) => Self::Unevaluated,
            (Some(hash), Some(evaluation)) => match &evaluation.artifact_hash {
                None => Self::Unbound,
                Some(judged) if judged.trim().eq_ignore_ascii_case(hash) => Self::Evaluated,
                Some(_) => Self::Stale,
            },
        }
    }

    fn told(self, found: &FoundRun, hash: Option<&str>) -> String {
        let hash = hash.unwrap_or_default();
        let judged = found.evaluation.as_ref().and_then(|evaluation| evaluation.artifact_hash.as_deref());
        match self {
            Self::NotCreated => "not_created".to_owned(),
            Self::Unevaluated => format!("unevaluated: {hash}, and nobody has judged it"),
            Self::Unbound => format!("unevaluated: {hash}, and it is not told which version was judged"),
            Self::Stale => format!("stale: {} was judged, and its file holds {hash}", told(judged)),
            Self::Evaluated => format!("evaluated: {hash}"),
        }
    }
}

fn told(text: Option<&str>) -> String {
    text.map(plain::one_line).filter(|text| !text.is_empty()).unwrap_or_else(|| UNTOLD.to_owned())
}

fn status(found: &FoundRun) -> String {
    let status = told(found.status.as_ref().map(Word::as_str));
    let reason = found.stop.as_ref().and_then(|stop| stop.reason.as_ref());
    let reason = reason.map(|reason| plain::one_line(reason.as_str())).filter(|reason| !reason.is_empty());
    reason.map_or(status.clone(), |reason| format!("{status} ({reason})"))
}

fn place(found: &FoundRun) -> String {
    let number = |number: Option<u32>| number.map_or(UNTOLD.to_owned(), |number| number.to_string());
    format!(
        "{} of {}, level {}, {}",
        number(found.iteration),
        number(found.max_iterations),
        found.phase.map_or(UNTOLD.to_owned(), |phase| phase.to_string()),
        told(found.current_step.as_ref().map(Word::as_str))
    )
}

/// The score and what is missing, in the original's own count.
fn judged(found: &FoundRun, evaluation: &Evaluation) -> Vec<String> {
    let gate = found.criteria.as_ref().zip(found.phase).map(|(criteria, phase)| match phase {
        Phase::A => criteria.phase.a.threshold,
        Phase::B => criteria.phase.b.threshold,
    });
    let asks = gate.map_or(String::new(), |gate| format!(", and {} are asked for", gate.0));
    let passed = if evaluation.passed { "passed" } else { "not passed" };
    let count = evaluation.rule_results.len();
    let met = evaluation.rule_results.iter().filter(|result| result.verdict == Verdict::Pass.into()).count();
    let failed: Vec<_> = evaluation.failed.iter().map(|fault| plain::one_line(&fault.id)).collect();
    let failed =
        if failed.is_empty() { "no rule failed".to_owned() } else { format!("failed {}", failed.join(", ")) };
    vec![
        entry("score", &format!("{}{asks}; {passed}, by an agent's own count", score(evaluation.score))),
        entry("distance", &format!("{failed}, {met} of {} met", figures::count(count, "rule"))),
    ]
}

fn score(score: Option<Fraction>) -> String {
    figures::score(score.map(|fraction| fraction.0))
}

/// A check that a model or a hand has written, for a shell: to be looked at and nothing else.
fn unverified(check: &Check) -> String {
    let (how, expected) = match &check.how {
        How::Executable { command, expected } => (format!("command {command}"), expected),
        How::Content { search, expected } => (format!("pattern {search}"), expected),
    };
    format!("{}: {how}, expected: {expected} (unverified, never run)", check.rule_id)
}

fn doubts(found: &FoundRun, history: &History) -> Vec<String> {
    let mut doubts: Vec<_> = found.doubts.iter().map(|doubt| plain::one_line(&doubt.to_string())).collect();
    let unknown = found.unknown();
    if !unknown.is_empty() {
        doubts.push(format!("run.json does not tell {}", unknown.join(", ")));
    }
    doubts.extend(gaps(history));
    doubts
}

fn gaps(history: &History) -> Vec<String> {
    let unreadable = (history.unreadable > 0)
        .then(|| format!("{} of the history cannot be read", figures::count(history.unreadable, "line")));
    let torn = history.torn.then(|| "the history's last line was never finished".to_owned());
    unreadable.into_iter().chain(torn).collect()
}

pub(crate) fn found_history(history: &History) -> Vec<String> {
    history.lines.iter().map(line).chain(gaps(history)).collect()
}

fn line(line: &FoundLine) -> String {
    let time = line.ts.map_or("-".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
    let place = [
        line.iteration.map(|number| format!("iteration {number}")),
        line.phase.map(|phase| format!("level {phase}")),
        line.step.as_ref().map(|step| step.as_str().to_owned()),
    ];
    let place: Vec<_> = place.into_iter().flatten().collect();
    let payload = if line.payload.is_empty() {
        String::new()
    } else {
        format!(": {}", serde_json::Value::Object(line.payload.clone()))
    };
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    let told = plain::one_line(&format!("{}{place}{payload}", line.event));
    format!("{:>5}  {time:<19}  {}", line.line, crate::progress::shortened(&told, LONGEST_LINE))
}

/// A payload may hold whole pages.
const LONGEST_LINE: usize = 400;

/// Such a run among others.
pub(crate) fn found_row(alias: &str, found: &FoundRun, artifact: Option<&[u8]>) -> String {
    let hash = artifact.map(artifact_hash);
    let evaluation =
        found.evaluation.as_ref().filter(|_| Standing::of(found, hash.as_deref()) == Standing::Evaluated);
    let status = found.status.as_ref().map_or("-", Word::as_str);
    let level = found.phase.map_or("-".to_owned(), |phase| phase.to_string());
    let task = told(found.task.as_ref().map(|task| task.prompt.as_str()));
    let score = score(evaluation.and_then(|evaluation| evaluation.score));
    status::line(alias, &plain::one_line(status), &level, &score, &task)
}

#[cfg(test)]
mod tests;
