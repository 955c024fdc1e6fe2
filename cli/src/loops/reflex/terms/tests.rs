use std::cell::RefCell;

use skilltune_phases::loops::reflex::criteria::Template;

use super::*;
use crate::loops::reflex::world::plan_of;
use crate::terminal::questions::scripted::Script;

fn task() -> Task {
    plan_of(Template::Docs).task
}

/// Returns the result of these lines, and what was shown.
fn typed(lines: &[&'static str]) -> (Result<Terms, Complaint>, Vec<String>) {
    let script = Script { lines: RefCell::new(lines.iter().copied().collect()), ..Script::default() };
    let shown = RefCell::new(Vec::new());
    let (task, first) = (task(), task().criteria);
    let terms = agreed(task, &first, &script, 80, |text| shown.borrow_mut().push(text.to_owned()));
    (terms, shown.into_inner())
}

fn ids(terms: &Terms) -> Vec<&str> {
    terms.criteria.rules.iter().map(|rule| rule.id.as_str()).collect()
}

#[test]
fn enter_agrees_to_what_is_shown() {
    let (terms, shown) = typed(&[""]);
    assert_eq!(terms.unwrap(), terms_of(task()));
    insta::assert_snapshot!(shown.join("\n"), @r#"rules (docs):
  level A, goal 75 of 100:
   1 a.correctness.accuracy (fail, weight 2)
     What the text states is right: commands, names, paths, numbers and
     behaviour agree with the task, the context and one another.
   2 a.completeness.sections (fail, weight 2)
     Every topic that the task asks for is covered, under a heading by which it
     is found.
   3 a.completeness.examples (warn, weight 1)
     Everything that a reader is to do or write is shown once as a whole example
     with its result.
   4 a.quality.clarity (warn, weight 1)
     Each instruction can be followed in one way only, and each term is
     explained where it first comes.
  level B, goal 85 of 100:
   5 b.quality.structure (warn, weight 1)
     Sections come in the order in which a reader needs them, headings nest
     without gaps, and each section has one subject.
   6 b.completeness.cross-refs (warn, weight 1)
     What is told elsewhere is referred to where it is needed, and every
     reference leads to something that is there.
   7 b.style.consistency (warn, weight 1)
     One thing has one name, and address, tense, spelling, lists and code are
     set in one way throughout.
   8 b.quality.audience (warn, weight 1)
     The text is written for the readers that the task names: it assumes what
     they know, and explains what they do not.
limits: 4 iterations, no time limit, stop when the score rises by less than 2
  over 2 evaluations
commands that agents propose as checks: not run; the judge decides instead
  2      reword rule 2             t 80 90  goals of levels A and B
  +      add a rule                i 6      iterations
  -3     remove rule 3             s 10m    time limit; s 0 for none
  m 1 4  only 1 and 4 are major    q        quit; resume asks again"#);
}

fn terms_of(task: Task) -> Terms {
    terms(task, Confirmed::Person)
}

#[test]
fn rules_are_removed_reworded_added_and_made_major() {
    let (terms, shown) = typed(&[
        "-2,4",
        "1",
        "It agrees with the code.",
        "$ grep -q port artifact.md",
        "+",
        "Every port is named.",
        "m 3",
        "",
    ]);
    let terms = terms.unwrap();
    assert_eq!(
        ids(&terms)[..3],
        ["a.correctness.accuracy", "a.completeness.examples", "a.task.every-port-is-named"]
    );
    let rules = &terms.criteria.rules;
    assert_eq!(&*rules[0].description, "It agrees with the code.");
    assert_eq!(rules[0].command.as_ref().unwrap()[1], "-q");
    let major: Vec<_> =
        rules.iter().filter(|rule| rule.severity == Severity::Fail).map(|rule| rule.id.as_str()).collect();
    assert_eq!(major, ["a.task.every-port-is-named"]);
    assert_eq!((rules[0].weight, rules[2].weight), (1, 2), "what is not major weighs less");
    let last = &shown[shown.len() - 1];
    assert!(last.contains("a.correctness.accuracy (warn, weight 1, changed)"), "{last}");
    assert!(last.contains("a.task.every-port-is-named (fail, weight 2, new)"), "{last}");
}

#[test]
fn goals_and_limits_are_changed_and_shown_again() {
    let (terms, shown) = typed(&["t 60 99.5", "i 7", "s 10m", "s 0", "s 90", ""]);
    let terms = terms.unwrap();
    assert_eq!((terms.criteria.thresholds.a.points(), terms.criteria.thresholds.b.points()), (60.0, 99.5));
    assert_eq!((terms.max_iterations, terms.max_seconds), (7, Some(90)));
    let tables = shown.iter().filter(|text| text.starts_with("rules")).count();
    assert_eq!(tables, 6, "whoever changes one of them sees all of them again");
}

#[test]
fn what_is_no_change_is_told_and_changes_nothing() {
    let odd = ["9", "0", "-", "-9", "x", "t 80", "t 80 101", "i 0", "s never", "m two", "é", "?", ""];
    let (terms, shown) = typed(&odd);
    assert_eq!(terms.unwrap(), terms_of(task()));
    assert_eq!(shown.len(), 2 + odd.len() - 1, "{shown:?}");
    assert!(shown[2].contains("there is no rule 9") && shown[6].contains("`x` is not a change"), "{shown:?}");
}

#[test]
fn nobody_agrees_to_no_rules_and_whoever_leaves_has_not_agreed() {
    let (terms, shown) = typed(&["-1 2 3 4 5 6 7 8", "", "+", "It is short.", ""]);
    assert_eq!(ids(&terms.unwrap()), ["a.task.it-is-short"]);
    assert!(shown.iter().any(|text| text.contains("cannot start: there is no rule")), "{shown:?}");
    assert!(typed(&["q"]).0.is_err());
}
