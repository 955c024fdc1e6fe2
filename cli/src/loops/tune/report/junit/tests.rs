use skilltune_phases::loops::tune::{Answer, Kept, Outcome, Plan, Step};
use skilltune_phases::suites::checks::{Check, CheckResult, How, Times};
use skilltune_phases::suites::demand::Demand;

use super::*;
use crate::loops::tune::report::trial_results::is_of;
use crate::loops::tune::world::{failed as fails, plan, play, scored, tree};

/// Returns scenarios with two checks each; all but the first are held out.
fn checked(scenarios: usize) -> Plan {
    let mut plan = plan(&["haiku"], scenarios);
    let check = |id: &str, path: &str| {
        let check = Check::File { path: path.into(), times: Times::ONCE_OR_MORE };
        Demand::new(id.parse().unwrap(), How::Check(check))
    };
    for (nth, scenario) in plan.task.scenarios.iter_mut().enumerate() {
        scenario.demands = vec![check("has-page", "page.md"), check("has-index", "index.md")];
        scenario.held_out = nth > 0;
    }
    plan
}

/// The start's trials leave a tree that no other version leaves.
fn ran(run: &Run, skill: &str) -> Answer {
    let is_start = run.candidate(run.start()).unwrap().trees[0].to_string() == skill;
    let kept = Kept {
        left: tree(if is_start { "start" } else { "draft" }),
        evidence: tree("evidence"),
        began: None,
    };
    Answer::Exercised {
        artifacts: kept.left,
        files: 1,
        skill: None,
        digest: None,
        kept: Some(kept),
        opened: None,
    }
}

fn check_results(met: [bool; 2]) -> Answer {
    let check_result = |(check, met): (usize, bool)| {
        let details =
            if met { "1 file" } else { "no file ]]> <b>\x1b[31m\0\u{fffe}</testcase>\nsecond line" };
        CheckResult { check, met: Some(met), details: details.into() }
    };
    Answer::Checked(met.into_iter().enumerate().map(check_result).collect())
}

/// The start meets no demand, a draft meets all.
fn better(run: &Run, step: &Step) -> Outcome {
    match step {
        Step::Exercise { skill, .. } => Ok(ran(run, &skill.to_string())),
        Step::Inspect { kept, .. } => Ok(check_results([kept.left == tree("draft"); 2])),
        _ => scored(&[50, 95], &[50, 95])(run, step),
    }
}

fn is_of_draft(run: &Run, step: &Step, nth: &str) -> bool {
    let Some(trial) = step.trial().filter(|trial| trial.ordinal > 0) else { return false };
    let draft = run.state.candidates.last().unwrap().id;
    run.plan.task.scenarios[trial.scenario].id == nth && is_of(run, draft, step)
}

#[test]
fn each_scenario_of_the_comparison_is_a_test_case_of_the_version_that_is_left() {
    let mut crashed = false;
    let play = play(checked(11), |run, step| match step {
        Step::Inspect { .. } if is_of_draft(run, step, "task-5") => Ok(check_results([true, false])),
        Step::Exercise { .. } if is_of_draft(run, step, "task-9") && !crashed => {
            crashed = true;
            fails(FailureKind::Crashed, "exit code 1: \x1b[2J<oops>")
        }
        _ => better(run, step),
    });
    insta::assert_snapshot!(junit(&play.run), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="skilltune tune" tests="10" skipped="5" failures="1" errors="0">
        <testsuite name="haiku" tests="10" skipped="5" errors="0" failures="1">
            <properties>
                <property name="run" value="calm-otter"/>
                <property name="verdict" value="WIN, better by 90.0 points, by at least 50.0 at confidence 0.9"/>
                <property name="version" value="candidate"/>
                <property name="candidate" value="3b1b95a11ef47c283e86d2001b297670a1c6503349450f13b958e9d952e1ece2"/>
            </properties>
            <testcase name="task-9" classname="haiku" assertions="2">
                <properties>
                    <property name="score" value="100.0"/>
                </properties>
                <flakyFailure message="exited with an error: exit code 1: ␛[2J&lt;oops&gt;" type="crashed">
                </flakyFailure>
            </testcase>
            <testcase name="task-10" classname="haiku" assertions="2">
                <properties>
                    <property name="score" value="100.0"/>
                </properties>
            </testcase>
            <testcase name="task-8" classname="haiku" assertions="2">
                <properties>
                    <property name="score" value="100.0"/>
                </properties>
            </testcase>
            <testcase name="task-2" classname="haiku" assertions="2">
                <properties>
                    <property name="score" value="100.0"/>
                </properties>
            </testcase>
            <testcase name="task-5" classname="haiku" assertions="2">
                <properties>
                    <property name="score" value="50.0"/>
                </properties>
                <failure message="has-index failed: index.md exists" type="demand">has-index failed: index.md exists
      no file ]]&gt; &lt;b&gt;␛[31m␀�&lt;/testcase&gt;
      second line</failure>
            </testcase>
            <testcase name="task-11" classname="haiku" assertions="2">
                <skipped message="not tried: the comparison was decided without it"/>
            </testcase>
            <testcase name="task-4" classname="haiku" assertions="2">
                <skipped message="not tried: the comparison was decided without it"/>
            </testcase>
            <testcase name="task-6" classname="haiku" assertions="2">
                <skipped message="not tried: the comparison was decided without it"/>
            </testcase>
            <testcase name="task-7" classname="haiku" assertions="2">
                <skipped message="not tried: the comparison was decided without it"/>
            </testcase>
            <testcase name="task-3" classname="haiku" assertions="2">
                <skipped message="not tried: the comparison was decided without it"/>
            </testcase>
        </testsuite>
    </testsuites>
    "#);
}

#[test]
fn what_an_agent_failed_is_an_error_and_a_scenario_without_demands_has_to_reach_the_goal() {
    let crashes = play(plan(&["haiku"], 1), |_, _| fails(FailureKind::Crashed, "exit code 1"));
    insta::assert_snapshot!(cases(&crashes.run), @r#"
    <testcase name="task-1" classname="haiku">
        <error message="exited with an error: exit code 1" type="crashed"/>
    </testcase>
    "#);
    let low = play(plan(&["haiku"], 1), scored(&[50, 60, 55], &[52, 70, 0]));
    insta::assert_snapshot!(cases(&low.run), @r#"
            <testcase name="task-1" classname="haiku">
                <properties>
                    <property name="score" value="70.0"/>
                </properties>
                <failure message="the score 70.0 is below the goal 90" type="score">the score 70.0 is below the goal 90
    clarity.words failed: Is it plain?
    output.done is partly met: Is it done?
      haiku.md has | two lines␛[31m</failure>
            </testcase>
    "#);
    let loops = play(checked(1), |run, step| match step {
        Step::Exercise { .. } => fails(FailureKind::TimedOut, "not done within 60 s"),
        _ => better(run, step),
    });
    insta::assert_snapshot!(cases(&loops.run), @r#"
    <testcase name="task-1" classname="haiku" assertions="2">
        <properties>
            <property name="score" value="0.0"/>
        </properties>
        <failure message="timed out: not done within 60 s" type="timed_out">timed out: not done within 60 s</failure>
    </testcase>
    "#);
}

fn cases(run: &Run) -> String {
    let page = junit(run);
    let cases = page.lines().skip_while(|line| !line.contains("<testcase"));
    cases.take_while(|line| !line.contains("</testsuite>")).collect::<Vec<_>>().join("\n")
}
