//! Test scenarios in the browser: what a user would do, step by step, on a page of its own with nothing kept from another one.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use skilltune_phases::loops::gan::evaluation::Verdict;
use skilltune_phases::loops::gan::inspect::Tried;
use skilltune_phases::loops::gan::test_scenario::{Act, TestScenario, Tool, Verb};

use super::devtools::{DevTools, Mute};
use super::page::{self, SIZES};
use super::site::{Site, Source};

const ACT: &str = include_str!("act.js");
/// How long a step waits for what it needs.
const PATIENCE: Duration = Duration::from_secs(5);
/// A text that must not be there has to stay away for so long.
const AWAY: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(100);
/// A page that keeps its browser busy holds up no other scenario.
const LONGEST: Duration = Duration::from_secs(45);

/// What a step has come to so far.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Step {
    done: bool,
    /// The field has the focus: what is typed goes into it.
    #[serde(rename = "type")]
    types: bool,
    x: Option<f64>,
    y: Option<f64>,
    why: String,
}

/// Tries all of them, each from the first page on.
pub(super) fn tried(
    browser: &mut DevTools,
    source: Source<'_>,
    first: &str,
    scenarios: &[TestScenario],
) -> Result<Vec<Tried>, Mute> {
    let mut all = Vec::new();
    for scenario in scenarios {
        let Tool::Browser(acts) = &scenario.run else { continue };
        let (verdict, evidence) = match browser.within(LONGEST, |browser| one(browser, source, first, acts)) {
            Ok(outcome) => outcome,
            Err(why @ (Mute::Late | Mute::Refused { .. })) => (Verdict::Unverified, why.to_string()),
            Err(other) => return Err(other),
        };
        let evidence = format!("{}: {evidence}", scenario.id).into();
        all.push(Tried { scenario: scenario.id.clone(), verdict, evidence });
    }
    Ok(all)
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
        for (nth, act) in (1..).zip(acts) {
            if let Err(why) = step(browser, site, act)? {
                let told = format!("step {nth} of {}, {}: {why}", acts.len(), act.words());
                return Ok((Verdict::Failed, told));
            }
        }
        let words: Vec<String> = acts.iter().map(Act::words).collect();
        Ok((Verdict::Passed, format!("done: {}", words.join(", "))))
    })
}

/// Takes a step, or says why it cannot be taken.
fn step(browser: &mut DevTools, site: &mut Site<'_>, act: &Act) -> Result<Result<(), String>, Mute> {
    match act.act {
        Verb::Open => {
            page::open(browser, site, &page::link(act.on.trim_start_matches('/')))?;
            return Ok(Ok(()));
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
    let script = format!("({ACT})({}, {}, {})", json!(act.act.word()), json!(act.on), json!(act.text));
    loop {
        let found: Step = serde_json::from_value(evaluated(browser, site, &script)?).unwrap_or_default();
        if let (Some(x), Some(y)) = (found.x, found.y) {
            click(browser, site, (x, y))?;
            return Ok(Ok(()));
        }
        if found.types {
            browser.ask("Input.insertText", &json!({ "text": act.text }), site)?;
        }
        if found.done && act.act == Verb::Miss {
            if away_since.get_or_insert_with(Instant::now).elapsed() >= AWAY {
                return Ok(Ok(()));
            }
        } else if found.done || found.types {
            return Ok(Ok(()));
        } else {
            away_since = None;
        }
        if Instant::now() >= until {
            let why = if found.why.is_empty() { "the page could not be read".to_owned() } else { found.why };
            return Ok(Err(why.chars().take(200).collect()));
        }
        // What a page still does is heard meanwhile.
        browser.await_one("Page.loadEventFired", AGAIN, site)?;
    }
}

/// In a world of our own of the page that is there by now. One that goes away in the middle gives nothing.
fn evaluated(browser: &mut DevTools, site: &mut Site<'_>, script: &str) -> Result<Value, Mute> {
    let tree = browser.ask("Page.getFrameTree", &json!({}), site)?;
    match page::world(browser, site, &tree["frameTree"]["frame"]["id"]) {
        Ok(context) => page::evaluated(browser, site, &context, script),
        Err(Mute::Refused { .. }) => Ok(Value::Null),
        Err(other) => Err(other),
    }
}

fn click(browser: &mut DevTools, site: &mut Site<'_>, (x, y): (f64, f64)) -> Result<(), Mute> {
    for (kind, count) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)] {
        let button = if count == 0 { "none" } else { "left" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count });
        browser.ask("Input.dispatchMouseEvent", &event, site)?;
    }
    Ok(())
}
