//! The questions that an agent asks before it drafts a specification, and a person's answers.

use std::iter;

use serde::{Deserialize, Serialize};

use super::{Answer, Run, Step};
use crate::base::answer::{OffSchema, coded, entries, required_words};
use crate::runs::run::StepState;

const MOST: usize = 7;
const LONGEST: usize = 400;
const KEY: &str = "questions";
/// What an agent reads instead of an empty answer.
const OPEN: &str = "(no answer: decide it yourself, and state it as an assumption)";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inquiry {
    pub question: Box<str>,
    /// What its answer changes.
    pub why: Box<str>,
}

pub(super) fn read(answer: &str, code: &str) -> Result<Vec<Inquiry>, OffSchema> {
    coded(answer, code, KEY, |mut object| {
        let given: Vec<Inquiry> = entries(&mut object, KEY)?;
        if given.len() > MOST {
            return Err(OffSchema::Count { what: KEY, given: given.len(), least: 0, most: MOST });
        }
        let words = |text: &str| required_words(|| "a question or its reason".to_owned(), text, LONGEST);
        given
            .iter()
            .map(|one| Ok(Inquiry { question: words(&one.question)?, why: words(&one.why)? }))
            .collect()
    })
}

impl Run {
    /// Returns the agent's questions.
    pub fn questions(&self) -> &[Inquiry] {
        match self.state_of(&Step::Inquire) {
            StepState::Answered(Answer::Inquired(all)) => all.as_slice(),
            _ => &[],
        }
    }

    /// Returns the questions with the person's answers, as a text.
    pub fn replies(&self) -> Option<String> {
        let StepState::Answered(Answer::Replied(replies)) = self.state_of(&Step::Reply) else { return None };
        let replies = replies.iter().map(|reply| &**reply).chain(iter::repeat(""));
        let pairs = self.questions().iter().zip(replies).map(|(Inquiry { question, .. }, reply)| {
            format!("Question: {question}\nAnswer: {}", if reply.is_empty() { OPEN } else { reply })
        });
        Some(pairs.collect::<Vec<_>>().join("\n\n"))
    }

    /// Returns the step that comes before the draft. It goes on without questions if the agent has none, or gives no
    /// readable ones.
    pub(super) fn before(&self) -> Option<Step> {
        if !self.plan.task.basis().is_some_and(|basis| basis.asks) {
            return None;
        }
        if matches!(self.state_of(&Step::Inquire), StepState::Open) {
            return Some(Step::Inquire);
        }
        let waits = !self.questions().is_empty() && matches!(self.state_of(&Step::Reply), StepState::Open);
        waits.then_some(Step::Reply)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_all(count: usize, question: &str) -> Result<usize, String> {
        let questions = vec![json!({ "question": question, "why": "It changes the units." }); count];
        let answer = json!({ "answer_to": "c0de", "questions": questions }).to_string();
        read(&answer, "c0de").map(|all| all.len()).map_err(|why| why.to_string())
    }

    #[test]
    fn none_to_seven_questions_are_read_and_no_more() {
        assert_eq!(read_all(0, ""), Ok(0));
        assert_eq!(read_all(7, "Which units?"), Ok(7));
        assert_eq!(read_all(8, "Which units?"), Err("8 questions were given; give 0 to 7".to_owned()));
        assert!(read_all(1, " - ").unwrap_err().contains("says nothing"));
        assert!(read_all(1, &"x".repeat(401)).unwrap_err().contains("longer than 400"));
        assert!(read("{\"questions\": []}", "c0de").is_err(), "the code is missing");
    }
}
