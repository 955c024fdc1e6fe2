use skilltune_phases::event::FailureKind;
use skilltune_phases::loops::reflex::{Answer, Decision, Event, Reason, Step, Stop};

use super::*;
use crate::report::reflex::world::{
    HOSTILE, ONLY_WARNINGS, Play, TO_THE_THRESHOLD, failed, missing, plan, play,
};

#[test]
fn a_run_that_is_over_tells_how_it_stands() {
    let play = play(plan(), missing(ONLY_WARNINGS));
    insta::assert_snapshot!(status_lines(&play.run, Standing::Ended, None).join("\n"), @r"
        run       courses-api-20260218-120000, reflex, courses-api
        task      Write the API of a course catalogue
        status    The run is completed (no_major_issues): it is below the threshold of level B by 6.7, and only warnings are left.
        iteration 2 of 4, level B, EVALUATE
        artifact  evaluated: 56c18f3a, 50 B
        score     83.3 at level B, which asks for 90
        distance  6.7 below, no rule blocks, 6 of 8 rules are met
        file      /p/.ai-factory/evolution/courses-api/artifact.md
        ");
    let edited = status_lines(&play.run, Standing::Ended, Some("0badc0de")).join("\n");
    assert!(edited.contains("stale: ") && !edited.contains("score  "), "{edited}");
}

#[test]
fn a_run_under_way_can_be_stopped_and_one_left_be_taken_up() {
    let begun = Play::begin(plan()).run;
    insta::assert_snapshot!(status_lines(&begun, Standing::Running { pid: 7 }, None).join("\n"), @r"
        run       courses-api-20260218-120000, reflex, courses-api
        task      Write the API of a course catalogue
        status    running (process 7)
        iteration 1 of 4, level A, PLAN
        artifact  not_created
        next      skilltune reflex stop courses-api   (let it finish what is under way, and save)
        ");
    let left = status_lines(&begun, Standing::Open, None).join("\n");
    assert!(
        left.contains("status    was cut off") && left.contains("skilltune reflex resume courses-api"),
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
    let told = status_lines(&play.run, Standing::Open, None);
    let told: Vec<_> =
        told.iter().filter(|line| line.starts_with("blocked") || line.starts_with("hint")).cloned().collect();
    insta::assert_snapshot!(told.join("\n"), @r"
        blocked   planning: has reached the account's limit: no more today
        hint      come back when the limit of claude is lifted; `skilltune reflex resume courses-api --wait` waits for it, and asks again now and then
        ");
}

#[test]
fn a_row_has_the_score_of_what_is_there() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    insta::assert_snapshot!(row(&play.run, Standing::Ended, None), @"courses-api               completed  B    100  Write the API of a course catalogue");
    insta::assert_snapshot!(row(&play.run, Standing::Ended, Some("0badc0de")), @"courses-api               completed  B      -  Write the API of a course catalogue");
    insta::assert_snapshot!(row(&Play::begin(plan()).run, Standing::Open, None), @"courses-api               open       A      -  Write the API of a course catalogue");
}

#[test]
fn hostile_words_forge_no_line() {
    let mut hostile = plan();
    (hostile.task.prompt, hostile.task.alias) = (HOSTILE.into(), HOSTILE.into());
    let mut answer = missing(TO_THE_THRESHOLD);
    let mut play = Play::begin(hostile);
    while play.run.course.judged.is_empty() {
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
    let mut lines = status_lines(&play.run, Standing::Ended, Some(HOSTILE));
    lines.extend(status_lines(&play.run, Standing::Ended, None));
    lines.push(row(&play.run, Standing::Ended, None));
    for line in lines {
        assert!(!line.contains(['\n', '\r', '\x1b', '\u{202e}']), "{line:?}");
    }
}
