use super::*;
use crate::suites::checks::{Check, Text, Times};
use crate::suites::demand::Demand;

fn scenario(id: &str, task: &str, statements: &[&str]) -> Scenario {
    let demands = statements.iter().zip(1..).map(|(text, number)| {
        let id = format!("expectation-{number}").parse().unwrap();
        Demand::new(id, How::Question { text: (*text).into() })
    });
    Scenario { demands: demands.collect(), ..Scenario::new(id.parse().unwrap(), task) }
}

fn suite() -> Vec<Scenario> {
    vec![
        scenario("pumps", "Tell which pumps run", &["The page names the port of each pump in metres."]),
        scenario(
            "valves",
            "List every valve of the northern line, please",
            &["Seven valves are shut after the flood."],
        ),
        scenario("tanks", "Say how full each tank is", &["A table has a row for every tank on the hill."]),
    ]
}

const KEY: &str = "\
## Tell which pumps run\n\nGood: the page names the port of each pump.\n\n\
## List every valve of the northern line\n\nGood: seven valves are shut after the flood.\n";

fn found(text: &str) -> Option<(Vec<String>, usize)> {
    found_in(&suite(), "notes.md", text)
}

fn found_in(suite: &[Scenario], path: &str, text: &str) -> Option<(Vec<String>, usize)> {
    let held = AnswerKeys::new(suite, "").held(path, text).filter(|held| held.is_key)?;
    Some((held.scenarios.iter().map(ToString::to_string).collect(), held.line))
}

#[test]
fn tasks_of_two_scenarios_with_their_answers_are_a_key() {
    assert_eq!(found(KEY), Some((vec!["pumps".into(), "valves".into()], 1)));
    let one = KEY.split("## List").next().unwrap();
    assert_eq!(found(one), None, "one answer of three may be an example");
    assert_eq!(found_in(&suite()[..2], "notes.md", one).unwrap().0, ["pumps"]);
    let held = AnswerKeys::new(&suite(), "").held("a", one).unwrap();
    assert_eq!((held.scenarios, held.is_key), (vec!["pumps".parse().unwrap()], false));
}

#[test]
fn tasks_alone_and_expectations_alone_are_no_key() {
    assert_eq!(found("Tell which pumps run. List every valve of the northern line, please."), None);
    assert_eq!(found("The page names the port of each pump in metres."), None);
    let short = scenario("short", "Write it", &["The page names the port of each pump in metres."]);
    assert_eq!(found_in(&[short], "a.md", "Write it: the page names the port of each pump in metres."), None);
    let of_others = "Tell which pumps run: seven valves are shut after the flood.\n\
        Say how full each tank is: the page names the port of each pump.";
    assert_eq!(found(of_others), None, "a task with the answer of another one");
}

#[test]
fn what_the_skill_or_the_task_says_itself_is_no_secret() {
    let shown = "Always: the page names the port of each pump in metres.";
    assert_eq!(AnswerKeys::new(&suite(), shown).held("a.md", KEY).map(|held| held.is_key), Some(false));
    let answered_in_task =
        scenario("told", "Say that seven pumps run by the old mill", &["Seven pumps run by the old mill."]);
    assert_eq!(found_in(&[answered_in_task], "a.md", "Say that seven pumps run by the old mill"), None);
}

#[test]
fn data_whose_entries_have_the_tasks_and_more_is_a_key_however_short_the_answers_are() {
    let entries = |rest: &str| {
        format!(
            r#"{{"cases": [{{"id": 1, "input": "Tell which pumps run"{rest}}},
            {{"id": 2, "input": "Say how\nfull each tank is."{rest}}}]}}"#
        )
    };
    let answered = Some(vec!["pumps".to_owned(), "tanks".to_owned()]);
    let names = |path, text: &str| found_in(&suite(), path, text).map(|(names, _)| names);
    assert_eq!(names("a.json", &entries(r#", "expect": ["port"]"#)), answered);
    assert_eq!(names("a.json", &entries(r#", "should_trigger": false"#)), answered);
    assert_eq!(names("a.json", &entries("")), None, "examples");
    assert_eq!(names("a.json", &entries(r#", "tags": ["x"], "expect": []"#)), None);
    let lines = "{\"query\": \"Tell which pumps run\", \"yes\": 1}\n{\"query\": \"Say how full each tank is\", \"yes\": 1}";
    assert_eq!(names("a.jsonl", lines), answered);
    let promptfoo = "- vars: {task: Tell which pumps run}\n  assert: [{type: contains, value: port}]\n\
        - vars: {task: Say how full each tank is}\n  assert: [{type: contains, value: row}]\n";
    assert_eq!(names("tests.yaml", promptfoo), answered);
    assert_eq!(names("tests.txt", promptfoo), None);
}

#[test]
fn half_of_all_statements_are_a_key_without_any_task() {
    let rubric =
        "- The page names the port of each pump in metres.\n- Seven valves are shut after the flood.\n";
    assert_eq!(found(rubric), None, "two may stand in any page");
    let all = format!("{rubric}- A table has a row for every tank on the hill.\n");
    assert_eq!(found(&all).unwrap().0, ["pumps", "valves", "tanks"]);
}

#[test]
fn answers_are_found_in_escaped_text_and_across_short_statements() {
    let json = r#"["Tell which\npumps run", "The page names\nthe port of each pump"]"#;
    assert_eq!(found_in(&suite()[..1], "a.json", json).unwrap().0, ["pumps"]);
    let short =
        scenario("ids", "Merge the two clauses", &["assign source ids", "map both ids to one target"]);
    let text = "Merge the two clauses: assign-source-ids, map-both-ids-to-one-target";
    assert_eq!(found_in(&[short], "a.md", text).unwrap().0, ["ids"]);
}

#[test]
fn what_a_check_looks_for_is_a_secret() {
    let pattern = "the seven pumps stand by the mill";
    let check = Check::Pattern { pattern: pattern.into(), of: Text::Answer, times: Times::ONCE_OR_MORE };
    let mut checked = scenario("mill", "Say what stands there", &[]);
    checked.demands = vec![Demand::new("p".parse().unwrap(), How::Check(check))];
    let text = format!("Say what stands there\n\n{pattern}\n");
    assert_eq!(found_in(&[checked], "a.md", &text), Some((vec!["mill".into()], 1)));
}

#[test]
fn a_page_holds_an_answer_only_where_a_section_has_the_task_too() {
    let held = |page: &str| AnswerKeys::new(&suite(), "").held_by_page(page);
    let page = format!("# Pumps\n\n{KEY}");
    let named = held(&page).unwrap();
    assert_eq!((named.line, named.is_key), (3, true));
    assert_eq!(named.scenarios, ["pumps", "valves"]);
    let in_two_sections = "# Rules\n\nThe page names the port of each pump. Seven valves are shut after the flood.\n\n\
        # Examples\n\nTell which pumps run. List every valve of the northern line.\n";
    assert_eq!(held(in_two_sections), None, "examples in one section, and rules in another one");
    assert!(found(in_two_sections).is_some(), "any other file is a key however it is laid out");
}

#[test]
fn files_that_hold_a_scenario_each_are_a_key_together() {
    let keys = AnswerKeys::new(&suite(), "");
    let (one, other) = KEY.split_once("## List").unwrap();
    let other = format!("## List{other}");
    let mut held = [one, &other].map(|text| keys.held("case.md", text).unwrap());
    assert_eq!([held[0].is_key, held[1].is_key], [false, false]);
    keys.unite(&mut held[..1].iter_mut().collect::<Vec<_>>());
    assert!(!held[0].is_key, "one answer of three may be an example");
    keys.unite(&mut held.iter_mut().collect::<Vec<_>>());
    assert_eq!([held[0].is_key, held[1].is_key], [true, true]);
}

#[test]
fn toml_is_read_as_data() {
    let toml = "[[scenarios]]\ndescription = \"Tell which pumps run\"\nexpectations = [\"port\"]\n\n\
        [[scenarios]]\ndescription = \"Say how full each tank is\"\nexpectations = [\"row\"]\n";
    let names = found_in(&suite(), "cases.toml", toml).map(|(names, _)| names);
    assert_eq!(names.unwrap(), ["pumps", "tanks"]);
}

#[test]
fn a_text_in_a_script_without_spaces_is_compared_letter_by_letter() {
    let suite = [
        scenario("tanks", "列出山上每个水箱的水位", &["表格里每个水箱都有一行，共九行。"]),
        scenario("valves", "说明北线有多少阀门关闭", &["洪水之后有七个阀门是关闭的。"]),
        scenario("pumps", "说出哪些水泵正在运行", &["页面写出每台水泵的端口。"]),
    ];
    let key = "列出山上每个水箱的水位：表格里每个水箱都有一行。\n说明北线有多少阀门关闭：洪水之后有七个阀门是关闭的。";
    assert_eq!(found_in(&suite, "a.md", key).unwrap().0, ["tanks", "valves"]);
    assert_eq!(
        found_in(&suite, "a.md", "列出山上每个水箱的水位。说明北线有多少阀门关闭。"),
        None,
        "tasks alone"
    );
}
