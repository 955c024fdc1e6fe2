use serde_json::json;

use super::*;
use crate::suites::checks::{Bytes, Cost, Tool, Usage};
use crate::suites::transcript::Transcript;

/// The files of a scenario, by name and content.
struct Start(Vec<(&'static str, &'static str)>);

impl Facts for Start {
    fn files(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }

    fn bytes(&self, path: &str, _: u64) -> Bytes {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found.map_or(Bytes::Missing, |(_, text)| Bytes::Whole(text.as_bytes().to_vec()))
    }

    fn touched(&self) -> Vec<&str> {
        Vec::new()
    }

    fn answer(&self) -> Option<&str> {
        Some("")
    }

    fn transcript(&self) -> Option<&Transcript> {
        None
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }
}

impl Untouched for Start {
    fn brought(&self) -> String {
        self.files().join(" ")
    }
}

fn scenario(id: &str, task: &str, hows: Vec<How>) -> Scenario {
    let demand = |(number, how)| Demand::new(format!("d{number}").parse().unwrap(), how);
    let demands = (1..).zip(hows).map(demand).collect();
    Scenario { demands, ..Scenario::new(id.parse().unwrap(), task) }
}

fn question(text: &str) -> How {
    How::Question { text: text.into() }
}

fn found(scenarios: &[Scenario], files: &[(&'static str, &'static str)]) -> Vec<(String, &'static str)> {
    let found = vacuous(scenarios, |_| Start(files.to_vec()));
    let place = |one: &Vacuous| match &one.demand {
        Some(demand) => format!("{}/{demand}", one.scenario),
        None => one.scenario.to_string(),
    };
    found.iter().map(|one| (place(one), one.why.id())).collect()
}

/// Returns what is found for a scenario with this one check, among checks that show something.
fn of_check(check: Check) -> Option<&'static str> {
    let one = scenario(
        "a",
        "Write the word Heading into report.md",
        vec![How::Check(check), question("It is good")],
    );
    let files = [("report.md", "a Total"), ("out.json", "{\"n\": 3}")];
    found(&[one], &files).first().map(|(_, why)| *why)
}

#[test]
fn the_same_task_twice_is_told_once_and_not_with_other_files() {
    let one = |id: &str, task: &str| scenario(id, task, vec![question("It is good")]);
    let tasks = [one("a", "Write  a haiku"), one("b", "write a\nHaiku "), one("c", "Write a limerick")];
    assert_eq!(found(&tasks, &[]), [("b".to_owned(), "duplicate")]);
    let files = |scenario: &Scenario| Start(vec![(if scenario.id == "a" { "x" } else { "y" }, "")]);
    assert_eq!(vacuous(&tasks, files), []);
}

#[test]
fn a_task_that_says_the_answer_is_told() {
    let mut one =
        scenario("a", "Sum 2 and 3: say five hundred", vec![question("It says \"five hundred\" and `x`")]);
    one.expected = Some("Five  hundred".into());
    let both = [("a".to_owned(), "names-answer"), ("a/d1".to_owned(), "names-answer")];
    assert_eq!(found(std::slice::from_ref(&one), &[]), both);
    one.description = "Sum 2 and 3".to_owned();
    assert_eq!(found(&[one], &[]), []);
}

#[test]
fn a_word_inside_a_command_is_no_answer() {
    let finds = |task: &str, statement: &str| {
        let one = scenario("a", task, vec![question(statement), question("It is good")]);
        found(&[one], &[]).len()
    };
    let statement = "package.json has a script \"build\"";
    for task in [
        "Make `npm run build` work",
        "Make this work:\n```bash\nnpm run build\n```",
        "Make this work:\n$ npm run build",
    ] {
        assert_eq!(finds(task, statement), 0, "{task}");
    }
    for task in [
        "Add the script build",
        "Add the script `build`",
        "It`s the build that fails",
        "Fix this:\n```\nthe build\n```",
        "$ 5 for the build",
    ] {
        assert_eq!(finds(task, statement), 1, "{task}");
    }
    // The command itself is an answer, and a key within a command of the statement is none of its own.
    assert_eq!(finds("Say how: `npm run build`", "It says `npm run build`"), 1);
    assert_eq!(finds("Send the title", "It runs `curl -d '{\"title\": 1}'`"), 0);
    assert_eq!(finds("Send the title", "It sends a \"title\""), 1);
}

#[test]
fn a_demand_that_every_or_no_result_meets_is_told() {
    let pattern = |pattern: &str, of, times| Check::Pattern { pattern: pattern.into(), of, times };
    let report = || Text::Files("report.md".into());
    let (once, never) = (Times::ONCE_OR_MORE, Times::NEVER);
    let json = |n: i64| Check::Json {
        path: "out.json".into(),
        pointer: "/n".into(),
        is: crate::suites::checks::Comparison::Equals(json!(n)),
    };
    for (check, why) in [
        (pattern("(?i)heading", Text::Answer, once), Some("names-answer")),
        (pattern("Head.*", Text::Answer, once), None),
        (pattern("Total", report(), once), Some("met-at-start")),
        (pattern("Sum", report(), once), None),
        (pattern("x*", Text::Answer, never), Some("never-met")),
        (pattern("x+", Text::Answer, never), None),
        (Check::File { path: "*.md".into(), times: once }, Some("met-at-start")),
        (Check::File { path: "*.txt".into(), times: once }, None),
        (Check::File { path: "*.md".into(), times: never }, None),
        (json(3), Some("met-at-start")),
        (json(4), None),
        (Check::Schema { path: "out.json".into(), schema: json!({"type": "object"}) }, Some("met-at-start")),
        (Check::Touches { only: vec!["**".into()] }, Some("always-met")),
        (Check::Touches { only: vec!["a".into()] }, None),
        (Check::Skill { used: true }, None),
        (Check::Tool { call: Tool { name: "Bash".into(), input: None }, times: never }, None),
    ] {
        assert_eq!(of_check(check.clone()), why, "{check:?}");
    }
}

#[test]
fn a_scenario_that_asks_nothing_or_only_for_nothing_is_told() {
    let never = || How::Check(Check::File { path: "x".into(), times: Times::NEVER });
    let cheap = How::Check(Check::AtMost { of: Cost::Turns, most: 3 });
    let unused = How::Check(Check::Skill { used: false });
    let mut required = scenario("d", "four", vec![]);
    required.requirements = vec!["short".to_owned()];
    let scenarios = [
        scenario("a", "one", vec![]),
        scenario("b", "two", vec![never(), cheap]),
        scenario("c", "three", vec![unused]),
        required,
        scenario("e", "five", vec![never(), question("It is good")]),
    ];
    assert_eq!(found(&scenarios, &[]), [("a".to_owned(), "no-demand"), ("b".to_owned(), "met-by-nothing")]);
}

#[test]
fn quotations_and_literals_are_found() {
    assert_eq!(quoted("a \"b\" c \"d\" `e` “f”").collect::<Vec<_>>(), ["b", "d", "e", "f"]);
    assert_eq!(quoted("`a \"b\"` \"c `d\" \"e").collect::<Vec<_>>(), ["a \"b\"", "c `d"]);
    assert_eq!(literal(r"(?i)a\.b").as_deref(), Some("a.b"));
    for pattern in [r"\d", "a|b", "(?P<n>a)", "a.b"] {
        assert_eq!(literal(pattern), None, "{pattern}");
    }
}
