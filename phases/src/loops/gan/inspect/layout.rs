//! Checks widths and contrasts that the styles fix. A browser sees more, so these checks fail, but never pass.

use std::collections::BTreeMap;

use csscolorparser::Color;

use super::css::{self, Part, Rule};
use super::evidence::Places;
use super::outcome::CheckOutcome;
use super::site::{Site, Style};
use super::tokens::pixels;

const NARROW: f32 = 375.0;
const LEAST_CONTRAST: f32 = 4.5;
const LEAST_CONTRAST_OF_LARGE: f32 = 3.0;
/// The maximum number of rules to look for on the pages.
const MOST_PAIRS: usize = 50;
/// The maximum depth when following custom properties.
const DEEPEST: usize = 8;

/// Checks a narrow screen. A page without a viewport is laid out for a wide screen; an element that is wider than a
/// narrow one overflows.
pub(super) fn narrow(site: &Site<'_>) -> CheckOutcome {
    let mut wide = Places::default();
    for page in &site.pages {
        let viewport = page
            .named(&["meta"])
            .find(|at| page.attribute(*at, "name").is_some_and(|name| name.eq_ignore_ascii_case("viewport")));
        let content = viewport.and_then(|at| page.attribute(at, "content")).unwrap_or_default();
        if !["width=device-width", "initial-scale"].iter().any(|part| content.replace(' ', "").contains(part))
        {
            wide.add(&format!("{}:1 the page has no viewport of the device's width", page.path));
        }
    }
    let is_clipped = site.declarations().any(|(_, one)| {
        one.name.starts_with("overflow") && &*one.value != "visible" || one.name.starts_with("contain")
    });
    if !is_clipped {
        let widths = site.styles.iter().filter(|style| fixed(&style.rule).is_some() && is_plain(style));
        for style in widths.take(MOST_PAIRS) {
            let Some(declaration) = fixed(&style.rule) else { continue };
            if site.first_of(style).is_some_and(|element| !is_changed(site, style, declaration, element)) {
                wide.add(&style.place(declaration));
            }
        }
    }
    if wide.is_empty() {
        CheckOutcome::unverified("a browser is needed: only a layout shows overflow")
    } else {
        CheckOutcome::failed(&wide)
    }
}

/// Returns the declaration that fixes a width beyond a narrow screen, on narrow screens too.
fn fixed(rule: &Rule) -> Option<&css::Declaration> {
    let is_hidden = rule.last("display").is_some_and(|one| &*one.value == "none");
    let floats = rule.last("position").is_some_and(|one| matches!(&*one.value, "absolute" | "fixed"));
    if !rule.media.is_empty() || is_hidden || floats {
        return None;
    }
    let is_wide = |one: &&css::Declaration| matches!(&*css::parts(&one.value), [length] if pixels(length).is_some_and(|width| width > NARROW));
    let width = rule.last("width").filter(is_wide).filter(|_| rule.last("max-width").is_none());
    rule.last("min-width").filter(is_wide).or(width)
}

/// Whether it is certain what a style applies to: a style attribute, or a selector of one tag, class or id alone.
fn is_plain(style: &Style) -> bool {
    style.on.is_some()
        || style
            .rule
            .selector
            .split(',')
            .any(|selector| !selector.trim().contains(|c: char| c.is_whitespace() || ">+~:[&*()".contains(c)))
}

/// Whether any other rule could override the width of that element.
fn is_changed(site: &Site<'_>, style: &Style, width: &css::Declaration, (page, at): (usize, usize)) -> bool {
    // A minimum width overrides a maximum width.
    let names: &[&str] = if &*width.name == "min-width" {
        &["min-width", "display"]
    } else {
        &["width", "max-width", "display"]
    };
    let others = site.styles.iter().filter(|other| !std::ptr::eq(*other, style));
    { others }.any(|other| {
        names.iter().any(|name| other.rule.last(name).is_some()) && site.could_apply(other, page, at)
    })
}

/// Checks the rules that fix both colours of a text.
pub(super) fn contrast(site: &Site<'_>) -> CheckOutcome {
    let variables = variables(site);
    let mut low = Places::default();
    let mut looked = 0;
    for style in &site.styles {
        let rule = &style.rule;
        let value = |name: &str| rule.last(name).and_then(|one| solid(&one.value, &variables, 0));
        let Some(front) = value("color") else { continue };
        let Some(back) = value("background-color").or_else(|| value("background")) else { continue };
        let (ratio, least) = (ratio(&front, &back), least(rule));
        let is_off =
            ["disabled", "::selection", "::backdrop"].iter().any(|part| rule.selector.contains(part));
        if ratio >= least || is_off || looked >= MOST_PAIRS {
            continue;
        }
        looked += 1;
        if site.first_of(style).is_some() {
            let color = rule.last("color").expect("its value was read");
            low.add(&format!("{} on {}: {ratio:.2}, below {least}", style.place(color), back.to_css_hex()));
        }
    }
    if low.is_empty() {
        CheckOutcome::unverified(
            "a browser is needed: no rule sets two colours with too little contrast, but others may meet",
        )
    } else {
        CheckOutcome::failed(&low)
    }
}

/// Returns the minimum contrast. Large type needs less: from 24 pixels, or bold from 18.66 pixels. An unknown size may
/// be large.
fn least(rule: &Rule) -> f32 {
    let named = rule.last("font-size").or_else(|| rule.last("font"));
    let size = named.map(|one| css::parts(&one.value).iter().find_map(pixels));
    let is_heavy = |one: &css::Declaration| {
        one.value
            .split_whitespace()
            .any(|word| word == "bold" || word.parse::<u32>().is_ok_and(|weight| weight >= 700))
    };
    let is_bold = ["font-weight", "font"].iter().any(|name| rule.last(name).is_some_and(is_heavy));
    let is_heading = || rule.selector.split(',').all(|one| matches!(one.trim(), "h1" | "h2"));
    let is_large = match size {
        Some(Some(size)) => size >= 24.0 || is_bold && size >= 18.66,
        Some(None) => true,
        None => is_heading(),
    };
    if is_large { LEAST_CONTRAST_OF_LARGE } else { LEAST_CONTRAST }
}

/// Returns the custom properties that have one value only.
pub(super) fn variables<'s>(site: &'s Site<'_>) -> BTreeMap<&'s str, Option<&'s str>> {
    let mut variables: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (_, declaration) in site.declarations().filter(|(_, one)| one.name.starts_with("--")) {
        let value = Some(&*declaration.value);
        variables
            .entry(&declaration.name)
            .and_modify(|known| *known = known.filter(|_| *known == value))
            .or_insert(value);
    }
    variables
}

/// Returns the colour of a value, if it is an opaque colour.
fn solid(value: &str, variables: &BTreeMap<&str, Option<&str>>, depth: usize) -> Option<Color> {
    match &*css::parts(value) {
        [Part::Color { color, .. }] if color.a > 0.99 => Some(*color),
        [Part::Variable(name), ..] if depth < DEEPEST => {
            solid(variables.get(&**name).copied().flatten()?, variables, depth + 1)
        }
        _ => None,
    }
}

/// Returns the contrast ratio as WCAG defines it.
fn ratio(a: &Color, b: &Color) -> f32 {
    let light = |color: &Color| {
        let [red, green, blue, _] = color.to_linear_rgba();
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let (a, b) = (light(a), light(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}
