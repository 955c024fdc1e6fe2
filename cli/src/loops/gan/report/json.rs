//! The report of a run and its dry run as objects for scripts. Their keys are a public interface.

use serde_json::{Value, json};
use skilltune_orchestrator::snapshot::{Manifest, Objects};
use skilltune_phases::loops::MostCalls;
use skilltune_phases::loops::gan::course::{Answered, Round};
use skilltune_phases::loops::gan::evaluation::Finding;
use skilltune_phases::loops::gan::{Run, SCREENS};

use crate::report::estimate::{Estimate, most_calls};
use crate::report::{ceilings, json};

/// Returns what a dry run shows: not a run, but what it would be.
pub fn sketch(run: &Run, most: &MostCalls, estimate: &Estimate) -> Value {
    let task = &run.plan.task;
    let keys = json!({
        "name": task.name,
        "level": task.level,
        "negotiated": task.negotiated,
        "profile": task.profile,
        "criteria": task.asked.criteria,
        "sections": task.given.sections,
        "rules": task.rules,
        "into": task.into,
        "artifact_dir": task.artifact_dir,
        "limits": ceilings::all(run),
        "most_calls": most_calls(most),
    });
    json::sketch(run, &keys, estimate)
}

/// Returns what only `report.json` has: the contracts, and the findings of each round.
pub fn details(run: &Run, objects: &Objects) -> Value {
    let rounds = (1..).zip(&run.state.course.rounds);
    json!({
        "contracts": run.state.contracts,
        "judged": rounds.map(|numbered| round(run, objects, numbered)).collect::<Value>(),
        "answers": run.state.course.answers.iter().map(answered).collect::<Value>(),
    })
}

fn round(run: &Run, objects: &Objects, (number, round): (usize, &Round)) -> Value {
    let (counted, found) = (round.evaluation(), round.found());
    let verdict = |one: &Finding| json!({ "id": one.criterion, "verdict": one.verdict });
    json!({
        "round": number,
        "sprint": run.number_of(round),
        "artifact": round.artifact,
        // Those of the lower evaluation count.
        "score": counted.score,
        "passed_share": counted.share,
        "best": run.best().is_some_and(|best| std::ptr::eq(best, round)),
        // The worse of two verdicts on each criterion.
        "criteria": found.findings.iter().map(verdict).collect::<Value>(),
        "screens": screens(run, objects, (number, round)),
        "passed": run.blocks(round).is_empty(),
        "kept_from_passing_by": run.blocks(round).iter().map(ToString::to_string).collect::<Vec<_>>(),
        "first": round.first,
        "second": round.second,
        // The levels that the judge whose evaluation counts cites. None of them counts.
        "cited": run.cited_in(round),
    })
}

/// Returns the paths of the screenshots below the folder of the run. skilltune gives them plain names.
fn screens(run: &Run, objects: &Objects, (number, round): (usize, &Round)) -> Vec<String> {
    let manifest = run.screens(round.artifact).and_then(|tree| objects.manifest(tree).ok());
    let names = manifest.iter().flat_map(Manifest::entries).map(|entry| entry.path.to_string());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ['-', '_'].contains(&c);
    let is_picture = |name: &String| name.strip_suffix(".png").is_some_and(|stem| stem.chars().all(is_plain));
    names.filter(is_picture).map(|name| format!("iterations/iteration-{number}/{SCREENS}/{name}")).collect()
}

fn answered(answered: &Answered) -> Value {
    json!({
        "after": answered.after,
        "hold": answered.hold,
        "choice": answered.choice,
        "by": answered.by,
    })
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::gan::{Answer, Step};
    use skilltune_worlds::gan::{answer, plan, play_with, with_browser};

    use super::*;

    #[test]
    fn each_round_has_its_score_its_criteria_and_its_screens() {
        let place = tempfile::tempdir().unwrap();
        let objects = Objects::at(place.path().join("objects"));
        let pictures = [("a b.png", &b"1"[..]), ("index-360x800.png", b"2"), ("notes.txt", b"3")];
        let pictures = objects.put_files(&pictures).unwrap();
        // The first artifact misses a criterion that must pass, the second misses nothing.
        let passing = |nth: usize, id: &str| nth > 0 || id == "a.quick";
        let drive = play_with(with_browser(plan()), &passing, |run, step| match step {
            Step::Browse { .. } => Some(answer(run, step, &passing).map(|answered| match answered {
                Answer::Inspected { inspection, .. } => {
                    Answer::Inspected { inspection, screens: Some(pictures) }
                }
                other => other,
            })),
            _ => None,
        });
        let details = details(&drive.run, &objects);
        let line = |round: &Value| {
            let verdicts = round["criteria"].as_array().unwrap().iter();
            let verdicts: Vec<_> = verdicts.map(|one| one["verdict"].as_str().unwrap()).collect();
            let [number, score, best] = ["round", "score", "best"].map(|key| round[key].to_string());
            format!("{number} {score} {best} {} {}", verdicts.join(","), round["screens"])
        };
        let lines: Vec<_> = details["judged"].as_array().unwrap().iter().map(line).collect();
        let expected = [
            r#"1 43.8 false failed,passed,failed,failed ["iterations/iteration-1/screens/index-360x800.png"]"#,
            r#"2 100.0 true passed,passed,passed,passed ["iterations/iteration-2/screens/index-360x800.png"]"#,
        ];
        assert_eq!(lines, expected);
        let lost = Objects::at(place.path().join("nowhere"));
        assert_eq!(self::details(&drive.run, &lost)["judged"][0]["screens"], json!([]));
    }
}
