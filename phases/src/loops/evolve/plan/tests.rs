mod graphs;

use serde_json::{Value, json};

use super::*;
use crate::suites::checks::accepts;

const SCHEMA: &str = include_str!("../../../../../docs/schemas/evolve-plan.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn criterion(id: &str, priority: Option<Priority>) -> Criterion {
    Criterion { id: id.into(), text: "It works.".into(), priority, check: None, source: None }
}

fn criteria() -> Vec<Criterion> {
    vec![criterion("fast", Some(Priority::High)), criterion("small", None)]
}

fn classified(id: &str, class: Class, priority: Priority) -> Classified {
    Classified { id: id.into(), class, priority, why: "The goal says so.".into() }
}

fn ids(list: &[&str]) -> Vec<Id> {
    list.iter().map(|&id| id.into()).collect()
}

fn set(list: &[&str]) -> BTreeSet<Id> {
    list.iter().map(|&id| id.into()).collect()
}

fn task(id: &str, after: &[&str], touches: &[&str]) -> Item {
    Item {
        id: id.into(),
        title: format!("Do {id}").into(),
        description: "".into(),
        covers: Vec::new(),
        after: ids(after),
        touches: ids(touches),
        replaces: Vec::new(),
    }
}

fn group(name: &str, tasks: &[&str]) -> Group {
    Group { name: name.into(), domain: "backend".into(), tasks: ids(tasks) }
}

fn sample() -> Planned {
    let (fast, small) = (ids(&["fast"]), ids(&["small"]));
    Planned {
        criteria: vec![
            classified("fast", Class::Essential, Priority::High),
            classified("small", Class::Supplementary, Priority::Low),
        ],
        tasks: vec![
            Item { covers: fast, ..task("a", &[], &["src/a.rs"]) },
            Item { covers: small, replaces: ids(&["a"]), ..task("b", &["a"], &["src/b.rs"]) },
            task("docs", &["b"], &["docs/"]),
        ],
        groups: vec![group("core", &["a", "b"]), group("docs", &["docs"])],
        tree: None,
    }
}

/// A change of the sample, and the fault that it brings.
type Change = (fn(&mut Planned), &'static str);

fn check(changes: &[Change]) {
    assert_eq!(sample().fault(&criteria()), None);
    for (change, expected) in changes {
        let mut plan = sample();
        change(&mut plan);
        assert_eq!(plan.fault(&criteria()).as_deref(), Some(*expected));
    }
}

#[test]
fn each_criterion_is_classified_once_and_keeps_its_priority() {
    check(&[
        (|plan| plan.criteria[1].id = "slow".into(), "the specification has no criterion `slow`"),
        (|plan| plan.criteria[1] = plan.criteria[0].clone(), "the criterion `fast` is classified twice"),
        (|plan| drop(plan.criteria.pop()), "the criterion `small` is not classified"),
        (|plan| plan.criteria.clear(), "the criterion `fast` is not classified"),
        (
            |plan| plan.criteria[0].priority = Priority::Low,
            "the specification says that the criterion `fast` is high, not low",
        ),
        (
            |plan| plan.criteria[1].priority = Priority::Critical,
            "the criterion `small` is critical, but supplementary criteria never are",
        ),
        (
            |plan| plan.criteria[0].why = " … ".into(),
            "the criterion `fast`: `why` must be a text of 1 to 2000 characters",
        ),
        (
            |plan| plan.criteria[0].why = "x".repeat(LONGEST_WHY + 1).into(),
            "the criterion `fast`: `why` must be a text of 1 to 2000 characters",
        ),
    ]);
    let given = [criterion("safe", Some(Priority::Critical)), criterion("small", None)];
    let fault = |class: Class, priority: Priority| {
        let safe = classified("safe", class, Priority::Critical);
        classify_fault(&given, &[safe, classified("small", Class::Essential, priority)])
    };
    for priority in Priority::ALL {
        assert_eq!(fault(Class::Essential, priority), None, "a missing priority is free");
    }
    let expected = "the criterion `safe` is critical, but supplementary criteria never are";
    assert_eq!(fault(Class::Supplementary, Priority::Low).as_deref(), Some(expected));
}

#[test]
fn tasks_have_an_id_a_title_and_bounded_texts() {
    check(&[
        (|plan| plan.tasks.clear(), "the plan has 0 tasks, but it must have 1 to 100"),
        (
            |plan| plan.tasks = vec![plan.tasks[0].clone(); MOST_TASKS + 1],
            "the plan has 101 tasks, but it must have 1 to 100",
        ),
        (
            |plan| plan.tasks[1].id = "../b".into(),
            "`../b` cannot be an id: use 1 to 64 letters, digits, `.`, `_` and `-`, a letter or digit first",
        ),
        (|plan| plan.tasks[1].id = "a".into(), "`a` is the id of two tasks"),
        (
            |plan| plan.tasks[0].title = "".into(),
            "the task `a`: `title` must be a text of 1 to 200 characters",
        ),
        (
            |plan| plan.tasks[0].title = "é".repeat(LONGEST_TITLE + 1).into(),
            "the task `a`: `title` must be a text of 1 to 200 characters",
        ),
        (
            |plan| plan.tasks[0].title = "Do\nit".into(),
            "the task `a`: `title` must be one line, without control characters",
        ),
        (
            |plan| plan.tasks[0].description = "x".repeat(LONGEST_DESCRIPTION + 1).into(),
            "the task `a`: `description` is longer than 8000 characters",
        ),
    ]);
    let mut long = sample();
    long.tasks[0].title = "é".repeat(LONGEST_TITLE).into();
    long.tasks[0].description = "two\nlines".into();
    assert_eq!(long.fault(&criteria()), None);
}

#[test]
fn tasks_cover_all_criteria_and_name_only_what_is_there() {
    check(&[
        (|plan| plan.tasks[1].covers.clear(), "no task covers the criterion `small`"),
        (
            |plan| plan.tasks[0].covers = ids(&["fast", "quick"]),
            "the task `a`: `covers` has `quick`, which does not exist",
        ),
        (
            |plan| plan.tasks[0].covers = ids(&["fast", "fast"]),
            "the task `a`: `covers` has `fast`, which is listed already",
        ),
        (
            |plan| plan.tasks[1].after = ids(&["a", "z"]),
            "the task `b`: `after` has `z`, which does not exist",
        ),
        (
            |plan| plan.tasks[1].after = ids(&["fast"]),
            "the task `b`: `after` has `fast`, which does not exist",
        ),
        (
            |plan| plan.tasks[1].replaces = ids(&["z"]),
            "the task `b`: `replaces` has `z`, which does not exist",
        ),
        (|plan| plan.tasks[1].after = ids(&["a", "b"]), "the task `b`: it depends on itself"),
        (|plan| plan.tasks[0].touches.clear(), "the task `a`: `touches` must name 1 to 50 files and folders"),
        (
            |plan| plan.tasks[0].touches = vec!["x".into(); MOST_TOUCHES + 1],
            "the task `a`: `touches` must name 1 to 50 files and folders",
        ),
        (
            |plan| plan.tasks[2].touches = ids(&["docs/", "../x"]),
            "the task `docs`: `touches` has `../x`: give a relative path of at most 300 characters, without `..`, `*` and backslash",
        ),
    ]);
}

#[test]
fn a_path_is_plain_for_the_code_and_for_the_schema() {
    let schema = schema();
    let path = schema.pointer("/$defs/path").unwrap();
    let longest = "a".repeat(LONGEST_PATH);
    for plain in
        ["a", "a/", ".env", "..a", "a../b", "a.", "a b/ü.rs", "[id].tsx", ".github/x/", longest.as_str()]
    {
        assert!(is_plain_path(plain), "{plain}");
        assert!(accepts(path, &json!(plain)), "{plain}");
    }
    let longer = "a".repeat(LONGEST_PATH + 1);
    let upwards = ["..", "../", "../a", "a/..", "a/../b", ".", "./a", "a/.", "a/./b"];
    let others = ["", "/", "/etc/passwd", "a//b", "a//", "a\\b", "src/*.rs", "a\nb", "a\u{7f}", "a\u{9b}b"];
    for odd in upwards.into_iter().chain(others).chain([longer.as_str()]) {
        assert!(!is_plain_path(odd), "{odd:?}");
        assert!(!accepts(path, &json!(odd)), "{odd:?}");
    }
}

#[test]
fn each_task_is_in_one_named_group() {
    check(&[
        (
            |plan| plan.groups = vec![plan.groups[0].clone(); MOST_GROUPS + 1],
            "the plan has 21 groups, but at most 20 are possible",
        ),
        (
            |plan| plan.groups[0].name = " ".into(),
            "the group ``: `name` must be a text of 1 to 100 characters",
        ),
        (
            |plan| plan.groups[0].domain = "".into(),
            "the group `core`: `domain` must be a text of 1 to 100 characters",
        ),
        (
            |plan| plan.groups[0].domain = "web\u{1b}".into(),
            "the group `core`: `domain` must be one line, without control characters",
        ),
        (|plan| plan.groups[1].name = "core".into(), "the group `core`: another group has this name"),
        (|plan| plan.groups[1].tasks.clear(), "the group `docs`: it has no task"),
        (
            |plan| plan.groups[1].tasks = ids(&["docs", "z"]),
            "the group `docs`: `tasks` has `z`, which does not exist",
        ),
        (
            |plan| plan.groups[1].tasks = ids(&["docs", "a"]),
            "the group `docs`: `tasks` has `a`, which is listed already",
        ),
        (|plan| drop(plan.groups.pop()), "the task `docs` is in no group"),
        (|plan| plan.groups.clear(), "the task `a` is in no group"),
    ]);
}

#[test]
fn a_fault_shows_no_long_text_and_no_control_character() {
    let hostile: Id = "\u{1b}[2J\u{202e}".repeat(10_000).into();
    let changes: [fn(&mut Planned, Id); 5] = [
        |plan, id| plan.criteria[0].id = id,
        |plan, id| plan.tasks[0].id = id,
        |plan, id| plan.tasks[1].after.push(id),
        |plan, path| plan.tasks[1].touches.push(path),
        |plan, id| plan.groups[0].tasks.push(id),
    ];
    for change in changes {
        let mut plan = sample();
        change(&mut plan, hostile.clone());
        let fault = plan.fault(&criteria()).unwrap();
        assert!(fault.chars().count() < 300, "{fault:?}");
        assert!(!fault.contains(|c: char| c.is_control() || c == '\u{202e}'), "{fault:?}");
    }
}

#[test]
fn what_depends_on_tasks_is_found_with_its_layers() {
    let tasks = vec![
        task("d", &["b", "c"], &["d"]),
        task("a", &[], &["a"]),
        task("b", &["a"], &["b"]),
        task("c", &["a"], &["c"]),
        task("x", &[], &["x"]),
    ];
    let plan = Planned { tasks, ..sample() };
    for (of, expected) in [
        (&["a"][..], &["a", "b", "c", "d"][..]),
        (&["b"], &["b", "d"]),
        (&["b", "x"], &["b", "d", "x"]),
        (&["d"], &["d"]),
        (&[], &[]),
    ] {
        assert_eq!(plan.downstream(&set(of)), set(expected));
    }
    assert_eq!(plan.layers_of(&set(&["a", "d", "x"])), [ids(&["a", "x"]), ids(&["d"])]);
    assert_eq!(plan.layers_of(&set(&["d", "unknown"])), [ids(&["d"])]);
    assert!(plan.layers_of(&set(&[])).is_empty());
    assert_eq!(plan.item("c").map(|item| &*item.title), Some("Do c"));
    assert_eq!(plan.item("z"), None);
}

#[test]
fn a_task_names_its_files_and_all_that_is_in_its_folders() {
    let item = task("a", &[], &["src/", "Cargo.toml", "docs"]);
    for path in ["src/a.rs", "src/b/c.rs", "Cargo.toml", "docs/x.md", "docs"] {
        assert!(names(&item, path), "{path}");
    }
    for path in ["src2/a.rs", "src.rs", "Cargo.toml.bak", "cargo.toml", "a/src/b.rs", "doc", ""] {
        assert!(!names(&item, path), "{path}");
    }
}

#[test]
fn the_schema_accepts_plans_and_no_key_that_the_code_does_not_read() {
    let (schema, plan) = (schema(), sample());
    let full = serde_json::to_value(&plan).unwrap();
    assert!(accepts(&schema, &full));
    assert_eq!(serde_json::from_value::<Planned>(full.clone()).unwrap(), plan);
    let only = json!({ "id": "a", "title": "Do a", "touches": ["src/a.rs"] });
    let short = json!({ "criteria": [], "tasks": [only], "groups": full["groups"] });
    assert!(accepts(&schema, &short));
    let read: Planned = serde_json::from_value(short).unwrap();
    assert_eq!(read.tasks, [task("a", &[], &["src/a.rs"])]);
    // The code reads the last of these, and finds their fault later.
    let odd = [
        ("", "version", json!(1), false),
        ("/criteria/0", "text", json!("x"), false),
        ("/criteria/0", "class", json!("useful"), false),
        ("/criteria/0", "priority", json!("urgent"), false),
        ("/tasks/0", "needs", json!([]), false),
        ("/tasks/0", "touches", json!(null), false),
        ("/groups/0", "tasks", json!("a"), false),
        ("/tasks/0", "touches", json!([]), true),
        ("/tasks/0", "id", json!("-a"), true),
        ("/tasks/0", "title", json!("two\nlines"), true),
        ("/tasks/0", "after", json!(["b", "b"]), true),
        ("/groups/0", "tasks", json!([]), true),
        ("/groups/0", "name", json!(""), true),
        ("", "tasks", json!([]), true),
    ];
    for (place, key, value, is_read) in odd {
        let mut damaged = full.clone();
        damaged.pointer_mut(place).unwrap()[key] = value;
        assert!(!accepts(&schema, &damaged), "{place} {key}");
        let read = serde_json::from_value::<Planned>(damaged).ok();
        assert_eq!(read.is_some(), is_read, "{place} {key}");
        assert!(read.is_none_or(|plan| plan.fault(&criteria()).is_some()), "{place} {key}");
    }
}

#[test]
fn limits_and_words_of_the_schema_are_those_of_the_code() {
    let schema = schema();
    for (place, limit) in [
        ("/properties/tasks/maxItems", MOST_TASKS),
        ("/properties/groups/maxItems", MOST_GROUPS),
        ("/$defs/criterion/properties/why/maxLength", LONGEST_WHY),
        ("/$defs/task/properties/title/maxLength", LONGEST_TITLE),
        ("/$defs/task/properties/description/maxLength", LONGEST_DESCRIPTION),
        ("/$defs/task/properties/touches/maxItems", MOST_TOUCHES),
        ("/$defs/group/properties/name/maxLength", LONGEST_NAME),
        ("/$defs/group/properties/domain/maxLength", LONGEST_NAME),
        ("/$defs/path/maxLength", LONGEST_PATH),
    ] {
        assert_eq!(schema.pointer(place), Some(&json!(limit)), "{place}");
    }
    let words = |key: &str| schema["$defs"]["criterion"]["properties"][key]["enum"].clone();
    assert_eq!(words("class"), json!([Class::Essential, Class::Supplementary]));
    assert_eq!(words("priority"), json!(Priority::ALL));
    for place in ["", "/$defs/criterion", "/$defs/task", "/$defs/group"] {
        for (name, property) in schema.pointer(place).unwrap()["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{place} {name} has no description");
        }
    }
}

#[test]
fn new_tasks_take_the_place_of_others() {
    let names = |plan: &Planned| {
        let groups = plan.groups.iter().map(|group| group.tasks.join(" ")).collect::<Vec<_>>().join("|");
        let tasks = plan.tasks.iter().map(|item| &*item.id).collect::<Vec<_>>().join(" ");
        format!("{tasks}; {groups}")
    };
    let new = |list: &[&str]| list.iter().map(|id| task(id, &[], &["src/"])).collect::<Vec<_>>();
    for (old, to, expected) in [
        (&["b"][..], &["b"][..], "a b docs; a b|docs"),
        (&["b"], &["x", "b", "y"], "a x b y docs; a b x y|docs"),
        (&["docs"], &["x"], "a b x; a b|x"),
        (&["a", "docs"], &["docs"], "docs b; b|docs"),
        (&["b", "docs"], &["x"], "a x; a x"),
        (&["none"], &["x"], "a b docs x; a b|docs"),
    ] {
        assert_eq!(names(&sample().replaced(&ids(old), &new(to))), expected, "{old:?} {to:?}");
    }
}

#[test]
fn tasks_are_found_by_changed_files_and_those_of_the_run_are_told_apart() {
    let mut plan = sample();
    for (path, expected) in [
        ("src/a.rs", &["a"][..]),
        ("docs/x/y.md", &["docs"]),
        ("docs", &["docs"]),
        ("src", &[]),
        ("src/a.rs.bak", &[]),
    ] {
        assert_eq!(plan.naming(&[path.to_owned()]), ids(expected), "{path}");
    }
    plan.tasks.push(task("fix-1", &[], &[]));
    assert_eq!(plan.as_planned(), sample());
}

#[test]
fn a_plan_names_the_tree_that_it_was_made_for_by_its_hash() {
    let plan = Planned { tree: Some(TreeId::EMPTY), ..sample() };
    let mut value = serde_json::to_value(&plan).unwrap();
    assert!(accepts(&schema(), &value));
    assert_eq!(serde_json::from_value::<Planned>(value.clone()).unwrap(), plan);
    value["tree"] = "8005".into();
    assert!(!accepts(&schema(), &value) && serde_json::from_value::<Planned>(value).is_err());
}
