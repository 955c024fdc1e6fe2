use std::path::Path;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::reflex::{Answer, Decision, Event, Reason, Run, Step, Stop};
use skilltune_phases::runs::event::FailureKind;

use crate::commands::status::RunStatus;
use crate::loops::reflex::summary::summary;
use crate::loops::reflex::world::{HOSTILE, ONLY_WARNINGS, TO_THE_THRESHOLD, missing, plan};
use crate::loops::tune::world::{Play, failed, play};

/// Formats the status in a project that does not exist.
fn lines(run: &Run, status: RunStatus) -> Vec<String> {
    crate::commands::status::lines(run, status, &Objects::at(Path::new("/p/.skilltune/objects")))
}

#[test]
fn a_run_that_is_over_tells_how_it_stands() {
    let play = play(plan(), missing(ONLY_WARNINGS));
    insta::assert_snapshot!(lines(&play.run, RunStatus::Ended).join("\n"), @r"
        run       courses-api-20260218-120000  reflex of Write the API of a course catalogue
        status    The run is completed (no_major_issues): it is below the goal of level B by 6.7, and only warnings are left.
        iteration 2 of 4, level B, EVALUATE
        time      27s (completed phases)
        artifact  evaluated: 56c18f3a, 50 B
        score     83.3 at level B, goal 90
        distance  6.7 below, no blocking rule, 6 of 8 rules met
        file      /p/.ai-factory/evolution/courses-api/artifact.md
        updated   2023-11-14 22:13:59 UTC
        ");
    let edited = format!("{:?}", summary(&play.run, Some("0badc0de")).facts);
    assert!(edited.contains("stale: ") && !edited.contains("\"score\""), "{edited}");
}

#[test]
fn a_run_under_way_can_be_stopped_and_one_left_be_taken_up() {
    let begun = Play::begin(plan()).run;
    insta::assert_snapshot!(lines(&begun, RunStatus::Running { pid: 7 }).join("\n"), @r"
        run       courses-api-20260218-120000  reflex of Write the API of a course catalogue
        status    running (process 7)
        iteration 1 of 4, level A, PLAN
        time      0s (completed phases)
        artifact  not_created
        updated   2023-11-14 22:13:20 UTC
        next      skilltune stop courses-api-20260218-120000   (stop it after its current steps)
        ");
    let left = lines(&begun, RunStatus::Open).join("\n");
    assert!(
        left.contains("status    cut off") && left.contains("skilltune resume courses-api-20260218-120000"),
        "{left}"
    );
}

#[test]
fn whoever_cannot_go_on_is_told_what_helps() {
    let mut play = Play::begin(plan());
    let mut limited = |_: &Run, _: &_| failed(FailureKind::UsageLimit, "no more\ntoday");
    while play.run.blocked.is_none() {
        play.advance(&mut limited).unwrap();
    }
    let lines = lines(&play.run, RunStatus::Open);
    let lines: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("blocked") || line.starts_with("hint"))
        .cloned()
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
        blocked   planning: reached its usage limit: no more today
        hint      resume when the limit of claude resets; `skilltune resume courses-api-20260218-120000 --wait` waits for it and retries from time to time
        ");
}

#[test]
fn hostile_words_forge_no_line() {
    let mut hostile = plan();
    (hostile.task.prompt, hostile.task.alias) = (HOSTILE.into(), HOSTILE.into());
    let mut answer = missing(TO_THE_THRESHOLD);
    let mut play = Play::begin(hostile);
    while play.run.state.judged.is_empty() {
        play.advance(&mut |run: &Run, step: &Step| match answer(run, step) {
            Ok(Answer::Written(mut artifact)) => {
                artifact.hash = HOSTILE.into();
                Ok(Answer::Written(artifact))
            }
            outcome => outcome,
        });
    }
    let stop = Stop { reason: Reason::UserStop, note: Some(HOSTILE.into()) };
    play.record(Event::Decided(Decision::Stop(stop)));
    play.record(Event::Decided(Decision::Close));
    for line in lines(&play.run, RunStatus::Ended) {
        assert!(!line.contains(['\n', '\r', '\x1b', '\u{202e}']), "{line:?}");
    }
}
