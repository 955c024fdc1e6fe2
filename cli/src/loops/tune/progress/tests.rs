use std::time::Duration;

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::{Answer, Event, Improver, Outcome, Plan, Step, Suite};
use skilltune_phases::runs::event::{Failure, FailureKind, Pause, PlacedBy, Signal};
use skilltune_phases::skills::target::Place;

use super::*;
use crate::loops::tune::verdicts::outcome_text;
use crate::loops::tune::world::{Play, by_single_trials, claimed, failed, plan, play, scored, tree};
use crate::progress::capture::{Captured, follow};
use crate::progress::layout::Letters;
use crate::progress::reporter::{Reporter as _, Streams};

const PLAIN: Layout =
    Layout { width: 80, live: false, talk: Style::PLAIN, data: Style::PLAIN, letters: Letters::Blocks };

/// The trees of these runs are not in a store.
fn human(streams: Streams, layout: Layout) -> Talk<Tune> {
    let size = DiffSize { added: 12, removed: 3, files: 2, opaque: 0 };
    let won =
        |run: &Run| run.state.shipment.as_ref().is_some_and(|shipment| shipment.champion != run.start());
    let changed: Changed = Box::new(move |run| won(run).then_some(size));
    Talk::new(streams, layout, changed)
}

fn capture(play: &Play, layout: Layout) -> Captured {
    follow(play, |streams| human(streams, layout))
}

fn chain() -> Play {
    play(plan(&["plan-the-poem", "write-the-poem"], 2), scored(&[50, 30, 95], &[52, 0, 91]))
}

#[test]
fn a_judge_of_the_executors_own_family_is_noted_once() {
    let mut plan = plan(&["haiku"], 1);
    plan.roles.of_mut(&Role::EXECUTOR).family = Some("claude".into());
    *plan.roles.of_mut(&Role::EVALUATOR) = plan.roles.of(&Role::EXECUTOR).clone();
    let talk = capture(&play(plan, scored(&[95], &[])), PLAIN).talk();
    let head: Vec<&str> = talk.lines().take(4).collect();
    insta::assert_snapshot!(head.join("\n"), @r"
        tune haiku: goal 90 in up to 3 rounds
        executor claude:small, evaluator claude:small, improver claude
        note: the judge and the executor use the same model family (claude); such a
          judge tends to be lenient
        ");
    assert_eq!(talk.matches("lenient").count(), 1);
}

#[test]
fn a_run_is_told_calmly_and_its_end_in_a_few_lines() {
    let captured = capture(&play(plan(&["haiku"], 1), scored(&[50, 30, 95], &[52, 0, 91])), PLAIN);
    insta::assert_snapshot!(captured.talk(), @r#"
    tune haiku: goal 90 in up to 3 rounds
    executor claude:small, evaluator gemini, improver claude
    run calm-otter, 1 scenario
    limits: 24 calls (default)

    round 1 of 3  50.0            baseline
      1 suggestion; strength: It is short.; weakness: SKILL.md:Steps | unclear
    round 2 of 3  30.0 (-20.0)    dropped     draft 1: the output has a name.
      1 suggestion; strength: It is short.; weakness: SKILL.md:Steps | unclear
    round 3 of 3  95.0 (+45.0)    kept        edit of wording
      1 suggestion; strength: It is short.; weakness: SKILL.md:Steps | unclear
    comparing a5b0f9da0dee with the start on fresh trials
    "#);
    insta::assert_snapshot!(captured.data(), @r"
    verdict: the candidate scored higher than the start (52.0 -> 91.0 on 1 scenario)
    haiku: 52.0 -> 91.0, goal 90 reached

    round 1  ████████████████████                │      50.0   baseline
    round 2  ████████████                        │      30.0   dropped
    round 3  ██████████████████████████████████████     95.0   kept
                                                 goal 90

    The champion scored higher than the start and was applied, as you said.
    The search stopped: goal reached.
    Weak evidence: one scenario. Other tasks may show a different result.
    The champion changes +12 -3 in 2 files.
      effort    3 rounds, 1 kept, 1 dropped; 12 calls, 18s of agent time, $6.00
    to see what changed: skilltune diff calm-otter
    to undo it: skilltune rollback calm-otter
    report: /p/.skilltune/runs/calm-otter/report.html
    ");
}

#[test]
fn what_is_held_out_and_what_is_a_draft_is_said_and_an_id_is_never_cut() {
    let mut plan = plan(&["haiku"], 3);
    plan.task.scenarios[2].held_out = true;
    let (drafts, notes) = (vec!["later".parse().unwrap()], Vec::new());
    plan.task.suite =
        Some(Suite { path: "/p/suite.toml".into(), found: false, drafts, notes, answers: Vec::new() });
    let captured = capture(&play(plan, scored(&[50, 95], &[52, 91])), Layout { width: 50, ..PLAIN });
    let lines: Vec<String> = [captured.talk(), captured.data()].concat().lines().map(str::to_owned).collect();
    let about = |line: &&String| {
        ["draft", "held-out", "final", "run ", "compar"].iter().any(|word| line.contains(word))
    };
    insta::assert_snapshot!(lines.iter().filter(about).map(String::as_str).collect::<Vec<_>>().join("\n"), @r#"
    note: 1 draft does not count until you remove its
      `draft = true`: later
    run calm-otter, 3 scenarios, 1 of them held out
      for the final comparison
    comparing 3b1b95a11ef4 with the start on fresh
      trials of 1 held-out scenario
    "#);
}

#[test]
fn a_chain_tells_which_member_was_edited() {
    insta::assert_snapshot!(capture(&chain(), Layout { width: 100, ..PLAIN }).all(), @r#"
    tune plan-the-poem -> write-the-poem: goal 90 in up to 3 rounds
    executor claude:small, evaluator gemini, improver claude
    run calm-otter, 2 scenarios
    limits: 64 calls (default)

    round 1 of 3  50.0            baseline
      plan-the-poem 50.0 -> write-the-poem 49.0
      1 suggestion; strength: It is short.; weakness: SKILL.md:Steps | unclear
    round 2 of 3  30.0 (-20.0)    dropped     write-the-poem: draft 1: the output has a name.
      plan-the-poem 30.0 (reused) -> write-the-poem 29.0
      1 suggestion; strength: It is short.; weakness: SKILL.md:Steps | unclear
    round 3 of 3  95.0 (+45.0)    kept        write-the-poem, edit of wording
      plan-the-poem 95.0 (reused) -> write-the-poem 94.0
      1 suggestion; strength: It is short.; weakness: SKILL.md:Steps | unclear
    comparing aee5f97a31dc with the start on fresh trials

    verdict: the candidate scored higher than the start (52.0 -> 91.0 on 2 scenarios)
    plan-the-poem -> write-the-poem: 52.0 -> 91.0, goal 90 reached

    round 1  ████████████████████                │      50.0   baseline
    round 2  ████████████                        │      30.0   dropped
    round 3  ██████████████████████████████████████     95.0   kept
                                                 goal 90

    The champion scored higher than the start; that is not enough to apply it without you. The skill is
      unchanged.
    The search stopped: goal reached.
    Weak evidence: 2 scenarios. The difference may be chance.
    The champion changes +12 -3 in 2 files.
      effort    3 rounds, 1 kept, 1 dropped; 26 calls, 39s of agent time, $13.00
    to see what would change: skilltune diff calm-otter
    to apply it: skilltune apply calm-otter
    report: /p/.skilltune/runs/calm-otter/report.html
    "#);
}

#[test]
fn a_long_idea_of_a_dropped_edit_is_cut_and_the_name_of_its_member_is_not() {
    let talk = capture(&chain(), PLAIN).talk();
    let dropped = talk.lines().find(|line| line.contains("dropped")).unwrap();
    assert!(dropped.contains("     write-the-poem: draft 1: the output"), "{dropped}");
    assert!(dropped.ends_with('…'), "{dropped}");
}

#[test]
fn a_failed_edit_is_counted_apart_from_the_rounds() {
    let answer = |run: &Run, step: &Step| match step {
        Step::Improve { .. } => failed(FailureKind::Gate, "it changed nothing"),
        _ => scored(&[50], &[])(run, step),
    };
    let all = capture(&play(plan(&["haiku"], 1), answer), PLAIN).all();
    assert!(all.contains(" round") && all.contains("0 kept, 0 dropped, "), "{all}");
    assert!(all.contains(" failed; ") && !all.contains("0 edits"), "{all}");
}

#[test]
fn a_narrow_terminal_gets_narrow_lines() {
    insta::assert_snapshot!(capture(&chain(), Layout { width: 40, ..PLAIN }).all(), @r#"
    tune plan…oem: goal 90 in up to 3 rounds
    executor claude:small, evaluator gemini,
      improver claude
    run calm-otter, 2 scenarios
    limits: 64 calls (default)

    1/3  50.0  baseline
      plan-t…-poem 50.0 -> write-…-poem 49.0
      1 suggestion; + It is sho…; - SKILL.m…
    2/3  30.0 (-20.0)  dropped  write-…-poem
      pla…oem 30.0 (reused) -> wri…oem 29.0
      1 suggestion; + It is sho…; - SKILL.m…
    3/3  95.0 (+45.0)  kept  write-the-poem
      pla…oem 95.0 (reused) -> wri…oem 94.0
      1 suggestion; + It is sho…; - SKILL.m…
    comparing aee5f97a31dc with the start on
      fresh trials

    verdict: the candidate scored higher
      than the start (52.0 -> 91.0 on 2
      scenarios)
    plan-the-p…-the-poem: 52.0 -> 91.0, goal
      90 reached

    1  ████████▌       │   50.0   baseline
    2  █████           │   30.0   dropped
    3  ████████████████▏   95.0   kept
                       goal 90

    The champion scored higher than the
      start; that is not enough to apply it
      without you. The skill is unchanged.
    The search stopped: goal reached.
    Weak evidence: 2 scenarios. The
      difference may be chance.
    The champion changes +12 -3 in 2 files.
      effort    3 rounds, 1 kept, 1 dropped;
                26 calls, 39s of agent time,
                $13.00
    to see what would change:
      skilltune diff calm-otter
    to apply it: skilltune apply calm-otter
    report:
      /p/.skilltune/runs/calm-otter/report.html
    "#);
}

#[test]
fn no_line_is_ever_wider_than_told_but_for_what_is_there_to_be_copied() {
    let long = "a-skill-with-a-name-that-would-fill-a-whole-line-on-its-own-and-half-of-the-next-one-as-well";
    let plays = [
        play(plan(&[long, "写一首关于秋天的俳句"], 1), scored(&[50, 30, 95], &[52, 0, 91])),
        play(plan(&[long], 1), |_, _| failed(FailureKind::Crashed, &"many words ".repeat(40))),
        play(plan(&[long], 1), |run, step| match step {
            Step::Improve { .. } => failed(FailureKind::Gate, &"many words ".repeat(40)),
            _ => scored(&[50], &[])(run, step),
        }),
    ];
    for play in &plays {
        for width in [100, 80, 40] {
            let text = capture(play, Layout { width, ..PLAIN }).all();
            let lines = text.lines().filter(|line| !line.starts_with("  /p/"));
            let widest = lines.map(crate::text::width::columns).max().unwrap();
            assert!(widest <= width, "{widest} columns of {width}:\n{text}");
        }
    }
}

#[test]
fn what_failed_and_what_was_dropped_is_said() {
    let asked = plan(&["haiku"], 2);
    let captured = capture(
        &play(asked, |run, step| match step {
            Step::Exercise { trial, .. } if run.round_number() == 1 && trial.scenario == 1 => {
                failed(FailureKind::Crashed, "exit 1\n\x1b[2Jgone")
            }
            Step::Improve { round: 2, .. } => failed(FailureKind::Gate, "nothing was changed"),
            _ => scored(&[50, 60], &[])(run, step),
        }),
        PLAIN,
    );
    insta::assert_snapshot!(captured.talk(), @r#"
    tune haiku: goal 90 in up to 3 rounds
    executor claude:small, evaluator gemini, improver claude
    run calm-otter, 2 scenarios
    limits: 44 calls (default)

      running haiku on task-2: exited with an error: exit 1 ␛[2Jgone (retried)
      running haiku on task-2: exited with an error: exit 1 ␛[2Jgone (gave up)
    round 1 of 3  -               incomplete  1 of 2 judged
    round 2 of 3  50.0            baseline
      1 suggestion; strength: It is short.; weakness: SKILL.md:Steps | unclear
      improving haiku: made no valid change: nothing was changed (retried)
      improving haiku: made no valid change: nothing was changed (gave up)
    round 3 of 3  50.0 (±0.0)     unchanged
      1 suggestion; strength: It is short.; weakness: SKILL.md:Steps | unclear
    "#);
}

#[test]
fn a_trial_that_ran_out_of_time_scores_0_and_that_is_said_at_once() {
    let captured = capture(
        &play(plan(&["haiku"], 1), |run, step| match step {
            Step::Exercise { .. } if run.round_number() == 1 => failed(FailureKind::TimedOut, "after 9 s"),
            _ => scored(&[0, 95], &[0, 91])(run, step),
        }),
        PLAIN,
    );
    let line = "\n  running haiku on task-1: timed out: after 9 s (scores 0)\nround 1 of 3  0.0 ";
    assert!(captured.talk().contains(line), "{}", captured.talk());
}

#[test]
fn each_way_to_end_says_what_to_type_next() {
    let end = |plan: Plan, answer: &mut dyn FnMut(&Run, &Step) -> Outcome| {
        capture(&play(plan, answer), PLAIN).data()
    };
    let single = || plan(&["haiku"], 1);
    let lost = end(single(), &mut scored(&[50, 95], &[50, 50]));
    insta::assert_snapshot!(lost, @r"
    verdict: the candidate did not score higher than the start (50.0 -> 50.0 on 1
      scenario)
    haiku: 50.0 -> 50.0, goal 90 not reached

    round 1  ████████████████████                │      50.0   baseline
    round 2  ██████████████████████████████████████     95.0   kept
                                                 goal 90

    No candidate beat the start; the skill is unchanged.
    The search stopped: goal reached.
    Weak evidence: one scenario. Other tasks may show a different result.
      effort    2 rounds, 1 kept, 0 dropped; 9 calls, 13s of agent time, $4.50
    to see why: skilltune report calm-otter
    report: /p/.skilltune/runs/calm-otter/report.html
    ");
    let unjudged = end(single(), &mut |_, _| failed(FailureKind::Crashed, "60 s"));
    insta::assert_snapshot!(unjudged, @r"
    verdict: INDECISIVE, too few trials could be judged
    haiku: no score, goal 90 not reached
    The result could not be judged; the skill is unchanged.
    The search stopped: too many failed rounds in a row.
      effort    3 rounds, 0 kept, 0 dropped; 6 calls, 9s of agent time, $3.00
    to see why: skilltune report calm-otter
    report: /p/.skilltune/runs/calm-otter/report.html
    ");
    let mut patient = by_single_trials(12, 48);
    patient.task.rules.max_errors = 50;
    let nothing = end(patient, &mut |_, _| failed(FailureKind::Crashed, "exit code 101"));
    assert!(nothing.contains("The search stopped: no trial could be judged."), "{nothing}");
    let good = end(plan(&["haiku"], 2), &mut scored(&[95], &[]));
    let why = "goal 90 reached\nNo improvement found; the skill is unchanged.\nExit code 3: with several tasks the goal takes a WIN";
    assert!(good.contains(why), "{good}");
    let conflict = end(single(), &mut |run, step| match step {
        Step::Promote { .. } => Ok(Answer::Conflict { found: vec![tree("theirs")] }),
        _ => scored(&[50, 95], &[50, 95])(run, step),
    });
    insta::assert_snapshot!(conflict, @r"
    verdict: the candidate scored higher than the start (50.0 -> 95.0 on 1 scenario)
    haiku: 50.0 -> 95.0, goal 90 reached

    round 1  ████████████████████                │      50.0   baseline
    round 2  ██████████████████████████████████████     95.0   kept
                                                 goal 90

    Someone edited the skill during the run, so the champion was not applied; it is
      kept in the store.
    The search stopped: goal reached.
    Weak evidence: one scenario. Other tasks may show a different result.
    The champion changes +12 -3 in 2 files.
      effort    2 rounds, 1 kept, 0 dropped; 9 calls, 13s of agent time, $4.50
    to see the champion's changes: skilltune diff calm-otter
    to merge it with the edit: skilltune apply --merge calm-otter
    report: /p/.skilltune/runs/calm-otter/report.html
    ");
}

#[test]
fn after_an_apply_the_skill_is_not_said_to_be_unchanged() {
    let mut kept = chain();
    assert!(outcome_text(&kept.run).ends_with(" The skill is unchanged."));
    kept.run.placed = Some(PlacedBy::Apply);
    assert!(outcome_text(&kept.run).ends_with("that is not enough to apply it without you."));
}

#[test]
fn a_claimed_score_is_called_so() {
    let captured = capture(
        &play(plan(&["haiku"], 1), |run, step| match step {
            Step::Judge { .. } => claimed(run, 95),
            _ => scored(&[], &[])(run, step),
        }),
        PLAIN,
    );
    assert!(
        captured.talk().contains("round 1 of 3  95.0            baseline    claimed\n"),
        "{}",
        captured.talk()
    );
}

#[test]
fn a_run_taken_up_again_says_where_it_stands() {
    let mut play = Play::begin(plan(&["haiku"], 1));
    let mut answer = scored(&[50, 60], &[]);
    for _ in 0..8 {
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
    insta::assert_snapshot!(captured.all(), @r#"
    tune haiku: goal 90 in up to 3 rounds
    executor claude:small, evaluator gemini, improver claude
    run calm-otter, 1 scenario
    limits: 24 calls (default)

    resumed in round 2, best so far 50.0
    one␇ remark

    haiku: 50.0 -> 50.0, goal 90 not reached
    The run has not ended; `skilltune resume` continues it.
      effort    2 rounds, 0 kept, 0 dropped; 3 calls, 4s of agent time, $1.50
    to continue: skilltune resume calm-otter
    "#);
}

#[test]
fn colour_is_used_only_when_told() {
    let play = play(plan(&["haiku"], 1), scored(&[95], &[]));
    assert!(!capture(&play, PLAIN).all().contains('\x1b'));
    let vivid = capture(&play, Layout { talk: Style::VIVID, ..PLAIN });
    assert!(vivid.talk().contains("\x1b[32mbaseline\x1b[0m"));
    assert!(!vivid.data().contains('\x1b'), "each stream has a style of its own");
    assert!(capture(&play, Layout { data: Style::VIVID, ..PLAIN }).data().starts_with("\x1b[1mverdict"));
}

#[test]
fn without_a_terminal_nothing_is_said_of_single_steps() {
    let play = Play::begin(plan(&["haiku"], 1));
    let captured = Captured::default();
    let mut human = human(captured.streams(), PLAIN);
    let step =
        Step::Improve { round: 1, base: play.run.start(), member: Place(0), by: Improver::First, failed: 0 };
    human.recorded(&play.run, &play.records[0]);
    let header = captured.talk();
    human.began(&play.run, &step);
    human.ended(&play.run, &step);
    assert_eq!(captured.talk(), header);
}

#[test]
fn a_live_line_changes_nothing_of_what_is_written() {
    let play = play(plan(&["haiku"], 1), scored(&[95], &[]));
    let step =
        Step::Improve { round: 1, base: play.run.start(), member: Place(0), by: Improver::First, failed: 0 };
    let captured = Captured::default();
    let mut human = human(captured.streams(), Layout { live: true, ..PLAIN });
    human.began(&play.run, &step);
    human.remark("a remark");
    human.ended(&play.run, &step);
    human.finished(&play.run).unwrap();
    assert!(captured.talk().ends_with("a remark\n\n"));
}

#[test]
fn a_run_may_be_left_at_any_point() {
    let whole = chain();
    for upto in 1..=whole.records.len() {
        let records = whole.records[..upto].to_vec();
        let part = Play::resume(records);
        let data = capture(&part, PLAIN).data();
        assert!(data.contains("skilltune "), "something to type next: {data}");
        assert_eq!(data.contains("report: /p/"), part.run.state.closed.is_some(), "a report that is there");
    }
}

#[test]
fn a_wait_is_told_in_a_line_with_its_cause_and_so_is_its_end() {
    let mut play = Play::begin(plan(&["haiku"], 1));
    let until = play.run.started_at + Duration::from_secs(3 * 3600 + 24 * 60);
    let mut limited = |_: &Run, _: &Step| match failed(FailureKind::UsageLimit, "You've hit your limit") {
        Err(failure) => Err(Failure { until: Some(until), ..failure }),
        outcome => outcome,
    };
    while play.run.blocked.is_none() {
        play.advance(&mut limited).unwrap();
    }
    play.record(Event::Noted(Signal::Waiting { until }));
    play.record(Event::Noted(Signal::Waited));
    insta::assert_snapshot!(capture(&play, PLAIN).talk(), @r#"
    tune haiku: goal 90 in up to 3 rounds
    executor claude:small, evaluator gemini, improver claude
    run calm-otter, 1 scenario
    limits: 24 calls (default)

    running haiku on task-1: reached its usage limit: You've hit your limit
    waiting until 2023-11-15 01:37:20 UTC (3h 23m); press Ctrl-C to stop waiting
    wait ended
    "#);
}
