//! Endings of runs in which a step fails or an answer does not fit.

use skilltune_phases::base::ending::Class;
use skilltune_phases::base::vocabulary::Vocabulary as _;
use skilltune_phases::loops::Loop as _;
use skilltune_phases::loops::gan::contract::Change;
use skilltune_phases::loops::gan::course::{Choice, Ending, Who};
use skilltune_phases::loops::gan::negotiation::Proposal;
use skilltune_phases::loops::gan::{Answer, Ended, Gan, Level, Plan, Step};
use skilltune_phases::runs::event::FailureKind;

use super::world::{Drive, answer, at, into_folder, name, plan, play_with, prompt, with_browser};
use crate::drive::failed;

/// Plans a run that has every step: thorough, with a browser and a folder.
fn whole() -> Plan {
    into_folder(with_browser(at(Level::Thorough, true)))
}

/// Plays a run in which all steps of this kind fail, and returns the number of their attempts.
fn without(plan: Plan, kind: &str, is_passed: bool) -> (Drive, usize) {
    let mut tries = 0;
    let drive = play_with(plan, &|_, _| is_passed, |_, step| {
        let is_it = name(step).starts_with(kind);
        tries += usize::from(is_it);
        is_it.then(|| failed(FailureKind::OffSchema))
    });
    (drive, tries)
}

#[test]
fn a_step_that_is_given_up_ends_the_run_with_its_reason() {
    for (kind, is_passed) in
        [("draft", true), ("propose", true), ("rule", true), ("build", true), ("judge", true), ("ask", false)]
    {
        let (drive, tries) = without(whole(), kind, is_passed);
        let end = drive.run.state.end.as_ref().expect("it has ended");
        assert_eq!(
            (end.ending, end.note.as_deref()),
            (Ending::Failed, Some("the world would not")),
            "{kind}"
        );
        assert_eq!(tries, 2, "{kind} is tried twice");
        assert_eq!((drive.run.outcome(), drive.run.class()), (Ended::Unjudged, Class::Unjudged), "{kind}");
        assert_eq!(drive.run.handed_over(), None, "{kind}");
    }
}

#[test]
fn a_run_passes_though_a_machine_or_the_promotion_fails() {
    for kind in ["inspect", "look", "promote"] {
        let (drive, tries) = without(whole(), kind, true);
        assert_eq!((drive.run.outcome(), tries), (Ended::Passed, 2), "{kind}");
        assert_eq!(drive.run.handed_over().is_some(), kind != "promote");
    }
}

#[test]
fn a_failed_run_keeps_its_last_artifact_as_its_result() {
    let (drive, _) = without(plan(), "judge", true);
    assert_eq!(drive.run.result(), Some(super::world::artifact(0)));
    let (drive, _) = without(plan(), "build", true);
    assert_eq!(drive.run.result(), None);
}

#[test]
fn an_outage_does_not_count_against_a_step() {
    let mut away = 9;
    let drive = play_with(plan(), &|_, _| true, |_, step| {
        let is_it = matches!(step, Step::Judge { .. }) && away > 0;
        away -= i32::from(is_it);
        is_it.then(|| failed(FailureKind::Overloaded))
    });
    assert_eq!((drive.run.outcome(), away), (Ended::Passed, 0));
}

#[test]
fn a_retry_shows_the_error_and_has_a_code_of_its_own() {
    let mut prompts = std::collections::HashMap::<Step, Vec<String>>::new();
    let mut drive = Drive::start(whole());
    drive.finish_alone(|run, step| {
        if Gan::role(step).is_none() {
            return answer(run, step, &|_, _| true);
        }
        prompts.entry(step.clone()).or_default().push(prompt(run, step));
        if run.attempts(step) == 0 { failed(FailureKind::OffSchema) } else { answer(run, step, &|_, _| true) }
    });
    assert_eq!((drive.run.outcome(), prompts.len()), (Ended::Passed, 8));
    for (step, texts) in &prompts {
        let [first, second] = &texts[..] else { panic!("{step:?} was asked {} times", texts.len()) };
        assert!(!first.contains("Once more") && second.contains("the world would not"), "{second}");
        let code =
            |prompt: &str| prompt.rsplit_once("\"answer_to\": \"").map(|(_, rest)| rest[..16].to_owned());
        assert_ne!(code(first), code(second));
    }
}

#[test]
fn an_answer_that_does_not_fit_its_step_ends_the_run() {
    let chosen = |choice: Choice| Answer::Chosen { choice, by: Who::Person };
    for (kind, wrong) in [
        ("draft", Answer::Promoted),
        ("build", Answer::Promoted),
        ("judge", Answer::Promoted),
        ("ask", Answer::Promoted),
        ("ask", chosen(Choice::Refocus { dimension: "colour".into() })),
        ("ask", chosen(Choice::Guide { text: " ".into() })),
        ("ask", chosen(Choice::Amend { changes: Vec::new() })),
    ] {
        let drive = play_with(whole(), &|_, _| kind != "ask", |_, step| {
            name(step).starts_with(kind).then(|| Ok(wrong.clone()))
        });
        let end = drive.run.state.end.as_ref().expect("it has ended");
        assert_eq!(
            (end.ending, end.note.as_deref()),
            (Ending::Failed, Some("the answer does not fit the step")),
            "{kind}"
        );
    }
}

#[test]
fn a_draft_that_makes_no_contract_ends_the_run() {
    let drive = play_with(whole(), &|_, _| true, |_, step| {
        matches!(step, Step::Draft).then(|| Ok(Answer::Drafted(super::world::draft("a.runs"))))
    });
    let end = drive.run.state.end.as_ref().expect("it has ended");
    assert_eq!(end.ending, Ending::Failed);
}

#[test]
fn a_turn_of_the_negotiation_that_was_read_elsewhere_follows_its_rules() {
    let mut turns = 0;
    play_with(whole(), &|_, _| true, |run, step| {
        let wrong = match step {
            Step::Draft => Answer::Drafted(super::world::draft("a.runs")),
            Step::Propose { .. } => {
                let change = Change::Drop { criterion: "a.runs".into() };
                Answer::Proposed(vec![Proposal { change, why: "it is of the profile".into() }])
            }
            Step::Rule { .. } => Answer::Ruled(Vec::new()),
            _ => return None,
        };
        let request = Gan::request(run, step).expect("an agent makes it");
        let right = answer(run, step, &|_, _| true).expect("the world answers");
        assert_eq!(request.check(&right), Ok(()), "{step:?}");
        let refused = request.check(&wrong).map_err(|failure| failure.kind);
        assert_eq!(refused, Err(FailureKind::OffSchema), "{step:?}");
        turns += 1;
        None
    });
    assert!(turns >= 3, "{turns}");
}

#[test]
fn each_request_refuses_an_answer_with_another_code() {
    let mut read = std::collections::BTreeSet::new();
    let mut drive = Drive::start(whole());
    drive.finish_alone(|run, step| {
        if let Some(request) = Gan::request(run, step) {
            let foreign = r#"{"answer_to": "x", "criteria": [], "proposals": [], "rulings": []}"#;
            let failure = request.read(foreign).expect_err("it has another code");
            assert_eq!(failure.kind, FailureKind::OffSchema);
            read.insert(format!("{}: {}", name(step).split(' ').next().unwrap(), failure.why));
        }
        answer(run, step, &|_, _| true)
    });
    insta::assert_snapshot!(read.into_iter().collect::<Vec<_>>().join("\n"), @"
    build: this step expects no JSON
    draft: `answer_to` is missing or is not the code given in the request
    judge: `answer_to` is missing or is not the code given in the request
    look: this step expects no JSON
    propose: `answer_to` is missing or is not the code given in the request
    rule: `answer_to` is missing or is not the code given in the request
    ");
}
