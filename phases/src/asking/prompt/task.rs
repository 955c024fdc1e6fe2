//! The executor's prompt for an installed skill, which it does not mention. It has only the task, as a user would type
//! it, and a member of a chain gets its position.
//!
//! The skill's description then decides whether it is used, as it does for its users. Only a call by name names it.

use std::fmt::Write as _;

use serde::Serialize;

use super::fence::plain;
use crate::suites::scenario::Scenario;

#[derive(Clone, Copy, Debug)]
pub struct TaskBrief<'a> {
    /// The skill to call by its name, with the scenario's arguments.
    pub call: Option<&'a str>,
    pub scenario: &'a Scenario,
    /// The path of the output of the member before it.
    pub input: Option<&'a str>,
    /// The member's number and the number of members, from 1; `(1, 1)` for a single skill.
    pub position: (usize, usize),
}

pub(super) fn values(brief: &TaskBrief<'_>) -> Values {
    let (member, of) = brief.position;
    Values {
        call: brief.call.map(|name| called(name, &brief.scenario.input_args)),
        task: asked(brief.scenario),
        input: brief.input.map(plain),
        member,
        of,
    }
}

/// Returns the call. It is one line, so the arguments are joined; the task has them in full.
fn called(name: &str, arguments: &str) -> String {
    let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
    if arguments.is_empty() {
        format!("/{}", plain(name))
    } else {
        format!("/{} {}", plain(name), plain(&arguments))
    }
}

/// Returns the task without its success criteria, which only the judge sees.
fn asked(scenario: &Scenario) -> String {
    let mut text = scenario.description.trim().to_owned();
    if !scenario.input_args.trim().is_empty() {
        write!(text, "\n\nArguments: {}", scenario.input_args.trim()).expect("a string can always grow");
    }
    if !scenario.requirements.is_empty() {
        text.push_str("\n\nRequirements:");
        for requirement in &scenario.requirements {
            write!(text, "\n- {requirement}").expect("a string can always grow");
        }
    }
    text
}

#[derive(Serialize)]
pub(super) struct Values {
    call: Option<String>,
    task: String,
    input: Option<String>,
    member: usize,
    of: usize,
}
