//! The keywords of a schema, with their rules.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::{MOST_PATTERNS, Reader};
use crate::suites::checks::Times;
use crate::suites::checks::pattern::{Anchors, Pattern};

/// One rule of a schema. A rule about objects accepts every other value, and so on.
#[derive(Debug)]
pub(super) enum Rule {
    Never,
    Type(Vec<Kind>),
    Enum(Vec<Value>),
    All(Vec<usize>),
    Any(Vec<usize>),
    One(Vec<usize>),
    Not(usize),
    If {
        when: usize,
        then: Option<usize>,
        otherwise: Option<usize>,
    },
    Limit {
        limit: Number,
        side: Side,
    },
    MultipleOf(Number),
    Size {
        of: Sized,
        times: Times,
    },
    Matches(Pattern),
    Members(Members),
    Names(usize),
    Required(Vec<String>),
    /// The schema of an object that has this member.
    With {
        member: String,
        required: Vec<String>,
        node: Option<usize>,
    },
    Items {
        first: Vec<usize>,
        others: Option<usize>,
    },
    Contains {
        node: usize,
        times: Times,
    },
    Unique,
}

/// The schemas of an object's members: by name, by pattern of the name, and for all others.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) named: HashMap<String, usize>,
    pub(super) like: Vec<(Pattern, usize)>,
    pub(super) others: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Object,
    Array,
    Number,
    Integer,
    String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// The units of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sized {
    Characters,
    Items,
    Members,
}

impl Rule {
    /// Returns the schemas that the rule applies to the same value.
    pub(super) fn of_the_same_value(&self) -> Vec<usize> {
        match self {
            Self::All(nodes) | Self::Any(nodes) | Self::One(nodes) => nodes.clone(),
            Self::Not(node) => vec![*node],
            Self::If { when, then, otherwise } => {
                [Some(*when), *then, *otherwise].into_iter().flatten().collect()
            }
            Self::With { node, .. } => node.iter().copied().collect(),
            Self::Never
            | Self::Type(_)
            | Self::Enum(_)
            | Self::Limit { .. }
            | Self::MultipleOf(_)
            | Self::Size { .. }
            | Self::Matches(_)
            | Self::Members(_)
            | Self::Names(_)
            | Self::Required(_)
            | Self::Items { .. }
            | Self::Contains { .. }
            | Self::Unique => Vec::new(),
        }
    }
}

/// Keywords that do not restrict a value. The standard also treats `format` as an annotation.
const REMARKS: [&str; 13] = [
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$id",
];

fn is_remark(key: &str) -> bool {
    REMARKS.contains(&key) || key.starts_with("x-")
}

type Result<T> = std::result::Result<T, String>;
type Object = Map<String, Value>;

impl<'a> Reader<'a> {
    /// Returns the rules of one schema.
    pub(super) fn rules(&mut self, schema: &'a Value) -> Result<Vec<Rule>> {
        match schema {
            Value::Bool(true) => Ok(Vec::new()),
            Value::Bool(false) => Ok(vec![Rule::Never]),
            Value::Object(object) => self.of_object(schema, object),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err("a schema must be an object, `true` or `false`".to_owned())
            }
        }
    }

    fn of_object(&mut self, schema: &'a Value, object: &'a Object) -> Result<Vec<Rule>> {
        let asks =
            |key: &&String| !is_remark(key) && !["$schema", "$defs", "definitions"].contains(&key.as_str());
        if self.refs_stand_alone && object.contains_key("$ref") && object.keys().filter(asks).count() > 1 {
            return Err("this draft ignores keywords next to a `$ref`: put both into an `allOf`".to_owned());
        }
        let mut rules = Vec::new();
        for (key, value) in object {
            self.keyword(schema, key, value, &mut rules)?;
        }
        rules.extend(self.conditional(object)?);
        rules.extend(self.members(object)?);
        rules.extend(self.items(object)?);
        rules.extend(self.contains(object)?);
        for (of, least, most) in [
            (Sized::Characters, "minLength", "maxLength"),
            (Sized::Items, "minItems", "maxItems"),
            (Sized::Members, "minProperties", "maxProperties"),
        ] {
            if let Some(times) = times(object, least, most, 0)? {
                rules.push(Rule::Size { of, times });
            }
        }
        Ok(rules)
    }

    fn keyword(
        &mut self,
        schema: &'a Value,
        key: &str,
        value: &'a Value,
        rules: &mut Vec<Rule>,
    ) -> Result<()> {
        let limit = |side| Ok(Rule::Limit { limit: number(key, value)?.clone(), side });
        let rule: Result<Rule> = match key {
            // A second `$id` would change the targets of references in it.
            "$id" if !std::ptr::eq(schema, self.root) => {
                Err("only the whole schema can have an `$id`".to_owned())
            }
            _ if is_remark(key) => return Ok(()),
            "$schema" if std::ptr::eq(schema, self.root) => return Ok(()),
            "$defs" | "definitions" => {
                for part in members(key, value)?.values() {
                    self.node(part)?;
                }
                return Ok(());
            }
            "$ref" => {
                let target = self.target(text(key, value)?)?;
                Ok(Rule::All(vec![self.node(target)?]))
            }
            "type" => kinds(value).map(Rule::Type),
            "enum" => Ok(Rule::Enum(list(key, value)?.to_vec())),
            "const" => Ok(Rule::Enum(vec![value.clone()])),
            "allOf" => self.nodes(key, value).map(Rule::All),
            "anyOf" => self.nodes(key, value).map(Rule::Any),
            "oneOf" => self.nodes(key, value).map(Rule::One),
            "not" => self.node(value).map(Rule::Not),
            "minimum" => limit(Side::AtLeast),
            "exclusiveMinimum" => limit(Side::MoreThan),
            "maximum" => limit(Side::AtMost),
            "exclusiveMaximum" => limit(Side::LessThan),
            "multipleOf" => match number(key, value)? {
                positive if positive.as_f64().is_some_and(|value| value > 0.0) => {
                    Ok(Rule::MultipleOf(positive.clone()))
                }
                _ => Err(mistyped(key, "a number above 0")),
            },
            "pattern" => self.pattern(text(key, value)?).map(Rule::Matches),
            "propertyNames" => self.node(value).map(Rule::Names),
            "required" => texts(key, value).map(Rule::Required),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                return self.dependencies(key, value, rules);
            }
            "uniqueItems" => match value {
                Value::Bool(true) => Ok(Rule::Unique),
                Value::Bool(false) => return Ok(()),
                _ => Err(mistyped(key, "`true` or `false`")),
            },
            // Keywords that belong together are read together.
            "if"
            | "then"
            | "else"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "minLength"
            | "maxLength"
            | "minItems"
            | "maxItems"
            | "minProperties"
            | "maxProperties" => return Ok(()),
            _ => Err(format!(
                "the schema's keyword `{}` is not supported",
                crate::base::answer::capped(key, 40)
            )),
        };
        rules.push(rule?);
        Ok(())
    }

    fn conditional(&mut self, object: &'a Object) -> Result<Option<Rule>> {
        let mut branch = |key| object.get(key).map(|value| self.node(value)).transpose();
        let (when, then, otherwise) = (branch("if")?, branch("then")?, branch("else")?);
        Ok(when.map(|when| Rule::If { when, then, otherwise }))
    }

    fn members(&mut self, object: &'a Object) -> Result<Option<Rule>> {
        if !["properties", "patternProperties", "additionalProperties"]
            .iter()
            .any(|key| object.contains_key(*key))
        {
            return Ok(None);
        }
        let (mut named, mut like) = (HashMap::new(), Vec::new());
        if let Some(value) = object.get("properties") {
            for (name, value) in members("properties", value)? {
                named.insert(name.clone(), self.node(value)?);
            }
        }
        if let Some(value) = object.get("patternProperties") {
            for (pattern, value) in members("patternProperties", value)? {
                like.push((self.pattern(pattern)?, self.node(value)?));
            }
        }
        let others = object.get("additionalProperties").map(|value| self.node(value)).transpose()?;
        Ok(Some(Rule::Members(Members { named, like, others })))
    }

    /// Reads the items. Older drafts have the first items under `items`, and the others under `additionalItems`.
    fn items(&mut self, object: &'a Object) -> Result<Option<Rule>> {
        let (first, others) = match (object.get("prefixItems"), object.get("items")) {
            (None, None) => return Ok(None),
            (None, Some(first @ Value::Array(_))) => (Some(("items", first)), object.get("additionalItems")),
            (first, others) => (first.map(|first| ("prefixItems", first)), others),
        };
        let first = first.map(|(key, first)| self.nodes(key, first)).transpose()?.unwrap_or_default();
        let others = others.map(|value| self.node(value)).transpose()?;
        Ok(Some(Rule::Items { first, others }))
    }

    fn contains(&mut self, object: &'a Object) -> Result<Option<Rule>> {
        let times = times(object, "minContains", "maxContains", 1)?.unwrap_or(Times::ONCE_OR_MORE);
        let Some(value) = object.get("contains") else { return Ok(None) };
        Ok(Some(Rule::Contains { node: self.node(value)?, times }))
    }

    fn dependencies(&mut self, key: &str, value: &'a Value, rules: &mut Vec<Rule>) -> Result<()> {
        for (member, value) in members(key, value)? {
            let (required, node) = match value {
                Value::Array(_) if key != "dependentSchemas" => (texts(key, value)?, None),
                _ if key != "dependentRequired" => (Vec::new(), Some(self.node(value)?)),
                _ => return Err(mistyped(key, "lists of names")),
            };
            rules.push(Rule::With { member: member.clone(), required, node });
        }
        Ok(())
    }

    fn nodes(&mut self, key: &str, value: &'a Value) -> Result<Vec<usize>> {
        let list = list(key, value)?;
        if list.is_empty() {
            return Err(mistyped(key, "a list that is not empty"));
        }
        list.iter().map(|value| self.node(value)).collect()
    }

    fn pattern(&mut self, pattern: &str) -> Result<Pattern> {
        self.patterns += 1;
        if self.patterns > MOST_PATTERNS {
            return Err(format!("the schema has more than {MOST_PATTERNS} patterns"));
        }
        Pattern::compile(pattern, Anchors::Text).map_err(|why| format!("a pattern of the schema: {why}"))
    }
}

fn mistyped(key: &str, what: &str) -> String {
    format!("`{key}` of the schema must be {what}")
}

fn text<'a>(key: &str, value: &'a Value) -> Result<&'a str> {
    value.as_str().ok_or_else(|| mistyped(key, "a string"))
}

fn number<'a>(key: &str, value: &'a Value) -> Result<&'a Number> {
    value.as_number().ok_or_else(|| mistyped(key, "a number"))
}

fn list<'a>(key: &str, value: &'a Value) -> Result<&'a [Value]> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| mistyped(key, "a list"))
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    list(key, value)?.iter().map(text).collect::<Option<_>>().ok_or_else(|| mistyped(key, "a list of names"))
}

fn members<'a>(key: &str, value: &'a Value) -> Result<&'a Object> {
    value.as_object().ok_or_else(|| mistyped(key, "an object"))
}

/// Reads the lower and the upper bound of a size, if there is any.
fn times(object: &Object, least: &str, most: &str, default: u64) -> Result<Option<Times>> {
    let size = |key: &str| {
        let Some(value) = object.get(key) else { return Ok(None) };
        let whole = value.as_number().and_then(crate::suites::checks::json::whole);
        let size = whole.and_then(|size| u64::try_from(size).ok());
        size.map(Some).ok_or_else(|| mistyped(key, "a whole number, 0 or more"))
    };
    let (min, max) = (size(least)?, size(most)?);
    Ok((min.is_some() || max.is_some()).then(|| Times { min: min.unwrap_or(default), max }))
}

fn kinds(value: &Value) -> Result<Vec<Kind>> {
    let kind = |value: &Value| match value.as_str()? {
        "null" => Some(Kind::Null),
        "boolean" => Some(Kind::Boolean),
        "object" => Some(Kind::Object),
        "array" => Some(Kind::Array),
        "number" => Some(Kind::Number),
        "integer" => Some(Kind::Integer),
        "string" => Some(Kind::String),
        _ => None,
    };
    let kinds: Option<Vec<Kind>> = match value {
        Value::Array(values) => values.iter().map(kind).collect(),
        one => kind(one).map(|kind| vec![kind]),
    };
    let is_type = "null, boolean, object, array, number, integer, string, or a list of these";
    kinds.filter(|kinds| !kinds.is_empty()).ok_or_else(|| mistyped("type", is_type))
}
