//! A page after its scripts have run: its elements, and which of them listen to user events.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};

use serde_json::{Value, json};
use skilltune_phases::loops::gan::inspect::Live;

use super::devtools::{DevTools, Mute};
use super::site::Site;

/// Hover events do not count.
const HEARD: [&str; 12] = [
    "click",
    "submit",
    "change",
    "input",
    "keydown",
    "keyup",
    "mousedown",
    "mouseup",
    "pointerdown",
    "pointerup",
    "touchstart",
    "touchend",
];
const MOST: usize = 2_000;

/// Marks the elements that listen, and captures the page. Returns nothing if the browser refuses or too many elements
/// listen.
pub(super) fn live(browser: &mut DevTools, site: &mut Site<'_>, path: &str) -> Result<Option<Live>, Mute> {
    match marked(browser, site, path) {
        Err(Mute::Refused { .. }) => Ok(None),
        other => other,
    }
}

fn marked(browser: &mut DevTools, site: &mut Site<'_>, path: &str) -> Result<Option<Live>, Mute> {
    let document = browser.ask("DOM.getDocument", &json!({ "depth": 1 }), site)?["root"].take();
    let object = browser.ask("DOM.resolveNode", &json!({ "nodeId": document["nodeId"] }), site)?;
    let window = browser.ask("Runtime.evaluate", &json!({ "expression": "window" }), site)?;
    let in_page = heard(browser, site, &object["object"])?;
    let by_window = heard(browser, site, &window["result"])?;
    // No page can guess it.
    let mark = format!("data-heard-{:016x}", RandomState::new().hash_one(path));
    let is_document = |node: &Value| *node == document["backendNodeId"];
    let is_watched = in_page.iter().chain(&by_window).any(|node| node.is_null() || is_document(node));
    let elements: BTreeSet<u64> =
        in_page.iter().filter(|node| !is_document(node)).filter_map(Value::as_u64).collect();
    if elements.len() > MOST {
        return Ok(None);
    }
    let nodes = json!({ "backendNodeIds": elements });
    let nodes = browser.ask("DOM.pushNodesByBackendIdsToFrontend", &nodes, site)?["nodeIds"].take();
    let root = json!({ "nodeId": document["nodeId"], "selector": "html" });
    let root = browser.ask("DOM.querySelector", &root, site)?["nodeId"].take();
    let nodes = nodes.as_array().cloned().unwrap_or_default();
    for node in nodes.into_iter().chain(is_watched.then_some(root)) {
        let attribute = json!({ "nodeId": node, "name": mark, "value": "" });
        match browser.ask("DOM.setAttributeValue", &attribute, site) {
            // The element is gone, or the node is not an element.
            Err(Mute::Refused { .. }) => {}
            other => drop(other?),
        }
    }
    let html = browser.ask("DOM.getOuterHTML", &json!({ "nodeId": document["nodeId"] }), site)?;
    let html = html["outerHTML"].as_str().unwrap_or_default().to_owned();
    Ok(Some(Live { path: path.to_owned(), html, mark, links: BTreeMap::new() }))
}

/// Returns the nodes of an object that listen to any of these events; null means a window.
fn heard(browser: &mut DevTools, site: &mut Site<'_>, object: &Value) -> Result<Vec<Value>, Mute> {
    let of = json!({ "objectId": object["objectId"], "depth": -1, "pierce": true });
    let mut answer = browser.ask("DOMDebugger.getEventListeners", &of, site)?;
    let all = answer["listeners"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let is_heard = |listener: &Value| listener["type"].as_str().is_some_and(|kind| HEARD.contains(&kind));
    Ok(all.into_iter().filter(is_heard).map(|mut listener| listener["backendNodeId"].take()).collect())
}
