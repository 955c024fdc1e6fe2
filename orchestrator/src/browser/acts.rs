//! Test scenarios in the browser: the steps of a user, on a fresh page that shares nothing with other pages.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use skilltune_phases::loops::gan::evaluation::Verdict;
use skilltune_phases::loops::gan::inspect::ScenarioResult;
use skilltune_phases::loops::gan::test_scenario::{Act, TestScenario, Tool, Verb};

use super::devtools::{DevTools, Mute};
use super::page::{self, SIZES};
use super::script;
use super::site::{Site, Source};

const ACT: &str = include_str!("act.js");
/// How long a step waits for its target.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a text must stay away to count as missing.
const AWAY: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(100);
/// The timeout of a scenario, so that a busy page does not delay the others.
const LONGEST: Duration = Duration::from_secs(45);

/// The state of a step.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Step {
    done: bool,
    /// The field has the focus: typed text goes into it.
    #[serde(rename = "type")]
    types: bool,
    x: Option<f64>,
    y: Option<f64>,
    why: String,
    /// Why the step itself is invalid, which says nothing about the page.
    unfit: String,
}

/// Why a step failed.
#[derive(Debug)]
enum Fault {
    Page(String),
    Scenario(String),
}

/// Runs all scenarios, each from the first page.
pub(super) fn scenario_results(
    browser: &mut DevTools,
    source: Source<'_>,
    first: &str,
    scenarios: &[TestScenario],
) -> Vec<ScenarioResult> {
    let acts = scenarios.iter().filter_map(|scenario| match &scenario.run {
        Tool::Browser(acts) => Some((&scenario.id, acts)),
        Tool::Command(_) => None,
    });
    let tried = acts.map(|(id, acts)| {
        let outcome = browser.within(LONGEST, |browser| one(browser, source, first, acts));
        let (verdict, evidence) = outcome.unwrap_or_else(|mute| (Verdict::Unverified, mute.to_string()));
        ScenarioResult { scenario: id.clone(), verdict, evidence: format!("{id}: {evidence}").into() }
    });
    tried.collect()
}

fn one(
    browser: &mut DevTools,
    source: Source<'_>,
    first: &str,
    acts: &[Act],
) -> Result<(Verdict, String), Mute> {
    let mut site = Site::of(source);
    page::with_page(browser, &mut site, |browser, site| {
        page::resize(browser, site, SIZES[0])?;
        page::open(browser, site, first)?;
        let mut typed = Vec::new();
        for (nth, act) in (1..).zip(acts) {
            if let Err(fault) = step(browser, site, act, &typed)? {
                let (verdict, why) = judged(fault, site);
                return Ok((verdict, format!("step {nth} of {}, {}: {why}", acts.len(), act.words())));
            }
            typed.extend((act.act == Verb::Fill).then_some(&*act.text));
        }
        let words: Vec<String> = acts.iter().map(Act::words).collect();
        Ok((Verdict::Passed, format!("done: {}", words.join(", "))))
    })
}

/// Returns the verdict of a fault. It fails the page only if nothing else can be the cause.
fn judged(fault: Fault, site: &Site<'_>) -> (Verdict, String) {
    match (fault, site.lost.first(), site.windows.first()) {
        (Fault::Scenario(why), ..) => (Verdict::Unverified, why),
        (Fault::Page(_), Some(lost), _) => (Verdict::Unverified, format!("the page did not get {lost}")),
        (Fault::Page(why), None, Some(window)) => {
            (Verdict::Unverified, format!("{why}; {window} was to open in another window"))
        }
        (Fault::Page(why), None, None) => (Verdict::Failed, why),
    }
}

/// Runs a step, or returns why it failed.
fn step(
    browser: &mut DevTools,
    site: &mut Site<'_>,
    act: &Act,
    typed: &[&str],
) -> Result<Result<(), Fault>, Mute> {
    match act.act {
        Verb::Open => {
            let opened = page::open(browser, site, &page::link(act.on.trim_start_matches('/')))?;
            return Ok(opened.fault.map_or(Ok(()), |why| Err(Fault::Page(why))));
        }
        Verb::Width => {
            let width = act.width().unwrap_or(SIZES[0].0);
            page::resize(browser, site, (width, SIZES[1].1))?;
            return Ok(Ok(()));
        }
        Verb::Click | Verb::Fill | Verb::See | Verb::Miss => {}
    }
    let until = Instant::now() + PATIENCE;
    let mut away_since = None;
    let code = |verb: &str| {
        script::script(
            ACT,
            &format!("{}, {}, {}, {}", json!(verb), json!(act.on), json!(act.text), json!(typed)),
        )
    };
    let mut verb = act.act.word();
    loop {
        let found = evaluated(browser, site, &code(verb))?;
        let found: Step = serde_json::from_value(found).unwrap_or_default();
        if let (Some(x), Some(y)) = (found.x, found.y) {
            click(browser, site, (x, y))?;
            return Ok(Ok(()));
        }
        if found.types {
            browser.ask("Input.insertText", &json!({ "text": act.text }), site)?;
            verb = "filled";
            continue;
        }
        if found.done && act.act == Verb::Miss {
            if away_since.get_or_insert_with(Instant::now).elapsed() >= AWAY {
                return Ok(Ok(()));
            }
        } else if found.done {
            return Ok(Ok(()));
        } else if !found.unfit.is_empty() {
            return Ok(Err(Fault::Scenario(found.unfit)));
        } else {
            away_since = None;
        }
        if Instant::now() >= until {
            let why = if found.why.is_empty() { "the page could not be read".to_owned() } else { found.why };
            return Ok(Err(Fault::Page(why.chars().take(200).collect())));
        }
        // Handles the events of the page during the wait.
        browser.await_one("Page.loadEventFired", AGAIN, site)?;
    }
}

/// Runs code in our isolated world of the current page. Returns null if the page goes away.
fn evaluated(browser: &mut DevTools, site: &mut Site<'_>, code: &str) -> Result<Value, Mute> {
    let tree = browser.ask("Page.getFrameTree", &json!({}), site)?;
    match script::world(browser, site, &tree["frameTree"]["frame"]["id"]) {
        Ok(context) => script::evaluated(browser, site, &context, code),
        Err(Mute::Refused { .. }) => Ok(Value::Null),
        Err(other) => Err(other),
    }
}

/// Clicks at a point. If that opens a page of the site in a new window, goes on with that page, as a user would.
fn click(browser: &mut DevTools, site: &mut Site<'_>, (x, y): (f64, f64)) -> Result<(), Mute> {
    let windows = site.windows.len();
    for (kind, count) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)] {
        let button = if count == 0 { "none" } else { "left" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count });
        browser.ask("Input.dispatchMouseEvent", &event, site)?;
    }
    let opened = site.windows.get(windows).and_then(|url| url.strip_prefix(&site.origin)).map(str::to_owned);
    if let Some(address) = opened {
        page::open(browser, site, &address)?;
        site.windows.truncate(windows);
    }
    Ok(())
}
