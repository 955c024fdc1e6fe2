//! Ten questions that people ask about a run: each answer is on its page, after one click at most.

use std::io::{self, Write as _};

use serde_json::Value;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_orchestrator::store::Home;
use skilltune_phases::loops::tune::{Apply, Outcome, Run, Step};
use tempfile::TempDir;

use super::checks::{HEIGHT, Look, REPORT, WIDE, script};
use crate::frozen::run::write_run;
use crate::loops::tune::world::{judged, plan, play, scored};
use crate::report::json;

/// A question, the id of the heading where its answer is looked for, and texts of the answer.
type Question = (&'static str, &'static str, Vec<String>);

#[test]
fn ten_questions_are_answered_after_one_click_at_most() {
    let place = TempDir::new().unwrap();
    let home = Home::of(place.path());
    home.create().unwrap();
    let (objects, run) = (Objects::at(home.objects()), applied());
    let folder = write_run(&objects, &home.run(&run.plan.run), &run);
    let report = json::report(&run, &objects);
    let Some(mut look) = Look::new() else { return };
    look.chromium.resize(WIDE, HEIGHT);
    look.chromium.open(&folder, REPORT);
    for (question, id, answers) in questions(&report) {
        let texts = look.chromium.evaluate(&script(&format!("answers({id:?})")));
        let clicks = answers.iter().map(|answer| {
            (0..2).find(|&clicks| texts[clicks].as_str().is_some_and(|text| text.contains(answer)))
        });
        match clicks.collect::<Option<Vec<usize>>>() {
            Some(clicks) => {
                let most = clicks.into_iter().max().unwrap_or_default();
                let _ = writeln!(io::stderr(), "{question} {most} clicks, in #{id}");
            }
            None => look.note(question, [format!("#{id} has not all of {answers:?}: {texts}")]),
        }
    }
    let worst =
        "document.querySelector('#scenarios').closest('section').querySelector('tbody a').textContent";
    let worst = look.chromium.text(worst);
    look.note("the first scenario", (worst != WORST).then(|| format!("it is {worst}, not {WORST}")));
    look.finish();
}

const WORST: &str = "task-2";

/// Plays a run that drops a draft in round 2 and applies the next one, which is better on all scenarios but one.
fn applied() -> Run {
    let mut plan = plan(&["haiku"], 6);
    plan.task.rules.confirm = 2;
    plan.task.apply = Apply::Auto;
    plan.task.scenarios.iter_mut().skip(1).for_each(|scenario| scenario.held_out = true);
    let answer = |run: &Run, step: &Step| -> Outcome {
        match step {
            Step::Judge { candidate, trial, .. } if trial.ordinal > 0 => {
                let is_start = *candidate == run.start();
                let better =
                    if trial.scenario == 1 { 40 } else { 88 + u32::try_from(trial.scenario).unwrap() };
                judged(run, if is_start { 52 } else { better })
            }
            _ => scored(&[50, 30, 95], &[])(run, step),
        }
    };
    play(plan, answer).run
}

fn questions(report: &Value) -> Vec<Question> {
    let signed = |number: &Value| format!("{:+.1}", number.as_f64().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let comparison = &report["comparison"];
    let dropped = report["rounds"].as_array().unwrap().iter().find(|round| round["kept"] == false).unwrap();
    let scenarios = report["scenarios"].as_array().unwrap();
    let worst = scenarios.iter().find(|one| one["id"] == WORST).unwrap();
    let usd = format!("${:.2}", report["cost"]["usd"].as_f64().unwrap());
    vec![
        ("Which scenario got worse?", "scenarios", vec![WORST.into(), signed(&worst["difference"])]),
        ("What did this cost?", "cost", vec![usd]),
        ("Why was round 2 dropped?", "why", vec!["Round 2".into(), text(&dropped["dropped_because"])]),
        ("Is it applied?", "now", vec!["applied".into(), "yes".into(), text(&report["target"][0]["path"])]),
        ("How do I undo it?", "now", vec!["skilltune rollback".into()]),
        (
            "How sure is it?",
            "happened",
            vec!["90".into(), signed(&comparison["effect"]["lower"]), signed(&comparison["effect"]["upper"])],
        ),
        ("What did the search claim?", "happened", vec![signed(&comparison["claimed"])]),
        ("What needs me?", "needs", vec!["Nothing".into()]),
        ("Which agent judged?", "cost", vec![text(&report["agents"]["evaluator"])]),
        ("How do I repeat it?", "repeat", vec!["skilltune ".into(), "seed".into(), run_id(report)]),
    ]
}

fn run_id(report: &Value) -> String {
    report["run_id"].as_str().unwrap().to_owned()
}
