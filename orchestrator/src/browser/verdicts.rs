//! Turns the observations of all pages into the results of the checks.

use std::collections::BTreeSet;

use skilltune_phases::loops::gan::contract::Check;
use skilltune_phases::loops::gan::evaluation::Verdict;
use skilltune_phases::loops::gan::inspect::{Given, Inspection, Live, MachineResult, Means, live};

use super::page::{Measured, PageFindings, SIZES, Screenshot, Violation};
use super::sight::{Sight, Sights};
use super::tour::Tour;

/// The most places that are named, and the longest text.
const PLACES: usize = 5;
const LONGEST: usize = 600;
const CONTRAST: &str = "color-contrast";

pub(super) fn tell(inspection: &mut Inspection, tour: &Tour, given: &Given, is_served: bool) {
    let all = &tour.findings;
    let each = || tour.each();
    let late =
        each().filter(|(_, findings)| findings.screenshots.iter().any(|screenshot| !screenshot.has_loaded));
    inspection.notes.extend(late.map(|(path, _)| format!("{path} did not finish loading").into()));
    let refused = each().flat_map(|(path, findings)| {
        findings.refused.iter().map(move |url| format!("{path} asks for {url}, which is not its own").into())
    });
    inspection.notes.extend(refused.take(PLACES).collect::<Vec<_>>());
    if each().any(|(_, findings)| findings.screenshots.iter().any(|screenshot| screenshot.measured.laid == 0))
    {
        // A page whose scripts keep it busy is not measured, and then its checks stay open.
        inspection.notes.push("a page could not be measured".into());
        return;
    }
    let lived: Vec<Live> = all.iter().filter_map(|findings| findings.live.clone()).collect();
    if lived.len() == all.len() {
        inspection.checks.push(live(&lived, is_served));
    }
    inspection.checks.extend(texts(all, given));
    let mut tell = |check, faults: Vec<String>, fine: &str| {
        inspection.checks.push(verdict_of(check, &faults, &[], fine));
    };
    let narrow = each().flat_map(|(path, findings)| {
        findings
            .screenshots
            .iter()
            .filter(|screenshot| screenshot.size == SIZES[1])
            .map(move |screenshot| (path, screenshot))
    });
    let narrow = narrow.filter(|(_, screenshot)| screenshot.measured.is_wide).map(|(path, screenshot)| {
        let Measured { laid, wide, has_viewport, .. } = &screenshot.measured;
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
    let images = each().flat_map(|(path, findings)| {
        findings.screenshots.iter().filter(|screenshot| is_wide(screenshot)).flat_map(move |screenshot| {
            screenshot.measured.images.iter().map(move |at| format!("{path}: {at} has no alt text"))
        })
    });
    let fine = "each image has a text, or says that it needs none";
    tell(Check::AltTexts, images.collect(), fine);
    let errors = each()
        .flat_map(|(path, findings)| findings.errors.iter().map(move |error| format!("{path}: {error}")));
    let wants_socket = all.iter().any(|findings| findings.wants_socket);
    if !wants_socket {
        tell(Check::Console, errors.collect(), "the console shows no error");
    }
    if tour.with_axe {
        inspection.checks.extend(by_axe(tour));
    } else {
        inspection.notes.push(
            "axe-core is not installed: accessibility and contrast were not measured in the browser".into(),
        );
    }
    if wants_socket {
        inspection.notes.push("WebSockets are not forwarded: errors in the console were not counted".into());
    }
}

/// Returns the verdict of a check. A fault outweighs a doubt.
fn verdict_of(check: Check, faults: &[String], doubts: &[String], fine: &str) -> MachineResult {
    let (verdict, evidence) = match (faults, doubts) {
        ([], []) => (Verdict::Passed, fine.to_owned()),
        ([], doubts) => (Verdict::Unverified, shown(doubts)),
        (faults, _) => (Verdict::Failed, shown(faults)),
    };
    MachineResult { check, verdict, evidence: cut(&evidence).into(), by: Means::Browser }
}

/// Checks the given texts and sections: each has to be seen on one page at each size.
fn texts(all: &[PageFindings], given: &Given) -> Vec<MachineResult> {
    let on = |findings: &PageFindings, of: fn(&Sights) -> &[Sight], nth: usize| {
        let mut sights = findings
            .screenshots
            .iter()
            .map(|screenshot| of(&screenshot.sights).get(nth).copied().unwrap_or(Sight::Hidden));
        let first = sights.next().unwrap_or(Sight::Hidden);
        if sights.all(|other| other == first) { first } else { Sight::Hidden }
    };
    let best = |of: fn(&Sights) -> &[Sight], nth| {
        all.iter().map(|findings| on(findings, of, nth)).max().unwrap_or(Sight::Hidden)
    };
    let result = |check, wanted: Vec<(Sight, String)>, fine: &str| {
        let with = |sight, prefix: &str| -> Vec<String> {
            let those = wanted.iter().filter(|(known, _)| *known == sight);
            those.map(|(_, what)| format!("{prefix} {what}")).collect()
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
    let all = [
        result(Check::Copy, copy.collect(), "texts"),
        result(Check::Sections, sections.collect(), "sections"),
    ];
    all.into_iter().flatten().collect()
}

fn by_axe(tour: &Tour) -> [MachineResult; 2] {
    let said = || {
        tour.each().flat_map(|(path, findings)| {
            findings.screenshots.iter().map(move |screenshot| (path, screenshot.axe.as_ref()))
        })
    };
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
        let matching = found.filter(|(_, one)| is(one));
        let lines = matching
            .map(|(path, one)| format!("{path}: {} ({}) at {}", one.id, one.impact, one.at.join(", ")));
        once(lines.collect())
    };
    let grave = faults(|one| matches!(one.impact.as_str(), "serious" | "critical"));
    let fine = "axe-core finds no serious or critical violation";
    let pale = faults(|one| one.id == CONTRAST);
    [
        verdict_of(Check::Accessibility, &grave, &silent, fine),
        verdict_of(Check::Contrast, &pale, &open, "axe-core finds enough contrast"),
    ]
}

fn is_wide(screenshot: &Screenshot) -> bool {
    screenshot.size == SIZES[0]
}

/// Reopens verdicts: a check that passes on some pages may fail on another one, and a missing text may be there. A page
/// whose requests failed may look different.
pub(super) fn doubt(inspection: &mut Inspection, tour: &Tour) {
    let lost: Vec<String> = tour.findings.iter().flat_map(|findings| findings.lost.iter().cloned()).collect();
    let (some, all) = (tour.pages.len(), tour.pages.len() + tour.more);
    let why = match () {
        () if !lost.is_empty() => format!("the pages did not get {}", shown(&lost)),
        () if tour.more > 0 => format!("of {all} pages {some} were looked at"),
        () => return,
    };
    let is_open = |result: &&mut MachineResult| {
        let may_be_there = matches!(result.check, Check::Copy | Check::Sections);
        !lost.is_empty() || result.verdict == Verdict::Passed || may_be_there
    };
    for result in inspection.checks.iter_mut().filter(is_open) {
        result.verdict = Verdict::Unverified;
        result.evidence = format!("{why}: {}", result.evidence).into();
    }
    inspection.notes.push(why.into());
}

fn shown(faults: &[String]) -> String {
    let more = faults.len().saturating_sub(PLACES);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    faults.iter().take(PLACES).cloned().collect::<Vec<_>>().join("; ") + &more
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
