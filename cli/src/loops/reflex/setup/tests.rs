use std::cell::RefCell;

use super::*;
use crate::terminal::questions::scripted::Script;

fn weights() -> Weights {
    Weights::default()
}

#[test]
fn a_task_that_tells_its_kind_is_asked_about_once() {
    let script = Script::default();
    let answers = asked(Some(Template::Docs), weights(), &script).unwrap();
    assert_eq!(answers, SetupAnswers::only(Template::Docs));
    assert_eq!(script.asked.borrow().len(), 1);
    let leaves = Script { picks: vec![("set up", 2)], ..Script::default() };
    assert!(asked(Some(Template::Docs), weights(), &leaves).is_err());
}

#[test]
fn step_by_step_everything_is_asked_that_rules_are_made_from() {
    let lines = [
        "All ports.",
        "NOTES.md 'two words.md'",
        "Every port is named.",
        "$ grep -q 'a b' artifact.md",
        "",
        "A wrong port.",
    ];
    let script = Script {
        picks: vec![("set up", 1), ("What kind", 4)],
        lines: RefCell::new(lines.into()),
        ..Script::default()
    };
    for guess in [Some(Template::Docs), None] {
        *script.lines.borrow_mut() = lines.into();
        let answers = asked(guess, weights(), &script).unwrap();
        assert_eq!((answers.template, answers.ideal.as_deref()), (Template::Other, Some("All ports.")));
        assert_eq!(answers.context, ["NOTES.md", "two words.md"]);
        assert_eq!(answers.major.as_deref(), Some("A wrong port."));
        let must: Vec<_> = answers.must.iter().map(|rule| (rule.id.as_str(), &*rule.description)).collect();
        assert_eq!(
            must,
            [
                ("a.task.every-port-is-named", "Every port is named."),
                ("a.task.grep-q-a-b-artifact-md-succeeds", "`grep -q a b artifact.md` succeeds."),
            ]
        );
        assert!(answers.must.iter().all(|rule| rule.severity == Severity::Fail));
        assert_eq!(answers.must[1].command.as_ref().unwrap()[2], "a b");
    }
}

#[test]
fn two_demands_of_one_wording_have_two_ids() {
    let first = demand("It is short.", Level::A, Severity::Warn, weights(), &[]);
    let second = demand("It is short!", Level::A, Severity::Warn, weights(), std::slice::from_ref(&first));
    assert_eq!((first.id.as_str(), second.id.as_str()), ("a.task.it-is-short", "a.task.it-is-short-2"));
}

#[test]
fn a_command_begins_with_a_dollar_sign_and_names_a_program() {
    assert_eq!(command("$ true"), Some(vec!["true".to_owned()]));
    for line in ["true", "$", "$ ''", "$ 'open"] {
        assert_eq!(command(line), None, "{line}");
    }
}
