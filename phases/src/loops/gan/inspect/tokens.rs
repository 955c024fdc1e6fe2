//! Compares colours, type and spacing of the styles with the given tokens.

use std::collections::BTreeSet;

use super::Token;
use super::css::{self, Part};
use super::evidence::Places;
use super::outcome::CheckOutcome;
use super::site::Site;

const PIXELS_OF_REM: f32 = 16.0;
/// The maximum depth when following custom properties.
const DEEPEST: usize = 8;

/// Checks that each colour and each font family of the styles is a token. A more transparent form of a token's colour
/// is the same.
pub(super) fn tokens(site: &Site<'_>, tokens: &[Token]) -> CheckOutcome {
    let colors: Vec<[u8; 4]> =
        tokens.iter().filter_map(|token| css::color(&token.value)).map(|color| color.to_rgba8()).collect();
    let is_font = |token: &&Token| {
        let name = token.name.to_lowercase();
        ["family", "typeface"].iter().any(|word| name.contains(word))
            || name.contains("font") && families(&token.value).len() > 1
            || name.contains("font") && token.value.chars().all(|c| c.is_alphabetic() || c == ' ')
    };
    let fonts: Vec<String> = tokens.iter().filter(is_font).flat_map(|token| families(&token.value)).collect();
    if colors.is_empty() && fonts.is_empty() {
        let none = if tokens.is_empty() { "no tokens were given" } else { "no token is a colour or a font" };
        return CheckOutcome::unverified(none);
    }
    let (mut others, mut used) = (Places::default(), 0);
    for (style, declaration) in site.declarations() {
        if !colors.is_empty() && is_colored(&declaration.name) {
            for part in css::parts(&declaration.value) {
                if let Part::Color { color, .. } = part {
                    used += 1;
                    let color = color.to_rgba8();
                    if !colors.iter().any(|token| is_same(*token, color)) {
                        others.add(&style.place(declaration));
                    }
                }
            }
        }
        if !fonts.is_empty() && matches!(&*declaration.name, "font-family" | "font") {
            let text = if &*declaration.name == "font" {
                after_size(&declaration.value)
            } else {
                &declaration.value
            };
            let unknown = |family: &String| !fonts.contains(family) && !is_generic(family);
            used += 1;
            if families(text).iter().any(unknown) {
                others.add(&style.place(declaration));
            }
        }
    }
    match used {
        0 => CheckOutcome::unverified("a browser is needed: no style names a colour or a font"),
        _ => CheckOutcome::of(&others, site, "all colours and fonts of the styles are tokens"),
    }
}

/// Checks that margins, paddings, gaps and insets are lengths of the tokens for spacing, or relative to something else.
/// A length within a function, such as `calc`, is a step to another one, and proves nothing.
pub(super) fn spacing(site: &Site<'_>, tokens: &[Token]) -> CheckOutcome {
    let is_spacing = |token: &&Token| {
        let name = token.name.to_lowercase();
        ["spac", "gap", "margin", "padding", "inset", "gutter"].iter().any(|word| name.contains(word))
    };
    let lengths = tokens.iter().filter(is_spacing).flat_map(|token| css::parts(&token.value));
    let scale: Vec<f32> = lengths.filter_map(|part| pixels(&part)).collect();
    if scale.is_empty() {
        return CheckOutcome::unverified("no tokens for spacing were given");
    }
    let is_off = |part: &Part| {
        let length = pixels(part).unwrap_or_default().abs();
        length > 0.01 && !scale.iter().any(|step| (step - length).abs() < 0.01)
    };
    let (mut others, mut computed) = (Places::default(), Places::default());
    let variables = spacing_variables(site);
    let is_ours = |name: &str| is_space(name) || variables.contains(name);
    for (style, declaration) in site.declarations().filter(|(_, one)| is_ours(&one.name)) {
        if css::outer_parts(&declaration.value).iter().any(is_off) {
            others.add(&style.place(declaration));
        } else if css::parts(&declaration.value).iter().any(is_off) {
            computed.add(&style.place(declaration));
        }
    }
    if others.is_empty() && !computed.is_empty() {
        return CheckOutcome::unverified(format!(
            "a browser is needed: computed lengths: {}",
            computed.text()
        ));
    }
    CheckOutcome::of(&others, site, "all spacing is on the scale of the tokens")
}

/// Returns the custom properties that spacing uses, directly or through another one.
fn spacing_variables(site: &Site<'_>) -> BTreeSet<Box<str>> {
    let mut names = BTreeSet::new();
    for _ in 0..DEEPEST {
        let used = site.declarations().filter(|(_, one)| is_space(&one.name) || names.contains(&one.name));
        let parts = used.flat_map(|(_, one)| css::parts(&one.value));
        let variables = parts.filter_map(|part| match part {
            Part::Variable(name) => Some(name),
            _ => None,
        });
        let found: BTreeSet<Box<str>> = variables.collect();
        if found.is_subset(&names) {
            break;
        }
        names.extend(found);
    }
    names
}

/// Whether a property has a colour. In the value of any other, a word such as `tan` is not a colour.
fn is_colored(name: &str) -> bool {
    const COLORED: [&str; 9] =
        ["color", "background", "border", "outline", "shadow", "fill", "stroke", "column-rule", "image"];
    name.starts_with("--") || COLORED.iter().any(|word| name.contains(word)) || name == "text-decoration"
}

fn is_space(name: &str) -> bool {
    ["margin", "padding", "inset"].iter().any(|word| name == *word || name.starts_with(&format!("{word}-")))
        || matches!(name, "gap" | "row-gap" | "column-gap" | "grid-gap")
}

pub(super) fn pixels(part: &Part) -> Option<f32> {
    let Part::Length { value, unit } = part else { return None };
    match &**unit {
        "px" => Some(*value),
        "rem" => Some(value * PIXELS_OF_REM),
        _ => None,
    }
}

/// Rounding may change a part by one.
fn is_same(token: [u8; 4], color: [u8; 4]) -> bool {
    token[..3].iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 1)
}

/// Returns the families that a value names, in lower case.
fn families(value: &str) -> Vec<String> {
    let parts = css::parts(value);
    let names = parts.split(|part| *part == Part::Comma).filter_map(|family| {
        let words = family.iter().map(|part| match part {
            Part::Text(text) | Part::Word(text) | Part::Color { text, .. } => Some(text.to_lowercase()),
            Part::Length { .. } | Part::Variable(_) | Part::Comma => None,
        });
        words.collect::<Option<Vec<String>>>().filter(|words| !words.is_empty())
    });
    names.map(|words| words.join(" ")).collect()
}

/// Returns the families of a short form: everything after its last length.
fn after_size(value: &str) -> &str {
    let first = value.split_inclusive(char::is_whitespace).scan(0, |at, word| {
        *at += word.len();
        Some((*at, word))
    });
    let size = first.filter(|(_, word)| word.starts_with(|c: char| c.is_ascii_digit() || c == '.')).last();
    size.map_or("", |(end, _)| &value[end..])
}

fn is_generic(family: &str) -> bool {
    const GENERIC: [&str; 14] = [
        "serif",
        "sans-serif",
        "monospace",
        "cursive",
        "fantasy",
        "system-ui",
        "ui-serif",
        "ui-sans-serif",
        "ui-monospace",
        "ui-rounded",
        "inherit",
        "initial",
        "unset",
        "emoji",
    ];
    GENERIC.contains(&family) || family == "revert" || family == "math"
}
