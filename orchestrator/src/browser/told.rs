//! From what was seen of all pages to what each check comes to.

use skilltune_phases::loops::gan::contract::Check;
use skilltune_phases::loops::gan::evaluation::Verdict;
use skilltune_phases::loops::gan::inspect::{Given, Live, Looked, Means, Told, live};

use super::page::{Look, SIZES, Violation};
use super::tour::Tour;

/// So many places are named, and so much is said.
const PLACES: usize = 5;
const LONGEST: usize = 600;
const CONTRAST: &str = "color-contrast";

pub(super) fn tell(looked: &mut Looked, tour: &Tour, given: &Given, is_served: bool) {
    let all = &tour.seen;
    let each = || tour.pages.iter().zip(all);
    let late = each().filter(|(_, seen)| seen.looks.iter().any(|look| !look.has_loaded));
    looked.notes.extend(late.map(|(path, _)| format!("{path} did not finish loading").into()));
    let refused = each().flat_map(|(path, seen)| {
        seen.refused.iter().map(move |url| format!("{path} asks for {url}, which is not its own").into())
    });
    looked.notes.extend(refused.take(PLACES).collect::<Vec<_>>());
    if each().any(|(_, seen)| seen.looks.iter().any(|look| look.measured.laid == 0)) {
        // A page that keeps its own scripts busy is not measured, and what was not measured tells nothing.
        looked.notes.push("a page could not be measured".into());
        return;
    }
    let lived: Vec<Live> = all.iter().filter_map(|seen| seen.live.clone()).collect();
    if lived.len() == all.len() {
        looked.told.push(live(&lived, is_served));
    }
    let mut tell = |check, faults: Vec<String>, fine: String| {
        let (verdict, evidence) = match faults.as_slice() {
            [] => (Verdict::Passed, fine),
            faults => (Verdict::Failed, shown(faults)),
        };
        looked.told.push(Told { check, verdict, evidence: cut(&evidence).into(), by: Means::Browser });
    };
    let wide = |look: &&Look| look.size == SIZES[0];
    let in_all =
        |is: &dyn Fn(&Look) -> bool| all.iter().flat_map(|seen| seen.looks.iter().filter(wide)).any(is);
    if !given.copy.is_empty() {
        let missing = given
            .copy
            .iter()
            .enumerate()
            .filter(|(nth, _)| !in_all(&|look| look.measured.copy.get(*nth) == Some(&true)));
        let missing = missing.map(|(_, text)| format!("{} is nowhere to be seen: “{}”", text.at, text.text));
        tell(Check::Copy, missing.collect(), format!("each of the {} texts can be seen", given.copy.len()));
    }
    if !given.sections.is_empty() {
        let missing = given.sections.iter().enumerate();
        let missing =
            missing.filter(|(nth, _)| !in_all(&|look| look.measured.sections.get(*nth) == Some(&true)));
        let missing = missing.map(|(_, title)| format!("no heading “{title}” can be seen"));
        tell(
            Check::Sections,
            missing.collect(),
            format!("each of the {} sections can be seen", given.sections.len()),
        );
    }
    let narrow = each().flat_map(|(path, seen)| {
        seen.looks.iter().filter(|look| look.size == SIZES[1]).map(move |look| (path, look))
    });
    let narrow = narrow.filter(|(_, look)| look.measured.is_wide).map(|(path, look)| {
        let at = look.measured.wide.join(", ");
        let at = if at.is_empty() { at } else { format!(": {at}") };
        format!("{path} is {} pixels wide at {}{at}", look.measured.laid, SIZES[1].0)
    });
    tell(Check::Narrow, narrow.collect(), format!("nothing sticks out at a width of {} pixels", SIZES[1].0));
    let images = each().flat_map(|(path, seen)| {
        seen.looks.iter().filter(wide).flat_map(move |look| {
            look.measured.images.iter().map(move |at| format!("{path}: {at} has no alt text"))
        })
    });
    tell(Check::AltTexts, images.collect(), "each image has a text, or says that it needs none".to_owned());
    let errors =
        each().flat_map(|(path, seen)| seen.errors.iter().map(move |error| format!("{path}: {error}")));
    let wants_socket = all.iter().any(|seen| seen.wants_socket);
    if !wants_socket {
        tell(Check::Console, errors.collect(), "the console shows no error".to_owned());
    }
    let violations = || each().filter_map(|(path, seen)| seen.violations.as_ref().map(|found| (path, found)));
    let faults = |is: &dyn Fn(&Violation) -> bool| {
        let found = violations().flat_map(|(path, found)| found.iter().map(move |one| (path, one)));
        let grave = found.filter(|(_, one)| is(one));
        grave
            .map(|(path, one)| format!("{path}: {} ({}) at {}", one.id, one.impact, one.at.join(", ")))
            .collect::<Vec<_>>()
    };
    if violations().next().is_some() {
        let is_grave = |one: &Violation| matches!(one.impact.as_str(), "serious" | "critical");
        tell(
            Check::Accessibility,
            faults(&is_grave),
            "axe-core finds no serious or critical violation".to_owned(),
        );
        tell(Check::Contrast, faults(&|one| one.id == CONTRAST), "axe-core finds enough contrast".to_owned());
    } else {
        looked.notes.push(
            "axe-core is not installed: accessibility and contrast were not measured in the browser".into(),
        );
    }
    if wants_socket {
        looked.notes.push("WebSockets are not forwarded: errors in the console were not counted".into());
    }
}

/// What is fine on some pages may be a fault on another one, and what is missed may be there. A page that did not get all that it
/// asked for may look otherwise.
pub(super) fn doubt(looked: &mut Looked, tour: &Tour) {
    let lost: Vec<String> = tour.seen.iter().flat_map(|seen| seen.lost.iter().cloned()).collect();
    let (some, all) = (tour.pages.len(), tour.pages.len() + tour.more);
    let why = match () {
        () if !lost.is_empty() => format!("the pages did not get {}", shown(&lost)),
        () if tour.more > 0 => format!("of {all} pages {some} were looked at"),
        () => return,
    };
    let is_open = |told: &&mut Told| {
        let may_be_there = matches!(told.check, Check::Copy | Check::Sections);
        !lost.is_empty() || told.verdict == Verdict::Passed || may_be_there
    };
    for told in looked.told.iter_mut().filter(is_open) {
        told.verdict = Verdict::Unverified;
        told.evidence = format!("{why}: {}", told.evidence).into();
    }
    looked.notes.push(why.into());
}

fn shown(faults: &[String]) -> String {
    let more = faults.len().saturating_sub(PLACES);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    faults.iter().take(PLACES).cloned().collect::<Vec<_>>().join("; ") + &more
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
