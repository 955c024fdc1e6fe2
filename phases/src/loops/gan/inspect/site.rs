//! The pages and styles of an artifact, read once for all checks.

use super::css::{self, Declaration, Rule};
use super::evidence::Places;
use super::html::{HtmlPage, NodeKind};
use super::{Lead, Live};
use crate::base::material::Body;
use crate::skills::lint::Files;

/// The maximum for all pages together. Pages beyond it are not read.
const MOST_HTML: usize = 2 << 20;
/// A longer selector is not compared: it could match any element.
const LONGEST_SELECTOR: usize = 300;

#[derive(Debug)]
pub(super) struct Site<'a> {
    pub files: &'a Files,
    pub pages: Vec<HtmlPage<'a>>,
    pub styles: Vec<Style>,
    /// Everything that can change a page after it was loaded, so that its source alone does not show the final page.
    pub scripts: Places,
    /// Styles and pages that are missing, or exceed the limits.
    pub unread: Places,
    /// By page, if a browser has loaded it.
    live: Vec<&'a Live>,
    /// Whether a server generates its pages.
    pub is_served: bool,
}

/// Whether a script acts for an element that does nothing by itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Handler {
    Own,
    /// It cannot be decided, for this reason.
    Possible(String),
    Missing,
}

/// A rule and its position.
#[derive(Debug)]
pub(super) struct Style {
    pub rule: Rule,
    file: Box<str>,
    /// The line that its own lines are counted from.
    line: u64,
    /// The element of a style attribute, with its page.
    pub on: Option<(usize, usize)>,
}

impl Style {
    pub(super) fn place(&self, declaration: &Declaration) -> String {
        let line = self.line + declaration.line - 1;
        format!("{}:{line} {}: {}", self.file, declaration.name, declaration.value)
    }
}

impl<'a> Site<'a> {
    pub(super) fn read(files: &'a Files) -> Self {
        let mut site = Self::empty(files);
        let mut bytes = 0;
        for file in files.files() {
            let (is_page, is_style) = (has_end(&file.path, &["html", "htm"]), has_end(&file.path, &["css"]));
            match &file.body {
                Body::Text(text) if is_page && bytes + text.len() > MOST_HTML => {
                    site.unread.add(&format!("{} is too large", file.path));
                }
                Body::Text(text) if is_page => match HtmlPage::read(&file.path, text) {
                    Some(mut page) => {
                        bytes += text.len();
                        hide(&mut page);
                        site.pages.push(page);
                    }
                    None => site
                        .unread
                        .add(&format!("{} is too large, too deep, or has too many elements", file.path)),
                },
                Body::Text(text) if is_style => site.sheet(text, &file.path, 1),
                Body::Large { .. } | Body::Binary { .. } | Body::Link { .. } if is_page || is_style => {
                    site.unread.add(&format!("{} is not text, or is too large", file.path));
                }
                Body::Text(_) | Body::Large { .. } | Body::Binary { .. } | Body::Link { .. } => {}
            }
        }
        for at in 0..site.pages.len() {
            site.parts_of(at);
        }
        site
    }

    fn empty(files: &'a Files) -> Self {
        let (pages, styles, scripts, unread, live) = Default::default();
        Self { files, pages, styles, scripts, unread, live, is_served: false }
    }

    /// Reads the pages of a browser. Their scripts have run, so it is known which elements listen and where links lead.
    pub(super) fn live(none: &'a Files, live: &'a [Live], is_served: bool) -> Self {
        let mut site = Self { is_served, ..Self::empty(none) };
        for one in live {
            match HtmlPage::read(&one.path, &one.html) {
                Some(page) => {
                    // Each of these holds a page of its own.
                    for at in page.named(&["iframe", "object", "embed"]) {
                        site.unread.add(&page.shown(at));
                    }
                    site.pages.push(page);
                    site.live.push(one);
                }
                None => {
                    site.unread
                        .add(&format!("{} is too large, too deep, or has too many elements", one.path));
                }
            }
        }
        site
    }

    /// Returns the target of a link; none if it leads out of the site, or if its target is unknown.
    pub(super) fn lead(&self, page: usize, link: &str) -> Option<Lead> {
        if let Some(live) = self.live.get(page) {
            return live.links.get(link).cloned();
        }
        let page = &self.pages[page];
        // A `base` changes where each link leads.
        if is_external(link) || page.named(&["base"]).next().is_some() {
            return None;
        }
        let found = local(page.path, link).and_then(|path| self.served(&path));
        Some(found.map_or(Lead::Nowhere, Lead::To))
    }

    /// Returns the file that is served for a path; for a folder, its index.
    fn served(&self, path: &str) -> Option<String> {
        let index = if path.is_empty() { "index.html".to_owned() } else { format!("{path}/index.html") };
        let names = [path.to_owned(), index, format!("{path}.html")];
        names.into_iter().find(|path| self.files.get(path).is_some())
    }

    /// Returns whether a script may act for an element of a page.
    pub(super) fn handler(&self, page: usize, at: usize) -> Handler {
        let Some(live) = self.live.get(page) else {
            return self.doubt().map_or(Handler::Missing, Handler::Possible);
        };
        let page = &self.pages[page];
        let listens = |at| page.attribute(at, &live.mark).is_some();
        if listens(at) {
            Handler::Own
        } else if page.up(at).any(listens) {
            Handler::Possible("an element around it has a handler that may act for it".to_owned())
        } else {
            Handler::Missing
        }
    }

    fn sheet(&mut self, text: &str, file: &str, line: u64) {
        for rule in css::rules(text) {
            if rule.selector.starts_with("@import") {
                self.unread.add(&format!("{file}: {}", rule.selector));
            }
            self.styles.push(Style { rule, file: file.into(), line, on: None });
        }
    }

    /// Reads the styles and scripts of a page.
    fn parts_of(&mut self, page: usize) {
        let (mut sheets, mut attributes) = (Vec::new(), Vec::new());
        let (mut scripts, mut unread) = (Vec::new(), Vec::new());
        let this = &self.pages[page];
        for (at, name) in this.elements() {
            match name {
                "style" => sheets.push((this.text(at), this.nodes[at].line)),
                "script" if !is_data(this, at) => scripts.push(this.shown(at)),
                "base" => unread.push(this.shown(at)),
                "iframe" | "object" | "embed" => scripts.push(this.shown(at)),
                "link" if is_sheet(this, at) && !self.has(this, at) => unread.push(this.shown(at)),
                _ => {}
            }
            if let Some(text) = this.attribute(at, "style") {
                attributes.push((css::declarations(text), this.nodes[at].line, at));
            }
            let is_script = |(name, value): &(Box<str>, Box<str>)| {
                name.starts_with("on") || value.trim_start().to_ascii_lowercase().starts_with("javascript:")
            };
            // `javascript:void(0)` and similar code does nothing.
            if this.attributes(at).iter().any(|one| is_script(one) && !is_void(&one.1)) {
                scripts.push(this.shown(at));
            }
        }
        let path = this.path;
        for place in scripts {
            self.scripts.add(&place);
        }
        for place in unread {
            self.unread.add(&place);
        }
        for (text, line) in sheets {
            self.sheet(&text, path, line);
        }
        for (rule, line, at) in attributes {
            self.styles.push(Style { rule, file: path.into(), line, on: Some((page, at)) });
        }
    }

    fn has(&self, page: &HtmlPage, at: usize) -> bool {
        let to = page.attribute(at, "href").unwrap_or_default();
        local(page.path, to).is_some_and(|path| self.files.get(&path).is_some())
    }

    /// Returns the reason why the source does not show the whole page, if there is one.
    pub(super) fn doubt(&self) -> Option<String> {
        if !self.unread.is_empty() {
            Some(format!("a browser is needed: not read: {}", self.unread.text()))
        } else if !self.scripts.is_empty() {
            Some(format!("a browser is needed: scripts can change the page: {}", self.scripts.text()))
        } else {
            None
        }
    }

    /// Returns all declarations, each with its style.
    pub(super) fn declarations(&self) -> impl Iterator<Item = (&Style, &Declaration)> {
        self.styles.iter().flat_map(|style| style.rule.declarations.iter().map(move |one| (style, one)))
    }

    /// Whether a style could apply to an element. It says yes too often rather than too rarely: only the last part of
    /// each selector is read.
    pub(super) fn could_apply(&self, style: &Style, page: usize, at: usize) -> bool {
        match style.on {
            Some(on) => on == (page, at),
            None if style.rule.selector.len() > LONGEST_SELECTOR => true,
            None => {
                style.rule.selector.split(',').any(|selector| could_match(selector, &self.pages[page], at))
            }
        }
    }

    /// Returns the first element that a style could apply to, with its page.
    pub(super) fn first_of(&self, style: &Style) -> Option<(usize, usize)> {
        let of = |page: usize| self.pages[page].elements().map(move |(at, _)| (page, at));
        let mut all = (0..self.pages.len()).flat_map(of);
        all.find(|(page, at)| self.could_apply(style, *page, *at))
    }
}

/// Marks all nodes that are in a hidden one. An element comes before its descendants.
fn hide(page: &mut HtmlPage) {
    for at in 1..page.nodes.len() {
        let parent = page.nodes[at].parent;
        page.nodes[at].is_hidden = page.nodes[parent].is_hidden || is_hidden(page, at);
    }
}

/// Whether an element hides its content. A script, a style and a template show nothing.
fn is_hidden(page: &HtmlPage, at: usize) -> bool {
    const NEVER_SHOWN: [&str; 8] =
        ["script", "style", "template", "head", "noscript", "datalist", "iframe", "object"];
    let is_out = || {
        let style = page.attribute(at, "style").map(css::declarations).unwrap_or_default();
        let is =
            |name: &str, word: &str| style.last(name).is_some_and(|one| one.value.eq_ignore_ascii_case(word));
        is("display", "none") || is("visibility", "hidden")
    };
    matches!(page.nodes[at].kind, NodeKind::Element { .. })
        && (NEVER_SHOWN.contains(&page.name(at)) || page.attribute(at, "hidden").is_some() || is_out())
}

/// Whether the last part of a selector could match an element: its tag, its id and its classes are compared.
fn could_match(selector: &str, page: &HtmlPage, at: usize) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, '>' | '+' | '~' | ')');
    let last = selector.trim().rsplit(ends).next().unwrap_or_default();
    // Pseudo-classes and attributes would narrow it down; they are ignored.
    let last = last.split([':', '[']).next().unwrap_or_default();
    let mut names = last.split_inclusive(['.', '#']).peekable();
    let mut sign = ' ';
    names.all(|name| {
        let (word, next) = match name.strip_suffix(['.', '#']) {
            Some(word) => (word, name.chars().next_back().unwrap_or(' ')),
            None => (name, ' '),
        };
        match std::mem::replace(&mut sign, next) {
            _ if word.is_empty() || matches!(word, "*" | "&") => true,
            '.' => page.classes(at).any(|class| class == word),
            '#' => page.attribute(at, "id") == Some(word),
            _ => word.eq_ignore_ascii_case(page.name(at)),
        }
    })
}

/// Whether a script is data, such as JSON for search engines.
fn is_data(page: &HtmlPage, at: usize) -> bool {
    page.attribute(at, "type").is_some_and(|kind| kind.ends_with("json"))
}

fn is_sheet(page: &HtmlPage, at: usize) -> bool {
    page.attribute(at, "rel").is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
}

pub(super) fn is_void(link: &str) -> bool {
    let link = link.trim().to_ascii_lowercase();
    let code = link.strip_prefix("javascript:").map(|code| code.trim_end_matches(';').replace(' ', ""));
    code.is_some_and(|code| ["", "void(0)", "void0", "undefined"].contains(&&*code))
}

fn has_end(path: &str, ends: &[&str]) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| ends.iter().any(|one| end.eq_ignore_ascii_case(one)))
}

/// Returns whether the scheme of a link leads out of the site.
pub(super) fn is_external(link: &str) -> bool {
    let link = link.trim();
    let scheme = link.split_once(':').map(|(scheme, _)| scheme);
    link.starts_with("//")
        || scheme.is_some_and(|scheme| {
            !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        })
}

/// Returns the file that a link of a page leads to; none if it leads out of the site.
fn local(page: &str, link: &str) -> Option<String> {
    let path = link.trim().split(['#', '?']).next().unwrap_or_default();
    if is_external(link) {
        return None;
    }
    if path.is_empty() {
        return Some(page.to_owned());
    }
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    crate::skills::lint::resolved(
        if path.starts_with('/') { "" } else { folder },
        &crate::skills::lint::decoded(path),
    )
}
