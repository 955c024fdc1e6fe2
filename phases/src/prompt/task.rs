//! What the executor is told of a skill that is installed for it: nothing. The task is there, alone, as a user would type it,
//! and a member of a chain is told its place.
//!
//! Whether the skill is used is then up to its description, as it is with its users. Only a call by name names it.

use std::fmt::Write as _;

use serde::Serialize;

use super::fence::plain;
use crate::scenario::Scenario;

#[derive(Clone, Copy, Debug)]
pub struct TaskBrief<'a> {
    /// The skill to call by its name, with the scenario's arguments.
    pub call: Option<&'a str>,
    pub scenario: &'a Scenario,
    /// Where what the member before it produced stands.
    pub input: Option<&'a str>,
    /// Which member of how many, from 1; `(1, 1)` for a single skill.
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

/// Arguments go on the line of the name, which therefore stays one; they are in the task in full.
fn called(name: &str, arguments: &str) -> String {
    let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
    if arguments.is_empty() {
        format!("/{}", plain(name))
    } else {
        format!("/{} {}", plain(name), plain(&arguments))
    }
}

/// When the result counts as good is the judge's to know.
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
