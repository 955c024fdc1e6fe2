//! The contract of the tune loop: five dimensions, nineteen fixed questions.
//!
//! Each question can be answered with a quote, by different judges alike. Four dimensions look at the text of the
//! skill; effectiveness looks at its output. A changed word makes a new contract, and with it new calls: a verdict
//! under the old wording is never reused.

use crate::judging::contract::{Contract, Criterion, CriterionId, Dimension, DimensionId, Need};

/// Returns the frozen criteria by which `tune` evaluates a skill.
pub fn tune() -> Contract {
    let dimensions = DIMENSIONS.map(|(id, name, weight)| Dimension {
        id: DimensionId::new(id),
        name: name.into(),
        weight,
    });
    let criteria = CRITERIA.map(|(id, text)| {
        let (dimension, _) = id.split_once('.').expect("every id below is `dimension.name`");
        let dimension = &dimensions.iter().find(|known| known.id.as_str() == dimension);
        let dimension = dimension.expect("every id below starts with a dimension").id.clone();
        let of_effect = dimension.as_str() == EFFECT;
        let needs = NEEDS.iter().find(|(of, _)| *of == id).map(|(_, need)| *need);
        Criterion { id: CriterionId::new(id), dimension, text: text.into(), of_effect, needs }
    });
    Contract { dimensions: dimensions.into(), criteria: criteria.into() }
}

/// The dimension that looks at the skill's output; all others look at its text.
const EFFECT: &str = "effectiveness";

/// The criteria that apply to some scenarios only.
const NEEDS: [(&str, Need); 2] =
    [("effectiveness.requirements", Need::Requirements), ("effectiveness.success", Need::Success)];

const DIMENSIONS: [(&str, &str, f64); 5] = [
    ("clarity", "Clarity", 0.20),
    ("completeness", "Completeness", 0.25),
    ("correctness", "Correctness", 0.25),
    ("effectiveness", "Effectiveness", 0.20),
    ("efficiency", "Efficiency", 0.10),
];

const CRITERIA: [(&str, &str); 19] = [
    (
        "clarity.purpose",
        "Does the skill say what it is for and when to use it, in its description and in its text, so that it is \
         picked for the right tasks and only for those?",
    ),
    (
        "clarity.steps",
        "Is the procedure laid out as ordered steps that say what to do, not only what to achieve?",
    ),
    (
        "clarity.interfaces",
        "Is it stated what the skill takes in and what it puts out: which files or values, where, in which form?",
    ),
    (
        "clarity.wording",
        "Does each instruction allow one reading only: terms used in one sense throughout, and no decision left to \
         words such as `appropriate` or `if needed` without a rule?",
    ),
    (
        "completeness.stages",
        "Is every stage covered that the skill's purpose needs, from reading the input to handing over the result?",
    ),
    (
        "completeness.edges",
        "Does it say what to do with input that is missing, empty, malformed or unusually large?",
    ),
    (
        "completeness.failures",
        "Does it say what to do when a step fails: a tool is missing, a call errs, a check is not passed?",
    ),
    (
        "completeness.parts",
        "Is everything that the text refers to (files, sections, scripts, templates, tools) there, or said to come \
         from elsewhere?",
    ),
    (
        "correctness.logic",
        "Would following the steps literally reach the stated aim: are order, conditions, loops and ends right?",
    ),
    (
        "correctness.dataflow",
        "Does each step get what it needs from earlier ones, under the same names, paths, fields and formats where \
         it is written and where it is read?",
    ),
    (
        "correctness.agreement",
        "Do all files of the skill agree with one another: rules, examples, schemas and numbers?",
    ),
    (
        "correctness.facts",
        "Are the commands, code, formats and statements about tools in the skill right as they stand?",
    ),
    ("effectiveness.requirements", "Do the produced files satisfy each stated requirement of the scenario?"),
    ("effectiveness.success", "Do the produced files meet the scenario's success criteria?"),
    (
        "effectiveness.substance",
        "Is the produced content finished and specific to the scenario: no placeholders, no filler, no parts \
         left out?",
    ),
    (
        "effectiveness.adherence",
        "Do the produced files show that the skill's own procedure was followed: its stages and outputs are there, \
         in the form it prescribes?",
    ),
    (
        "efficiency.redundancy",
        "Is everything said once: no repeated rules, no filler, nothing that a capable agent does unasked?",
    ),
    (
        "efficiency.context",
        "Does the skill load only what a step needs when it needs it, with long reference material kept out of the \
         main file?",
    ),
    (
        "efficiency.effort",
        "Does it reach its result without needless steps, calls, agents, questions or intermediate files?",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_weights_are_those_promised_and_sum_to_one() {
        let contract = tune();
        let weights: Vec<_> = contract.dimensions.iter().map(|d| (d.id.as_str(), d.weight)).collect();
        assert_eq!(
            weights,
            [
                ("clarity", 0.20),
                ("completeness", 0.25),
                ("correctness", 0.25),
                ("effectiveness", 0.20),
                ("efficiency", 0.10)
            ]
        );
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn every_dimension_has_three_to_five_questions() {
        let contract = tune();
        for dimension in &contract.dimensions {
            assert!((3..=5).contains(&contract.criteria_of(&dimension.id).count()), "{}", dimension.id);
        }
    }

    #[test]
    fn what_the_skill_has_brought_about_is_asked_in_one_dimension() {
        let contract = tune();
        let of_effect = contract.criteria.iter().filter(|criterion| criterion.of_effect);
        let dimensions: BTreeSet<_> = of_effect.map(|criterion| criterion.dimension.as_str()).collect();
        assert_eq!(dimensions, BTreeSet::from([EFFECT]));
        assert!(contract.criteria_of(&EFFECT.into()).all(|criterion| criterion.of_effect));
    }

    #[test]
    fn every_criterion_is_one_question_with_an_id_of_its_own() {
        let contract = tune();
        let ids: BTreeSet<_> = contract.criteria.iter().map(|criterion| &criterion.id).collect();
        assert_eq!(ids.len(), contract.criteria.len());
        for criterion in &contract.criteria {
            assert!(criterion.text.ends_with('?'), "{}", criterion.text);
            assert_eq!(criterion.text.matches('?').count(), 1, "{}", criterion.text);
        }
    }
}
