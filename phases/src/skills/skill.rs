//! The structural gate: a candidate is not tried if no agent could load its `SKILL.md`.

mod block;
mod fault;
pub mod strict;

use serde::Deserialize;
use serde_saphyr::{DuplicateKeyPolicy, Options};

/// The part of a skill that agents read before they load it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontmatter {
    pub name: String,
    pub description: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    #[error("front matter is missing: the first line must be `---`")]
    NotOpened,
    #[error("front matter has no closing `---` line")]
    NotClosed,
    #[error("front matter is longer than {LONGEST} bytes")]
    TooLong,
    #[error("front matter is not a valid YAML mapping: {0}")]
    Yaml(Box<str>),
    #[error("front matter has no `{0}`, or it is empty")]
    Empty(&'static str),
}

const LONGEST: usize = 64 << 10;

/// Reads the front matter of a `SKILL.md`; ignores unknown keys.
pub fn check(skill_md: &str) -> Result<Frontmatter, SkillError> {
    let yaml = front_matter(skill_md)?;
    let read: Option<Keys> = serde_saphyr::from_str_with_options(yaml, options(DuplicateKeyPolicy::Error))
        .map_err(|error| yaml_error(&error))?;
    let keys = read.unwrap_or_default();
    let said = |key, text: Option<String>| {
        text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).ok_or(SkillError::Empty(key))
    };
    Ok(Frontmatter { name: said("name", keys.name)?, description: said("description", keys.description)? })
}

#[derive(Default, Deserialize)]
struct Keys {
    name: Option<String>,
    description: Option<String>,
}

/// Returns true if only a person can call the skill: agents that know this key never load it by themselves.
pub fn is_for_people_only(skill_md: &str) -> bool {
    #[derive(Deserialize)]
    struct Calls {
        #[serde(rename = "disable-model-invocation")]
        disabled: Option<serde_json::Value>,
    }
    let yaml = front_matter(skill_md).unwrap_or_default();
    let read = serde_saphyr::from_str_with_options::<Option<Calls>>(yaml, options(DuplicateKeyPolicy::Error));
    let disabled = read.ok().flatten().and_then(|calls| calls.disabled);
    disabled.is_some_and(|disabled| disabled == true || disabled == "true")
}

/// Returns true if two texts have the same words and so are unchanged.
pub fn same_but_for_white_space(old: &str, new: &str) -> bool {
    old.split_whitespace().eq(new.split_whitespace())
}

/// Returns the text between the first line and the closing line.
pub(crate) fn front_matter(skill_md: &str) -> Result<&str, SkillError> {
    split(skill_md).map(|(front, _)| front)
}

/// Splits a `SKILL.md` into front matter and the text after it.
pub fn split(skill_md: &str) -> Result<(&str, &str), SkillError> {
    let text = skill_md.strip_prefix('\u{feff}').unwrap_or(skill_md);
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err(SkillError::NotOpened);
    }
    let rest = &text[first.len()..];
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let body = &rest[end + line.len()..];
            return if end > LONGEST { Err(SkillError::TooLong) } else { Ok((&rest[..end], body)) };
        }
        end += line.len();
    }
    Err(SkillError::NotClosed)
}

/// Limits far above the needs of any skill, and far below a YAML bomb.
pub(crate) fn options(duplicate_keys: DuplicateKeyPolicy) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_events: 10_000,
            max_nodes: 5_000,
            max_aliases: 64,
            max_anchors: 64,
            max_documents: 1,
        },
        duplicate_keys: duplicate_keys,
        with_snippet: false,
    }
}

fn yaml_error(error: &serde_saphyr::Error) -> SkillError {
    SkillError::Yaml(crate::base::answer::capped(&error.to_string(), 300).into())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn named(yaml: &str) -> Result<Frontmatter, SkillError> {
        check(&format!("---\n{yaml}---\n# Body\n"))
    }

    #[test]
    fn name_and_description_are_read_and_other_keys_are_left_alone() {
        let skill = named(
            "name: writer\nallowed-tools: [Read, Write]\nmeta: {1: a}\ndescription: >\n  Writes\n  things\n",
        );
        assert_eq!(skill, Ok(Frontmatter { name: "writer".into(), description: "Writes things".into() }));
    }

    #[test]
    fn a_byte_order_mark_and_carriage_returns_do_no_harm() {
        let skill = check("\u{feff}---\r\nname: a\r\ndescription: \"b: c\"\r\n---\r\nBody");
        assert_eq!(skill, Ok(Frontmatter { name: "a".into(), description: "b: c".into() }));
        assert!(check("---\nname: a\ndescription: b\n---").is_ok());
    }

    #[test]
    fn front_matter_must_be_opened_on_the_first_line_and_closed() {
        assert_eq!(check(""), Err(SkillError::NotOpened));
        assert_eq!(check("# Title\n---\nname: a\n---\n"), Err(SkillError::NotOpened));
        assert_eq!(check("\n---\nname: a\n---\n"), Err(SkillError::NotOpened));
        assert_eq!(check("---\nname: a\ndescription: b\n"), Err(SkillError::NotClosed));
    }

    #[test]
    fn a_missing_or_empty_key_is_named() {
        assert_eq!(named(""), Err(SkillError::Empty("name")));
        assert_eq!(named("description: b\n"), Err(SkillError::Empty("name")));
        assert_eq!(named("name: a\n"), Err(SkillError::Empty("description")));
        assert_eq!(named("name: a\ndescription: '  '\n"), Err(SkillError::Empty("description")));
        assert_eq!(named("name: ~\ndescription: b\n"), Err(SkillError::Empty("name")));
    }

    #[test]
    fn what_is_not_a_mapping_with_strings_is_refused() {
        for yaml in [
            "- a\n",
            "text\n",
            "name: [a]\ndescription: b\n",
            "name: a: b\n",
            "name: {a: b}\n",
            "name: \"a\n",
        ] {
            assert!(matches!(named(yaml), Err(SkillError::Yaml(_))), "{yaml}: {:?}", named(yaml));
        }
    }

    #[test]
    fn bombs_of_depth_and_aliases_are_refused_quickly() {
        let deep = format!("name: a\ndescription: b\nx: {}\n", "[".repeat(10_000));
        assert!(matches!(named(&deep), Err(SkillError::Yaml(_))));
        let mut laughs = String::from("name: a\ndescription: b\na0: &a0 [x, x]\n");
        for level in 1..40 {
            let below = level - 1;
            writeln!(laughs, "a{level}: &a{level} [*a{below}, *a{below}]").unwrap();
        }
        assert!(matches!(named(&laughs), Err(SkillError::Yaml(_))));
        assert_eq!(named(&format!("name: {}\n", "a".repeat(70_000))), Err(SkillError::TooLong));
    }

    #[test]
    fn a_skill_that_its_front_matter_keeps_from_models_is_for_people_only() {
        let is_kept = |line: &str| is_for_people_only(&format!("---\nname: a\n{line}\n---\nBody\n"));
        assert!(is_kept("disable-model-invocation: true") && is_kept("disable-model-invocation: \"true\""));
        assert!(!is_kept("disable-model-invocation: false") && !is_kept("description: b"));
        assert!(!is_for_people_only("disable-model-invocation: true\n"), "it has no front matter");
    }

    #[test]
    fn only_words_make_a_change() {
        assert!(same_but_for_white_space("a  b\n\nc\n", "a b\r\nc"));
        assert!(!same_but_for_white_space("a b", "ab"));
    }
}
