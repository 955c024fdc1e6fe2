use proptest::prelude::*;

use super::super::criteria::{Template, Weights};
use super::*;

fn criteria(template: Template) -> Criteria {
    Criteria::of(template, Weights::default(), template.thresholds())
}

fn result(rule: &Rule, met: Option<bool>) -> RuleResult {
    let verdict = Verdict::of(rule, met);
    RuleResult { rule: rule.id.clone(), verdict, details: "seen".into(), by: By::Judge }
}

/// Returns results in which every rule is met, except the named ones.
fn results(criteria: &Criteria, special: &[(&str, Option<bool>)]) -> Vec<RuleResult> {
    let met = |rule: &Rule| {
        special.iter().find(|(id, _)| *id == rule.id.as_str()).map_or(Some(true), |(_, met)| *met)
    };
    criteria.rules.iter().map(|rule| result(rule, met(rule))).collect()
}

fn evaluated(criteria: &Criteria, level: Level, special: &[(&str, Option<bool>)]) -> Evaluation {
    evaluate(criteria, level, &results(criteria, special))
}

fn points(evaluation: &Evaluation) -> Option<f64> {
    evaluation.score.map(Score::points)
}

#[test]
fn what_is_met_everywhere_is_100_and_passes() {
    let criteria = criteria(Template::Api);
    for level in [Level::A, Level::B] {
        let evaluation = evaluated(&criteria, level, &[]);
        assert_eq!((points(&evaluation), evaluation.passed), (Some(100.0), true));
        assert!(no_major_issues(&criteria, &evaluation));
        assert_eq!(evaluation.results.len(), criteria.active(level).count());
    }
}

#[test]
fn a_score_is_the_passed_weight_of_the_verified_weight() {
    let criteria = criteria(Template::Api);
    let evaluation = evaluated(&criteria, Level::A, &[("a.completeness.errors", Some(false))]);
    assert_eq!(evaluation.score, Score::new(85.7));
    let evaluation = evaluated(&criteria, Level::B, &[("a.completeness.errors", Some(false))]);
    assert_eq!(evaluation.score, Score::new(91.7));
}

#[test]
fn a_threshold_met_to_the_point_is_met() {
    let criteria = criteria(Template::Docs);
    let below = [("a.completeness.examples", Some(false)), ("a.quality.clarity", Some(false))];
    assert!(!evaluated(&criteria, Level::A, &below).passed, "66.7 is below 75");

    let mut exact = criteria.clone();
    exact.thresholds.a = Score::new(400.0 / 6.0).unwrap();
    assert!(evaluated(&exact, Level::A, &below).passed);
}

#[test]
fn a_rule_that_must_hold_and_does_not_blocks_whatever_the_score() {
    let criteria = criteria(Template::Api);
    for met in [Some(false), None] {
        let evaluation = evaluated(&criteria, Level::B, &[("b.completeness.auth", met)]);
        let mut lenient = criteria.clone();
        lenient.thresholds.b = Score::ZERO;
        assert!(!evaluation.passed && !evaluated(&lenient, Level::B, &[("b.completeness.auth", met)]).passed);
        assert!(!no_major_issues(&criteria, &evaluation));
    }
}

#[test]
fn at_level_b_the_rules_of_level_a_must_still_hold() {
    let mut criteria = criteria(Template::Api);
    criteria.thresholds.b = Score::ZERO;
    let broken = [("a.correctness.schemas", Some(false))];
    assert!(!evaluated(&criteria, Level::B, &broken).passed);
    let of_b = [("b.completeness.auth", Some(false))];
    assert!(evaluated(&criteria, Level::A, &of_b).passed, "rules of B do not count at A");
}

#[test]
fn a_rule_that_should_hold_and_does_not_is_a_warning_that_costs_its_weight() {
    let criteria = criteria(Template::Code);
    let evaluation = evaluated(&criteria, Level::A, &[("a.completeness.types", Some(false))]);
    assert_eq!(evaluation.results[3].verdict, Verdict::Warn);
    assert!(evaluation.passed && no_major_issues(&criteria, &evaluation));
    assert_eq!(
        evaluation.missed().map(|result| result.rule.as_str()).collect::<Vec<_>>(),
        ["a.completeness.types"]
    );
}

#[test]
fn a_verdict_is_what_the_rule_calls_it_and_not_what_the_result_does() {
    let criteria = criteria(Template::Code);
    let mut results = results(&criteria, &[]);
    results[0].verdict = Verdict::Warn;
    results[3].verdict = Verdict::Fail;
    let evaluation = evaluate(&criteria, Level::A, &results);
    assert_eq!(evaluation.results[0].verdict, Verdict::Fail, "compiling is a must");
    assert_eq!(evaluation.results[3].verdict, Verdict::Warn, "types are not");
}

#[test]
fn what_nobody_could_tell_leaves_both_sides_of_the_fraction() {
    let criteria = criteria(Template::Docs);
    let open = [("a.completeness.examples", None), ("a.quality.clarity", Some(false))];
    let evaluation = evaluated(&criteria, Level::A, &open);
    assert_eq!(points(&evaluation), Some(80.0));
    assert!(evaluation.passed, "only a warning was left open");
}

#[test]
fn less_than_half_of_the_weight_told_is_no_score() {
    let criteria = criteria(Template::Docs);
    let half = [("a.correctness.accuracy", None), ("a.quality.clarity", None)];
    let evaluation = evaluated(&criteria, Level::A, &half);
    assert_eq!(points(&evaluation), Some(100.0), "three of six is half");
    let more = [("a.correctness.accuracy", None), ("a.completeness.sections", None)];
    let evaluation = evaluated(&criteria, Level::A, &more);
    assert_eq!((evaluation.score, evaluation.passed), (None, false));
    assert!(!no_major_issues(&criteria, &evaluation));
}

#[test]
fn a_rule_without_a_result_is_unverified() {
    let criteria = criteria(Template::Api);
    let evaluation = evaluate(&criteria, Level::A, &[]);
    assert!(evaluation.results.iter().all(|result| result.verdict == Verdict::Unverified));
    assert_eq!(evaluation.score, None);
}

#[test]
fn where_no_active_rule_weighs_anything_the_score_is_full_and_the_musts_still_count() {
    let weightless = Weights { fail: 0, warn: 0, info: 0 };
    let criteria = Criteria::of(Template::Api, weightless, Template::Api.thresholds());
    let evaluation = evaluated(&criteria, Level::A, &[]);
    assert_eq!((points(&evaluation), evaluation.passed), (Some(100.0), true));
    let evaluation = evaluate(&criteria, Level::A, &[]);
    assert_eq!((points(&evaluation), evaluation.passed), (Some(100.0), false));
    assert!(!no_major_issues(&criteria, &evaluation));
}

#[test]
fn of_several_results_for_a_rule_the_worst_counts() {
    let criteria = criteria(Template::Api);
    let mut results = results(&criteria, &[]);
    results.push(result(&criteria.rules[0], Some(false)));
    results.push(result(&criteria.rules[0], None));
    assert_eq!(evaluate(&criteria, Level::A, &results).results[0].verdict, Verdict::Fail);
}

#[test]
fn the_distance_tells_gap_blocks_and_count() {
    let criteria = criteria(Template::Api);
    let special = [("a.correctness.endpoints", Some(false)), ("a.completeness.errors", Some(false))];
    let evaluation = evaluated(&criteria, Level::A, &special);
    let distance = Distance::of(&criteria, &evaluation);
    assert_eq!(distance.threshold, Score::new(80.0).unwrap());
    assert_eq!(distance.gap, Score::new(80.0 - 57.1));
    assert_eq!(distance.blocking, ["a.correctness.endpoints".into()]);
    assert_eq!((distance.passed, distance.of), (2, 4));

    let there = Distance::of(&criteria, &evaluated(&criteria, Level::B, &[]));
    assert_eq!(
        (there.gap, there.passed, there.of),
        (Some(Score::ZERO), 8, 8),
        "a gap is never below nothing"
    );
    assert_eq!(Distance::of(&criteria, &evaluate(&criteria, Level::B, &[])).gap, None);
}

#[test]
fn an_evaluation_survives_its_journal_line() {
    let criteria = criteria(Template::Config);
    for special in [&[][..], &[("a.security.no-secrets", Some(false)), ("b.quality.defaults", None)]] {
        let evaluation = evaluated(&criteria, Level::B, special);
        let line = serde_json::to_string(&evaluation).unwrap();
        assert_eq!(serde_json::from_str::<Evaluation>(&line).unwrap(), evaluation);
    }
    for verdict in Verdict::ALL {
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
    }
}

/// Generates rules of any severity, weight and level.
fn any_criteria() -> impl Strategy<Value = Criteria> {
    let severity = prop_oneof![Just(Severity::Fail), Just(Severity::Warn), Just(Severity::Info)];
    let weight = prop_oneof![0..4_u32, Just(u32::MAX)];
    let level = prop_oneof![Just(Level::A), Just(Level::B)];
    let rules = prop::collection::vec((severity, weight, level), 0..12);
    let threshold = || (0.0..=100.0).prop_map(|points| Score::new(points).unwrap());
    (rules, threshold(), threshold()).prop_map(|(rules, a, b)| Criteria {
        thresholds: super::super::criteria::Thresholds { a, b },
        rules: rules.into_iter().enumerate().map(|(at, parts)| any_rule(at, parts)).collect(),
        ..criteria(Template::Api)
    })
}

fn any_rule(at: usize, (severity, weight, level): (Severity, u32, Level)) -> Rule {
    let (id, text) = (RuleId::new(format!("r{at}")), || "x".into());
    Rule { id, description: text(), severity, weight, level, check: text(), command: None }
}

fn any_met() -> impl Strategy<Value = Vec<Option<bool>>> {
    prop::collection::vec(prop_oneof![Just(None), Just(Some(false)), Just(Some(true))], 12)
}

fn all(criteria: &Criteria, met: &[Option<bool>]) -> Vec<RuleResult> {
    criteria.rules.iter().zip(met).map(|(rule, met)| result(rule, *met)).collect()
}

proptest! {
    #[test]
    fn a_score_is_finite_and_within_its_range_and_the_rest_agrees_with_it(
        criteria in any_criteria(), met in any_met(), b in any::<bool>(),
    ) {
        let level = if b { Level::B } else { Level::A };
        let evaluation = evaluate(&criteria, level, &all(&criteria, &met));
        if let Some(score) = evaluation.score {
            prop_assert!((0.0..=100.0).contains(&score.points()));
        }
        let distance = Distance::of(&criteria, &evaluation);
        prop_assert_eq!(distance.gap.is_some(), evaluation.score.is_some());
        prop_assert_eq!(evaluation.passed, distance.gap == Some(Score::ZERO) && distance.blocking.is_empty());
        prop_assert!(!evaluation.passed || no_major_issues(&criteria, &evaluation));
        prop_assert!(distance.passed <= distance.of && distance.of == criteria.active(level).count());
    }

    #[test]
    fn meeting_one_more_rule_never_lowers_the_score_nor_takes_a_pass(
        criteria in any_criteria(), mut met in any_met(), at in 0..12_usize,
    ) {
        let before = evaluate(&criteria, Level::B, &all(&criteria, &met));
        met[at] = Some(true);
        let after = evaluate(&criteria, Level::B, &all(&criteria, &met));
        prop_assert!(after.score >= before.score);
        prop_assert!(after.passed >= before.passed);
    }

    #[test]
    fn breaking_one_more_rule_never_raises_the_score_of_what_was_told(
        criteria in any_criteria(), mut met in any_met(), at in 0..12_usize,
    ) {
        let before = evaluate(&criteria, Level::B, &all(&criteria, &met));
        let was_decided = met[at].is_some();
        met[at] = Some(false);
        let after = evaluate(&criteria, Level::B, &all(&criteria, &met));
        prop_assert!(after.score <= before.score || (!was_decided && before.score.is_none()));
        prop_assert!(after.passed <= before.passed || (!was_decided && before.score.is_none()));
    }

    #[test]
    fn the_order_of_the_results_decides_nothing(
        criteria in any_criteria(), met in any_met(),
    ) {
        let mut results = all(&criteria, &met);
        let before = evaluate(&criteria, Level::B, &results);
        results.reverse();
        prop_assert_eq!(before, evaluate(&criteria, Level::B, &results));
    }
}

#[test]
fn what_is_known_of_level_a_makes_no_score_at_b_where_nobody_could_tell_of_it() {
    let criteria = criteria(Template::Docs);
    let of_b =
        ["b.quality.structure", "b.completeness.cross-refs", "b.style.consistency", "b.quality.audience"];
    let open = |rules: &[&'static str]| rules.iter().map(|id| (*id, None)).collect::<Vec<_>>();
    let nothing = evaluated(&criteria, Level::B, &open(&of_b));
    assert_eq!((nothing.score, nothing.passed), (None, false));
    let half = evaluated(&criteria, Level::B, &open(&of_b[..2]));
    assert_eq!((points(&half), half.passed), (Some(100.0), true));
}
