//! Our scripts in a page, which run in an isolated world, and screenshots of it.

use serde_json::{Value, json};

use super::devtools::{DevTools, Mute};
use super::site::Site;

/// The code that our scripts share.
const DOM: &str = include_str!("dom.js");
/// The timeout of our scripts in a page, in milliseconds.
const MEASURING: u64 = 20_000;

/// Returns one of our scripts, with the shared code.
pub(super) fn script(function: &str, arguments: &str) -> String {
    format!("(() => {{ {DOM}\nreturn ({function})({arguments}); }})()")
}

/// Creates an isolated world in a frame, without the globals of its page.
pub(super) fn world(browser: &mut DevTools, site: &mut Site<'_>, frame: &Value) -> Result<Value, Mute> {
    let world = json!({ "frameId": frame, "worldName": "skilltune" });
    Ok(browser.ask("Page.createIsolatedWorld", &world, site)?["executionContextId"].take())
}

/// Returns the result of our script, or null if it throws or does not end.
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

/// Takes a screenshot of the window: a PNG in base64.
pub(super) fn picture(browser: &mut DevTools, site: &mut Site<'_>) -> Result<String, Mute> {
    let mut taken = browser.ask("Page.captureScreenshot", &json!({ "format": "png" }), site)?;
    Ok(taken["data"].take().as_str().unwrap_or_default().to_owned())
}
