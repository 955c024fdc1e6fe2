//! Finds links, buttons and forms that lead nowhere. Links out of the site are not followed.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Places;
use super::html::HtmlPage;
use super::outcome::CheckOutcome;
use super::site::{Handler, Site, is_external, is_void};
use super::{Lead, Live, MachineResult, Means};
use crate::loops::gan::contract::Check;
use crate::skills::lint::Files;

/// The possible link targets on each page.
type Anchors<'p> = BTreeMap<&'p str, BTreeSet<&'p str>>;

const PASSED: &str = "each link, button and form has a target; links to other sites were not followed";

pub(super) fn interactions(site: &Site<'_>) -> CheckOutcome {
    let found = Found::of(site);
    match site.doubt() {
        _ if !found.dead.is_empty() => CheckOutcome::failed(&found.dead),
        Some(doubt) if found.open.is_empty() => CheckOutcome::unverified(doubt),
        _ if !found.open.is_empty() => {
            CheckOutcome::unverified(format!("{}; {}", found.open.text(), found.why))
        }
        _ => CheckOutcome::passed(PASSED),
    }
}

/// Checks the same on pages whose scripts have run.
pub fn live(pages: &[Live], is_served: bool) -> MachineResult {
    let none = Files::new("site", []);
    let CheckOutcome { verdict, evidence } = interactions(&Site::live(&none, pages, is_served));
    MachineResult { check: Check::Interactions, verdict, evidence: evidence.into(), by: Means::Browser }
}

/// Elements that lead nowhere, and those that may.
#[derive(Default)]
struct Found {
    dead: Places,
    open: Places,
    /// The reason why it cannot be decided.
    why: String,
}

impl Found {
    fn of(site: &Site<'_>) -> Self {
        let mut found = Self::default();
        let anchors: Anchors<'_> = site.pages.iter().map(|page| (page.path, anchors(page))).collect();
        for nth in 0..site.pages.len() {
            links(site, nth, &anchors, &mut found);
            controls(site, nth, &mut found);
        }
        found
    }

    /// Checks an element that does nothing by itself, but could by a script.
    fn idle(&mut self, site: &Site<'_>, (page, at): (usize, usize), what: &str) {
        let shown = format!("{} {what}", site.pages[page].shown(at));
        match site.handler(page, at) {
            Handler::Own => {}
            Handler::Possible(why) => self.unknown(&shown, &why),
            Handler::Missing => self.dead.add(&shown),
        }
    }

    fn unknown(&mut self, place: &str, why: &str) {
        self.open.add(place);
        why.clone_into(&mut self.why);
    }
}

fn links(site: &Site<'_>, nth: usize, anchors: &Anchors<'_>, found: &mut Found) {
    let page = &site.pages[nth];
    for (at, name) in page.elements() {
        let key = match name {
            "a" | "area" | "link" => "href",
            "img" | "script" | "source" | "video" | "audio" | "iframe" => "src",
            _ => continue,
        };
        let Some(link) = page.attribute(at, key).map(str::trim) else { continue };
        let is_link = matches!(name, "a" | "area");
        if is_void(link) || is_link && matches!(link, "" | "#") {
            found.idle(site, (nth, at), "does nothing");
            continue;
        }
        let anchor = link.split_once('#').map(|(_, anchor)| crate::skills::lint::decoded(anchor));
        let anchor = anchor.filter(|anchor| is_link && !anchor.is_empty() && *anchor != "top");
        match (site.lead(nth, link), anchor) {
            (Some(Lead::Nowhere), _) => found.dead.add(&format!("{} leads nowhere", page.shown(at))),
            (Some(Lead::To(path)), Some(anchor)) => {
                if anchors.get(&*path).is_some_and(|known| !known.contains(&*anchor)) {
                    found.idle(site, (nth, at), "leads to a missing anchor");
                }
            }
            (Some(Lead::To(_)), None) => {}
            (None, _) if is_external(link) => {}
            (None, _) => found.unknown(&page.shown(at), "the target was not checked"),
        }
    }
}

fn anchors<'p>(page: &'p HtmlPage<'_>) -> BTreeSet<&'p str> {
    let names = page.elements().flat_map(|(at, name)| {
        [page.attribute(at, "id"), page.attribute(at, "name").filter(|_| name == "a")]
    });
    names.flatten().collect()
}

/// Finds buttons without a form, a handler or a target of their own, and forms without an action.
fn controls(site: &Site<'_>, nth: usize, found: &mut Found) {
    const ACTS: [&str; 6] =
        ["onclick", "popovertarget", "commandfor", "onmousedown", "onpointerdown", "disabled"];
    let page = &site.pages[nth];
    for (at, name) in page.elements() {
        let kind = page.attribute(at, "type").unwrap_or_default().to_ascii_lowercase();
        let is_input = name == "input" && ["button", "submit", "reset", "image"].contains(&&*kind);
        let has = |key: &str| page.attribute(at, key).is_some();
        if name == "button" || is_input {
            let form = page.up(at).any(|up| page.name(up) == "form") || has("form");
            let acts = ACTS.iter().any(|key| has(key)) || page.up(at).any(|up| page.name(up) == "summary");
            if !acts && (kind == "button" || !form) {
                found.idle(site, (nth, at), "does nothing");
            }
        }
        if name == "form" {
            let action = page.attribute(at, "action").unwrap_or_default().trim();
            let is_dialog =
                page.attribute(at, "method").is_some_and(|how| how.eq_ignore_ascii_case("dialog"));
            // A server may accept what is sent to the page itself.
            let is_taken = site.is_served && action.is_empty();
            if !is_dialog && !is_taken && !has("onsubmit") && (matches!(action, "" | "#") || is_void(action))
            {
                found.idle(site, (nth, at), "has no target");
            }
        }
    }
}
