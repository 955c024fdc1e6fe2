mod canonical;
mod yaml;

use super::*;

const SMALL: &str = "## Goal\nAdd a login.\n## Criteria\n- A1: It works.\n";

fn md(text: &str) -> Specification {
    read("spec.md", text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

fn fault(file: &str, text: &str) -> String {
    read(file, text).map_or_else(|fault| fault.to_string(), |read| panic!("{text}: {read:?}"))
}

/// The only criterion of a list of one item.
fn one(item: &str) -> Criterion {
    let mut read = md(&format!("## Goal\nAdd a login.\n## Criteria\n{item}\n"));
    assert_eq!(read.criteria.len(), 1, "{item}");
    read.criteria.remove(0)
}

/// The fault of a list of criteria, without its line.
fn item_fault(item: &str) -> String {
    fault("spec.md", &format!("## Goal\nAdd a login.\n## Criteria\n{item}\n"))
}

fn criterion(id: &str, text: &str) -> Criterion {
    Criterion { id: id.into(), text: text.into(), priority: None, check: None, source: None }
}

fn constraint(id: &str, text: &str) -> Constraint {
    Constraint { id: id.into(), text: text.into() }
}

fn term(word: &str, meaning: &str) -> Term {
    Term { word: word.into(), meaning: meaning.into() }
}

#[test]
fn a_page_has_goal_constraints_criteria_and_words() {
    let text = "---\ntitle: x\n---\n# Login\nIntroduction.\n\n## Goal\n\nUsers can log in.\n\nSoon.\n\n## Background\n- not read\n\n\
        ## 3. Constraints:\n1. No new packages\n2) K7: Keep the API\n* third\n\n### **Acceptance Criteria** ##\n\
        The work is done when:\n\n- A1 (critical): A user logs in\n  with a password\n  check: [\"cargo\", \"test\"]\n\
        \x20 from: docs/login.md:12\n- [ ] **A2** (high) It is fast\n- [x] plain\n\n#### Later\n+ more\n\n## Glossary\n- session: A time\n\
        - **user**: A person\n- **key:** A secret\n";
    let read = md(text);
    let expected = Specification {
        goal: "Users can log in.\n\nSoon.".into(),
        constraints: vec![
            constraint("K1", "No new packages"),
            constraint("K7", "Keep the API"),
            constraint("K2", "third"),
        ],
        criteria: vec![
            Criterion {
                priority: Some(Priority::Critical),
                check: Some(vec!["cargo".into(), "test".into()]),
                source: Some(Source { file: "docs/login.md".into(), line: 12 }),
                ..criterion("A1", "A user logs in\nwith a password")
            },
            Criterion { priority: Some(Priority::High), ..criterion("A2", "It is fast") },
            criterion("A3", "plain"),
            criterion("A4", "more"),
        ],
        vocabulary: vec![term("session", "A time"), term("user", "A person"), term("key", "A secret")],
    };
    assert_eq!(read, expected);
    assert_eq!(md(&text.replace('\n', "\r\n")), expected);
    assert_eq!(md(&format!("\u{feff}{text}")), expected);
}

#[test]
fn an_item_has_an_id_and_a_priority_in_several_forms() {
    use Priority::{Critical, High, Low, Medium};
    for (item, id, priority, text) in [
        ("- A7 (critical): a", "A7", Some(Critical), "a"),
        ("- A7 (HIGH) a", "A7", Some(High), "a"),
        ("- **A7** (medium) a", "A7", Some(Medium), "a"),
        ("- **A7 (low):** a", "A7", Some(Low), "a"),
        ("- **A7 (low)**: a", "A7", Some(Low), "a"),
        ("- **A7:** a", "A7", None, "a"),
        ("- **A7** a", "A7", None, "a"),
        ("* [ ] REQ-1.2_x: a", "REQ-1.2_x", None, "a"),
        ("1. 3: a", "3", None, "a"),
        ("- **login**: a", "login", None, "a"),
        ("- **login** (low) a", "login", Some(Low), "a"),
        ("- (low) a", "A1", Some(Low), "a"),
        ("- (low): a", "A1", Some(Low), "a"),
        ("- (optional) a", "A1", None, "(optional) a"),
        ("- login: a", "A1", None, "login: a"),
        ("- **All** tests pass", "A1", None, "**All** tests pass"),
        ("- **Not (yet) done** a", "A1", None, "**Not (yet) done** a"),
        ("- 10:30 is shown", "A1", None, "10:30 is shown"),
        ("- [x](a.md) is right", "A1", None, "[x](a.md) is right"),
        ("-\n  a", "A1", None, "a"),
        ("- A7:\n  a", "A7", None, "a"),
        (" -   a", "A1", None, "a"),
    ] {
        let read = one(item);
        assert_eq!((&*read.id, read.priority, &*read.text), (id, priority, text), "{item}");
    }
}

#[test]
fn an_item_goes_on_in_indented_and_in_wrapped_lines() {
    for (item, text) in [
        ("- a\n  b", "a\nb"),
        ("- a\nb", "a\nb"),
        ("- a\n\n  b\n", "a\n\nb"),
        ("- a\n\nb", "a"),
        ("- a\n  - b\n    - c", "a\n- b\n  - c"),
        ("1. a\n   - b", "a\n- b"),
        ("- a\n\t- b", "a\n- b"),
        ("- a\n  ## b", "a\n## b"),
        ("- a\n  \\# b", "a\n# b"),
        ("- a\n  ```\n  - b\n\n    check: c\n  ```", "a\n```\n- b\n\n  check: c\n```"),
        ("- a\n```\n- b\n```", "a"),
        ("- a\n  <!-- b -->\n  c", "a\nc"),
        ("- a\n  \\check: b\n  \\from: c", "a\ncheck: b\nfrom: c"),
    ] {
        assert_eq!(&*one(item).text, text, "{item}");
    }
    let check = one("- a\n  Check: [\"cargo\", \"test\", \"--test\", \"a b\"]\n  b");
    assert_eq!(check.check.unwrap(), ["cargo", "test", "--test", "a b"]);
    assert_eq!(&*check.text, "a\nb");
}

#[test]
fn an_agent_reads_no_comment_and_all_code() {
    for (goal, seen) in [
        ("a <!-- b --> c", "a  c"),
        ("a\n<!-- b\n## Criteria\n-->\nc", "a\nc"),
        ("<!--> a", "a"),
        ("<!-- a --> b <!-- c -->", "b"),
        ("`<!-- a -->` b", "`<!-- a -->` b"),
        ("```\n<!-- a -->\n# b\n- c\n```", "```\n<!-- a -->\n# b\n- c\n```"),
        ("x `\n` <!-- a --> `", "x `\n`  `"),
        ("    ```\n\na <!-- b -->\n\n    ```", "```\n\na\n\n    ```"),
        ("<div>\n<!-- a -->\nb</div>", "<div>\nb</div>"),
        ("a <!-- b", "a <!-- b"),
        ("a <\\!-- b -->", "a <!-- b -->"),
    ] {
        let read = md(&format!("## Goal\n{goal}\n\n## Criteria\n- a\n"));
        assert_eq!(&*read.goal, seen, "{goal}");
    }
    assert_eq!(
        fault("a.md", "## Goal\na\n\n<!-- b\n## Criteria\n- a\n"),
        "line 4: a comment without an end: write `-->`"
    );
}

#[test]
fn sections_of_deeper_levels_belong_to_the_one_above() {
    let read = md("# Goal\na\n### Why\nb\n# Other\nc\n## Criteria\n- d\n### Group\n- e\n## Notes\n- f\n");
    assert_eq!(&*read.goal, "a\n### Why\nb");
    assert_eq!(read.criteria, [criterion("A1", "d"), criterion("A2", "e")]);
    let twice = md("## Goal\na\n## Criteria\n- b\n## Goal\nc\n## Criteria\n- d\n");
    assert_eq!((&*twice.goal, twice.criteria.len()), ("a\n\nc", 2));
}

#[test]
fn an_id_that_is_missing_is_the_lowest_one_that_is_free() {
    let read = md("# Goal\na\n# Constraints\n- b\n- A2: c\n- d\n# Criteria\n- e\n- f\n- K1: g\n- A1: h\n");
    let ids: Vec<_> = read.constraints.iter().map(|one| &*one.id).collect();
    assert_eq!(ids, ["K2", "A2", "K3"]);
    let ids: Vec<_> = read.criteria.iter().map(|one| &*one.id).collect();
    assert_eq!(ids, ["A3", "A4", "K1", "A1"]);
}

#[test]
fn a_page_that_no_run_can_work_with_is_refused_with_its_line() {
    let no_goal =
        "no goal is there: write what the run has to reach below `## Goal`, or in YAML as `goal: ...`";
    let no_criterion = "no criterion is there: write each as a list item below `## Acceptance criteria`, or in YAML as an entry of `criteria`";
    for (text, why) in [
        ("", no_goal),
        ("# Title\nA goal.\n## Criteria\n- a\n", no_goal),
        ("##Goal\na\n## Criteria\n- a\n", no_goal),
        ("## Goal\n\n## Criteria\n- a\n", "line 1: the goal is empty: write what it says in words"),
        ("## Goal\n...\n## Criteria\n- a\n", "line 1: the goal is empty: write what it says in words"),
        ("## Goal\na\n", no_criterion),
        ("## Goal\na\n## Criteria\nA paragraph.\n", no_criterion),
        (
            "## Goal\na\n```\n## Criteria\n- b\n",
            "line 3: the code that begins here has no end: close its fence",
        ),
        ("## Goal\na\u{200b}\n", "line 2: U+200B is invisible: delete it"),
        ("a\n\nb\u{1b}[2J\n", "line 3: U+001B is invisible: delete it"),
        ("a\r\r\nb", "line 1: U+000D is invisible: delete it"),
        (
            "## Goal\na\n## Constraints\n- K1 (high): a\n",
            "line 4: a constraint has no priority, it always holds: delete it",
        ),
        (
            "## Goal\na\n## Constraints\n- a\n  check: [\"b\"]\n",
            "line 5: only a criterion has a line `check:`: write `\\check:` for a text",
        ),
        (
            "## Goal\na\n## Criteria\n- a\n## Terms\n- session\n",
            "line 6: a word is one line without `: `, and not bold: write `word: meaning`",
        ),
        (
            "## Goal\na\n## Criteria\n- a\n## Terms\n- session: .\n",
            "line 6: this meaning is empty: write what it says in words",
        ),
        (
            "## Goal\na\n## Constraints\n- A1: b\n## Criteria\n- A1: a\n",
            "line 6: the id `A1` is there twice: give each entry an id of its own",
        ),
    ] {
        assert_eq!(fault("a.md", text), why, "{text}");
    }
}

#[test]
fn an_item_that_could_mean_something_else_is_refused() {
    let as_list = "line 5: write the command of `check` as a list of words, such as `[\"cargo\", \"test\"]`, because no shell reads it";
    let empty = "line 5: `check` is empty: write a program and its arguments, or delete it";
    for (item, why) in [
        ("- A1 (urgent): a", "line 4: `urgent` is not a priority: write critical, high, medium or low"),
        ("- **A1** (hgih) a", "line 4: `hgih` is not a priority: write critical, high, medium or low"),
        ("-", "line 4: this criterion is empty: write what it says in words"),
        ("- A1:", "line 4: this criterion is empty: write what it says in words"),
        ("- a\n- [ ] A2 (low): <!-- a -->", "line 5: this criterion is empty: write what it says in words"),
        ("- A1 a", "line 4: `A1` looks like an id: write `**A1**: text`, or begin with another word"),
        (
            "- login (low): a",
            "line 4: `login` looks like an id: write `**login**: text`, or begin with another word",
        ),
        (
            "- **a/1** (low): a",
            "line 4: `a/1` is not an id: write up to 64 letters, digits, `.`, `_` and `-`, a letter or a digit first",
        ),
        ("- a\n  check: cargo test", as_list),
        ("- a\n  check: \"cargo\"", as_list),
        ("- a\n  check: [cargo, test]", as_list),
        ("- a\n  check:", as_list),
        ("- a\n  check: []", empty),
        ("- a\n  check: [\" \"]", empty),
        ("- a\n  check: [\"a\", 4]", "line 5: word 2 of `check` is not text: put it in quotes"),
        ("- a\n  check: [\"a\\u0000\"]", "line 5: U+0000 is invisible: delete it"),
        ("- a\n  check: [\"a\"]\n  check: [\"b\"]", "line 6: a second line `check:`: keep one"),
        ("- a\n  from: b", "line 5: `b` is not a file and its line: write `from: FILE:LINE`"),
        ("- a\n  from: b:-1", "line 5: `b:-1` is not a file and its line: write `from: FILE:LINE`"),
        ("- a\n  from: :1", "line 5: `:1` is not a file and its line: write `from: FILE:LINE`"),
    ] {
        assert_eq!(item_fault(item), why, "{item}");
    }
}

#[test]
fn what_is_too_much_is_refused() {
    let list = |count: usize| vec!["- a\n"; count].concat();
    let page = |constraints, criteria, terms: usize| {
        let terms = "- a: b\n".repeat(terms);
        let (constraints, criteria) = (list(constraints), list(criteria));
        format!("# Goal\na\n# Constraints\n{constraints}# Criteria\n{criteria}# Terms\n{terms}")
    };
    let most = md(&page(MOST_CONSTRAINTS, MOST_CRITERIA, MOST_TERMS));
    assert_eq!((&*most.constraints[99].id, &*most.criteria[199].id), ("K100", "A200"));
    assert_eq!(md(&most.markdown()), most);
    for (page, why) in [
        (page(101, 1, 0), "101 constraints are too many: write at most 100"),
        (page(0, 201, 0), "201 criteria are too many: write at most 200"),
        (page(0, 1, 201), "201 words in the vocabulary are too many: write at most 200"),
        ("a".repeat(LARGEST + 1), "the text is larger than 1 MiB: keep to what the run has to reach"),
    ] {
        assert_eq!(fault("a.md", &page), why);
    }
    let long = "a".repeat(LARGEST / 4);
    let repeated = format!("goal: a\ncriteria: [&a {long}, *a, *a, *a, *a]\n");
    assert_eq!(
        fault("a.yaml", &repeated),
        "the text is larger than 1 MiB: keep to what the run has to reach"
    );
}

#[test]
fn pages_made_to_waste_time_are_read_soon() {
    let start = "## Goal\na\n## Criteria\n- ";
    for hostile in [
        "`",
        "```a\n",
        "<!--",
        "<!-- -->",
        "\\",
        "**",
        "- ",
        "#",
        "\n  check:",
        "[",
        "a\n",
        "  ~~~~\n",
        "A1 (",
        "<",
        "\t",
    ] {
        let text = format!("{start}{}", hostile.repeat(200_000 / hostile.len()));
        let _ = read("a.md", &text);
        let _ = read("a.yaml", &text);
    }
}

#[test]
fn an_id_is_a_short_word() {
    let longest = "a".repeat(64);
    for good in ["a", "A1", "1", "REQ-1.2_x", "a..", longest.as_str()] {
        assert!(is_id(good), "{good}");
    }
    let longer = "a".repeat(65);
    for bad in ["", "-a", ".a", "_a", "a b", "a/b", "\u{e9}", "a\n", longer.as_str()] {
        assert!(!is_id(bad), "{bad}");
    }
}

#[test]
fn a_priority_has_a_word_and_a_weight() {
    assert_eq!(Priority::ALL.map(Priority::weight), [4, 3, 2, 1]);
    assert_eq!(Priority::ALL.map(Priority::word), ["critical", "high", "medium", "low"]);
    for priority in Priority::ALL {
        assert_eq!(Priority::of(&priority.word().to_uppercase()), Some(priority));
        assert_eq!(serde_json::to_value(priority).unwrap(), priority.word());
    }
    assert_eq!(
        (Priority::of(" low "), Priority::of("urgent"), Priority::of("")),
        (Some(Priority::Low), None, None)
    );
}

#[test]
fn statements_are_quotes_of_the_goal() {
    let goal = "Users can log in,\n  and they can log out.";
    for good in
        [&["Users can log in"][..], &["Users can log in, and", "they can\nlog  out."][..], &[goal][..]]
    {
        assert_eq!(statements_fault(goal, good), None, "{good:?}");
    }
    assert_eq!(statements_fault(goal, &["Users".to_owned()]), None);
    for (bad, why) in [
        (&[""; 0][..], "0 statements were given; give 1 to 20"),
        (&["Users"; 21][..], "21 statements were given; give 1 to 20"),
        (&["Users", " \n"][..], "statement 2 is empty; leave it out, or quote the goal"),
        (&["."][..], "statement 1 is empty; leave it out, or quote the goal"),
        (
            &["users can log in"][..],
            "statement 1 is not a quote of the goal; copy the words of the goal exactly",
        ),
        (&["log  in,", "log\nin,"][..], "statement 2 is there twice; give each statement once"),
    ] {
        assert_eq!(statements_fault(goal, bad).as_deref(), Some(why), "{bad:?}");
    }
}
