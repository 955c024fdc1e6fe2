//! Reads the scenarios that an agent has drafted for a skill.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::base::answer::{self, OffSchema};
use crate::suites::transcript::one_line;

/// One scenario as an agent wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drafted {
    /// The agent's own name for it.
    pub id: String,
    pub task: Box<str>,
    pub expectations: Vec<Box<str>>,
}

pub const MOST_EXPECTATIONS: usize = 4;

const LONGEST_TASK: usize = 4_000;
const LONGEST_EXPECTATION: usize = 400;
const LONGEST_ID: usize = 60;

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    id: String,
    task: String,
    expectations: Vec<String>,
}

/// Reads 1 to `most` scenarios. Fails if two have the same task.
pub fn read(text: &str, nonce: &str, most: usize) -> Result<Vec<Drafted>, OffSchema> {
    answer::coded(text, nonce, "scenarios", |mut answer| {
        let entries = answer::entries::<Entry>(&mut answer, "scenarios")?;
        let given = entries.len();
        if !(1..=most).contains(&given) {
            return Err(OffSchema::Count { what: "scenarios", given, least: 1, most });
        }
        let drafted = entries.iter().zip(1..).map(|(entry, number)| entry.drafted(number));
        let drafted = drafted.collect::<Result<Vec<_>, _>>()?;
        let tasks: BTreeSet<&str> = drafted.iter().map(|one| &*one.task).collect();
        if tasks.len() < drafted.len() {
            return Err(answer::shape("two scenarios have the same task"));
        }
        Ok(drafted)
    })
}

impl Entry {
    fn drafted(&self, number: usize) -> Result<Drafted, OffSchema> {
        let task =
            answer::required_words(|| format!("the task of scenario {number}"), &self.task, LONGEST_TASK)?;
        let given = self.expectations.len();
        if !(1..=MOST_EXPECTATIONS).contains(&given) {
            let most = MOST_EXPECTATIONS;
            return Err(OffSchema::Count { what: "expectations of one scenario", given, least: 1, most });
        }
        let expectation = |text: &String| {
            let what = || format!("an expectation of scenario {number}");
            answer::required_words(what, &one_line(text, usize::MAX), LONGEST_EXPECTATION)
        };
        let expectations = self.expectations.iter().map(expectation).collect::<Result<_, _>>()?;
        Ok(Drafted { id: one_line(&self.id, LONGEST_ID), task, expectations })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read_drafts(scenarios: &Value) -> Result<Vec<Drafted>, String> {
        let answer = json!({ "answer_to": "c0de", "scenarios": scenarios }).to_string();
        read(&answer, "c0de", 3).map_err(|error| error.to_string())
    }

    fn one(task: &str) -> Value {
        json!({ "id": "one", "task": task, "expectations": ["It is so.\nAnd so."] })
    }

    #[test]
    fn drafts_are_read_within_bounds() {
        let read = read_drafts(&json!([one("Write \u{1b}[31mit\n"), one("Write more")])).unwrap();
        assert_eq!((&*read[0].task, &*read[0].expectations[0]), ("Write [31mit", "It is so. And so."));
        for (scenarios, error) in [
            (json!([]), "0 scenarios were given; give 1 to 3"),
            (json!(vec![one("x1"); 10_000]), "10000 scenarios were given; give 1 to 3"),
            (json!([one(" \u{1b} ")]), "the task of scenario 1 says nothing"),
            (json!([one("a"), one("a ")]), "two scenarios have the same task"),
            (json!([one(&"x".repeat(4_001))]), "the task of scenario 1 is longer than 4000 characters"),
            (
                json!([{ "task": "a", "expectations": [] }]),
                "0 expectations of one scenario were given; give 1 to 4",
            ),
            (json!([{ "task": "a", "expectations": ["..."] }]), "an expectation of scenario 1 says nothing"),
        ] {
            assert_eq!(read_drafts(&scenarios).unwrap_err(), error);
        }
        assert!(read_drafts(&json!([{ "task": "a" }])).unwrap_err().contains("expectations"));
        let forged = json!({ "answer_to": "guess", "scenarios": [one("a")] }).to_string();
        assert_eq!(read_code(&forged), "`answer_to` is missing or is not the code given in the request");
    }

    fn read_code(text: &str) -> String {
        read(text, "c0de", 3).unwrap_err().to_string()
    }
}
