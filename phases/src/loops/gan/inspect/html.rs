//! Parses an HTML page as a browser does, into a flat list in document order.
//!
//! The parser's work grows with the depth of open elements, so a page that is deeper or larger than any real one is
//! rejected.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, ExpandedName, QualName, local_name, ns, parse_document};

const MOST_NODES: usize = 100_000;
const DEEPEST: usize = 1_000;
/// The parser compares each attribute of a tag with those before it, which would take long for a larger tag.
const LARGEST: usize = 512 << 10;
/// The maximum length to read of a heading or another name.
const LONGEST_NAME: usize = 400;
/// The amount to parse between two checks of the limits.
const PIECE: usize = 4096;

#[derive(Debug)]
pub(super) struct HtmlPage<'a> {
    pub path: &'a str,
    pub nodes: Vec<Node>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub kind: NodeKind,
    pub line: u64,
    /// The document is its own parent.
    pub parent: usize,
    /// The end of this node's descendants.
    pub end: usize,
    /// Certainly hidden, by its own attributes or those of its ancestors.
    pub is_hidden: bool,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Document,
    Element { name: Box<str>, attributes: Vec<(Box<str>, Box<str>)> },
    Text(String),
}

impl<'a> HtmlPage<'a> {
    /// Parses a page; none if it exceeds the limits.
    pub(super) fn read(path: &'a str, text: &str) -> Option<Self> {
        if text.len() > LARGEST {
            return None;
        }
        let mut parser = parse_document(Tree::default(), html5ever::ParseOpts::default());
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(piece_end(rest));
            rest = after;
            parser.process(StrTendril::from(piece));
            if parser.tokenizer.sink.sink.is_beyond_limits() {
                return None;
            }
        }
        let tree = parser.finish();
        (!tree.is_beyond_limits()).then(|| Self { path, nodes: tree.flat() })
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = (usize, &str)> {
        self.nodes.iter().enumerate().filter_map(|(at, node)| match &node.kind {
            NodeKind::Element { name, .. } => Some((at, &**name)),
            NodeKind::Document | NodeKind::Text(_) => None,
        })
    }

    pub(super) fn named<'p>(&'p self, names: &'p [&str]) -> impl Iterator<Item = usize> + 'p {
        self.elements().filter(|(_, name)| names.contains(name)).map(|(at, _)| at)
    }

    /// Returns the name of an element; other nodes have none.
    pub(super) fn name(&self, at: usize) -> &str {
        match &self.nodes[at].kind {
            NodeKind::Element { name, .. } => name,
            NodeKind::Document | NodeKind::Text(_) => "",
        }
    }

    pub(super) fn attribute(&self, at: usize, name: &str) -> Option<&str> {
        let NodeKind::Element { attributes, .. } = &self.nodes[at].kind else { return None };
        attributes.iter().find(|(known, _)| **known == *name).map(|(_, value)| &**value)
    }

    pub(super) fn attributes(&self, at: usize) -> &[(Box<str>, Box<str>)] {
        match &self.nodes[at].kind {
            NodeKind::Element { attributes, .. } => attributes,
            NodeKind::Document | NodeKind::Text(_) => &[],
        }
    }

    pub(super) fn classes(&self, at: usize) -> impl Iterator<Item = &str> {
        self.attribute(at, "class").unwrap_or_default().split_ascii_whitespace()
    }

    /// Returns the node itself and its ancestors.
    pub(super) fn up(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |at| (*at != 0).then(|| self.nodes[*at].parent))
    }

    /// Returns the descendants of a node.
    pub(super) fn below(&self, at: usize) -> std::ops::Range<usize> {
        at + 1..self.nodes[at].end
    }

    /// Returns all text in a node, as written.
    pub(super) fn text(&self, at: usize) -> String {
        let texts = self.below(at).filter_map(|below| match &self.nodes[below].kind {
            NodeKind::Text(text) => Some(text.as_str()),
            NodeKind::Document | NodeKind::Element { .. } => None,
        });
        texts.collect()
    }

    /// Returns the beginning of the text in a node.
    pub(super) fn beginning(&self, at: usize) -> String {
        let mut beginning = String::new();
        for below in self.below(at) {
            if let NodeKind::Text(text) = &self.nodes[below].kind {
                beginning.push_str(&super::evidence::short(text, LONGEST_NAME));
                beginning.push(' ');
            }
            if beginning.len() > LONGEST_NAME {
                break;
            }
        }
        beginning
    }

    /// Returns the place of a node, for a person.
    pub(super) fn place(&self, at: usize) -> String {
        format!("{}:{}", self.path, self.nodes[at].line)
    }

    /// Returns the place of a node, and a short form of its tag.
    pub(super) fn shown(&self, at: usize) -> String {
        const TOLD: [&str; 7] = ["id", "class", "href", "src", "name", "type", "action"];
        let attributes = TOLD.iter().filter_map(|name| {
            self.attribute(at, name).map(|value| format!(" {name}=\"{}\"", super::evidence::short(value, 40)))
        });
        format!("{} <{}{}>", self.place(at), self.name(at), attributes.collect::<String>())
    }
}

/// Returns the end of a piece of a text, never within a character.
fn piece_end(text: &str) -> usize {
    (PIECE..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The tree that the parser builds: nodes by number, the document first.
#[derive(Default)]
struct Tree {
    nodes: RefCell<Vec<Built>>,
    line: Cell<u64>,
    is_deep: Cell<bool>,
}

struct Built {
    kind: NodeKind,
    line: u64,
    parent: Option<usize>,
    children: Vec<usize>,
    depth: usize,
}

#[derive(Clone)]
struct Handle {
    at: usize,
    name: Rc<QualName>,
}

impl Tree {
    fn is_beyond_limits(&self) -> bool {
        self.is_deep.get() || self.nodes.borrow().len() > MOST_NODES
    }

    fn add(&self, kind: NodeKind) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.is_empty() {
            let (line, parent, children, depth) = (1, None, Vec::new(), 0);
            nodes.push(Built { kind: NodeKind::Document, line, parent, children, depth });
        }
        nodes.push(Built {
            kind,
            line: self.line.get().max(1),
            parent: None,
            children: Vec::new(),
            depth: 0,
        });
        nodes.len() - 1
    }

    fn handle(at: usize) -> Handle {
        Handle { at, name: Rc::new(QualName::new(None, ns!(), local_name!(""))) }
    }

    fn detach(&self, at: usize) {
        let mut nodes = self.nodes.borrow_mut();
        let Some(parent) = nodes[at].parent.take() else { return };
        let children = &mut nodes[parent].children;
        if let Some(place) = children.iter().rposition(|child| *child == at) {
            children.remove(place);
        }
    }

    /// Inserts something into a node, before this child of it or at the end.
    fn put(&self, parent: usize, before: Option<usize>, child: NodeOrText<Handle>) {
        let at = match child {
            NodeOrText::AppendNode(handle) => {
                self.detach(handle.at);
                handle.at
            }
            NodeOrText::AppendText(text) => self.add(NodeKind::Text(text.to_string())),
        };
        let mut nodes = self.nodes.borrow_mut();
        let depth = nodes[parent].depth + 1;
        self.is_deep.set(self.is_deep.get() || depth > DEEPEST);
        (nodes[at].parent, nodes[at].depth) = (Some(parent), depth);
        let children = &mut nodes[parent].children;
        let place = before.and_then(|before| children.iter().rposition(|child| *child == before));
        children.insert(place.unwrap_or(children.len()), at);
    }

    /// Returns the nodes in document order.
    fn flat(self) -> Vec<Node> {
        let mut built: Vec<Option<Built>> = self.nodes.into_inner().into_iter().map(Some).collect();
        let mut flat: Vec<Node> = Vec::with_capacity(built.len());
        let mut todo = vec![(0, 0)];
        while let Some((at, parent)) = todo.pop() {
            let Some(Built { kind, line, children, .. }) = built.get_mut(at).and_then(Option::take) else {
                continue;
            };
            let place = flat.len();
            flat.push(Node { kind, line, parent, end: place + 1, is_hidden: false });
            todo.extend(children.into_iter().rev().map(|child| (child, place)));
        }
        for at in (1..flat.len()).rev() {
            let (parent, end) = (flat[at].parent, flat[at].end);
            flat[parent].end = flat[parent].end.max(end);
        }
        flat
    }
}

impl TreeSink for Tree {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Self::handle(0)
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Handle {
        let attributes = attributes.iter().map(owned).collect();
        let at = self.add(NodeKind::Element { name: (&*name.local).into(), attributes });
        Handle { at, name: Rc::new(name) }
    }

    /// A comment is not text, so its node stays empty.
    fn create_comment(&self, _: StrTendril) -> Handle {
        Self::handle(self.add(NodeKind::Text(String::new())))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> Handle {
        self.create_comment(data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.put(parent.at, None, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        if self.nodes.borrow()[element.at].parent.is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The contents of a template are not part of any document; its element shows that.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, a: &Handle, b: &Handle) -> bool {
        a.at == b.at
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let parent = self.nodes.borrow()[sibling.at].parent;
        if let Some(parent) = parent {
            self.put(parent, Some(sibling.at), child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        if let NodeKind::Element { attributes: known, .. } = &mut self.nodes.borrow_mut()[target.at].kind {
            for (name, value) in attributes.iter().map(owned) {
                if known.iter().all(|(other, _)| *other != name) {
                    known.push((name, value));
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.detach(target.at);
    }

    fn reparent_children(&self, node: &Handle, parent: &Handle) {
        let children = std::mem::take(&mut self.nodes.borrow_mut()[node.at].children);
        let mut nodes = self.nodes.borrow_mut();
        for child in &children {
            nodes[*child].parent = Some(parent.at);
        }
        nodes[parent.at].children.extend(children);
    }

    fn set_current_line(&self, line: u64) {
        self.line.set(line);
    }
}

fn owned(attribute: &Attribute) -> (Box<str>, Box<str>) {
    ((&*attribute.name.local).into(), (&*attribute.value).into())
}
