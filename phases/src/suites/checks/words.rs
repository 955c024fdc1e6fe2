//! The text of a check for people.

use std::fmt;

use super::{Check, Comparison, Cost, Text, Times, Tool};

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { argv, exit: 0, .. } => write!(f, "{} succeeds", words(argv)),
            Self::Command { argv, exit, .. } => write!(f, "{} ends with exit code {exit}", words(argv)),
            Self::Pattern { pattern, of, times: Times::NEVER } => write!(f, "\"{pattern}\" is not in {of}"),
            Self::Pattern { pattern, of, times } => write!(f, "\"{pattern}\" occurs {times} in {of}"),
            Self::File { path, times: Times::NEVER } => write!(f, "no {path} exists"),
            Self::File { path, times: Times::ONCE_OR_MORE } => write!(f, "{path} exists"),
            Self::File { path, times } => write!(f, "{path} occurs {times}"),
            Self::Schema { path, .. } => write!(f, "{path} matches its schema"),
            Self::Json { path, pointer, is } => {
                let pointer = if pointer.is_empty() { "the value" } else { pointer };
                write!(f, "{pointer} in {path} is {is}")
            }
            Self::Touches { only } if only.is_empty() => {
                f.write_str("no file is created, changed or removed")
            }
            Self::Touches { only } => {
                write!(f, "only {} is created, changed or removed", only.join(", "))
            }
            Self::Skill { used: true } => f.write_str("the skill is used"),
            Self::Skill { used: false } => f.write_str("the skill is not used"),
            Self::Tool { call, times: Times::NEVER } => write!(f, "{call} is never called"),
            Self::Tool { call, times } => write!(f, "{call} is called {times}"),
            Self::ToolOrder { before, after } => write!(f, "{before} is called before {after}"),
            Self::AtMost { of, most } => write!(f, "it takes at most {most} {of}"),
        }
    }
}

/// Quotes each argument that is not a plain word, so that its end is visible.
fn words(argv: &[String]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./={},:@%+*".contains(c);
    let word = |word: &String| {
        if !word.is_empty() && word.chars().all(is_plain) { word.clone() } else { format!("\"{word}\"") }
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NEVER => f.write_str("never"),
            Self::ONCE_OR_MORE => f.write_str("at least once"),
            Self { min, max: Some(max) } if min == max => write!(f, "{} exactly", times(min)),
            Self { min: 0, max: Some(max) } => write!(f, "at most {}", times(max)),
            Self { min, max: Some(max) } => write!(f, "{min} to {}", times(max)),
            Self { min, max: None } => write!(f, "at least {}", times(min)),
        }
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer => f.write_str("the agent's last message"),
            Self::Transcript => f.write_str("the agent's transcript"),
            Self::Files(path) => f.write_str(path),
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.input {
            None => f.write_str(&self.name),
            Some(input) => write!(f, "{} with \"{input}\"", self.name),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equals(value) => write!(f, "{value}"),
            Self::AtLeast(number) => write!(f, "at least {number}"),
            Self::AtMost(number) => write!(f, "at most {number}"),
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tokens => "tokens",
            Self::Seconds => "seconds",
            Self::Turns => "turns",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn phrase(check: serde_json::Value) -> String {
        serde_json::from_value::<Check>(check).unwrap().to_string()
    }

    #[test]
    fn every_check_is_one_plain_phrase() {
        let once = json!({ "min": 1 });
        let bash = json!({ "name": "Bash", "input": "make" });
        let checks = [
            json!({ "command": { "argv": ["sh", "{grader}/x.sh"] } }),
            json!({ "command": { "argv": ["sh", "-c", "exit $1", "", "2"], "exit": 2 } }),
            json!({ "pattern": { "pattern": "a+", "of": "answer", "times": once } }),
            json!({ "pattern": { "pattern": "a+", "of": { "files": "*.md" }, "times": { "min": 0, "max": 0 } } }),
            json!({ "file": { "path": "out.md", "times": once } }),
            json!({ "file": { "path": "*.tmp", "times": { "min": 0, "max": 0 } } }),
            json!({ "file": { "path": "*.png", "times": { "min": 2, "max": 3 } } }),
            json!({ "schema": { "path": "o.json", "schema": {} } }),
            json!({ "json": { "path": "o.json", "pointer": "/n", "is": { "at_least": 2 } } }),
            json!({ "touches": { "only": ["a", "b/**"] } }),
            json!({ "skill": { "used": false } }),
            json!({ "tool": { "call": bash, "times": { "min": 0, "max": 2 } } }),
            json!({ "tool_order": { "before": { "name": "Read" }, "after": bash } }),
            json!({ "at_most": { "of": "turns", "most": 9 } }),
        ];
        insta::assert_snapshot!(checks.map(phrase).join("\n"), @r#"
        sh {grader}/x.sh succeeds
        sh -c "exit $1" "" 2 ends with exit code 2
        "a+" occurs at least once in the agent's last message
        "a+" is not in *.md
        out.md exists
        no *.tmp exists
        *.png occurs 2 to 3 times
        o.json matches its schema
        /n in o.json is at least 2
        only a, b/** is created, changed or removed
        the skill is not used
        Bash with "make" is called at most 2 times
        Read is called before Bash with "make"
        it takes at most 9 turns
        "#);
    }
}
