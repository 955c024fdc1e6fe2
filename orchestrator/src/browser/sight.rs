//! Finds which of the given texts and sections a reader sees on a page: a text is seen if the screenshot changes at its
//! place when its letters become transparent. Everything else is left to a judge.
//!
//! The page is untrusted. Its scripts are stopped before the first of these screenshots, ours runs in an isolated
//! world, and the page's styles do not know the name of the highlight that makes letters transparent.

use std::hash::{BuildHasher as _, RandomState};

use serde::Deserialize;
use serde_json::{Value, json};
use skilltune_phases::loops::gan::inspect::Given;

use super::devtools::{DevTools, Mute};
use super::script::{self, evaluated, picture};
use super::site::Site;

const SCROLL: &str = include_str!("scroll.js");
const SIGHT: &str = include_str!("sight.js");
/// The most places per page where screenshots are taken.
const MOST_STEPS: usize = 40;
/// The most screenshots that are taken until two in a row are equal.
const MOST_TRIES: usize = 5;

/// The given texts and sections on one page at one size, in order. A missing one was not checked.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Sights {
    pub(super) copy: Vec<Sight>,
    pub(super) sections: Vec<Sight>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Sight {
    /// The text is not on the page.
    Missing,
    /// The text is or may be on the page, but no screenshot shows that a reader sees it.
    Hidden,
    #[serde(rename = "seen")]
    Shown,
}

impl Sights {
    /// Lowers `Shown` to `Hidden`: no screenshot is proof.
    fn doubt(&mut self) {
        for sight in self.copy.iter_mut().chain(&mut self.sections) {
            *sight = Sight::Hidden.min(*sight);
        }
    }
}

/// Looks for the texts and sections. The page's scripts stay stopped afterwards.
pub(super) fn sights(
    browser: &mut DevTools,
    site: &mut Site<'_>,
    context: &Value,
    given: &Given,
) -> Result<Sights, Mute> {
    if given.copy.is_empty() && given.sections.is_empty() {
        return Ok(Sights::default());
    }
    evaluated(browser, site, context, &script::script(SCROLL, ""))?;
    browser.ask("Emulation.setScriptExecutionDisabled", &json!({ "value": true }), site)?;
    browser.ask("Profiler.enable", &json!({}), site)?;
    browser.ask("Profiler.startPreciseCoverage", &json!({ "callCount": true }), site)?;
    let mut eye =
        Eye { browser, site, context, mark: format!("s{:016x}", RandomState::new().hash_one("sight")) };
    let sights = eye.look(given);
    let is_busy = eye.has_scripts();
    browser.ask("Profiler.disable", &json!({}), site)?;
    browser.ask("Emulation.setScriptExecutionDisabled", &json!({ "value": false }), site)?;
    let mut sights = sights?;
    if is_busy? {
        sights.doubt();
    }
    Ok(sights)
}

struct Eye<'a, 's> {
    browser: &'a mut DevTools,
    site: &'a mut Site<'s>,
    context: &'a Value,
    mark: String,
}

impl Eye<'_, '_> {
    fn look(&mut self, given: &Given) -> Result<Sights, Mute> {
        // The other size needs time too.
        let reserve = self.browser.left() / 2;
        self.say(&script::script(SIGHT, &format!("{}, {}", json!(given), json!(self.mark))))?;
        let mut steps = 0;
        while steps < MOST_STEPS && self.browser.left() > reserve && self.say("sight.next()")? == true {
            let painted = self.settled()?;
            let (blank, again, blank_again) = (self.shown(true)?, self.shown(false)?, self.shown(true)?);
            self.say("sight.blank(false)")?;
            self.say(&format!("sight.compare({})", json!([painted, blank, again, blank_again])))?;
            steps += 1;
        }
        Ok(serde_json::from_value(self.say("sight.result()")?).unwrap_or_default())
    }

    /// Takes a screenshot with the texts of this step visible or transparent.
    fn shown(&mut self, is_blank: bool) -> Result<String, Mute> {
        self.say(&format!("sight.blank({is_blank})"))?;
        picture(self.browser, self.site)
    }

    /// Takes screenshots until two in a row are equal, and returns the last.
    fn settled(&mut self) -> Result<String, Mute> {
        let mut last = String::new();
        for _ in 0..MOST_TRIES {
            let taken = picture(self.browser, self.site)?;
            if taken == last {
                break;
            }
            last = taken;
        }
        Ok(last)
    }

    fn say(&mut self, code: &str) -> Result<Value, Mute> {
        let code = format!("{code}\n//# sourceURL={}", self.mark);
        evaluated(self.browser, self.site, self.context, &code)
    }

    /// Whether a script of the page still ran, for example, one that was waiting for an answer.
    fn has_scripts(&mut self) -> Result<bool, Mute> {
        let said = self.browser.ask("Profiler.takePreciseCoverage", &json!({}), self.site)?;
        let ran = |function: &Value| function["ranges"][0]["count"].as_u64().is_some_and(|count| count > 0);
        let foreign =
            said["result"].as_array().into_iter().flatten().filter(|script| script["url"] != *self.mark);
        let mut functions = foreign.flat_map(|script| script["functions"].as_array().into_iter().flatten());
        Ok(functions.any(ran))
    }
}
