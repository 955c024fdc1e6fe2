//! The front matter: whether all agents load it alike, and whether it is complete.

mod description;
mod field;
mod name;
mod reference;
mod value;

use std::collections::{BTreeMap, HashSet};

use super::edit::Edit;
use super::reading::{BOM, MAIN, Reading, body_at, diagnostic};
use super::{Diagnostic, File, Rule, links};
use crate::base::material::Body;
use crate::base::spelling::nearest;
use crate::skills::skill::strict::{FIELDS, LONGEST_COMPATIBILITY, strict};
use crate::skills::skill::{self, SkillError};

use field::Field;
use value::Value;

/// The maximum number of characters of one skill in an agent's listing.
pub const LISTED: usize = 1536;

/// The front matter of a `SKILL.md`, as text and as values.
#[derive(Debug)]
pub(super) struct Front<'a> {
    yaml: &'a str,
    /// Its start in the file.
    at: usize,
    fields: Vec<Field<'a>>,
    values: Result<BTreeMap<String, Value>, (usize, String)>,
}

impl<'a> Front<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, SkillError> {
        let yaml = skill::front_matter(text)?;
        let at = yaml.as_ptr() as usize - text.as_ptr() as usize;
        Ok(Self { yaml, at, fields: field::scan(yaml), values: value::read(yaml) })
    }

    /// Returns the value of a key if it is text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.values.as_ref().ok()?.get(key)? {
            Value::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            Value::Scalar | Value::Nothing | Value::Many => None,
        }
    }

    fn field(&self, key: &str) -> Option<&Field<'a>> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// Returns the line of a key in the file.
    fn line(&self, key: &str) -> Option<usize> {
        self.field(key).map(|field| field.line)
    }
}

pub(super) fn check(reading: &Reading, out: &mut Vec<Diagnostic>) {
    let Some(main) = reading.main else {
        let message = "SKILL.md is missing".to_owned();
        out.push(Diagnostic { path: MAIN.to_owned(), line: None, rule: Rule::MainFile, message });
        return;
    };
    let file = reading.file(main);
    if file.path != MAIN {
        out.push(diagnostic(Rule::MainFileCase, file, None, format!("the file is named {}", file.path)));
    }
    let Some(text) = reading.text(main) else {
        // A symlink that leads to no file of the skill has its own diagnostic.
        let is_told = matches!(&file.body, Body::Link { target } if links::wrong_symlink(reading, file, target).is_some());
        if !is_told {
            out.push(diagnostic(Rule::MainFile, file, None, no_text(&file.body)));
        }
        return;
    };
    let mut ours = Vec::new();
    match Front::read(text) {
        Ok(front) => {
            let found = Found { reading, file, front: &front };
            found.form(text, &mut ours);
            found.fields(&mut ours);
            if front.values.is_ok() {
                name::check(&found, &mut ours);
                description::check(&found, &mut ours);
                found.lengths(&mut ours);
            }
        }
        Err(why) => ours.push(diagnostic(Rule::FrontMatter, file, 1, why.to_string())),
    }
    reference::agree(file, &strict(text, reading.files.folder()), ours, out);
}

/// Replaces the name with that of the folder.
pub(super) fn renamed(reading: &Reading) -> Vec<Edit> {
    rewritten(reading, |text, front| name::renamed(text, front, reading.files.folder()))
}

/// Cuts a description that is too long at a sentence, and moves the other sentences into the body.
pub(super) fn trimmed(reading: &Reading) -> Vec<Edit> {
    rewritten(reading, |text, front| description::trimmed(text, front, body_at(text, true)))
}

fn rewritten(reading: &Reading, rewrite: impl Fn(&str, &Front) -> Option<String>) -> Vec<Edit> {
    let edit = || {
        let main = reading.main?;
        let text = reading.text(main)?;
        let made = rewrite(text, &Front::read(text).ok()?).filter(|made| made != text)?;
        Some(Edit::of_text(reading.file(main), made, 1))
    };
    edit().into_iter().collect()
}

fn no_text(body: &Body) -> String {
    match body {
        Body::Link { target } => {
            format!("the file is a symlink to {target}, which was not copied")
        }
        Body::Large { bytes } => format!("the file is too large: {bytes} bytes"),
        Body::Binary { .. } | Body::Text(_) => "the file is not UTF-8 text".to_owned(),
    }
}

/// The input of the checks for single fields.
struct Found<'f, 'a> {
    reading: &'f Reading<'a>,
    file: &'a File,
    front: &'f Front<'a>,
}

/// Additional fields that Claude Code reads.
const CLAUDE_CODE: [&str; 14] = [
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "model",
    "effort",
    "context",
    "agent",
    "hooks",
    "paths",
    "shell",
    "disallowed-tools",
    "background",
];

/// Fields that contain text, whatever it looks like.
const TEXTS: [&str; 5] = ["name", "description", "license", "compatibility", "when_to_use"];

/// Names the field that is probably meant.
fn unknown(key: &str) -> String {
    match nearest(key, FIELDS.into_iter().chain(CLAUDE_CODE)) {
        Some(near) => format!("unknown field `{key}`; did you mean `{near}`?"),
        None => format!("unknown field `{key}`"),
    }
}

impl Found<'_, '_> {
    fn say(&self, rule: Rule, key: &str, message: impl Into<String>) -> Diagnostic {
        diagnostic(rule, self.file, self.front.line(key).unwrap_or(1), message)
    }

    /// Reports forms that parsers read differently.
    fn form(&self, text: &str, out: &mut Vec<Diagnostic>) {
        let mut say = |line: usize, message: &str| {
            out.push(diagnostic(Rule::FrontMatterForm, self.file, line, message));
        };
        let first = text.lines().next().unwrap_or_default();
        if first.trim_start_matches(BOM) != "---" {
            say(1, "trailing spaces after `---`");
        }
        let closing = text[self.front.at + self.front.yaml.len()..].lines().next().unwrap_or_default();
        let lines = self.front.yaml.matches('\n').count();
        if closing != "---" {
            say(lines + 2, "trailing spaces after `---`");
        }
        let indented_by_tab = |line: &str| {
            line.len() > line.trim_start().len()
                && line[..line.len() - line.trim_start().len()].contains('\t')
        };
        if let Some(at) = self.front.yaml.lines().position(indented_by_tab) {
            say(at + 2, "a tab in the indentation, which YAML forbids");
        }
        for key in TEXTS.iter().filter(|key| **key != "name") {
            let Some(field) = self.front.field(key) else { continue };
            if field.is_plain() && field.raw.contains(" #") {
                say(field.line, &format!("YAML reads the text after ` #` in `{key}` as a comment"));
            }
        }
    }

    fn fields(&self, out: &mut Vec<Diagnostic>) {
        let mut seen = HashSet::new();
        for field in self.front.fields.iter().filter(|field| !seen.insert(field.key)) {
            let message = format!("duplicate key `{}`", field.key);
            out.push(diagnostic(Rule::FieldDuplicate, self.file, field.line, message));
        }
        let values = match &self.front.values {
            Ok(values) => values,
            Err((line, why)) => {
                let why = format!("not a YAML mapping: {why}");
                out.push(diagnostic(Rule::FrontMatter, self.file, *line, why));
                return;
            }
        };
        for key in values.keys().map(String::as_str).filter(|key| !FIELDS.contains(key)) {
            out.push(if CLAUDE_CODE.contains(&key) {
                self.say(Rule::FieldPortable, key, format!("the specification has no field `{key}`"))
            } else {
                self.say(Rule::FieldUnknown, key, unknown(key))
            });
        }
        for key in TEXTS.iter().filter(|key| values.contains_key(**key)) {
            let Some(field) = self.front.field(key).filter(|field| field.is_plain()) else { continue };
            if let Some(kind) = field::misread(field.raw) {
                let message = format!("YAML reads `{key}: {}` as {kind}, not as text", field.raw);
                out.push(self.say(Rule::FieldKind, key, message));
            }
        }
    }

    fn lengths(&self, out: &mut Vec<Diagnostic>) {
        let length = |key| self.front.text(key).map_or(0, |text| text.chars().count());
        let compatibility = length("compatibility");
        if compatibility > LONGEST_COMPATIBILITY {
            let message = format!(
                "`compatibility` has {compatibility} characters; the limit is {LONGEST_COMPATIBILITY}"
            );
            out.push(self.say(Rule::Compatibility, "compatibility", message));
        }
        let listed = length("description") + length("when_to_use");
        if listed > LISTED {
            let message = format!(
                "description and when_to_use have {listed} characters; agents list the first {LISTED}"
            );
            out.push(self.say(Rule::ListingCut, "when_to_use", message));
        }
    }
}
