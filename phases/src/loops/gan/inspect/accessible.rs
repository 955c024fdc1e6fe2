//! Checks what a person needs who does not see a page: texts of images, names of controls, the language and the title.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Places;
use super::html::{HtmlPage, NodeKind};
use super::outcome::CheckOutcome;
use super::site::Site;

/// Checks the texts of images. An image without `alt` has none; an empty `alt` declares decoration, which only a person
/// who looks can confirm.
pub(super) fn alt_texts(site: &Site<'_>) -> CheckOutcome {
    let (mut without, mut empty) = (Places::default(), Places::default());
    for page in &site.pages {
        for at in page.named(&["img", "area", "input", "svg"]) {
            let is_input = page.name(at) == "input" && page.attribute(at, "type") != Some("image");
            let is_plain_svg = page.name(at) == "svg" && page.attribute(at, "role") != Some("img");
            if is_input || is_plain_svg || page.nodes[at].is_hidden || is_decoration(page, at) {
                continue;
            }
            if is_named(page, at) {
                continue;
            }
            match page.attribute(at, "alt") {
                Some(alt) if alt.trim().is_empty() && page.name(at) == "img" => empty.add(&page.shown(at)),
                _ => without.add(&page.shown(at)),
            }
        }
    }
    if without.is_empty() && !empty.is_empty() {
        return CheckOutcome::unverified(format!(
            "check by eye whether these are decoration: {}",
            empty.text()
        ));
    }
    CheckOutcome::of(&without, site, "each image has a text")
}

/// Finds the violations that axe-core ranks serious or critical, as far as the source shows them.
pub(super) fn accessibility(site: &Site<'_>) -> CheckOutcome {
    let mut violations = Places::default();
    // Scripts may still add a name or a title.
    let is_final = site.scripts.is_empty();
    for page in &site.pages {
        if is_final {
            document(page, &mut violations);
            controls(page, &mut violations);
            ids(page, &mut violations);
        }
    }
    if violations.is_empty() {
        CheckOutcome::unverified(
            "a browser is needed: the source shows no violation, but cannot show all kinds",
        )
    } else {
        CheckOutcome::failed(&violations)
    }
}

fn document(page: &HtmlPage<'_>, out: &mut Places) {
    let language = page.named(&["html"]).next().and_then(|html| page.attribute(html, "lang"));
    if language.is_none_or(|language| language.trim().is_empty()) {
        out.add(&format!("{}:1 the page has no language (html-has-lang)", page.path));
    }
    let mut titles = page.named(&["title"]).filter(|at| page.up(*at).any(|up| page.name(up) == "head"));
    if !titles.any(|at| !page.text(at).trim().is_empty()) {
        out.add(&format!("{}:1 the page has no title (document-title)", page.path));
    }
}

fn controls(page: &HtmlPage<'_>, out: &mut Places) {
    const UNLABELLED: [&str; 5] = ["hidden", "submit", "reset", "button", "image"];
    let labelled: BTreeSet<&str> =
        page.named(&["label"]).filter_map(|at| page.attribute(at, "for")).collect();
    for (at, name) in page.elements() {
        let kind = page.attribute(at, "type").unwrap_or_default().to_ascii_lowercase();
        let is_button = name == "button" || page.attribute(at, "role") == Some("button");
        let is_link = name == "a" && page.attribute(at, "href").is_some();
        let is_field =
            matches!(name, "select" | "textarea") || name == "input" && !UNLABELLED.contains(&&*kind);
        if !(is_button || is_link || is_field) || page.nodes[at].is_hidden || is_decoration(page, at) {
            continue;
        }
        let in_label = || page.up(at).any(|up| page.name(up) == "label");
        let has_label = || page.attribute(at, "id").is_some_and(|id| labelled.contains(id)) || in_label();
        let has_hint = || page.attribute(at, "placeholder").is_some_and(|text| !text.trim().is_empty());
        if is_named(page, at) || is_field && (has_label() || has_hint()) || !is_field && has_content(page, at)
        {
            continue;
        }
        let rule = if is_field {
            "label"
        } else if is_link {
            "link-name"
        } else {
            "button-name"
        };
        out.add(&format!("{} has no name ({rule})", page.shown(at)));
    }
}

/// Finds duplicate ids: an id that another element refers to must be unique.
fn ids(page: &HtmlPage<'_>, out: &mut Places) {
    const REFER: [&str; 5] = ["for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns"];
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut referred = BTreeSet::new();
    for (at, _) in page.elements() {
        if let Some(id) = page.attribute(at, "id") {
            counts.entry(id).or_insert((0, at)).0 += 1;
        }
        let ids = REFER.iter().filter_map(|key| page.attribute(at, key));
        referred.extend(ids.flat_map(str::split_ascii_whitespace));
    }
    for (id, (count, at)) in counts {
        if count > 1 && referred.contains(id) {
            out.add(&format!("{}: {count} elements have this id (duplicate-id-aria)", page.shown(at)));
        }
    }
}

fn is_decoration(page: &HtmlPage<'_>, at: usize) -> bool {
    matches!(page.attribute(at, "role"), Some("presentation" | "none"))
        || page.up(at).any(|up| page.attribute(up, "aria-hidden") == Some("true"))
}

/// Whether an attribute or a title of its own names an element.
fn is_named(page: &HtmlPage<'_>, at: usize) -> bool {
    const NAMES: [&str; 4] = ["alt", "aria-label", "aria-labelledby", "title"];
    let mut svg_titles = page.below(at).filter(|below| page.name(*below) == "title");
    NAMES.iter().any(|key| page.attribute(at, key).is_some_and(|name| !name.trim().is_empty()))
        || page.name(at) == "svg" && svg_titles.any(|title| !page.text(title).trim().is_empty())
}

fn has_content(page: &HtmlPage<'_>, at: usize) -> bool {
    page.below(at).any(|below| match &page.nodes[below].kind {
        NodeKind::Text(text) => !text.trim().is_empty(),
        NodeKind::Element { .. } => is_named(page, below),
        NodeKind::Document => false,
    })
}
