use std::fs;

use skilltune_phases::loops::reflex::criteria::Template;
use tempfile::TempDir;

use super::*;

fn docs() -> Criteria {
    Criteria::of(Template::Docs, Weights::default(), Template::Docs.thresholds())
}

fn laid(name: &str, text: &str) -> Result<Criteria, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let mut criteria = docs();
    let laid = RulesFile::read(&path).and_then(|file| file.apply(&mut criteria, Weights::default()));
    laid.map(|()| criteria).map_err(|complaint| complaint.what.rsplit_once("rules.").unwrap().1.to_owned())
}

const FILE: &str = r#"
thresholds = [70, 95.5]
remove = ["b.quality.audience"]

[[rules]]
id = "a.correctness.accuracy"
description = "It is right."
severity = "warn"
weight = 9

[[rules]]
description = "Every service is named with its port."
severity = "fail"
check = "Look for each."

[[rules]]
level = "B"
description = "It is formatted."
command = ["prettier", "--check", "artifact.md"]
"#;

#[test]
fn rules_of_a_file_replace_extend_and_remove_those_of_a_template() {
    let criteria = laid("rules.toml", FILE).unwrap();
    let lines = criteria.rules.iter().map(|rule| format!("{} {} {}", rule.id, rule.severity, rule.weight));
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "a.correctness.accuracy warn 9",
            "a.completeness.sections fail 2",
            "a.completeness.examples warn 1",
            "a.quality.clarity warn 1",
            "a.task.every-service-is-named-with-its-port fail 2",
            "b.quality.structure warn 1",
            "b.completeness.cross-refs warn 1",
            "b.style.consistency warn 1",
            "b.task.it-is-formatted warn 1",
        ]
    );
    assert_eq!((criteria.thresholds.a.points(), criteria.thresholds.b.points()), (70.0, 95.5));
    let command = criteria.rules[8].command.as_ref().unwrap();
    assert_eq!(command.join(" "), "prettier --check artifact.md");
}

#[test]
fn what_was_agreed_to_is_read_again_as_it_was() {
    let criteria = laid("rules.toml", FILE).unwrap();
    let again = laid("rules.json", &written(&criteria)).unwrap();
    let kept = again.rules.iter().filter(|rule| rule.id.as_str() != "b.quality.audience");
    assert!(kept.eq(&criteria.rules));
    assert_eq!(again.thresholds, criteria.thresholds);
}

#[test]
fn a_file_that_cannot_be_meant_is_refused_with_the_place() {
    let refusal = |text: &str| laid("rules.toml", text).unwrap_err();
    let rule = |more: &str| format!("[[rules]]\ndescription = \"x\"\n{more}\n");
    assert_eq!(refusal("rules = 3"), "toml: line 1: invalid type: integer `3`, expected a sequence");
    assert!(refusal(&rule("colour = 1")).starts_with("toml: line 3: unknown field `colour`"));
    assert_eq!(
        refusal("remove = [\"a.x.y\"]"),
        "toml: `remove` names `a.x.y`, which is not a rule of the template"
    );
    assert_eq!(refusal("thresholds = [80, 101]"), "toml: the threshold 101 is outside 0 to 100");
    assert_eq!(refusal(&rule("weight = 101")), "toml: rule 1: the weight must be 0 to 100");
    assert_eq!(
        refusal(&rule("command = []")),
        "toml: rule 1: a command is a list of 1 to 64 arguments, the first of them a program"
    );
    assert_eq!(
        refusal(&rule("id = \"b.x.y\"\nlevel = \"A\"")),
        "toml: rule 1: `b.x.y` is a rule of level B, but `level` says A"
    );
    assert!(refusal(&rule("id = \"../x\"")).contains("`../x` is not a rule id"));
    assert_eq!(refusal(&rule("").repeat(2)), "toml: rule 2: duplicate rule `a.task.x`");
    assert_eq!(
        refusal("[[rules]]\ndescription = \" \""),
        "toml: rule 1: the description must have 1 to 2000 characters"
    );
    assert_eq!(laid("rules.json", "{").unwrap_err(), "json: EOF while parsing an object at line 1 column 1");
}
