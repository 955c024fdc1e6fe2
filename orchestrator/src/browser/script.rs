//! Our scripts in a page, which run in a world of their own, and pictures of it.

use serde_json::{Value, json};

use super::devtools::{DevTools, Mute};
use super::site::Site;

/// What our scripts share.
const DOM: &str = include_str!("dom.js");
/// In milliseconds: for a script of ours in a page.
const MEASURING: u64 = 20_000;

/// One of our scripts, with what all of them share.
pub(super) fn script(function: &str, arguments: &str) -> String {
    format!("(() => {{ {DOM}\nreturn ({function})({arguments}); }})()")
}

/// A world of our own in a frame, with none of its page's globals.
pub(super) fn world(browser: &mut DevTools, site: &mut Site<'_>, frame: &Value) -> Result<Value, Mute> {
    let world = json!({ "frameId": frame, "worldName": "skilltune" });
    Ok(browser.ask("Page.createIsolatedWorld", &world, site)?["executionContextId"].take())
}

/// What a script of ours gives back. One that throws, or does not end, gives nothing.
pub(super) fn evaluated(
    browser: &mut DevTools,
    site: &mut Site<'_>,
    context: &Value,
    script: &str,
) -> Result<Value, Mute> {
    let call = json!({
        "expression": script,
        "contextId": context,
        "returnByValue": true,
        "awaitPromise": true,
        "timeout": MEASURING,
    });
    match browser.ask("Runtime.evaluate", &call, site) {
        Ok(mut answer) => Ok(answer["result"]["value"].take()),
        Err(Mute::Refused { .. }) => Ok(Value::Null),
        Err(other) => Err(other),
    }
}

/// A PNG of the window, in base64.
pub(super) fn picture(browser: &mut DevTools, site: &mut Site<'_>) -> Result<String, Mute> {
    let mut taken = browser.ask("Page.captureScreenshot", &json!({ "format": "png" }), site)?;
    Ok(taken["data"].take().as_str().unwrap_or_default().to_owned())
}
