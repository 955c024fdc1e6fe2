use proptest::prelude::*;

use super::*;
use crate::loops::gan::contract::AntiPattern;
use crate::loops::gan::evaluation::{Block, Claim, Evaluation, PatternHit, evaluate};
use crate::loops::gan::rules::Rules;

fn judged(contract: &Contract, raw: &RawVerdicts) -> Evaluation {
    evaluate(contract, raw, &none(), Rules::default().cap)
}

fn blocks(evaluation: &Evaluation, contract: &Contract) -> Vec<Block> {
    evaluation.blocks(contract, &Rules::default(), 5)
}

#[test]
fn a_dimension_has_the_level_that_its_passed_weight_allows() {
    let mut contract = contract();
    contract.criteria[0].weight = 4;
    // Weights 4, 1, 1, 1: half of 7 is 3.5, and three quarters are 5.25.
    for (passed, level) in [
        (&["a.1", "a.2", "a.3", "a.4"][..], 100.0),
        (&["a.1", "a.2", "a.3"], 75.0),
        (&["a.1", "a.2"], 50.0),
        (&["a.1"], 50.0),
        (&["a.2", "a.3", "a.4"], 25.0),
        (&[], 25.0),
    ] {
        let evaluation = judged(&contract, &raw_verdicts(&contract, passed));
        assert_eq!(evaluation.dimensions[0].level, score(level), "{passed:?}");
    }
    // A criterion that weighs nothing is still asked for.
    contract.criteria[3].weight = 0;
    let all_but_it = judged(&contract, &raw_verdicts(&contract, &["a.1", "a.2", "a.3"]));
    assert_eq!((all_but_it.dimensions[0].level, all_but_it.dimensions[0].share), (score(75.0), Score::FULL));
}

#[test]
fn the_score_is_the_mean_of_levels_by_weight_and_the_share_that_of_what_has_passed() {
    let contract = contract();
    let evaluation = judged(&contract, &raw_verdicts(&contract, &["a.1", "a.2", "a.3", "b.1"]));
    // Levels 75 and 25, shares 75 and 25; a weighs three times as much as b.
    assert_eq!((evaluation.score, evaluation.share), (score(62.5), score(62.5)));
    let more = judged(&contract, &raw_verdicts(&contract, &["a.1", "a.2", "a.3", "b.1", "b.2", "b.3"]));
    assert_eq!((more.score, more.share), (score(75.0), score(75.0)));
    let between = judged(&contract, &raw_verdicts(&contract, &["a.1"]));
    assert_eq!(
        (between.score, between.share),
        (score(25.0), score(18.8)),
        "the share tells what a level hides"
    );
}

#[test]
fn an_anti_pattern_caps_its_dimension_and_no_other() {
    let mut contract = contract();
    contract.anti_patterns =
        vec![AntiPattern { id: id("a.stock"), dimension: "a".into(), pattern: "stock".into(), check: None }];
    let all = ["a.1", "a.2", "a.3", "a.4", "b.1", "b.2", "b.3", "b.4"];
    let hit = |pattern: &str, evidence: &str| PatternHit {
        pattern: id(pattern),
        evidence: evidence.into(),
        by: By::Judge,
    };
    let with = |hit: PatternHit| RawVerdicts { patterns: vec![hit], ..raw_verdicts(&contract, &all) };
    let capped = judged(&contract, &with(hit("a.stock", "index.html: “#8B5CF6”")));
    assert_eq!((capped.dimensions[0].level, capped.dimensions[1].level), (score(50.0), Score::FULL));
    assert_eq!(
        (capped.dimensions[0].share, &capped.dimensions[0].capped_by),
        (Score::FULL, &vec![id("a.stock")])
    );
    assert_eq!(capped.score, score(62.5));
    for no_evidence in [hit("a.stock", " "), hit("a.other", "x")] {
        assert_eq!(judged(&contract, &with(no_evidence)).score, Score::FULL);
    }
    let lower = evaluate(&contract, &with(hit("a.stock", "x")), &none(), score(25.0));
    assert_eq!(lower.dimensions[0].level, score(25.0));
}

#[test]
fn a_level_that_a_judge_claims_is_kept_and_never_counted() {
    let contract = contract();
    let claim = Claim { dimension: "a".into(), level: Score::FULL, why: "wonderful".into() };
    let modest = judged(&contract, &raw_verdicts(&contract, &["a.1"]));
    let mut boastful =
        judged(&contract, &RawVerdicts { claims: vec![claim], ..raw_verdicts(&contract, &["a.1"]) });
    assert_eq!(boastful.dimensions[0].claimed, Some(Score::FULL));
    boastful.dimensions[0].claimed = None;
    assert_eq!(boastful, modest);
}

#[test]
fn no_average_buys_a_must_pass_criterion_back() {
    let mut contract = contract();
    contract.criteria[0].must_pass = true;
    let others = ["a.2", "a.3", "a.4", "b.1", "b.2", "b.3", "b.4"];
    let evaluation = judged(&contract, &raw_verdicts(&contract, &others));
    assert!(evaluation.score > Rules::default().threshold, "{}", evaluation.score);
    let must = |verdict| vec![Block::MustPass { criterion: id("a.1"), verdict }];
    assert_eq!(blocks(&evaluation, &contract), must(Verdict::Failed));
    let mut silent = raw_verdicts(&contract, &others);
    silent.findings.remove(0);
    assert_eq!(blocks(&judged(&contract, &silent), &contract), must(Verdict::Unverified));
    contract.criteria[0].must_pass = false;
    assert_eq!(blocks(&judged(&contract, &raw_verdicts(&contract, &others)), &contract), []);
}

#[test]
fn what_had_passed_and_fell_gates_though_the_score_is_high() {
    let contract = contract();
    let others = ["a.2", "a.3", "a.4", "b.1", "b.2", "b.3", "b.4"];
    let before = BTreeSet::from([id("a.1")]);
    let evaluation = evaluate(&contract, &raw_verdicts(&contract, &others), &before, Rules::default().cap);
    assert_eq!(evaluation.fallen, [id("a.1")]);
    assert_eq!(blocks(&evaluation, &contract), [Block::Fallen { criterion: id("a.1") }]);
}

#[test]
fn minima_the_threshold_and_a_strict_run_gate_each_dimension() {
    let contract = contract();
    let evaluation = judged(&contract, &raw_verdicts(&contract, &["a.1", "a.2", "a.3", "a.4", "b.1", "b.2"]));
    assert_eq!((evaluation.score, evaluation.dimensions[1].level), (score(87.5), score(50.0)));
    let with = |rules: Rules| evaluation.blocks(&contract, &rules, 1);
    assert_eq!(with(Rules::default()), []);
    let below = |minimum| vec![Block::BelowMinimum { dimension: "b".into(), level: score(50.0), minimum }];
    let minimums = [("b".into(), score(70.0))].into();
    assert_eq!(with(Rules { minimums, ..Rules::default() }), below(score(70.0)));
    assert_eq!(with(Rules { strict: true, ..Rules::default() }), below(score(75.0)));
    let strict = Rules { strict: true, threshold: score(90.0), ..Rules::default() };
    assert_eq!(
        with(strict).last(),
        Some(&Block::BelowThreshold { score: score(87.5), threshold: score(90.0) })
    );
}

#[test]
fn a_strict_run_takes_two_rounds_at_least() {
    let contract = contract();
    let all = ["a.1", "a.2", "a.3", "a.4", "b.1", "b.2", "b.3", "b.4"];
    let evaluation = judged(&contract, &raw_verdicts(&contract, &all));
    let strict = Rules { strict: true, ..Rules::default() };
    assert_eq!(evaluation.blocks(&contract, &strict, 1), [Block::TooEarly { rounds: 1, least: 2 }]);
    assert_eq!(evaluation.blocks(&contract, &strict, 2), []);
    assert_eq!(evaluation.blocks(&contract, &Rules { strict_rounds: 3, ..strict }, 2).len(), 1);
    assert_eq!(evaluation.blocks(&contract, &Rules::default(), 1), []);
}

#[test]
fn a_machine_goes_before_a_judge_and_a_verdict_without_evidence_is_none() {
    use Verdict::{Failed, Passed, Unverified};
    let contract = contract();
    let settled = |findings: Vec<Finding>| {
        judged(&contract, &RawVerdicts { findings, ..RawVerdicts::default() }).findings[0].clone()
    };
    let (machine, judge) =
        (|verdict| finding("a.1", verdict, By::Machine), |verdict| finding("a.1", verdict, By::Judge));
    let mute = |finding: Finding| Finding { evidence: "\n".into(), ..finding };
    for (findings, verdict, by) in [
        (vec![judge(Passed), machine(Failed)], Failed, By::Machine),
        (vec![judge(Failed), machine(Passed)], Passed, By::Machine),
        (vec![machine(Unverified), judge(Passed)], Passed, By::Judge),
        (vec![mute(machine(Failed)), judge(Passed)], Passed, By::Judge),
        (vec![judge(Passed), judge(Failed)], Failed, By::Judge),
        (vec![mute(judge(Passed))], Unverified, By::Judge),
        (vec![finding("a.2", Passed, By::Judge)], Unverified, By::Judge),
        (vec![], Unverified, By::Judge),
    ] {
        let finding = settled(findings);
        assert_eq!((finding.verdict, finding.by), (verdict, by));
    }
}

#[test]
fn what_is_asked_besides_is_shown_and_changes_no_number() {
    let contract = contract();
    let plain = judged(&contract, &raw_verdicts(&contract, &["a.1"]));
    let extra = vec![finding("extra.1", Verdict::Failed, By::Judge)];
    let with = judged(&contract, &RawVerdicts { extra: extra.clone(), ..raw_verdicts(&contract, &["a.1"]) });
    assert_eq!(with, Evaluation { extra, ..plain });
}

proptest! {
    #[test]
    fn one_more_passed_criterion_never_lowers_a_number(passed in proptest::collection::btree_set(0..8_usize, 0..8), more in 0..8_usize) {
        let contract = contract();
        let of = |all: &BTreeSet<usize>| {
            let ids: Vec<&str> = all.iter().map(|nth| contract.criteria[*nth].id.as_str()).collect();
            judged(&contract, &raw_verdicts(&contract, &ids))
        };
        let (fewer, mut all) = (of(&passed), passed);
        all.insert(more);
        let greater = of(&all);
        prop_assert!(greater.score >= fewer.score && greater.share >= fewer.share);
        prop_assert!(greater.blocks(&contract, &Rules::default(), 1).len() <= fewer.blocks(&contract, &Rules::default(), 1).len());
    }
}
