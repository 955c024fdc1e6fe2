//! One page at two sizes: loaded, measured, and captured in a screenshot.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use skilltune_phases::base::base64;
use skilltune_phases::loops::gan::inspect::{Given, Live};

use super::devtools::{DevTools, Mute};
use super::live::live;
use super::script::{evaluated, picture, script, world};
use super::sight::{Sights, sights};
use super::site::{Site, Source, Stop};

const MEASURE: &str = include_str!("measure.js");
/// Wide and narrow, the sizes that the original uses.
pub(super) const SIZES: [(u32, u32); 2] = [(1280, 720), (375, 667)];
const LOADING: Duration = Duration::from_secs(15);
const PICTURES: usize = 20 << 20;

/// The results of one page at one size.
#[derive(Debug)]
pub(super) struct Screenshot {
    pub size: (u32, u32),
    pub measured: Measured,
    pub picture: Option<Vec<u8>>,
    pub has_loaded: bool,
    /// None if axe-core was not run, or did not finish.
    pub axe: Option<Axe>,
    pub sights: Sights,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Measured {
    /// The layout width.
    pub laid: u32,
    pub is_wide: bool,
    pub has_viewport: bool,
    pub wide: Vec<String>,
    pub images: Vec<String>,
    /// No part of the page is in a shadow root.
    pub is_whole: bool,
    /// The links and resources of its own origin: as written, and the address below the origin.
    pub links: Vec<(String, String)>,
}

/// The results of axe-core for a page.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Axe {
    pub violations: Vec<Violation>,
    /// axe-core could not measure the contrast of some text.
    pub is_open: bool,
    /// Parts of the page are inert, and axe-core skips them.
    pub skips: bool,
}

/// A violation that axe-core found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct Violation {
    pub id: String,
    pub impact: String,
    pub at: Vec<String>,
}

#[derive(Debug)]
pub(super) struct PageFindings {
    pub screenshots: Vec<Screenshot>,
    /// None if the browser did not report it.
    pub live: Option<Live>,
    pub errors: Vec<String>,
    pub refused: Vec<String>,
    pub lost: Vec<String>,
    pub wants_socket: bool,
}

impl PageFindings {
    pub(super) fn links(&self) -> impl Iterator<Item = &(String, String)> {
        self.screenshots.iter().flat_map(|screenshot| &screenshot.measured.links)
    }
}

/// Loads and checks it in a new page.
pub(super) fn look(
    browser: &mut DevTools,
    source: Source<'_>,
    (stop, given): (&Stop, &Given),
    axe: Option<&str>,
) -> Result<PageFindings, Mute> {
    let mut site = Site::of(source);
    let result =
        with_page(browser, &mut site, |browser, site| screenshots(browser, site, (stop, given), axe));
    let (screenshots, live) = result?;
    let Site { errors, refused, lost, wants_socket, .. } = site;
    Ok(PageFindings { screenshots, live, errors, refused, lost, wants_socket })
}

/// Opens a page, calls `work`, and closes the page. It shares nothing with other pages.
pub(super) fn with_page<T>(
    browser: &mut DevTools,
    site: &mut Site<'_>,
    work: impl FnOnce(&mut DevTools, &mut Site<'_>) -> Result<T, Mute>,
) -> Result<T, Mute> {
    browser.speak_to(None);
    let version = browser.ask("Browser.getVersion", &json!({}), site)?;
    let mut context = browser.ask("Target.createBrowserContext", &json!({}), site)?;
    let context = context["browserContextId"].take();
    let page = json!({ "url": "about:blank", "browserContextId": context });
    let page = browser.ask("Target.createTarget", &page, site)?;
    let attach = json!({ "targetId": page["targetId"], "flatten": true });
    let session =
        browser.ask("Target.attachToTarget", &attach, site)?["sessionId"].as_str().map(str::to_owned);
    browser.speak_to(session);
    let done = listen(browser, site, &version["userAgent"]).and_then(|()| work(browser, site));
    browser.speak_to(None);
    browser.ask("Target.disposeBrowserContext", &json!({ "browserContextId": context }), site)?;
    done
}

/// Subscribes to the page's requests, errors and dialogs. The user agent hides that the browser is headless.
fn listen(browser: &mut DevTools, site: &mut Site<'_>, agent: &Value) -> Result<(), Mute> {
    let agent = agent.as_str().unwrap_or_default().replace("Headless", "");
    browser.ask("Emulation.setUserAgentOverride", &json!({ "userAgent": agent }), site)?;
    for part in ["Page.enable", "Runtime.enable", "Log.enable"] {
        browser.ask(part, &json!({}), site)?;
    }
    browser.ask("Fetch.enable", &json!({ "patterns": [{ "urlPattern": "*" }] }), site)?;
    Ok(())
}

pub(super) fn resize(
    browser: &mut DevTools,
    site: &mut Site<'_>,
    (width, height): (u32, u32),
) -> Result<(), Mute> {
    let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
    browser.ask("Emulation.setDeviceMetricsOverride", &metrics, site)?;
    Ok(())
}

/// The result of opening a page.
#[derive(Debug)]
pub(super) struct Opened {
    pub frame: Value,
    /// The page finished loading.
    pub has_loaded: bool,
    /// Why the page could not be opened.
    pub fault: Option<String>,
}

pub(super) fn open(browser: &mut DevTools, site: &mut Site<'_>, address: &str) -> Result<Opened, Mute> {
    let url = format!("{}{address}", site.origin);
    let mut answer = browser.ask("Page.navigate", &json!({ "url": url }), site)?;
    let fault = answer["errorText"].as_str().map(str::to_owned);
    // Without a new document, the page is already loaded.
    let is_new = fault.is_none() && answer["loaderId"].is_string();
    let has_loaded = !is_new || browser.await_one("Page.loadEventFired", LOADING, site)?;
    let frame = answer["frameId"].take();
    let code = site.code(frame.as_str().unwrap_or_default()).filter(|code| *code >= 400);
    let fault = fault.or(code.map(|code| format!("it is answered with {code}")));
    Ok(Opened { frame, has_loaded, fault })
}

fn screenshots(
    browser: &mut DevTools,
    site: &mut Site<'_>,
    (stop, given): (&Stop, &Given),
    axe: Option<&str>,
) -> Result<(Vec<Screenshot>, Option<Live>), Mute> {
    let (mut all, mut alive) = (Vec::new(), None);
    for size in SIZES {
        resize(browser, site, size)?;
        let Opened { frame, has_loaded, fault } = open(browser, site, &stop.address)?;
        if let Some(fault) = fault {
            site.lose(&format!("/{}: {fault}", stop.address));
        }
        let context = world(browser, site, &frame)?;
        let measure = script(MEASURE, &size.0.to_string());
        let measured = evaluated(browser, site, &context, &measure)?;
        let measured: Measured = serde_json::from_value(measured).unwrap_or_default();
        let picture = picture(browser, site)?;
        let picture = base64::decoded(&picture).filter(|bytes| !bytes.is_empty() && bytes.len() < PICTURES);
        let axe = axe.map(|axe| asked(browser, site, &context, axe)).transpose()?.flatten();
        if alive.is_none() && measured.is_whole {
            alive = live(browser, site, &stop.name)?;
        }
        // This comes last: it stops the page's scripts.
        let sights = sights(browser, site, &context, given)?;
        all.push(Screenshot { size, measured, picture, has_loaded, axe, sights });
    }
    Ok((all, alive))
}

/// Runs axe-core on the page from our isolated world; its result is only data. Returns nothing if it throws or does not
/// end.
fn asked(
    browser: &mut DevTools,
    site: &mut Site<'_>,
    context: &Value,
    axe: &str,
) -> Result<Option<Axe>, Mute> {
    evaluated(browser, site, context, &format!("(() => {{ {axe}\n; return 0; }})()"))?;
    let run = "axe.run(document, { resultTypes: ['violations', 'incomplete'] }).then((found) => ({ \
        isOpen: found.incomplete.some((one) => one.id === 'color-contrast'), \
        skips: Document.prototype.querySelector.call(document, '[inert], :modal') !== null, \
        violations: found.violations.slice(0, 50).map((one) => ({ \
        id: String(one.id).slice(0, 60), impact: String(one.impact), \
        at: one.nodes.slice(0, 3).map((node) => String(node.target).slice(0, 100)) })) }))";
    let said = evaluated(browser, site, context, run)?;
    Ok(serde_json::from_value(said).ok())
}

/// Encodes a path for an address.
pub(super) fn address(path: &str) -> String {
    encoded(path, b"/._-~")
}

/// Encodes a path that may have a query and a fragment, as in a link.
pub(super) fn link(text: &str) -> String {
    encoded(text, b"/._-~?#&=%+")
}

fn encoded(text: &str, signs: &[u8]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || signs.contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_an_address_whatever_it_is_called() {
        assert_eq!(address("a b/ü?.html"), "a%20b/%C3%BC%3F.html");
        assert_eq!(link("a b.html?q=1&r=ü#top"), "a%20b.html?q=1&r=%C3%BC#top");
    }
}
