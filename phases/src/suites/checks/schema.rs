//! JSON Schema: reads a schema into rules, so that all of it is understood before a run begins.
//!
//! It supports the part of the standard (drafts 6 to 2020-12) that needs no second document: an unknown keyword is
//! rejected, and a reference points into the schema itself. The crates that support everything follow a malicious
//! schema without end, and bring a backtracking regex engine; here every comparison has a limited number of steps.

mod judge;
mod keyword;

use std::collections::HashMap;

use serde_json::Value;

use self::keyword::Rule;
use super::json;

pub(super) use judge::Judged;

/// A schema and its subschemas, by number; the first is the whole.
#[derive(Debug)]
pub(super) struct Schema {
    nodes: Vec<Vec<Rule>>,
}

const MOST_NODES: usize = 5_000;
const MOST_PATTERNS: usize = 50;
/// The limit of the schema as JSON text, in bytes.
const LARGEST: usize = 256 << 10;

/// The known dialects. In the first two of them, keywords beside a `$ref` are ignored.
const DIALECTS: [&str; 4] = [
    "json-schema.org/draft-06/schema",
    "json-schema.org/draft-07/schema",
    "json-schema.org/draft/2019-09/schema",
    "json-schema.org/draft/2020-12/schema",
];

impl Schema {
    pub(super) fn read(schema: &Value) -> Result<Self, String> {
        if json::is_too_deep(schema) {
            return Err("the schema is nested too deeply".to_owned());
        }
        if schema.to_string().len() > LARGEST {
            return Err(format!("the schema is larger than {} KiB", LARGEST >> 10));
        }
        let mut reader = Reader {
            root: schema,
            known: HashMap::new(),
            open: Vec::new(),
            patterns: 0,
            refs_stand_alone: false,
        };
        reader.refs_stand_alone = reader.dialect()?.is_some_and(|dialect| dialect < 2);
        reader.node(schema)?;
        let mut nodes: Vec<Vec<Rule>> = Vec::new();
        while let Some((node, value)) = reader.open.pop() {
            let rules = reader.rules(value)?;
            nodes.resize_with(reader.known.len(), Vec::new);
            nodes[node] = rules;
        }
        let schema = Self { nodes };
        if schema.goes_in_circles() {
            return Err("the schema refers to itself endlessly".to_owned());
        }
        Ok(schema)
    }

    /// Returns whether a schema refers to itself for the same value.
    fn goes_in_circles(&self) -> bool {
        // Each schema is visited once: everything below it is done when it is popped for the second time.
        let (mut begun, mut done) = (vec![false; self.nodes.len()], vec![false; self.nodes.len()]);
        let mut open: Vec<usize> = (0..self.nodes.len()).collect();
        while let Some(&node) = open.last() {
            if done[node] || begun[node] {
                done[node] = true;
                open.pop();
                continue;
            }
            begun[node] = true;
            for next in self.nodes[node].iter().flat_map(Rule::of_the_same_value) {
                if begun[next] && !done[next] {
                    return true;
                }
                open.push(next);
            }
        }
        false
    }
}

struct Reader<'a> {
    root: &'a Value,
    /// The number of each schema, by its address in the document.
    known: HashMap<*const Value, usize>,
    open: Vec<(usize, &'a Value)>,
    patterns: usize,
    /// Whether the dialect ignores keywords beside a reference.
    refs_stand_alone: bool,
}

impl<'a> Reader<'a> {
    /// Returns the number of a schema, which is read later.
    fn node(&mut self, value: &'a Value) -> Result<usize, String> {
        let next = self.known.len();
        let node = *self.known.entry(std::ptr::from_ref(value)).or_insert(next);
        if node == next {
            if next == MOST_NODES {
                return Err(format!("the schema has more than {MOST_NODES} parts"));
            }
            self.open.push((node, value));
        }
        Ok(node)
    }

    /// Returns the target of a reference.
    fn target(&self, reference: &str) -> Result<&'a Value, String> {
        let pointer = reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(pointer) = pointer else {
            return Err(
                "the schema refers to something outside itself; `$ref` must start with `#/`".to_owned()
            );
        };
        if pointer.contains('%') {
            return Err("a `$ref` with a `%` is not supported".to_owned());
        }
        self.root.pointer(pointer).ok_or_else(|| "a `$ref` of the schema has no target".to_owned())
    }

    /// Returns the dialect that the whole schema names, if any.
    fn dialect(&self) -> Result<Option<usize>, String> {
        let Some(named) = self.root.get("$schema") else { return Ok(None) };
        let named = named.as_str().unwrap_or_default().trim_end_matches('#');
        let named = named.strip_prefix("https://").or(named.strip_prefix("http://"));
        let known = DIALECTS.iter().position(|known| Some(*known) == named);
        known
            .map(Some)
            .ok_or_else(|| format!("`$schema` must be one of https://{}", DIALECTS.join(", https://")))
    }
}

/// Returns whether a built-in schema accepts a value. All of the schema must be understood.
pub fn accepts(schema: &Value, value: &Value) -> bool {
    let schema = Schema::read(schema).expect("a schema of ours is understood");
    schema.judge(value, &mut super::pattern::Work(u64::MAX)) == Judged::Met
}

#[cfg(test)]
mod tests;
