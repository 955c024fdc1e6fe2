//! Returns the faults of front matter and their lines, as the format's reference validator does.
//!
//! It accepts if there is no fault. `phases/tests/core/frontmatter` compares the results with its recorded verdicts;
//! `fixtures/frontmatter/record.py` lists the few stricter forms and the reasons.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::LONGEST;
use super::block::{self, Entry, Node};
use super::fault::SHOWN;
use crate::base::answer::capped;

pub use super::fault::{Construct, Fault, Field};

/// The fields of the format.
pub(crate) const FIELDS: [&str; 6] =
    ["allowed-tools", "compatibility", "description", "license", "metadata", "name"];
pub(crate) const LONGEST_NAME: usize = 64;
pub(crate) const LONGEST_DESCRIPTION: usize = 1024;
pub(crate) const LONGEST_COMPATIBILITY: usize = 500;

/// Checks the front matter of a `SKILL.md` in a folder with this name, as the reference validator would.
pub fn strict(skill_md: &str, folder: &str) -> Vec<Fault> {
    let text = with_line_feeds(skill_md);
    match front_matter(&text).and_then(block::read) {
        Ok(entries) => judged(&entries, folder),
        Err(fault) => vec![fault],
    }
}

/// Finds the end of the front matter: the reference uses the next `---`, even in the middle of a line.
fn front_matter(text: &str) -> Result<&str, Fault> {
    let rest = text.strip_prefix("---").ok_or(Fault::NotOpened)?;
    let (yaml, _) = rest.split_once("---").ok_or(Fault::NotClosed)?;
    if yaml.len() > LONGEST { Err(Fault::Oversized) } else { Ok(yaml) }
}

fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

fn judged(entries: &[Entry], folder: &str) -> Vec<Fault> {
    let mut faults: Vec<Fault> = entries.iter().filter_map(unknown).collect();
    match required(entries, Field::Name) {
        Ok((line, name)) => faults.extend(name_faults(line, name, folder)),
        Err(fault) => faults.push(fault),
    }
    match required(entries, Field::Description) {
        Ok((line, text)) => faults.extend(too_long(Field::Description, line, text, LONGEST_DESCRIPTION)),
        Err(fault) => faults.push(fault),
    }
    faults.extend(find(entries, "compatibility").and_then(compatibility));
    faults
}

fn find<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Entry> {
    entries.iter().find(|entry| entry.key == key)
}

fn unknown(entry: &Entry) -> Option<Fault> {
    let known = FIELDS.contains(&entry.key.as_str());
    (!known).then(|| Fault::Unknown { line: entry.line, key: capped(&entry.key, SHOWN) })
}

fn required(entries: &[Entry], field: Field) -> Result<(usize, &str), Fault> {
    let entry = find(entries, field.key()).ok_or(Fault::Missing(field))?;
    match &entry.value {
        Node::Text(text) if !text.chars().all(white) => Ok((entry.line, text)),
        _ => Err(Fault::NoText { line: entry.line, field }),
    }
}

fn compatibility(entry: &Entry) -> Option<Fault> {
    let (line, field) = (entry.line, Field::Compatibility);
    match &entry.value {
        Node::Text(text) => too_long(field, line, text, LONGEST_COMPATIBILITY),
        _ => Some(Fault::NoText { line, field }),
    }
}

fn too_long(field: Field, line: usize, text: &str, most: usize) -> Option<Fault> {
    let long = text.chars().count();
    (long > most).then_some(Fault::TooLong { line, field, long, most })
}

fn name_faults(line: usize, said: &str, folder: &str) -> impl Iterator<Item = Fault> {
    let name: String = said.trim_matches(white).nfkc().collect();
    let case = name.to_lowercase() != name;
    let outer = name.starts_with('-') || name.ends_with('-');
    let double = name.contains("--");
    let odd = name.chars().find(|c| *c != '-' && !letter_or_digit(*c));
    let other = !name.chars().eq(folder.nfkc());
    let shown = capped(&name, SHOWN);
    [
        too_long(Field::Name, line, &name, LONGEST_NAME),
        case.then(|| Fault::NotLowercase { line, name: shown.clone() }),
        outer.then(|| Fault::OuterHyphen { line, name: shown.clone() }),
        double.then(|| Fault::DoubleHyphen { line, name: shown.clone() }),
        odd.map(|found| Fault::NotLetter { line, name: shown.clone(), found }),
        other.then(|| Fault::NotFolder { line, name: shown.clone(), folder: capped(folder, SHOWN) }),
    ]
    .into_iter()
    .flatten()
}

/// Returns true for the general categories L and N. Unicode counts marks and enclosed letters as alphabetic, but they
/// are in neither.
fn letter_or_digit(c: char) -> bool {
    let enclosed = matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}');
    c.is_alphanumeric() && !is_combining_mark(c) && !enclosed
}

/// Returns true for white space of the reference, which includes the four separators of ASCII.
fn white(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(yaml: &str) -> Vec<Fault> {
        strict(&format!("---\n{yaml}---\n# Body\n"), "a")
    }

    fn said(yaml: &str) -> Vec<String> {
        faults(yaml).iter().map(|fault| format!("{}: {} [{}]", fault.line(), fault, fault.rule())).collect()
    }

    const AB: &str = "name: a\ndescription: b\n";

    #[test]
    fn every_fault_of_a_field_is_told_with_its_line() {
        let yaml = format!("version: 1\n\n# note\nname: >\n  -B--ü!{}\ndescription: ''\n", "x".repeat(60));
        insta::assert_snapshot!(said(&yaml).join("\n").replace(&"x".repeat(60), "x.."), @r#"
        2: unknown field "version" [unknown-field]
        5: `name` has 66 characters; the limit is 64 [too-long]
        5: name "-B--ü!x.." contains letters that are not lower-case [name-case]
        5: name "-B--ü!x.." starts or ends with a hyphen [name-hyphen]
        5: name "-B--ü!x.." has two hyphens in a row [name-hyphen]
        5: name "-B--ü!x.." contains '!'; only letters, digits and hyphens are allowed [name-character]
        5: name "-B--ü!x.." differs from its folder, "a" [name-folder]
        7: `description` is not text, or is empty [no-text]
        "#);
    }

    #[test]
    fn a_fault_of_form_comes_alone_with_its_line() {
        let wrong = [
            "license: [MIT]\n",
            "license: &a b\n",
            "license: *a\n",
            "license: !!str a\n",
            "license: a\tb\n",
            "\tlicense: a\n",
            "name: b\n",
            "<<: a\n",
            "? - a\n: b\n",
            "license: 'a\n",
            "...\nx\n",
            "license: \0\n",
        ];
        let messages: Vec<_> = wrong.iter().map(|yaml| said(&format!("{AB}{yaml}")).join(" + ")).collect();
        insta::assert_snapshot!(messages.join("\n"), @r#"
        4: front matter uses brackets or braces, which strict parsers reject [refused-yaml]
        4: front matter uses an anchor, which strict parsers reject [refused-yaml]
        4: front matter uses an alias, which strict parsers reject [refused-yaml]
        4: front matter uses a tag, which strict parsers reject [refused-yaml]
        4: front matter uses a tab outside of quotes, which strict parsers reject [refused-yaml]
        3: front matter is not YAML: while scanning a plain scalar, found a tab [not-yaml]
        4: duplicate key "name" [repeated-key]
        4: front matter uses a `<<` that merges nothing, which strict parsers reject [refused-yaml]
        4: front matter uses a list or mapping as a key, which strict parsers reject [refused-yaml]
        4: front matter is not YAML: unclosed quote [not-yaml]
        5: front matter uses a second document, which strict parsers reject [refused-yaml]
        4: front matter contains the unprintable character '\0' [unprintable]
        "#);
    }

    #[test]
    fn lines_are_counted_alike_whatever_ends_them() {
        for text in [
            "---\nname: a\ndescription: b\nx: c\n---\n",
            "---\r\nname: a\r\ndescription: b\r\nx: c\r\n---\r\n",
        ] {
            assert_eq!(strict(text, "a"), [Fault::Unknown { line: 4, key: "x".into() }]);
        }
    }

    #[test]
    fn what_is_too_big_or_too_deep_is_refused_before_it_is_read_to_its_end() {
        assert_eq!(faults(&format!("{AB}license: {}\n", "x".repeat(LONGEST))), [Fault::Oversized]);
        assert_eq!(faults(&format!("{AB}license:\n  {}x\n", "- ".repeat(200))), []);
        for deep in ["- ".repeat(30_000), "? ".repeat(30_000), "[".repeat(60_000), "{a: ".repeat(15_000)] {
            let found = faults(&format!("{AB}license:\n  {deep}\n"));
            assert!(
                matches!(found[..], [Fault::NotYaml { line: 5, .. } | Fault::Refused { line: 5, .. }]),
                "{found:?}"
            );
        }
    }

    #[test]
    fn only_so_many_lines_of_a_quoted_text_are_forgiven_their_indent() {
        let lines = |count| faults(&format!("name: a\ndescription: 'b{}'\n", "\nc".repeat(count)));
        assert_eq!(lines(64), []);
        assert!(matches!(lines(65)[..], [Fault::NotYaml { line: 68, .. }]), "{:?}", lines(65));
    }
}
