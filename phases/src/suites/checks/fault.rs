//! Finds faults in a check before a run begins, worded for its author.

use super::pattern::{Anchors, Pattern};
use super::schema::Schema;
use super::{Check, Comparison, Text, Times, Tool, glob, json};

const MOST_ARGUMENTS: usize = 64;
/// The limit of one argument, in characters.
const LONGEST_ARGUMENT: usize = 4000;
const LONGEST_NAME: usize = 200;
const MOST_GLOBS: usize = 100;

/// Returns the fault of a check, or None if the check can be used.
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
        Check::Tool { call, times: often } => tool(call).or_else(|| times(*often)),
        Check::ToolOrder { before, after } => tool(before).or_else(|| tool(after)),
        Check::AtMost { most: 0, .. } => Some("every trial takes more than 0".to_owned()),
        Check::AtMost { .. } | Check::Skill { .. } => None,
    }
}

fn command(argv: &[String], exit: i32) -> Option<String> {
    let program = argv.first().map(String::as_str).unwrap_or_default();
    // A list of arguments could hide these two from its reader.
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
        return Some("an argument contains a control character".to_owned());
    }
    (!(0..=255).contains(&exit)).then(|| "an exit code is a number from 0 to 255".to_owned())
}

fn pattern(text: &str, often: Times) -> Option<String> {
    let pattern = match Pattern::compile(text, Anchors::Lines) {
        Ok(pattern) => pattern,
        Err(why) => return Some(why),
    };
    if often.min > 0 && pattern.matches_nothing_at_all() {
        let why = "the pattern matches even an empty text, so the check proves nothing";
        return Some(why.to_owned());
    }
    times(often)
}

fn times(often: Times) -> Option<String> {
    match often {
        Times { min: 0, max: None } => Some("any number is allowed, so the check proves nothing".to_owned()),
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
        return Some("the name of a tool contains a control character".to_owned());
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::suites::checks::Cost;

    const ONCE: Times = Times::ONCE_OR_MORE;

    fn run(argv: &[&str], exit: i32) -> Option<String> {
        let argv = argv.iter().map(|&argument| argument.to_owned()).collect();
        fault(&Check::Command { argv, exit, expected: "".into(), grader: None })
    }

    fn search(text: &str, times: Times) -> Option<String> {
        fault(&Check::Pattern { pattern: text.into(), of: Text::Answer, times })
    }

    fn call(name: &str, input: Option<&str>) -> Tool {
        Tool { name: name.into(), input: input.map(Into::into) }
    }

    #[test]
    fn a_command_is_a_bounded_list_of_plain_arguments() {
        let no_list = "a command is a list of 1 to 64 arguments, the first of them a program";
        for argv in [&[][..], &[""], &[" "], &["x"; 65]] {
            assert_eq!(run(argv, 0).as_deref(), Some(no_list), "{argv:?}");
        }
        assert_eq!(run(&["a", "b\u{0}"], 0).unwrap(), "an argument contains a control character");
        assert_eq!(run(&["a\u{1b}"], 0).unwrap(), "an argument contains a control character");
        assert!(run(&["a", &"x".repeat(4001)], 0).unwrap().contains("longer than 4000"));
        assert_eq!(run(&["a"], 256).unwrap(), "an exit code is a number from 0 to 255");
        assert!(run(&["a"], -1).is_some());
        assert_eq!(run(&["sh", "-c", "a\n\tb", ""], 255), None);
    }

    #[test]
    fn a_pattern_that_tells_nothing_is_faulty() {
        assert_eq!(search("", ONCE).unwrap(), "the pattern is empty");
        assert_eq!(search("(a", ONCE).unwrap(), "the pattern cannot be used: unclosed group");
        assert!(search("a*", ONCE).unwrap().contains("matches even an empty text"));
        assert_eq!(search(r"\A\s*\z", Times::NEVER), None);
        let outside = Check::Pattern { pattern: "a".into(), of: Text::Files("../a".into()), times: ONCE };
        assert!(fault(&outside).unwrap().contains("is outside the workspace"));
    }

    #[test]
    fn a_number_that_is_always_or_never_right_is_faulty() {
        let (any, none) = (Times { min: 0, max: None }, Times { min: 2, max: Some(1) });
        let tool = |times| fault(&Check::Tool { call: call("Bash", None), times });
        let file = |times| fault(&Check::File { path: "*".into(), times });
        for fault in [search("a", any), tool(any), file(any)] {
            assert_eq!(fault.unwrap(), "any number is allowed, so the check proves nothing");
        }
        for fault in [search("a", none), tool(none), file(none)] {
            assert_eq!(fault.unwrap(), "no number is at least 2 and at most 1");
        }
        for times in [ONCE, Times::NEVER, Times { min: 1, max: Some(1) }] {
            assert_eq!([search("a", times), tool(times), file(times)], [None, None, None]);
        }
        assert!(fault(&Check::AtMost { of: Cost::Turns, most: 0 }).is_some());
        assert_eq!(fault(&Check::AtMost { of: Cost::Turns, most: 1 }), None);
    }

    #[test]
    fn a_tool_has_a_name_and_its_input_a_pattern_that_tells_something() {
        let order = |tool| fault(&Check::ToolOrder { before: call("Read", None), after: tool });
        for (name, input) in [
            ("", None),
            (" ", None),
            ("a\nb", None),
            (&*"x".repeat(201), None),
            ("Bash", Some("(")),
            ("Bash", Some("")),
            ("Bash", Some(".*")),
        ] {
            assert!(order(call(name, input)).is_some(), "{name} {input:?}");
        }
        assert_eq!(order(call("mcp__a b", Some("rm -rf"))), None);
    }

    #[test]
    fn a_place_in_a_json_file_is_a_pointer_and_a_value_is_no_abyss() {
        let json = |pointer: &str, is| fault(&Check::Json { path: "a".into(), pointer: pointer.into(), is });
        let one = || Comparison::Equals(json!(1));
        for pointer in ["a", "a/b", "/~", "/~2", "#/a", &*format!("/{}", "a".repeat(1000))] {
            assert!(json(pointer, one()).is_some(), "{pointer}");
        }
        for pointer in ["", "/", "/a/0/~0~1"] {
            assert_eq!(json(pointer, one()), None, "{pointer}");
        }
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(
            json("", Comparison::Equals(deep)).unwrap(),
            "the value to compare with is nested too deeply"
        );
    }

    #[test]
    fn files_that_may_be_touched_are_a_bounded_list() {
        let touches = |only: Vec<crate::suites::checks::Glob>| fault(&Check::Touches { only });
        assert_eq!(touches(Vec::new()), None);
        assert_eq!(touches(vec!["a/**".into(); 100]), None);
        assert!(touches(vec!["a".into(); 101]).is_some());
        assert!(touches(vec!["a".into(), "/b".into()]).is_some());
    }
}
