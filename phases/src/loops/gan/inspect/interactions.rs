//! Links, buttons and forms that lead nowhere. Links out of the site are not followed.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Places;
use super::html::Page;
use super::outcome::Outcome;
use super::site::{Site, is_external, is_void, local};

/// What can be linked to on each page.
type Anchors<'p> = BTreeMap<&'p str, BTreeSet<&'p str>>;

pub(super) fn interactions(site: &Site<'_>) -> Outcome {
    let mut dead = Places::default();
    // What does nothing by itself, and could by a script.
    let mut idle = Places::default();
    let anchors: Anchors<'_> = site.pages.iter().map(|page| (page.path, anchors(page))).collect();
    for page in &site.pages {
        links(site, page, &anchors, &mut dead, &mut idle);
        controls(page, &mut idle);
    }
    match site.doubt() {
        _ if !dead.is_empty() => Outcome::failed(&dead),
        Some(doubt) if !idle.is_empty() => Outcome::unverified(format!("{}; {doubt}", idle.text())),
        _ => Outcome::of(
            &idle,
            site,
            "each link, button and form leads somewhere; links to other sites were not followed",
        ),
    }
}

fn links(site: &Site<'_>, page: &Page<'_>, anchors: &Anchors<'_>, dead: &mut Places, idle: &mut Places) {
    // It changes where each link leads.
    if page.named(&["base"]).next().is_some() {
        return;
    }
    for (at, name) in page.elements() {
        let key = match name {
            "a" | "area" | "link" => "href",
            "img" | "script" | "source" | "video" | "audio" | "iframe" => "src",
            _ => continue,
        };
        let Some(link) = page.attribute(at, key).map(str::trim) else { continue };
        let is_link = matches!(name, "a" | "area");
        if is_void(link) || is_link && matches!(link, "" | "#") {
            idle.add(&format!("{} does nothing", page.shown(at)));
            continue;
        }
        if is_external(link) {
            continue;
        }
        let target = local(page.path, link).and_then(|path| target(site, &path));
        let anchor = link.split_once('#').map(|(_, anchor)| crate::lint::decoded(anchor));
        let anchor = anchor.filter(|anchor| is_link && !anchor.is_empty() && *anchor != "top");
        match (target, anchor) {
            (None, _) => dead.add(&format!("{}: there is no such file", page.shown(at))),
            (Some(path), Some(anchor)) => {
                if anchors.get(&*path).is_some_and(|known| !known.contains(&*anchor)) {
                    idle.add(&format!("{}: there is no such anchor", page.shown(at)));
                }
            }
            (Some(_), None) => {}
        }
    }
}

/// The file that is served for a path: of a folder, its index.
fn target(site: &Site<'_>, path: &str) -> Option<String> {
    let index = if path.is_empty() { "index.html".to_owned() } else { format!("{path}/index.html") };
    [path.to_owned(), index, format!("{path}.html")].into_iter().find(|path| site.files.get(path).is_some())
}

fn anchors<'p>(page: &'p Page<'_>) -> BTreeSet<&'p str> {
    let names = page.elements().flat_map(|(at, name)| {
        [page.attribute(at, "id"), page.attribute(at, "name").filter(|_| name == "a")]
    });
    names.flatten().collect()
}

/// Buttons without a form, a handler or a target of their own; forms without an action.
fn controls(page: &Page<'_>, idle: &mut Places) {
    const ACTS: [&str; 6] =
        ["onclick", "popovertarget", "commandfor", "onmousedown", "onpointerdown", "disabled"];
    for (at, name) in page.elements() {
        let kind = page.attribute(at, "type").unwrap_or_default().to_ascii_lowercase();
        let is_input = name == "input" && ["button", "submit", "reset", "image"].contains(&&*kind);
        let has = |key: &str| page.attribute(at, key).is_some();
        if name == "button" || is_input {
            let form = page.up(at).any(|up| page.name(up) == "form") || has("form");
            let acts = ACTS.iter().any(|key| has(key)) || page.up(at).any(|up| page.name(up) == "summary");
            if !acts && (kind == "button" || !form) {
                idle.add(&format!("{} does nothing", page.shown(at)));
            }
        }
        if name == "form" {
            let action = page.attribute(at, "action").unwrap_or_default().trim();
            let is_dialog =
                page.attribute(at, "method").is_some_and(|how| how.eq_ignore_ascii_case("dialog"));
            if !is_dialog && !has("onsubmit") && (matches!(action, "" | "#") || is_void(action)) {
                idle.add(&format!("{} is sent nowhere", page.shown(at)));
            }
        }
    }
}
