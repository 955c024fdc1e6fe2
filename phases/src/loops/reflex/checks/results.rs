//! The verdict on a rule, combined from the results of machines and of the judge.

use super::{Check, CheckKind, CheckResult};
use crate::loops::reflex::criteria::{Rule, RuleId};
use crate::loops::reflex::verdict::{By, RuleResult, Verdict};

/// A rule that the judge is asked about, with the questions for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    pub rule: &'a Rule,
    pub questions: Vec<&'a str>,
}

/// Returns the rules that the judge is asked about, after the machine checks.
///
/// These are the rules with a question, and those without a complete machine result. A rule that a machine has found
/// broken is settled, whatever a judge would say.
pub fn asked<'a>(rules: &[&'a Rule], checks: &'a [Check], results: &[CheckResult]) -> Vec<Asked<'a>> {
    let open = rules.iter().filter(|rule| {
        let machines = Machines::of(&rule.id, checks, results);
        machines.broken.is_none() && (machines.are_silent() || questions(&rule.id, checks).next().is_some())
    });
    open.map(|rule| Asked { rule, questions: questions(&rule.id, checks).collect() }).collect()
}

/// Returns one result for each rule. Every machine check and the judge, if asked, must say that the rule is met.
///
/// `judged` holds the judge's results on the rules that `asked` has named.
pub fn combined(
    rules: &[&Rule],
    checks: &[Check],
    results: &[CheckResult],
    judged: &[RuleResult],
) -> Vec<RuleResult> {
    let open = asked(rules, checks, results);
    let result = |rule: &&Rule| {
        let machines = Machines::of(&rule.id, checks, results);
        if open.iter().any(|asked| asked.rule.id == rule.id) {
            let judged = judged.iter().find(|result| result.rule == rule.id);
            return judged
                .cloned()
                .unwrap_or_else(|| result(rule, None, By::Judge, "The judge gave no verdict."));
        }
        match machines.broken {
            Some((by, details)) => result(rule, Some(false), by, details),
            None => result(rule, Some(true), machines.by(), &machines.evidence()),
        }
    };
    rules.iter().map(result).collect()
}

fn result(rule: &Rule, met: Option<bool>, by: By, details: &str) -> RuleResult {
    RuleResult { rule: rule.id.clone(), verdict: Verdict::of(rule, met), details: details.into(), by }
}

fn questions<'a>(rule: &RuleId, checks: &'a [Check]) -> impl Iterator<Item = &'a str> {
    let rule = rule.clone();
    checks.iter().filter(move |check| check.rule == rule).filter_map(|check| check.how.question())
}

/// The results of the machine checks of one rule.
struct Machines<'a> {
    met: Vec<(By, &'a str)>,
    /// The first result that says that the rule is not met.
    broken: Option<(By, &'a str)>,
    /// Whether some check could not be run, so that the others show only a part.
    is_partial: bool,
}

impl<'a> Machines<'a> {
    fn of(rule: &RuleId, checks: &[Check], results: &'a [CheckResult]) -> Self {
        let mut machines = Self { met: Vec::new(), broken: None, is_partial: false };
        for (at, check) in checks.iter().enumerate().filter(|(_, check)| check.rule == *rule) {
            let by = match check.kind() {
                Some(CheckKind::Command { .. }) => By::Command,
                Some(CheckKind::Pattern { .. }) => By::Pattern,
                Some(CheckKind::Question(_)) | None => continue,
            };
            let result = results.iter().find(|result| result.check == at);
            match result.and_then(|result| Some((result.met?, result.details.as_ref()))) {
                Some((true, details)) => machines.met.push((by, details)),
                Some((false, details)) => drop(machines.broken.get_or_insert((by, details))),
                None => machines.is_partial = true,
            }
        }
        machines
    }

    fn are_silent(&self) -> bool {
        self.is_partial || self.met.is_empty()
    }

    /// Returns the stronger evidence: a command shows more than a pattern.
    fn by(&self) -> By {
        if self.met.iter().any(|(by, _)| *by == By::Command) { By::Command } else { By::Pattern }
    }

    fn evidence(&self) -> String {
        self.met.iter().map(|(_, details)| *details).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::{How, Times};
    use super::*;
    use crate::loops::reflex::criteria::{Criteria, Level, Template, Weights};

    const RULE: &str = "a.correctness.endpoints";
    const SOFT: &str = "a.completeness.errors";

    fn criteria() -> Criteria {
        Criteria::of(Template::Api, Weights::default(), Template::Api.thresholds())
    }

    fn pattern(rule: &str) -> Check {
        Check { rule: rule.into(), how: super::super::pattern("x", Times::ONCE_OR_MORE) }
    }

    fn command(rule: &str) -> Check {
        Check { rule: rule.into(), how: super::super::command(vec!["true".into()], 0, "") }
    }

    fn question(rule: &str) -> Check {
        Check { rule: rule.into(), how: How::Question { text: "Is it?".into() } }
    }

    fn machine_results(met: &[(usize, Option<bool>)]) -> Vec<CheckResult> {
        let result = |&(check, met)| CheckResult { check, met, details: format!("check {check}").into() };
        met.iter().map(result).collect()
    }

    /// Returns the verdict on one rule from its checks, their results, and a judge's verdict on every rule.
    fn verdict(
        id: &str,
        checks: &[Check],
        met: &[(usize, Option<bool>)],
        judge: Option<bool>,
    ) -> (Verdict, By, String) {
        let criteria = criteria();
        let rules = [criteria.rule(&id.into()).unwrap()];
        let judged = [result(rules[0], judge, By::Judge, "quoted")];
        let [result] = combined(&rules, checks, &machine_results(met), &judged).try_into().unwrap();
        (result.verdict, result.by, result.details.into())
    }

    fn goes_to_the_judge(checks: &[Check], met: &[(usize, Option<bool>)]) -> bool {
        let criteria = criteria();
        let rules = [criteria.rule(&RULE.into()).unwrap()];
        !asked(&rules, checks, &machine_results(met)).is_empty()
    }

    #[test]
    fn a_rule_whose_machine_checks_are_all_met_is_met_without_a_judge() {
        let (checks, met) = ([pattern(RULE), command(RULE)], [(0, Some(true)), (1, Some(true))]);
        assert!(!goes_to_the_judge(&checks, &met));
        let expected = (Verdict::Pass, By::Command, "check 0; check 1".into());
        assert_eq!(verdict(RULE, &checks, &met, Some(false)), expected);
        assert_eq!(verdict(RULE, &checks[..1], &met[..1], None).1, By::Pattern);
    }

    #[test]
    fn one_machine_check_that_is_not_met_breaks_the_rule_whatever_else_is_said() {
        let checks = [pattern(RULE), command(RULE), question(RULE)];
        for other in [Some(true), None] {
            let met = [(0, Some(false)), (1, other)];
            assert!(!goes_to_the_judge(&checks, &met));
            assert_eq!(
                verdict(RULE, &checks, &met, Some(true)),
                (Verdict::Fail, By::Pattern, "check 0".into())
            );
        }
        assert_eq!(verdict(SOFT, &[pattern(SOFT)], &[(0, Some(false))], Some(true)).0, Verdict::Warn);
    }

    #[test]
    fn a_rule_whose_machine_checks_could_not_be_run_goes_to_the_judge() {
        for met in [&[][..], &[(0, None)], &[(0, None), (1, Some(true))]] {
            let checks = [command(RULE), pattern(RULE)];
            assert!(goes_to_the_judge(&checks, met), "{met:?}");
            assert_eq!(verdict(RULE, &checks, met, Some(false)), (Verdict::Fail, By::Judge, "quoted".into()));
        }
        assert!(goes_to_the_judge(&[], &[]), "a rule without checks too");
    }

    #[test]
    fn a_rule_with_a_question_needs_the_judge_beside_its_machine_checks() {
        let (checks, met) = ([pattern(RULE), question(RULE)], [(0, Some(true))]);
        assert!(goes_to_the_judge(&checks, &met));
        for (judge, expected) in
            [(Some(true), Verdict::Pass), (Some(false), Verdict::Fail), (None, Verdict::Unverified)]
        {
            assert_eq!(verdict(RULE, &checks, &met, judge), (expected, By::Judge, "quoted".into()));
        }
    }

    #[test]
    fn what_the_judge_was_asked_and_left_out_is_unverified() {
        let criteria = criteria();
        let rules: Vec<_> = criteria.active(Level::A).collect();
        let results = combined(&rules, &[question(RULE)], &[], &[]);
        assert_eq!(results.len(), 4);
        assert!(results.iter().all(|result| result.verdict == Verdict::Unverified));
    }

    #[test]
    fn a_question_goes_with_its_own_rule_only() {
        let criteria = criteria();
        let rules: Vec<_> = criteria.active(Level::A).collect();
        let checks = [question(RULE), question(RULE), pattern(SOFT)];
        let asked = asked(&rules, &checks, &machine_results(&[(2, Some(true))]));
        let counts: Vec<_> =
            asked.iter().map(|asked| (asked.rule.id.as_str(), asked.questions.len())).collect();
        assert_eq!(counts, [(RULE, 2), ("a.correctness.schemas", 0), ("a.completeness.examples", 0)]);
    }
}
