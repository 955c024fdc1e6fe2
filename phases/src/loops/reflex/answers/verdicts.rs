//! The answer to EVALUATE: the judge's verdicts, read like those of any evaluator.

use crate::base::answer::OffSchema;
use crate::judging::contract::{Contract, Criterion, CriterionId, Dimension, DimensionId};
use crate::judging::judgement::{self, Ask, Finding, VerdictShape};
use crate::loops::reflex::checks::Asked;
use crate::loops::reflex::verdict::{By, RuleResult, Verdict};

/// Returns the judge's contract: one dimension, with a criterion for each rule.
pub fn contract(asked: &[Asked<'_>]) -> Contract {
    let rules = DimensionId::from("rules");
    let criterion = |asked: &Asked<'_>| Criterion {
        id: CriterionId::from(asked.rule.id.as_str()),
        dimension: rules.clone(),
        text: text(asked).into(),
        of_effect: false,
        needs: None,
    };
    let criteria = asked.iter().map(criterion).collect();
    Contract {
        dimensions: vec![Dimension { id: rules.clone(), name: "Rules".into(), weight: 1.0 }],
        criteria,
    }
}

/// Returns the text of a rule, the check for a person, and the additional questions.
fn text(asked: &Asked<'_>) -> String {
    let said = [&*asked.rule.description, &*asked.rule.check].into_iter();
    said.chain(asked.questions.iter().copied()).collect::<Vec<_>>().join(" ")
}

/// Reads the judge's verdicts on the rules that it was asked about.
pub fn judged(text: &str, asked: &[Asked<'_>], nonce: &str) -> Result<Vec<RuleResult>, OffSchema> {
    let contract = contract(asked);
    // A single number for all rules does not say which ones are met, so only evidence is read, whichever agent answers.
    let ask = Ask { contract: &contract, nonce, members: &[], at_fault: &[], shape: VerdictShape::Evidenced };
    let judgement = judgement::read(text, &ask)?;
    let findings = asked.iter().zip(judgement.whole.findings.iter());
    Ok(findings.map(|(asked, finding)| result(asked, finding)).collect())
}

fn result(asked: &Asked<'_>, finding: Finding<'_>) -> RuleResult {
    RuleResult {
        rule: asked.rule.id.clone(),
        verdict: Verdict::of(asked.rule, finding.verdict.is_met()),
        details: finding.evidence.into(),
        by: By::Judge,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::loops::reflex::criteria::{Criteria, Level, Template, Weights};

    fn criteria() -> Criteria {
        Criteria::of(Template::Docs, Weights::default(), Template::Docs.thresholds())
    }

    fn asked(criteria: &Criteria) -> Vec<Asked<'_>> {
        let asked = |rule| Asked { rule, questions: Vec::new() };
        criteria.active(Level::A).map(asked).collect()
    }

    fn read(answer: &Value) -> Result<Vec<RuleResult>, OffSchema> {
        let criteria = criteria();
        judged(&answer.to_string(), &asked(&criteria), "n0nce")
    }

    fn answer(verdicts: [&str; 4]) -> Value {
        let entry = |(asked, verdict): (&Asked<'_>, &str)| json!({"id": asked.rule.id, "verdict": verdict, "evidence": "artifact.md: “x”"});
        let criteria = criteria();
        let entries: Vec<_> = asked(&criteria).iter().zip(verdicts).map(entry).collect();
        json!({"verdict_of": "n0nce", "criteria": entries})
    }

    #[test]
    fn a_partial_verdict_is_a_rule_not_met() {
        let results = read(&answer(["pass", "partial", "partial", "unverified"])).unwrap();
        let verdicts: Vec<_> = results.iter().map(|result| result.verdict).collect();
        assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail, Verdict::Warn, Verdict::Unverified]);
        assert!(
            results.iter().all(|result| result.by == By::Judge && &*result.details == "artifact.md: “x”")
        );
    }

    #[test]
    fn the_order_of_the_answer_decides_nothing() {
        let mut turned = answer(["pass", "partial", "fail", "unverified"]);
        turned["criteria"].as_array_mut().unwrap().reverse();
        assert_eq!(read(&turned), read(&answer(["pass", "partial", "fail", "unverified"])));
    }

    #[test]
    fn praise_without_a_quote_is_unverified() {
        let mut praise = answer(["pass"; 4]);
        praise["criteria"][0]["evidence"] = json!("");
        assert_eq!(read(&praise).unwrap()[0].verdict, Verdict::Unverified);
    }

    #[test]
    fn verdicts_of_another_request_and_numbers_without_verdicts_are_refused() {
        let mut forged = answer(["pass"; 4]);
        forged["verdict_of"] = json!("guess");
        assert_eq!(read(&forged), Err(OffSchema::Forged("verdict_of")));
        let claimed = json!({"dimensions": [{"id": "rules", "score": 100}]});
        assert_eq!(read(&claimed), Err(OffSchema::Forged("verdict_of")));
        let mut less = answer(["pass"; 4]);
        less["criteria"].as_array_mut().unwrap().pop();
        assert_eq!(read(&less).unwrap_err().to_string(), "not answered: a.quality.clarity");
    }

    #[test]
    fn a_criterion_holds_the_rule_and_what_was_asked_of_it() {
        let criteria = criteria();
        let mut asked = asked(&criteria);
        asked[0].questions = vec!["Is the port right?", "Is the name?"];
        let contract = contract(&asked);
        let text =
            |rule: &crate::loops::reflex::criteria::Rule| format!("{} {}", rule.description, rule.check);
        let first = format!("{} Is the port right? Is the name?", text(&criteria.rules[0]));
        assert_eq!(*contract.criteria[0].text, *first);
        assert_eq!(*contract.criteria[1].text, *text(&criteria.rules[1]));
        assert_eq!(contract.criteria.len(), 4);
    }
}
