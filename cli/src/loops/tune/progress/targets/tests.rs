use skilltune_phases::loops::tune::search::explanation::Recheck;

use super::*;
use crate::loops::tune::progress::Changed;
use crate::loops::tune::world::{edited_twice, plan};
use crate::progress::capture::follow;
use crate::progress::layout::{Layout as Shown, Letters};
use crate::progress::talk::Talk;

fn fault(statement: &str, (passed, failed): (usize, usize), chance: f64) -> Fault {
    Fault {
        criterion: "task-1/it".into(),
        statement: statement.into(),
        times: 1,
        passed,
        failed,
        chance,
        at_fault: Vec::new(),
        next: None,
    }
}

fn shown(lines: &[Line], style: Style) -> String {
    lines.iter().map(|line| line.painted(style)).collect::<Vec<_>>().join("\n")
}

fn explanation() -> Explanation {
    let long = "It quotes the paragraph of the policy that applies to the purchase, word for word.";
    Explanation {
        targets: vec![fault("The answer names the amount.", (0, 5), 0.004), fault(long, (1, 1), 0.38)],
        left_alone: vec![
            (fault("The tone is\ncalm.", (5, 1), 0.914), LeftAlone::ProbablyMet),
            (fault(long, (4, 1), 0.75), LeftAlone::ProbablyMet),
            (fault("", (3, 8), 0.6), LeftAlone::OthersFirst),
        ],
    }
}

#[test]
fn each_target_has_a_line_and_each_reason_to_leave_others_alone() {
    insta::assert_snapshot!(shown(&explained(&explanation(), 80), Style::PLAIN), @r"
      to edit          1%, failed 5 of 5  The answer names the amount.
      to edit         38%, failed 1 of 2  It quotes the paragraph of the policy tha…
      left alone      91%, met in 5 of 6  The tone is calm. (and 1 more)
      for later       60%, failed 8 of 11  task-1/it
    ");
    insta::assert_snapshot!(shown(&explained(&explanation(), 40), Style::PLAIN), @r"
      to edit          1%  The answer names…
      to edit         38%  It quotes the pa…
      left alone      91%  The… (and 1 more)
      for later       60%  task-1/it
    ");
}

#[test]
fn in_a_chain_a_line_says_which_member_is_probably_at_fault() {
    let of = |at_fault: &[f64], chance| Fault {
        at_fault: at_fault.to_vec(),
        ..fault("It is so.", (0, 3), chance)
    };
    let targets = vec![of(&[0.2, 0.7, 0.1], 0.0), of(&[1.0], 0.9)];
    let explanation = Explanation { targets, left_alone: Vec::new() };
    let plan = plan(&["outline", "writer", "editor"], 1);
    let members = words::at_fault(&plan, &explanation).unwrap();
    let line = plain_line(Label::AtFault, &members, 80);
    insta::assert_snapshot!(shown(&[line], Style::PLAIN), @"  at fault        writer 64%, outline 27%, editor 9%");
    assert_eq!(words::at_fault(&plan, &Explanation::default()), None);
}

#[test]
fn what_came_of_an_edit_is_told_in_the_round_that_looked_again() {
    let recheck = |is_met, chance| Some(Recheck { round: 4, is_met, chance });
    let faults = [
        Fault { next: recheck(true, 0.711), ..fault("The answer names the amount.", (0, 5), 0.08) },
        Fault { next: recheck(false, 0.04), ..fault("It says when the money arrives.", (1, 3), 0.152) },
    ];
    let lines: Vec<Line> = faults.iter().filter_map(|fault| result(fault, 4, 80)).collect();
    insta::assert_snapshot!(shown(&lines, Style::PLAIN), @r"
    passes now       8% -> 71%  The answer names the amount.
    still failing   15% ->  4%  It says when the money arrives.
    ");
    assert!(faults.iter().all(|fault| result(fault, 3, 80).is_none()), "another round");
    assert!(shown(&lines, Style::VIVID).starts_with("  \x1b[32mpasses now\x1b[0m       8% -> 71%  The"));
}

/// Removes the figures of percentages: this test is not about how beliefs are computed.
fn masked(text: &str) -> String {
    let parts: Vec<&str> = text.split('%').collect();
    let (last, chances) = parts.split_last().unwrap();
    let masked = chances.iter().map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' '));
    masked.map(|part| format!("{part} N%")).chain([(*last).to_owned()]).collect()
}

fn unchanged() -> Changed {
    Box::new(|_| None)
}

#[test]
fn a_search_by_single_trials_tells_each_round_what_it_edits_and_why() {
    let look =
        Shown { width: 80, live: false, talk: Style::PLAIN, data: Style::PLAIN, letters: Letters::Plain };
    let seen = follow(&edited_twice(), |streams| Talk::new(streams, look, unchanged()));
    insta::assert_snapshot!(masked(&seen.talk()), @r"
    tune refunds: goal 90 in up to 24 runs
    executor claude:small, evaluator gemini, improver claude
    run calm-otter, 12 scenarios, 4 of them held out for the final comparison
    limits: 276 calls (default)

    round  1, run  5 of 24  66.7            baseline    on 5 scenarios
     N% = how likely the skill now meets a statement, by all trials and edits
      to edit N%, failed 5 of 5  The answer names the amount.
    round  2, run  6 of 24  66.7            kept        on task-4, edit of wording
      still failing N% -> N%  The answer names the amount.
      to edit N%, failed 6 of 6  The answer names the amount.
    round  3, run  7 of 24  100.0           kept        on task-7, edit of wording
      passes now N% -> N%  The answer names the amount.
    round  4, run  8 of 24  66.7            unchanged   on task-1
      left alone N%, met in 7 of 8  It says when the money arrives.
    round  5, run  9 of 24  100.0           unchanged   on task-10
    round  6, run 10 of 24  100.0           unchanged   on task-8
    round  7, run 11 of 24  100.0           unchanged   on task-2
    round  8, run 12 of 24  100.0           unchanged   on task-5
    round  9, run 13 of 24  100.0           unchanged   on task-11
    round 10, run 14 of 24  100.0           unchanged   on task-4
    comparing a5b0f9da0dee with the start on fresh trials of 4 held-out scenarios
    ");
}
