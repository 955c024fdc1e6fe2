use skilltune_phases::loops::reflex::criteria::Template;
use skilltune_phases::loops::reflex::sections::Changed;
use skilltune_phases::loops::reflex::verdict::Verdict;
use skilltune_phases::loops::reflex::{Answer, Event, Record, Step};
use skilltune_phases::runs::event::{FailureKind, Pause, Signal};

use super::*;
use crate::loops::reflex::world::{HOSTILE, ONLY_WARNINGS, TO_THE_THRESHOLD, missing, plan, plan_of, stored};
use crate::loops::tune::world::{Play, failed, play};
use crate::progress::capture::{Captured, follow};
use crate::progress::{json::Json, layout::Letters, reporter::Reporter as _, reporter::Streams};
use crate::report::ui::Ui as _;
use crate::terminal::style::Style;

const PLAIN: Layout =
    Layout { width: 80, live: false, talk: Style::PLAIN, data: Style::PLAIN, letters: Letters::Blocks };

fn human(streams: Streams, layout: Layout) -> Talk<Reflex> {
    Talk::new(streams, layout, Shelf { text: Box::new(stored), on_disk: Box::new(|_| None) })
}

fn capture(play: &Play<Reflex>, layout: Layout) -> Captured {
    follow(play, |streams| human(streams, layout))
}

#[test]
fn a_run_to_the_threshold_is_told_in_summaries_and_its_artifact_as_data() {
    let captured = capture(&play(plan(), missing(TO_THE_THRESHOLD)), PLAIN);
    insta::assert_snapshot!(captured.talk(), @r"
        reflex Write the API of a course catalogue
        api rules, level A from 80, level B from 90; 4 iterations at most
        executor claude:small, evaluator gemini, improver claude
        run courses-api-20260218-120000, limits: 72 calls (default)

        iteration 1 of 4, level A: not passed
          score     42.9, threshold 80
          plan      Do it; Do it; Do it
          artifact  56c18f3a
          changed   everything is new
          failed    a.correctness.schemas, a.completeness.examples
          warnings  none
          file      /p/.ai-factory/evolution/courses-api/artifact.md
          fix       a.correctness.schemas: Add it.
          fix       a.completeness.examples: Add it.
        iteration 2 of 4, level A: passed
          score     85.7, threshold 80
          plan      Do it; Do it; Do it
          artifact  4d203e7c
          changed   Endpoints
          failed    none
          warnings  a.completeness.errors
          file      /p/.ai-factory/evolution/courses-api/artifact.md
        level A passed; level B starts with the same artifact
        iteration 2 of 4, level B: not passed
          score     75.0, threshold 90
          plan      Do it; Do it; Do it
          artifact  4d203e7c
          changed   nothing since it was last judged
          failed    b.completeness.auth
          warnings  a.completeness.errors
          file      /p/.ai-factory/evolution/courses-api/artifact.md
          fix       a.completeness.errors: Add it.
          fix       b.completeness.auth: Add it.
        iteration 3 of 4, level B: passed
          score     100.0, threshold 90
          plan      Do it; Do it; Do it
          artifact  a330d6c3
          changed   Endpoints; Limits (not asked for)
          failed    none
          warnings  none
          file      /p/.ai-factory/evolution/courses-api/artifact.md
    ");
    insta::assert_snapshot!(captured.data(), @r"
        --- artifact 4d203e7c, before level B ------------------------------------------
        # Courses

        A catalogue.

        ## Endpoints

        Version 2.
        --- end of 4d203e7c ------------------------------------------------------------

        --- artifact a330d6c3, at the end ----------------------------------------------
        # Courses

        A catalogue.

        ## Endpoints

        Version 3.

        ## Limits

        A hundred an hour.
        --- end of a330d6c3 ------------------------------------------------------------

        The run is completed (threshold_reached): level B passed.
          artifact  evaluated: a330d6c3, 81 B
          score     100.0 at level B, goal 90
          distance  no gap, no blocking rule, 8 of 8 rules met
          effort    3 iterations, 0 dropped; 20 calls, 30s of agent time, $10.00
        file: /p/.ai-factory/evolution/courses-api/artifact.md
        Next: review it with the people who will call it, then build it, and test what
          you build against its schemas and examples.
        report: /p/.skilltune/runs/courses-api-20260218-120000/report.html
        ");
}

#[test]
fn an_end_with_warnings_left_is_named_as_what_it_is() {
    insta::assert_snapshot!(capture(&play(plan(), missing(ONLY_WARNINGS)), PLAIN).all(), @r"
        reflex Write the API of a course catalogue
        api rules, level A from 80, level B from 90; 4 iterations at most
        executor claude:small, evaluator gemini, improver claude
        run courses-api-20260218-120000, limits: 72 calls (default)

        iteration 1 of 4, level A: passed
          score     100.0, threshold 80
          plan      Do it; Do it; Do it
          artifact  56c18f3a
          changed   everything is new
          failed    none
          warnings  none
          file      /p/.ai-factory/evolution/courses-api/artifact.md
        level A passed; level B starts with the same artifact
        iteration 1 of 4, level B: not passed
          score     83.3, threshold 90
          plan      Do it; Do it; Do it
          artifact  56c18f3a
          changed   nothing since it was last judged
          failed    none
          warnings  b.style.naming, b.quality.descriptions
          file      /p/.ai-factory/evolution/courses-api/artifact.md
          fix       b.style.naming: Add it.
          fix       b.quality.descriptions: Add it.
        iteration 2 of 4, level B: not passed
          score     83.3, threshold 90
          plan      Do it; Do it; Do it
          artifact  4d203e7c
          changed   Endpoints
          failed    none
          warnings  b.style.naming, b.quality.descriptions
          file      /p/.ai-factory/evolution/courses-api/artifact.md

        --- artifact 56c18f3a, before level B ------------------------------------------
        # Courses

        A catalogue.

        ## Endpoints

        Version 1.
        --- end of 56c18f3a ------------------------------------------------------------

        --- artifact 56c18f3a, at the end ----------------------------------------------
        # Courses

        A catalogue.

        ## Endpoints

        Version 1.
        --- end of 56c18f3a ------------------------------------------------------------

        The run is completed (no_major_issues): it is below the goal of level B by 6.7,
          and only warnings are left.
          artifact  evaluated: 56c18f3a, 50 B
          score     83.3 at level B, goal 90
          distance  6.7 below, no blocking rule, 6 of 8 rules met
          effort    2 iterations, 0 dropped; 16 calls, 24s of agent time, $8.00
        file: /p/.ai-factory/evolution/courses-api/artifact.md
        Next: review it with the people who will call it, then build it, and test what
          you build against its schemas and examples.
        report: /p/.skilltune/runs/courses-api-20260218-120000/report.html
    ");
}

#[test]
fn a_narrow_terminal_gets_narrow_lines() {
    let play = play(plan(), missing(ONLY_WARNINGS));
    insta::assert_snapshot!(capture(&play, Layout { width: 40, ..PLAIN }).all(), @r"
        reflex Write the API of…course catalogue
        api rules, level A from 80, level B from
          90; 4 iterations at most
        executor claude:small, evaluator gemini,
          improver claude
        run courses-api-20260218-120000, limits:
          72 calls (default)

        iteration 1 of 4, level A: passed
          score     100.0, threshold 80
          plan      Do it; Do it; Do it
          artifact  56c18f3a
          changed   everything is new
          failed    none
          warnings  none
          file
            /p/.ai-factory/evolution/courses-api/artifact.md
        level A passed; level B starts with the
          same artifact
        iteration 1 of 4, level B: not passed
          score     83.3, threshold 90
          plan      Do it; Do it; Do it
          artifact  56c18f3a
          changed   nothing since it was last
                    judged
          failed    none
          warnings  b.style.naming,
                    b.quality.descriptions
          file
            /p/.ai-factory/evolution/courses-api/artifact.md
          fix       b.style.naming: Add it.
          fix       b.quality.descriptions: Add
                    it.
        iteration 2 of 4, level B: not passed
          score     83.3, threshold 90
          plan      Do it; Do it; Do it
          artifact  4d203e7c
          changed   Endpoints
          failed    none
          warnings  b.style.naming,
                    b.quality.descriptions
          file
            /p/.ai-factory/evolution/courses-api/artifact.md

        --- artifact 56c18f3a, before level B --
        # Courses

        A catalogue.

        ## Endpoints

        Version 1.
        --- end of 56c18f3a --------------------

        --- artifact 56c18f3a, at the end ------
        # Courses

        A catalogue.

        ## Endpoints

        Version 1.
        --- end of 56c18f3a --------------------

        The run is completed (no_major_issues):
          it is below the goal of level B by
          6.7, and only warnings are left.
          artifact  evaluated: 56c18f3a, 50 B
          score     83.3 at level B, goal 90
          distance  6.7 below, no blocking rule,
                    6 of 8 rules met
          effort    2 iterations, 0 dropped; 16
                    calls, 24s of agent time,
                    $8.00
        file:
          /p/.ai-factory/evolution/courses-api/artifact.md
        Next: review it with the people who will
          call it, then build it, and test what
          you build against its schemas and
          examples.
        report:
          /p/.skilltune/runs/courses-api-20260218-120000/report.html
    ");
}

#[test]
fn a_phase_that_keeps_no_contract_is_asked_again_and_then_ends_the_run() {
    let mut answer = missing(TO_THE_THRESHOLD);
    let play = play(plan(), |run, step| match step {
        Step::Critique { .. } => failed(FailureKind::OffSchema, "the answer has no JSON\n\x1b[2J"),
        _ => answer(run, step),
    });
    let captured = capture(&play, PLAIN);
    insta::assert_snapshot!(captured.talk(), @r"
        reflex Write the API of a course catalogue
        api rules, level A from 80, level B from 90; 4 iterations at most
        executor claude:small, evaluator gemini, improver claude
        run courses-api-20260218-120000, limits: 72 calls (default)

        iteration 1 of 4, level A: not passed
          score     42.9, threshold 80
          plan      Do it; Do it; Do it
          artifact  56c18f3a
          changed   everything is new
          failed    a.correctness.schemas, a.completeness.examples
          warnings  none
          file      /p/.ai-factory/evolution/courses-api/artifact.md
          criticising the artifact: returned an invalid answer: the answer has no JSON
            ␛[2J (retried)
          criticising the artifact: returned an invalid answer: the answer has no JSON
            ␛[2J (gave up)
    ");
    insta::assert_snapshot!(captured.data().rsplit_once("---\n").unwrap().1, @r"
        The run is failed (phase_error): a phase gave no usable answer: the answer has
          no JSON ␛[2J.
          artifact  evaluated: 56c18f3a, 50 B
          score     42.9 at level A, goal 80
          distance  37.1 below, blocked by a.correctness.schemas,
                    a.completeness.examples, 2 of 4 rules met
          effort    1 iteration, 0 dropped; 7 calls, 10s of agent time, $3.50
        file: /p/.ai-factory/evolution/courses-api/artifact.md
        to see what happened: skilltune history courses-api-20260218-120000
        report: /p/.skilltune/runs/courses-api-20260218-120000/report.html
        ");
}

#[test]
fn a_run_taken_up_again_says_where_it_stands() {
    let mut play = Play::begin(plan());
    let mut answer = missing(TO_THE_THRESHOLD);
    while play.run.state.judged.is_empty() {
        play.advance(&mut answer).unwrap();
    }
    play.record(Event::Noted(Signal::Paused(Pause::Interrupted)));
    play.record(Event::Noted(Signal::Resumed { program: "1.2.3".to_owned() }));
    let captured = Captured::default();
    let mut human = human(captured.streams(), PLAIN);
    human.recorded(&play.run, play.records.last().unwrap());
    human.remark("one\x07 remark");
    human.finished(&play.run).unwrap();
    drop(human);
    insta::assert_snapshot!(captured.all(), @r"
        reflex Write the API of a course catalogue
        api rules, level A from 80, level B from 90; 4 iterations at most
        executor claude:small, evaluator gemini, improver claude
        run courses-api-20260218-120000, limits: 72 calls (default)

        resumed in iteration 1, level A, best so far 42.9 at level A
        one␇ remark

        The run has not ended; `skilltune resume` continues it.
          artifact  evaluated: 56c18f3a, 50 B
          score     42.9 at level A, goal 80
          distance  37.1 below, blocked by a.correctness.schemas,
                    a.completeness.examples, 2 of 4 rules met
          effort    1 iteration, 0 dropped; 5 calls, 7s of agent time, $2.50
        file: /p/.ai-factory/evolution/courses-api/artifact.md
        to continue: skilltune resume courses-api-20260218-120000
    ");
}

#[test]
fn a_worse_artifact_is_dropped_and_said_to_be() {
    let worse: &[&[&str]] =
        &[&["a.correctness.schemas"], &["a.correctness.schemas", "a.correctness.endpoints"], &[]];
    let talk = capture(&play(plan(), missing(worse)), PLAIN).talk();
    let dropped = talk.lines().find(|line| line.contains("dropped")).unwrap();
    insta::assert_snapshot!(dropped, @"dropped 4d203e7c: worse than 56c18f3a; continuing from 56c18f3a");
}

#[test]
fn a_file_that_somebody_has_edited_has_no_score() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    let captured = follow(&play, |streams| {
        Talk::new(
            streams,
            PLAIN,
            Shelf { text: Box::new(|_| None), on_disk: Box::new(|_| Some("0badc0de".into())) },
        )
    });
    let data = captured.data();
    assert!(data.contains("stale: ") && !data.contains("score") && !data.contains("distance"), "{data}");
    assert!(captured.talk().contains("from the store"));
}

#[test]
fn each_kind_of_artifact_has_a_next_step_of_its_own() {
    let next = Template::ALL.map(|template| {
        let data = capture(&play(plan_of(template), missing(&[&[]])), Layout { width: 200, ..PLAIN }).data();
        data.lines().find(|line| line.starts_with("Next: ")).unwrap().to_owned()
    });
    insta::assert_snapshot!(next.join("\n"), @r"
        Next: review it with the people who will call it, then build it, and test what you build against its schemas and examples.
        Next: move the code into place, then build it and run its tests before you merge it.
        Next: ask someone who knows the subject to read it, then publish it next to what it describes.
        Next: try it in a test environment before you replace the current configuration.
        Next: read it, and move it into place.
        ");
}

#[test]
fn words_of_models_drive_no_terminal_and_no_line_is_wider_than_told() {
    let mut hostile = plan();
    (hostile.task.prompt, hostile.task.criteria.name) = (HOSTILE.into(), HOSTILE.into());
    let mut answer = missing(TO_THE_THRESHOLD);
    let mut play = play(hostile, |run, step| match (step, answer(run, step)) {
        (Step::Plan { .. }, _) if run.attempts(step) == 0 => failed(FailureKind::OffSchema, HOSTILE),
        (_, Ok(mut answer)) => {
            match &mut answer {
                Answer::Written(artifact) => {
                    let sections = vec![HOSTILE.to_owned(); 9];
                    artifact.hash.insert_str(0, HOSTILE);
                    artifact.changed = Some(Changed { unasked: sections.clone(), sections });
                }
                Answer::Planned(steps) => steps[0].step = HOSTILE.into(),
                Answer::Criticised(issues) => issues[0].fix_instruction = HOSTILE.into(),
                _ => {}
            }
            Ok(answer)
        }
        (_, failed) => failed,
    });
    play.record(Event::Noted(Signal::Paused(Pause::Interrupted)));
    for width in [40, 80, 100] {
        let captured = follow(&play, |streams| {
            let text = Box::new(|_: &Artifact| Some(HOSTILE.to_owned()));
            Talk::new(streams, Layout { width, ..PLAIN }, Shelf { text, on_disk: Box::new(|_| None) })
        });
        let all = captured.all();
        assert!(!all.contains(['\x1b', '\r', '\u{202e}', '\x07']), "{all:?}");
        let ours = captured.talk() + captured.data().rsplit_once("end of ").unwrap().1;
        let copied = |line: &&str| !line.trim_start().starts_with('/');
        let widest = ours.lines().filter(copied).map(crate::text::width::columns).max().unwrap();
        assert!(widest <= width, "{widest} columns of {width}:\n{ours}");
        assert!(!ours.lines().any(|line| line.starts_with("status ")), "{ours}");
    }
}

#[test]
fn colour_is_used_only_when_told() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    assert!(!capture(&play, PLAIN).all().contains('\x1b'));
    let vivid = capture(&play, Layout { talk: Style::VIVID, data: Style::VIVID, ..PLAIN });
    assert!(vivid.talk().contains("\x1b[32miteration 3 of 4, level B: passed\x1b[0m"), "{}", vivid.talk());
    assert!(vivid.talk().contains("\x1b[1;31miteration 1 of 4, level A: not passed\x1b[0m"));
}

#[test]
fn a_run_may_be_left_at_any_point() {
    let whole = play(plan(), missing(TO_THE_THRESHOLD));
    for upto in 1..=whole.records.len() {
        let records = whole.records[..upto].to_vec();
        let part = Play::resume(records);
        let data = capture(&part, PLAIN).data();
        assert_eq!(data.contains("report: /p/"), part.run.closed_at.is_some(), "a report that is there");
        assert_eq!(data.contains("skilltune resume"), part.run.state.stop.is_none(), "{data}");
    }
}

#[test]
fn a_run_that_cannot_go_on_says_what_helps() {
    let mut play = Play::begin(plan());
    let mut limited = |_: &Run, _: &Step| failed(FailureKind::UsageLimit, "You've hit your limit");
    while play.run.blocked.is_none() {
        play.advance(&mut limited).unwrap();
    }
    play.record(Event::Noted(Signal::Paused(Pause::Blocked)));
    let talk = capture(&play, PLAIN).talk();
    insta::assert_snapshot!(talk.split_once("\n\n").unwrap().1, @r"
        run courses-api-20260218-120000 is paused; progress is saved
        planning: reached its usage limit: You've hit your limit
        hint: resume when the limit of claude resets; `skilltune resume
            courses-api-20260218-120000 --wait` waits for it and retries from time to
            time
        ");
}

#[test]
fn what_nobody_could_tell_is_no_pass_and_is_named() {
    let mut answer = missing(TO_THE_THRESHOLD);
    let mut play = Play::begin(plan());
    let mut unsure = |run: &Run, step: &Step| match answer(run, step) {
        Ok(Answer::Judged(mut results)) => {
            for result in results.iter_mut().filter(|result| result.rule.as_str().ends_with("schemas")) {
                result.verdict = Verdict::Unverified;
            }
            Ok(Answer::Judged(results))
        }
        outcome => outcome,
    };
    while play.run.state.judged.is_empty() {
        play.advance(&mut unsure).unwrap();
    }
    let lines = lines::evaluated(&play.run, &play.run.state.judged[0], 80);
    insta::assert_snapshot!(lines.join("\n"), @r"
        iteration 1 of 4, level A: not passed
          score     60.0, threshold 80
          plan      Do it; Do it; Do it
          artifact  56c18f3a
          changed   everything is new
          failed    a.completeness.examples; unverified: a.correctness.schemas
          warnings  none
          file      /p/.ai-factory/evolution/courses-api/artifact.md
        ");
}

#[test]
fn scripts_get_every_record_and_then_one_object() {
    let play = play(plan(), missing(TO_THE_THRESHOLD));
    let lines = follow(&play, Json::by_record).data();
    let lines: Vec<&str> = lines.lines().collect();
    let (last, records) = lines.split_last().unwrap();
    let records: Vec<Record> = records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records, play.records);
    let summary = crate::report::json::object(&play.run, &Reflex::summary(&play.run, None)).to_string();
    assert_eq!(*last, summary);
    assert_eq!(follow(&play, Json::at_the_end).data(), format!("{summary}\n"));
}
