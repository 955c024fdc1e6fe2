//! Turns the observations of all pages into the results of the checks.

use std::collections::BTreeSet;

use skilltune_phases::loops::gan::contract::Check;
use skilltune_phases::loops::gan::evaluation::Verdict;
use skilltune_phases::loops::gan::inspect::{Given, Live, Looked, Means, Told, live};

use super::page::{Look, Measured, SIZES, Seen, Violation};
use super::sight::{Sight, Sights};
use super::tour::Tour;

/// The most places that are named, and the longest text.
const PLACES: usize = 5;
const LONGEST: usize = 600;
const CONTRAST: &str = "color-contrast";

pub(super) fn tell(looked: &mut Looked, tour: &Tour, given: &Given, is_served: bool) {
    let all = &tour.seen;
    let each = || tour.each();
    let late = each().filter(|(_, seen)| seen.looks.iter().any(|look| !look.has_loaded));
    looked.notes.extend(late.map(|(path, _)| format!("{path} did not finish loading").into()));
    let refused = each().flat_map(|(path, seen)| {
        seen.refused.iter().map(move |url| format!("{path} asks for {url}, which is not its own").into())
    });
    looked.notes.extend(refused.take(PLACES).collect::<Vec<_>>());
    if each().any(|(_, seen)| seen.looks.iter().any(|look| look.measured.laid == 0)) {
        // A page whose scripts keep it busy is not measured, and then its checks stay open.
        looked.notes.push("a page could not be measured".into());
        return;
    }
    let lived: Vec<Live> = all.iter().filter_map(|seen| seen.live.clone()).collect();
    if lived.len() == all.len() {
        looked.told.push(live(&lived, is_served));
    }
    looked.told.extend(texts(all, given));
    let mut tell =
        |check, faults: Vec<String>, fine: &str| looked.told.push(verdict_of(check, &faults, &[], fine));
    let narrow = each().flat_map(|(path, seen)| {
        seen.looks.iter().filter(|look| look.size == SIZES[1]).map(move |look| (path, look))
    });
    let narrow = narrow.filter(|(_, look)| look.measured.is_wide).map(|(path, look)| {
        let Measured { laid, wide, has_viewport, .. } = &look.measured;
        let at = match wide.join(", ") {
            // Then the whole page is wide, whatever is on it.
            _ if !has_viewport => ": it has no viewport".to_owned(),
            at if at.is_empty() => at,
            at => format!(": {at}"),
        };
        format!("{path} is {laid} pixels wide at {}{at}", SIZES[1].0)
    });
    let fine = format!("nothing sticks out at a width of {} pixels", SIZES[1].0);
    tell(Check::Narrow, narrow.collect(), &fine);
    let images = each().flat_map(|(path, seen)| {
        seen.looks.iter().filter(|look| is_wide(look)).flat_map(move |look| {
            look.measured.images.iter().map(move |at| format!("{path}: {at} has no alt text"))
        })
    });
    let fine = "each image has a text, or says that it needs none";
    tell(Check::AltTexts, images.collect(), fine);
    let errors =
        each().flat_map(|(path, seen)| seen.errors.iter().map(move |error| format!("{path}: {error}")));
    let wants_socket = all.iter().any(|seen| seen.wants_socket);
    if !wants_socket {
        tell(Check::Console, errors.collect(), "the console shows no error");
    }
    if tour.with_axe {
        looked.told.extend(by_axe(tour));
    } else {
        looked.notes.push(
            "axe-core is not installed: accessibility and contrast were not measured in the browser".into(),
        );
    }
    if wants_socket {
        looked.notes.push("WebSockets are not forwarded: errors in the console were not counted".into());
    }
}

/// Returns the verdict of a check. A fault outweighs a doubt.
fn verdict_of(check: Check, faults: &[String], doubts: &[String], fine: &str) -> Told {
    let (verdict, evidence) = match (faults, doubts) {
        ([], []) => (Verdict::Passed, fine.to_owned()),
        ([], doubts) => (Verdict::Unverified, shown(doubts)),
        (faults, _) => (Verdict::Failed, shown(faults)),
    };
    Told { check, verdict, evidence: cut(&evidence).into(), by: Means::Browser }
}

/// Checks the given texts and sections: each has to be seen on one page at each size.
fn texts(all: &[Seen], given: &Given) -> Vec<Told> {
    let on = |seen: &Seen, of: fn(&Sights) -> &[Sight], nth: usize| {
        let mut sights =
            seen.looks.iter().map(|look| of(&look.sights).get(nth).copied().unwrap_or(Sight::Hidden));
        let first = sights.next().unwrap_or(Sight::Hidden);
        if sights.all(|other| other == first) { first } else { Sight::Hidden }
    };
    let best = |of: fn(&Sights) -> &[Sight], nth| {
        all.iter().map(|seen| on(seen, of, nth)).max().unwrap_or(Sight::Hidden)
    };
    let told = |check, wanted: Vec<(Sight, String)>, fine: &str| {
        let with = |sight, told: &str| -> Vec<String> {
            let those = wanted.iter().filter(|(known, _)| *known == sight);
            those.map(|(_, what)| format!("{told} {what}")).collect()
        };
        let missing = with(Sight::Missing, "nowhere to be seen:");
        let fine = format!("each of the {} {fine} can be seen", wanted.len());
        (!wanted.is_empty())
            .then(|| verdict_of(check, &missing, &with(Sight::Hidden, "pictures do not show"), &fine))
    };
    let copy = given.copy.iter().enumerate();
    let copy =
        copy.map(|(nth, text)| (best(|sights| &sights.copy, nth), format!("{} “{}”", text.at, text.text)));
    let sections = given.sections.iter().enumerate();
    let sections =
        sections.map(|(nth, title)| (best(|sights| &sights.sections, nth), format!("the heading “{title}”")));
    let all =
        [told(Check::Copy, copy.collect(), "texts"), told(Check::Sections, sections.collect(), "sections")];
    all.into_iter().flatten().collect()
}

fn by_axe(tour: &Tour) -> [Told; 2] {
    let said =
        || tour.each().flat_map(|(path, seen)| seen.looks.iter().map(move |look| (path, look.axe.as_ref())));
    let once = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>();
    let silent = said().filter_map(|(path, axe)| match axe {
        None => Some(format!("{path}: axe-core did not finish")),
        Some(axe) if axe.skips => Some(format!("{path}: axe-core skips its inert parts")),
        Some(_) => None,
    });
    let silent = once(silent.collect());
    let open = said().filter(|(_, axe)| axe.is_some_and(|axe| axe.is_open));
    let open = open.map(|(path, _)| format!("{path}: axe-core could not measure the contrast of some text"));
    let open = once(open.chain(silent.clone()).collect());
    let faults = |is: fn(&Violation) -> bool| {
        let found = said().flat_map(|(path, axe)| axe.into_iter().map(move |axe| (path, axe)));
        let found =
            found.flat_map(|(path, axe)| axe.violations.iter().map(move |violation| (path, violation)));
        let told = found.filter(|(_, one)| is(one));
        let told =
            told.map(|(path, one)| format!("{path}: {} ({}) at {}", one.id, one.impact, one.at.join(", ")));
        once(told.collect())
    };
    let grave = faults(|one| matches!(one.impact.as_str(), "serious" | "critical"));
    let fine = "axe-core finds no serious or critical violation";
    let pale = faults(|one| one.id == CONTRAST);
    [
        verdict_of(Check::Accessibility, &grave, &silent, fine),
        verdict_of(Check::Contrast, &pale, &open, "axe-core finds enough contrast"),
    ]
}

fn is_wide(look: &Look) -> bool {
    look.size == SIZES[0]
}

/// Reopens verdicts: a check that passes on some pages may fail on another one, and a missing text may be there. A page
/// whose requests failed may look different.
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
