//! Checks a value against the rules of a schema.

use std::cmp::Ordering;
use std::fmt::Write;

use serde_json::{Map, Number, Value};

use super::Schema;
use super::keyword::{Kind, Members, Rule, Side, Sized};
use crate::suites::checks::json::{self, compare};
use crate::suites::checks::pattern::Work;

/// The result of the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::suites::checks) enum Judged {
    Met,
    /// The place is a JSON pointer into the file; it and the value come from the file.
    Unmet {
        place: String,
        value: String,
    },
    TooLong,
}

/// Only a value made for it can lead a schema deeper than this.
const DEEPEST: usize = 400;

/// The path to a value.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    above: Option<&'a Place<'a>>,
    key: Key<'a>,
    depth: usize,
}

#[derive(Clone, Copy, Debug)]
enum Key<'a> {
    Name(&'a str),
    Index(usize),
    /// Another schema for the same value.
    Same,
}

impl Schema {
    pub(in crate::suites::checks) fn judge(&self, value: &Value, work: &mut Work) -> Judged {
        let mut judge = Judge { schema: self, work, is_tried: false, unmet: None };
        let root = Place { above: None, key: Key::Same, depth: 0 };
        match judge.node(0, value, &root) {
            Some(true) => Judged::Met,
            Some(false) => {
                let (place, value) = judge.unmet.unwrap_or_else(|| (String::new(), value.to_string()));
                Judged::Unmet { place, value }
            }
            None => Judged::TooLong,
        }
    }
}

struct Judge<'a> {
    schema: &'a Schema,
    work: &'a mut Work,
    /// Whether an unmet rule is not yet an error, because other alternatives follow.
    is_tried: bool,
    /// The first value that does not match.
    unmet: Option<(String, String)>,
}

impl Judge<'_> {
    /// Returns None if there is no work left to spend.
    fn node(&mut self, node: usize, value: &Value, at: &Place<'_>) -> Option<bool> {
        if at.depth > DEEPEST {
            return None;
        }
        self.work.take(8)?;
        let schema = self.schema;
        for rule in &schema.nodes[node] {
            if !self.rule(rule, value, at)? {
                if !self.is_tried && self.unmet.is_none() {
                    self.unmet = Some((at.pointer(), value.to_string()));
                }
                return Some(false);
            }
        }
        Some(true)
    }

    fn rule(&mut self, rule: &Rule, value: &Value, at: &Place<'_>) -> Option<bool> {
        self.work.take(1)?;
        Some(match (rule, value) {
            (Rule::Never, _) => false,
            (Rule::Type(kinds), _) => kinds.iter().any(|kind| is_of(*kind, value)),
            (Rule::Enum(values), _) => self.is_one_of(value, values)?,
            (Rule::All(nodes), _) => self.all(nodes, value, at)?,
            (Rule::Any(nodes), _) => self.count(nodes, 1, value, at)? > 0,
            (Rule::One(nodes), _) => self.count(nodes, 2, value, at)? == 1,
            (Rule::Not(node), _) => self.count(&[*node], 1, value, at)? == 0,
            (Rule::If { when, then, otherwise }, _) => {
                let branch = if self.count(&[*when], 1, value, at)? == 1 { then } else { otherwise };
                self.all(branch.as_slice(), value, at)?
            }
            (Rule::Limit { limit, side }, Value::Number(number)) => side.holds(json::numbers(number, limit)),
            (Rule::MultipleOf(of), Value::Number(number)) => is_multiple(number, of),
            (Rule::Size { of: Sized::Characters, times }, Value::String(text)) => {
                self.work.take(text.len() as u64)?;
                times.contain(text.chars().count() as u64)
            }
            (Rule::Size { of: Sized::Items, times }, Value::Array(items)) => {
                times.contain(items.len() as u64)
            }
            (Rule::Size { of: Sized::Members, times }, Value::Object(object)) => {
                times.contain(object.len() as u64)
            }
            (Rule::Matches(pattern), Value::String(text)) => pattern.is_in(text, self.work)?,
            (Rule::Members(members), Value::Object(object)) => self.members(members, object, at)?,
            (Rule::Names(node), Value::Object(object)) => self.names(*node, object, at)?,
            (Rule::Required(names), Value::Object(object)) => self.has_all(object, names)?,
            (Rule::With { member, required, node }, Value::Object(object)) => {
                !object.contains_key(member)
                    || self.has_all(object, required)? && self.all(node.as_slice(), value, at)?
            }
            (Rule::Items { first, others }, Value::Array(items)) => self.items(first, *others, items, at)?,
            (Rule::Contains { node, times }, Value::Array(items)) => {
                times.contain(self.count_items(*node, items, at)?)
            }
            (Rule::Unique, Value::Array(items)) => self.are_unique(items)?,
            (
                Rule::Limit { .. }
                | Rule::MultipleOf(_)
                | Rule::Size { .. }
                | Rule::Matches(_)
                | Rule::Members(_)
                | Rule::Names(_)
                | Rule::Required(_)
                | Rule::With { .. }
                | Rule::Items { .. }
                | Rule::Contains { .. }
                | Rule::Unique,
                _,
            ) => true,
        })
    }

    fn members(&mut self, members: &Members, object: &Map<String, Value>, at: &Place<'_>) -> Option<bool> {
        for (name, member) in object {
            let at = at.below(Key::Name(name));
            let mut nodes: Vec<usize> = members.named.get(name).copied().into_iter().collect();
            for (pattern, node) in &members.like {
                if pattern.is_in(name, self.work)? {
                    nodes.push(*node);
                }
            }
            if nodes.is_empty() {
                nodes.extend(members.others);
            }
            for node in nodes {
                if !self.node(node, member, &at)? {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    fn names(&mut self, node: usize, object: &Map<String, Value>, at: &Place<'_>) -> Option<bool> {
        for name in object.keys() {
            if !self.node(node, &Value::String(name.clone()), &at.below(Key::Name(name)))? {
                return Some(false);
            }
        }
        Some(true)
    }

    fn has_all(&mut self, object: &Map<String, Value>, names: &[String]) -> Option<bool> {
        self.work.take(names.len() as u64)?;
        Some(names.iter().all(|name| object.contains_key(name)))
    }

    fn items(
        &mut self,
        first: &[usize],
        others: Option<usize>,
        items: &[Value],
        at: &Place<'_>,
    ) -> Option<bool> {
        let nodes = first.iter().copied().chain(others.into_iter().cycle());
        for ((index, item), node) in items.iter().enumerate().zip(nodes) {
            if !self.node(node, item, &at.below(Key::Index(index)))? {
                return Some(false);
            }
        }
        Some(true)
    }

    fn count_items(&mut self, node: usize, items: &[Value], at: &Place<'_>) -> Option<u64> {
        let mut count = 0;
        for (index, item) in items.iter().enumerate() {
            count += self.count(&[node], 1, item, &at.below(Key::Index(index)))?;
        }
        Some(count)
    }

    fn all(&mut self, nodes: &[usize], value: &Value, at: &Place<'_>) -> Option<bool> {
        let at = at.below(Key::Same);
        for node in nodes {
            if !self.node(*node, value, &at)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns how many schemas a value matches, up to `enough`.
    fn count(&mut self, nodes: &[usize], enough: u64, value: &Value, at: &Place<'_>) -> Option<u64> {
        let (at, was_tried) = (at.below(Key::Same), self.is_tried);
        self.is_tried = true;
        let mut count = 0;
        for node in nodes {
            count += u64::from(self.node(*node, value, &at)?);
            if count == enough {
                break;
            }
        }
        self.is_tried = was_tried;
        Some(count)
    }

    fn is_one_of(&mut self, value: &Value, values: &[Value]) -> Option<bool> {
        for one in values {
            self.work.take(1)?;
            // Values of different kind or size need no comparison.
            if is_alike(one, value) {
                self.work.take(size(one))?;
                if compare(one, value).is_eq() {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    fn are_unique(&mut self, items: &[Value]) -> Option<bool> {
        let rounds = u64::from(items.len().max(1).ilog2()) + 1;
        for item in items {
            self.work.take(size(item) * rounds)?;
        }
        let mut sorted: Vec<&Value> = items.iter().collect();
        sorted.sort_by(|one, other| compare(one, other));
        Some(sorted.windows(2).all(|pair| compare(pair[0], pair[1]).is_ne()))
    }
}

impl Side {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::AtLeast => order.is_ge(),
            Self::MoreThan => order.is_gt(),
            Self::AtMost => order.is_le(),
            Self::LessThan => order.is_lt(),
        }
    }
}

impl<'a> Place<'a> {
    fn below(&'a self, key: Key<'a>) -> Self {
        Self { above: Some(self), key, depth: self.depth + 1 }
    }

    fn pointer(&self) -> String {
        let mut keys = Vec::new();
        let mut here = Some(self);
        while let Some(place) = here {
            keys.push(place.key);
            here = place.above;
        }
        let mut pointer = String::new();
        for key in keys.into_iter().rev() {
            let _ = match key {
                Key::Name(name) => write!(pointer, "/{}", name.replace('~', "~0").replace('/', "~1")),
                Key::Index(index) => write!(pointer, "/{index}"),
                Key::Same => Ok(()),
            };
        }
        pointer
    }
}

fn is_of(kind: Kind, value: &Value) -> bool {
    match (kind, value) {
        (Kind::Null, Value::Null)
        | (Kind::Boolean, Value::Bool(_))
        | (Kind::Object, Value::Object(_))
        | (Kind::Array, Value::Array(_))
        | (Kind::Number, Value::Number(_))
        | (Kind::String, Value::String(_)) => true,
        (Kind::Integer, Value::Number(number)) => {
            json::whole(number).is_some() || json::float(number).fract() == 0.0
        }
        _ => false,
    }
}

fn is_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => one.len() == other.len(),
        (Value::Object(one), Value::Object(other)) => one.len() == other.len(),
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

/// Returns the cost of comparing a value: all its parts. The value is no deeper than values that were read.
fn size(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len() as u64,
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| 4 * (1 + name.len() as u64 + size(member))).sum::<u64>()
        }
    }
}

fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (json::whole(number), json::whole(of)) {
        return of != 0 && number % of == 0;
    }
    let (number, of) = (json::float(number), json::float(of));
    let times = (number / of).round();
    // A tenth is not exact as a float, so a difference of no more than this is ignored.
    times.is_finite() && (times * of - number).abs() <= 1e-12 * number.abs()
}
