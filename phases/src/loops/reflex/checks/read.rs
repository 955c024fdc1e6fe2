//! Reads the checks that an agent proposes. Everything that would be run or compiled is validated here.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::{Check, CheckKind, How, Times, command, pattern};
use crate::base::answer::{self, OffSchema, capped};
use crate::loops::reflex::criteria::{Rule, RuleId};
use crate::suites::checks::{fault, shell_fault};

/// The parts of the question that are needed to read the answer.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub nonce: &'a str,
    /// Each needs at least one check.
    pub rules: &'a [&'a Rule],
    /// The maximum number of checks for one rule.
    pub most: usize,
}

const LONGEST_QUESTION: usize = 1000;
const LONGEST_EXPECTED: usize = 600;

/// Reads the checks in an answer to PREPARE.
pub fn read(text: &str, ask: &Ask<'_>) -> Result<Vec<Check>, OffSchema> {
    answer::coded(text, ask.nonce, "checks", |mut answer| {
        let entries = answer::entries::<Entry>(&mut answer, "checks")?;
        count(&entries, ask)?;
        entries.into_iter().map(Entry::into_check).collect()
    })
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Entry {
    Executable {
        rule_id: RuleId,
        argv: Vec<String>,
        #[serde(default)]
        exit: i32,
        #[serde(default)]
        expected: String,
    },
    Content {
        rule_id: RuleId,
        search: String,
        expected: Presence,
    },
    Judge {
        rule_id: RuleId,
        question: String,
    },
}

/// Whether a pattern must occur in the artifact or must not.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Presence {
    Present,
    Absent,
}

impl Presence {
    fn times(self) -> Times {
        match self {
            Self::Present => Times::ONCE_OR_MORE,
            Self::Absent => Times::NEVER,
        }
    }
}

impl Entry {
    fn rule(&self) -> &RuleId {
        match self {
            Self::Executable { rule_id, .. }
            | Self::Content { rule_id, .. }
            | Self::Judge { rule_id, .. } => rule_id,
        }
    }

    fn into_check(self) -> Result<Check, OffSchema> {
        match self {
            Self::Executable { rule_id, argv, exit, expected } => {
                let how = command(argv, exit, &capped(&expected, LONGEST_EXPECTED));
                usable(&Check { rule: rule_id, how })
            }
            Self::Content { rule_id, search, expected } => {
                usable(&Check { rule: rule_id, how: pattern(&search, expected.times()) })
            }
            Self::Judge { rule_id, question } => {
                let text = answer::required_words(
                    || format!("{rule_id}: the question"),
                    &question,
                    LONGEST_QUESTION,
                )?;
                Ok(Check { rule: rule_id, how: How::Question { text } })
            }
        }
    }
}

/// Fails unless every rule has a check, none has too many, and no other rule has one.
fn count(entries: &[Entry], ask: &Ask<'_>) -> Result<(), OffSchema> {
    let mut counts = BTreeMap::<&RuleId, usize>::new();
    for entry in entries {
        *counts.entry(entry.rule()).or_default() += 1;
    }
    answer::exactly(&counts.keys().copied(), &ask.rules.iter().map(|rule| &rule.id))?;
    match counts.into_iter().find(|(_, given)| *given > ask.most) {
        Some((rule, given)) => {
            let most = ask.most;
            Err(unusable(rule, format!("{given} checks were given; give at most {most} for one rule")))
        }
        None => Ok(()),
    }
}

fn usable(check: &Check) -> Result<Check, OffSchema> {
    let why = check.how.check().and_then(fault).or_else(|| match check.kind()? {
        CheckKind::Command { argv, .. } => shell_fault(argv),
        CheckKind::Pattern { .. } | CheckKind::Question(_) => None,
    });
    why.map_or_else(|| Ok(check.clone()), |why| Err(unusable(&check.rule, why)))
}

fn unusable(rule: &RuleId, why: impl fmt::Display) -> OffSchema {
    OffSchema::Shape(format!("{rule}: {why}").into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::loops::reflex::criteria::{Criteria, Level, Template, Weights};

    const NONCE: &str = "n0nce";

    fn criteria() -> Criteria {
        Criteria::of(Template::Api, Weights::default(), Template::Api.thresholds())
    }

    fn read_at_a(text: &str) -> Result<Vec<Check>, OffSchema> {
        let criteria = criteria();
        let rules: Vec<_> = criteria.active(Level::A).collect();
        read(text, &Ask { nonce: NONCE, rules: &rules, most: 2 })
    }

    /// One check for each rule, and one more.
    fn answer() -> Value {
        json!({"answer_to": NONCE, "checks": [
            {"rule_id": "a.correctness.endpoints", "type": "content", "search": "GET /rooms", "expected": "present"},
            {"rule_id": "a.correctness.endpoints", "type": "content", "search": "TODO", "expected": "absent"},
            {"rule_id": "a.correctness.schemas", "type": "executable", "argv": ["jq", ".", "artifact.md"], "expected": "no error"},
            {"rule_id": "a.completeness.examples", "type": "judge", "question": "Is there an example of each?"},
            {"rule_id": "a.completeness.errors", "type": "executable", "argv": ["grep", "-q", "404", "artifact.md"], "exit": 0},
        ]})
    }

    fn with(place: &str, by: Value) -> Result<Vec<Check>, OffSchema> {
        let mut answer = answer();
        *answer.pointer_mut(place).unwrap() = by;
        read_at_a(&answer.to_string())
    }

    fn refused(place: &str, by: Value) -> String {
        with(place, by).unwrap_err().to_string()
    }

    #[test]
    fn commands_patterns_and_questions_are_read_in_order() {
        let checks = read_at_a(&format!("Here:\n```json\n{:#}\n```", answer())).unwrap();
        assert_eq!(checks.len(), 5);
        assert_eq!(checks[1].how, pattern("TODO", Times::NEVER));
        let argv = ["jq", ".", "artifact.md"].map(str::to_owned).to_vec();
        assert_eq!(checks[2].how, command(argv, 0, "no error"));
        assert_eq!(checks[3].how, How::Question { text: "Is there an example of each?".into() });
        let line = serde_json::to_string(&checks).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Check>>(&line).unwrap(), checks);
    }

    #[test]
    fn what_is_no_answer_or_not_to_this_request_is_refused() {
        assert_eq!(read_at_a("All is well."), Err(OffSchema::Absent));
        assert_eq!(with("/answer_to", json!("guess")), Err(OffSchema::Forged("answer_to")));
        assert_eq!(refused("/checks", json!("none")), "`checks` must be a list");
    }

    #[test]
    fn a_rule_without_a_check_and_one_that_was_not_asked_for_are_both_named() {
        assert_eq!(
            refused("/checks/3/rule_id", json!("b.style.naming")),
            "not answered: a.completeness.examples; not asked for: b.style.naming"
        );
    }

    #[test]
    fn more_checks_than_allowed_for_a_rule_are_refused() {
        let mut answer = answer();
        let third = answer["checks"][0].clone();
        answer["checks"].as_array_mut().unwrap().push(third);
        insta::assert_snapshot!(
            read_at_a(&answer.to_string()).unwrap_err(),
            @"a.correctness.endpoints: 3 checks were given; give at most 2 for one rule"
        );
    }

    #[test]
    fn a_shell_is_refused_under_any_of_its_names() {
        for program in
            ["sh", "/bin/bash", "ZSH", "C:\\Windows\\System32\\cmd.exe", "pwsh.exe", "/usr/bin/env", " fish "]
        {
            let refused = refused("/checks/2/argv/0", json!(program));
            assert!(refused.contains("name the program itself in `argv`"), "{program}: {refused}");
        }
        for program in ["jq", "./shfmt", "bash-language-server", "/opt/sh/tool"] {
            assert!(with("/checks/2/argv/0", json!(program)).is_ok(), "{program}");
        }
    }

    #[test]
    fn a_command_is_a_bounded_list_of_plain_arguments() {
        let no_list =
            "a.correctness.schemas: a command is a list of 1 to 64 arguments, the first of them a program";
        for argv in [json!([]), json!([""]), json!([" "]), json!(vec!["x"; 65])] {
            assert_eq!(refused("/checks/2/argv", argv.clone()), no_list, "{argv}");
        }
        assert!(refused("/checks/2/argv", json!("jq . artifact.md")).starts_with("checks[2]: invalid type"));
        assert!(refused("/checks/2/argv/1", json!("a\u{0}b")).contains("control character"));
        assert!(refused("/checks/2/argv/1", json!("x".repeat(4001))).contains("longer than 4000"));
    }

    #[test]
    fn a_pattern_that_cannot_be_used_is_refused_with_the_reason() {
        let message = |search: &str| refused("/checks/0/search", json!(search));
        insta::assert_snapshot!(message("(a"), @"a.correctness.endpoints: the pattern cannot be used: unclosed group");
        insta::assert_snapshot!(
            message("a(?=b)"),
            @"a.correctness.endpoints: the pattern cannot be used: look-around, including look-ahead and look-behind, is not supported"
        );
        assert!(
            message(r"\w{1,2000}").contains("it is too large; write smaller counts"),
            "{}",
            message(r"\w{1,2000}")
        );
        assert!(message(&"x".repeat(1001)).contains("longer than 1000"));
        assert!(message("").contains("the pattern is empty"));
    }

    #[test]
    fn a_pattern_that_is_always_present_is_refused_and_one_that_must_be_absent_is_not() {
        assert!(refused("/checks/0/search", json!(".*")).contains("matches even an empty text"));
        assert!(with("/checks/1/search", json!(r"\A\s*\z")).is_ok());
    }

    #[test]
    fn a_question_must_ask_something_and_a_type_must_be_known() {
        assert!(refused("/checks/3/question", json!(" ?")).contains("the question says nothing"));
        assert!(refused("/checks/3/type", json!("vibes")).starts_with("checks[3]: unknown variant `vibes`"));
        assert!(
            refused("/checks/0/expected", json!("maybe")).starts_with("checks[0]: unknown variant `maybe`")
        );
    }

    proptest! {
        #[test]
        fn whatever_an_agent_searches_for_is_usable_or_refused(search in ".{0,30}", text in ".{0,60}") {
            if let Ok(checks) = with("/checks/0/search", json!(search)) {
                let results = super::super::matched(&text, &checks);
                prop_assert!(results.iter().all(|result| result.met.is_some()));
            }
        }

        #[test]
        fn whatever_an_agent_says_there_is_no_panic(text in any::<String>(), place in 0..5_usize, by in any::<String>()) {
            let _ = read_at_a(&text);
            let _ = with(&format!("/checks/{place}/rule_id"), json!(by));
        }
    }
}
