//! The prompts for the improver of a search by single trials.

use skilltune_phases::judging::contract::Verdict as Found;
use skilltune_phases::loops::tune::{AgentRequest, Answer, Outcome, Plan, Run, Search, Step};
use skilltune_phases::skills::edit::EditReport;
use skilltune_phases::suites::checks::How;
use skilltune_phases::suites::demand::Demand;

use crate::drive::bare_prompt;
use crate::world::{Drive, improved, plan, ran_and_kept, stated, well};

const STATEMENTS: [(&str, &str); 2] = [("title", "It has a title."), ("short", "It is short.")];

/// Every scenario demands the same two things.
fn suite(scenarios: usize) -> Plan {
    let mut plan = plan(1, scenarios);
    plan.task.rules.search = Search::Draft { runs: 48, drawn: true, tests: 0 };
    let demand = |(id, text): (&str, &str)| {
        Demand::new(id.parse().expect("a plain name"), How::Question { text: text.into() })
    };
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.demands = STATEMENTS.map(demand).to_vec();
        scenario.held_out = nth % 3 == 2;
    }
    plan
}

/// Returns an edit whose summary names its round.
#[expect(clippy::unnecessary_wraps, reason = "answers and failures have one type")]
fn edited(round: u32) -> Outcome {
    let Ok(Answer::Improved { tree, kinds, dangers, .. }) = improved(&format!("draft {round}")) else {
        unreachable!()
    };
    let summary = Some(format!("edit of round {round}").into());
    let report = Box::new(EditReport { summary, ..EditReport::default() });
    Ok(Answer::Improved { tree, report, kinds, dangers })
}

fn acted(run: &Run, step: &Step, scenario: usize) -> Outcome {
    let Ok(Answer::Exercised { artifacts, files, skill, kept, .. }) = well(run, step, 50) else {
        return ran_and_kept("nothing");
    };
    let digest = Some(format!("It worked on scenario {scenario}.").into());
    Ok(Answer::Exercised { artifacts, files, skill, digest, kept, opened: None })
}

/// Returns the improver's prompt of a round. Only results of the `titled` rounds have a title.
fn improver_prompt(scenarios: usize, round: usize, titled: &[usize]) -> (Drive, String) {
    prompt_of(suite(scenarios), round, |now, nth| nth > 0 || titled.contains(&now))
}

/// Returns the improver's prompt of a round. `is_met` decides by the round and the statement.
fn prompt_of(plan: Plan, round: usize, is_met: impl Fn(usize, usize) -> bool) -> (Drive, String) {
    let mut drive = Drive::start(plan);
    loop {
        let step = drive.due(1).pop().expect("the search goes on");
        let now = drive.run.state.rounds.len();
        let outcome =
            match &step {
                Step::Exercise { trial, .. } => acted(&drive.run, &step, trial.scenario),
                Step::Grade { trial, .. } => stated(&drive.run, trial.scenario, |nth| {
                    if is_met(now, nth) { Found::Pass } else { Found::Fail }
                }),
                Step::Improve { .. } if now == round => {
                    let request = AgentRequest::of(&drive.run, &step).expect("an agent answers it");
                    let prompt = bare_prompt(&request).expect("the page is sound");
                    return (drive, prompt);
                }
                Step::Improve { round, .. } => edited(*round),
                _ => well(&drive.run, &step, 50),
            };
        drive.done(step, outcome);
    }
}

/// Returns the text under a heading.
fn section<'a>(prompt: &'a str, heading: &str) -> &'a str {
    let (_, rest) = prompt.split_once(&format!("## {heading}\n")).expect("the heading is there");
    rest.split("\n## ").next().unwrap_or(rest)
}

#[test]
fn an_improver_is_told_which_edits_have_not_mended_what_it_is_to_mend() {
    let (_, first) = improver_prompt(9, 1, &[]);
    assert!(!first.contains("What was tried before"), "{first}");
    let (drive, prompt) = improver_prompt(9, 3, &[]);
    let attempts = section(&prompt, "What was tried before and did not help");
    let at = |text: &str| attempts.find(text).unwrap_or_else(|| panic!("{text} in {attempts}"));
    assert!(at("edit of round 2") < at("edit of round 1"), "{attempts}");
    let next = drive.run.state.rounds[2].scenarios[0];
    at(&format!("scenario-{next}/title: It has a title."));
    at("It was missed again in the next trial. Seen: seen");
    assert!(!attempts.contains("It is short."), "{attempts}");
}

#[test]
fn an_edit_whose_effect_did_not_last_is_told_too() {
    let (_, prompt) = improver_prompt(9, 3, &[2]);
    let attempts = section(&prompt, "What was tried before and did not help");
    assert!(
        attempts.contains("edit of round 1") && attempts.contains("met in the next trial, and missed again"),
        "{attempts}"
    );
}

#[test]
fn an_improver_sees_which_statements_an_earlier_edit_has_fixed() {
    let (drive, prompt) = prompt_of(suite(9), 2, |now, nth| nth == 0 && now > 1);
    let kept = section(&prompt, "What was changed before and kept");
    let fixed =
        ["edit of round 1", "It has a title.", "It was missed before the edit, and met in the next trial."];
    assert!(fixed.iter().all(|text| kept.contains(text)) && !kept.contains("It is short."), "{kept}");
    let vain = section(&prompt, "What was tried before and did not help");
    assert!(vain.contains("It is short.") && !vain.contains("It has a title."), "{vain}");
    assert_eq!(vain.matches("It is still in the skill.").count(), 1, "{vain}");
    let score = drive.run.state.rounds[1].score().expect("it was judged").to_string();
    assert!(!prompt.contains(&score), "{score}: {prompt}");
}

#[test]
fn in_a_search_by_rounds_an_improver_sees_what_was_met_before_and_after_an_edit() {
    let by_rounds = || {
        let mut plan = suite(9);
        plan.task.rules.search = Search::Rounds;
        plan
    };
    let (_, first) = prompt_of(by_rounds(), 1, |_, _| false);
    assert!(!first.contains("What was changed before and kept"), "{first}");
    let (_, prompt) = prompt_of(by_rounds(), 2, |now, nth| nth == 0 && now > 1);
    let kept = section(&prompt, "What was changed before and kept");
    for text in [
        "edit of round 1",
        "Criteria met before it: 0 of 12; after it: 6 of 12.",
        "Met since: scenario-0/title, scenario-1/title,",
    ] {
        assert!(kept.contains(text), "{text}: {kept}");
    }
    assert!(!kept.contains("Missed since") && !prompt.contains("points"), "{prompt}");
}

#[test]
fn what_must_stay_is_what_is_believed_to_be_met() {
    let (drive, prompt) = improver_prompt(9, 2, &[]);
    let met = section(&prompt, "What is met and must stay so");
    assert_eq!(met.matches("It is short.").count(), 1, "{met}");
    assert!(!met.contains("It has a title."), "{met}");
    assert!(drive.run.state.beliefs.chance("It is short.") > 0.7);
}

#[test]
fn only_trials_that_missed_what_is_to_be_mended_are_told_of_and_no_score_is() {
    let (drive, prompt) = improver_prompt(12, 3, &[]);
    let own = drive.run.state.rounds[2].scenarios[0];
    for scenario in 0..drive.run.plan.task.scenarios.len() {
        let is_shown = prompt.contains(&format!("It worked on scenario {scenario}."));
        assert_eq!(is_shown, scenario == own, "{scenario}: {prompt}");
    }
    let score = drive.run.state.rounds[2].score().expect("it was judged").to_string();
    assert!(!prompt.contains(&score) && !prompt.contains("points"), "{score}: {prompt}");
}

/// One of two equal statements is met: the score is above a low goal, but there is still a fault to fix.
#[test]
fn a_trial_above_the_goal_is_told_of_where_it_missed_what_is_to_be_mended() {
    let mut plan = suite(9);
    plan.task.rules.threshold = crate::world::points(30.0);
    let mut drive = Drive::start(plan);
    let prompt = loop {
        let step = drive.due(1).pop().expect("the search goes on");
        let outcome = match &step {
            Step::Exercise { trial, .. } => acted(&drive.run, &step, trial.scenario),
            Step::Grade { trial, .. } => {
                stated(&drive.run, trial.scenario, |nth| if nth == 0 { Found::Fail } else { Found::Pass })
            }
            Step::Improve { .. } => {
                break bare_prompt(&AgentRequest::of(&drive.run, &step).expect("an agent answers it"));
            }
            _ => well(&drive.run, &step, 50),
        };
        drive.done(step, outcome);
    };
    assert!(prompt.expect("the page is sound").contains("It worked on scenario"));
}
