//! Finding the one JSON object that answers a request, and saying what is wrong with an answer.
//!
//! Every request carries a code that its answer must bring back, so that an answer quoted from a task, an artifact or
//! another request is never taken for this one.

use serde_json::Value;

use super::criteria::{Rule, RuleId};
use crate::answer::{self, Mismatch, Object, OffSchema, capped, says_something};

/// Why an answer does not keep its contract, in words that may go back to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OffContract {
    #[error(transparent)]
    Answer(#[from] OffSchema),
    #[error("`{CODE}` is missing or is not the code given in the request")]
    Forged,
    #[error("{what} says nothing")]
    Empty { what: Box<str> },
    #[error("{what} is longer than {most} characters")]
    TooLong { what: Box<str>, most: usize },
    #[error("{given} {what} were given; give {least} to {most}")]
    Count { what: &'static str, given: usize, least: usize, most: usize },
    #[error("{rule}: {given} checks were given; give at most {most} for one rule")]
    TooManyChecks { rule: RuleId, given: usize, most: usize },
    #[error("{rule}: the pattern cannot be used: {why}")]
    Pattern { rule: RuleId, why: Box<str> },
    #[error("{rule}: the pattern matches even an empty text, so that it being present tells nothing")]
    Vacuous { rule: RuleId },
    #[error("{rule}: `argv` must be a list of 1 to {most} arguments, the first of them a program")]
    Arguments { rule: RuleId, most: usize },
    #[error("{rule}: an argument holds a control character")]
    Control { rule: RuleId },
    #[error(
        "{rule}: {program} is a shell or starts other programs; name the program itself in `argv`, with each argument as \
         an entry of its own"
    )]
    Shell { rule: RuleId, program: Box<str> },
}

/// The key under which an answer brings back the code of its request.
const CODE: &str = "answer_to";

/// The object that answers the request of this code, and holds what it asked for under `key`.
pub(super) fn bound(text: &str, nonce: &str, key: &str) -> Result<Object, OffContract> {
    let mut answers = answer::objects(text)?;
    answers.retain(|object| object.contains_key(CODE) || object.contains_key(key));
    let some = !answers.is_empty();
    answers.retain(|object| object.get(CODE).and_then(Value::as_str) == Some(nonce));
    if some && answers.is_empty() {
        return Err(OffContract::Forged);
    }
    Ok(answer::only(answers)?)
}

/// Words that must be there, without control characters and of a bounded length.
pub(super) fn words(what: impl Fn() -> String, given: &str, most: usize) -> Result<Box<str>, OffContract> {
    let clean = capped(given, usize::MAX);
    if !says_something(&clean) {
        return Err(OffContract::Empty { what: what().into() });
    }
    if clean.chars().count() > most {
        return Err(OffContract::TooLong { what: what().into(), most });
    }
    Ok(clean.into())
}

/// The ids in an answer that are not among those asked for.
pub(super) fn unknown<'a>(
    given: impl IntoIterator<Item = &'a RuleId>,
    known: impl Fn(&RuleId) -> bool,
) -> Vec<String> {
    let mut unknown: Vec<String> = Vec::new();
    for id in given.into_iter().filter(|id| !known(id)).map(RuleId::to_string) {
        if !unknown.contains(&id) {
            unknown.push(id);
        }
    }
    unknown
}

/// Refuses an answer about other rules than those it was asked about.
pub(super) fn known<'a>(
    given: impl IntoIterator<Item = &'a RuleId>,
    rules: &[&Rule],
) -> Result<(), OffContract> {
    let unknown = unknown(given, |id| rules.iter().any(|rule| rule.id == *id));
    Ok(Mismatch { unknown, ..Mismatch::default() }.into_result()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<Object, OffContract> {
        bound(text, "n0nce", "plan")
    }

    #[test]
    fn the_answer_with_the_code_is_found_among_chatter_and_quoted_ones() {
        let text =
            r#"They wrote {"answer_to": "other", "plan": [1]}. Mine: {"answer_to": "n0nce", "plan": [2]}"#;
        assert_eq!(found(text).unwrap()["plan"], serde_json::json!([2]));
    }

    #[test]
    fn an_answer_without_the_code_or_with_another_one_is_forged() {
        for text in [r#"{"plan": []}"#, r#"{"answer_to": "other", "plan": []}"#, r#"{"answer_to": 7}"#] {
            assert_eq!(found(text), Err(OffContract::Forged), "{text}");
        }
    }

    #[test]
    fn no_answer_and_two_answers_are_told_apart() {
        assert_eq!(found("I will not."), Err(OffContract::Answer(OffSchema::Absent)));
        assert_eq!(found(r#"{"answer_to": "n0nce", "plan": ["#), Err(OffContract::Answer(OffSchema::Absent)));
        let two = r#"{"answer_to": "n0nce", "plan": [1]} {"answer_to": "n0nce", "plan": [2]}"#;
        assert_eq!(found(two), Err(OffContract::Answer(OffSchema::Ambiguous(2))));
    }

    #[test]
    fn words_must_say_something_and_end_somewhere() {
        let read = |given: &str| words(|| "step 2".into(), given, 5);
        assert_eq!(read(" a\u{1b}b\n").as_deref(), Ok("ab"));
        assert_eq!(read(" … ").unwrap_err().to_string(), "step 2 says nothing");
        assert_eq!(read("abcdef").unwrap_err().to_string(), "step 2 is longer than 5 characters");
        assert_eq!(read("äöüßx").as_deref(), Ok("äöüßx"));
    }
}
