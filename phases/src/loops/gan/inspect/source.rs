//! Checks the source of a site alone: a check passes or fails only if the source proves it, and otherwise says why a
//! browser is needed.
//!
//! Nothing passes on a site with scripts or with missing styles, because they can change it. A fault in the source
//! still counts, except for parts that scripts may create: texts, sections, handlers, anchors and names.

use super::evidence::short;
use super::outcome::CheckOutcome;
use super::site::Site;
use super::{Given, MachineResult, Means, accessible, generic, interactions, layout, tokens, words};
use crate::loops::gan::contract::Check;
use crate::skills::lint::Files;

const LONGEST: usize = 1_500;

const CHECKS: [Check; 12] = [
    Check::Copy,
    Check::Sections,
    Check::Tokens,
    Check::Spacing,
    Check::AltTexts,
    Check::Interactions,
    Check::Narrow,
    Check::Contrast,
    Check::Accessibility,
    Check::Console,
    Check::GenericStyle,
    Check::GenericIcons,
];

/// Returns the result of each check on the source, in the order of the checks.
pub fn source(files: &Files, given: &Given) -> Vec<MachineResult> {
    let site = Site::read(files);
    let look = |check: Check| match check {
        _ if site.pages.is_empty() && site.unread.is_empty() => CheckOutcome::unverified("there is no page"),
        _ if site.pages.is_empty() => {
            CheckOutcome::unverified(format!("no page was read: {}", site.unread.text()))
        }
        Check::Copy => words::copy(&site, &given.copy),
        Check::Sections => words::sections(&site, &given.sections),
        Check::Tokens => tokens::tokens(&site, &given.tokens),
        Check::Spacing => tokens::spacing(&site, &given.tokens),
        Check::AltTexts => accessible::alt_texts(&site),
        Check::Interactions => interactions::interactions(&site),
        Check::Narrow => layout::narrow(&site),
        Check::Contrast => layout::contrast(&site),
        Check::Accessibility => accessible::accessibility(&site),
        Check::Console => CheckOutcome::unverified("a browser is needed: only a loaded page has a console"),
        Check::GenericStyle => generic::style(&site),
        Check::GenericIcons => generic::icons(&site),
    };
    let result = |check: Check| {
        let CheckOutcome { verdict, evidence } = look(check);
        MachineResult { check, verdict, evidence: short(&evidence, LONGEST).into(), by: Means::Source }
    };
    CHECKS.into_iter().map(result).collect()
}
