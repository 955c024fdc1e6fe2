//! What is wrong with a check, in words for whoever wrote it: looked at before a run begins.

use super::pattern::{Anchors, Pattern};
use super::schema::Schema;
use super::{Check, Comparison, Text, Times, Tool, glob, json};

const MOST_ARGUMENTS: usize = 64;
/// In characters.
const LONGEST_ARGUMENT: usize = 4000;
const LONGEST_NAME: usize = 200;
const MOST_GLOBS: usize = 100;

/// None if the check can be used.
pub fn fault(check: &Check) -> Option<String> {
    match check {
        Check::Command { argv, exit, .. } => command(argv, *exit),
        Check::Pattern { pattern: text, of, times: often } => {
            let place = || match of {
                Text::Answer | Text::Transcript => None,
                Text::Files(path) => glob::fault(path),
            };
            pattern(text, *often).or_else(place)
        }
        Check::File { path, times: often } => glob::fault(path).or_else(|| times(*often)),
        Check::Schema { path, schema } => glob::path_fault(path).or_else(|| Schema::read(schema).err()),
        Check::Json { path, pointer, is } => {
            glob::path_fault(path).or_else(|| json::pointer_fault(pointer)).or_else(|| comparison(is))
        }
        Check::Touches { only } if only.len() > MOST_GLOBS => Some(format!("more than {MOST_GLOBS} paths")),
        Check::Touches { only } => only.iter().find_map(|path| glob::fault(path)),
        Check::Skill { .. } => None,
        Check::Tool { call, times: often } => tool(call).or_else(|| times(*often)),
        Check::ToolOrder { before, after } => tool(before).or_else(|| tool(after)),
        Check::AtMost { most: 0, .. } => Some("every trial takes more than 0".to_owned()),
        Check::AtMost { .. } => None,
    }
}

fn command(argv: &[String], exit: i32) -> Option<String> {
    let program = argv.first().map(String::as_str).unwrap_or_default();
    // These two are what a list of arguments could hide from whoever reads it.
    let is_odd = |sign: char| sign.is_control() && !matches!(sign, '\n' | '\t');
    if program.trim().is_empty() || argv.len() > MOST_ARGUMENTS {
        let why =
            format!("a command is a list of 1 to {MOST_ARGUMENTS} arguments, the first of them a program");
        return Some(why);
    }
    if argv.iter().any(|argument| argument.chars().count() > LONGEST_ARGUMENT) {
        return Some(format!("an argument is longer than {LONGEST_ARGUMENT} characters"));
    }
    if argv.iter().any(|argument| argument.contains(is_odd)) {
        return Some("an argument holds a control character".to_owned());
    }
    (!(0..=255).contains(&exit)).then(|| "an exit code is a number from 0 to 255".to_owned())
}

fn pattern(text: &str, often: Times) -> Option<String> {
    let pattern = match Pattern::compile(text, Anchors::Lines) {
        Ok(pattern) => pattern,
        Err(why) => return Some(why),
    };
    if often.min > 0 && pattern.matches_nothing_at_all() {
        let why = "the pattern matches even an empty text, so that it being present tells nothing";
        return Some(why.to_owned());
    }
    times(often)
}

fn times(often: Times) -> Option<String> {
    match often {
        Times { min: 0, max: None } => Some("any number is right, which tells nothing".to_owned()),
        Times { min, max: Some(max) } if min > max => {
            Some(format!("no number is at least {min} and at most {max}"))
        }
        Times { .. } => None,
    }
}

fn comparison(is: &Comparison) -> Option<String> {
    match is {
        Comparison::Equals(value) if json::is_too_deep(value) => {
            Some("the value to compare with is nested too deeply".to_owned())
        }
        Comparison::Equals(_) | Comparison::AtLeast(_) | Comparison::AtMost(_) => None,
    }
}

fn tool(tool: &Tool) -> Option<String> {
    if tool.name.trim().is_empty() || tool.name.chars().count() > LONGEST_NAME {
        return Some(format!("the name of a tool must have 1 to {LONGEST_NAME} characters"));
    }
    if tool.name.contains(char::is_control) {
        return Some("the name of a tool holds a control character".to_owned());
    }
    let input = Pattern::compile(tool.input.as_deref()?, Anchors::Lines);
    match input {
        Err(why) => Some(why),
        Ok(pattern) if pattern.matches_nothing_at_all() => {
            Some("the pattern for the tool's input matches even an empty text".to_owned())
        }
        Ok(_) => None,
    }
}
