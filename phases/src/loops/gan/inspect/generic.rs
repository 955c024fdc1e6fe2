//! Finds the look of an undesigned page: the purple gradient with white cards, and icons of a set that everybody uses.

use std::collections::BTreeMap;

use csscolorparser::Color;

use super::css::{self, Part};
use super::evidence::{Places, short};
use super::html::{HtmlPage, NodeKind};
use super::layout::variables;
use super::outcome::CheckOutcome;
use super::site::{Site, Style};

/// From indigo over #8B5CF6 and #6D28D9 to purple.
const PURPLE: std::ops::RangeInclusive<f32> = 225.0..=290.0;
/// The names of the parts of a first screen.
const MAIN: [&str; 8] = ["html", "body", "hero", "header", "banner", "masthead", "jumbotron", "landing"];
/// The maximum number of words of a selector to check.
const MOST: usize = 100;

/// Fails for a purple gradient on the first screen together with plain white cards. One of them alone is left to a
/// judge.
pub(super) fn style(site: &Site<'_>) -> CheckOutcome {
    let (mut main, mut other, mut cards) = (Places::default(), Places::default(), Places::default());
    let variables = variables(site);
    for (style, declaration) in site.declarations().filter(|(_, one)| one.name.starts_with("background")) {
        let value = &declaration.value;
        if is_purple_gradient(value, &variables) {
            let place = style.place(declaration);
            if is_main(site, style) { main.add(&place) } else { other.add(&place) }
        } else if is_card(style) && is_white(value, &variables) {
            cards.add(&style.place(declaration));
        }
    }
    for page in &site.pages {
        for (at, _) in page.elements() {
            if is_purple_utility(page, at) {
                let words: Vec<&str> = [page.name(at)].into_iter().chain(page.classes(at)).collect();
                let is_large = words
                    .iter()
                    .any(|word| is_main_word(word) || word.starts_with("min-h-") || *word == "section");
                if is_large { main.add(&page.shown(at)) } else { other.add(&page.shown(at)) }
            }
            let has = |class: &str| {
                page.classes(at).any(|one| one == class || one.starts_with(&format!("{class}-")))
            };
            if has("bg-white") && has("rounded") {
                cards.add(&page.shown(at));
            }
        }
    }
    let seen =
        |gradient: &Places| format!("purple gradient: {}; white cards: {}", gradient.text(), cards.text());
    if !main.is_empty() && !cards.is_empty() {
        return CheckOutcome { evidence: seen(&main), ..CheckOutcome::failed(&main) };
    }
    if !main.is_empty() || !other.is_empty() {
        let gradient = if main.is_empty() { &other } else { &main };
        return CheckOutcome::unverified(format!("check by eye how much there is: {}", seen(gradient)));
    }
    CheckOutcome::of(&Places::default(), site, "there is no purple gradient")
}

/// Finds icons of the sets that come with every template, and emoji used as icons.
pub(super) fn icons(site: &Site<'_>) -> CheckOutcome {
    let mut generic = Places::default();
    for page in &site.pages {
        for (at, _) in page.elements() {
            if is_from_set(page, at) || is_emoji_alone(page, at) {
                generic.add(&page.shown(at));
            }
        }
    }
    for style in site.styles.iter().filter(|style| style.rule.selector.starts_with("@import")) {
        if is_set(&style.rule.selector) {
            generic.add(&style.rule.selector);
        }
    }
    CheckOutcome::of(&generic, site, "there are no icons of a generic set")
}

fn is_purple_gradient(value: &str, variables: &BTreeMap<&str, Option<&str>>) -> bool {
    let is_gradient = |value: &str| value.to_ascii_lowercase().contains("gradient(");
    let alone = value.trim().strip_prefix("var(").and_then(|name| name.strip_suffix(')'));
    let value = alone.and_then(|name| variables.get(name.trim()).copied().flatten()).unwrap_or(value);
    let purple = css::parts(value).into_iter().filter(|part| match part {
        Part::Color { color, .. } => is_purple(color),
        Part::Variable(name) => variables
            .get(&**name)
            .copied()
            .flatten()
            .and_then(css::color)
            .is_some_and(|color| is_purple(&color)),
        _ => false,
    });
    is_gradient(value) && purple.count() >= 2
}

fn is_purple(color: &Color) -> bool {
    let [hue, saturation, lightness, alpha] = color.to_hsla();
    PURPLE.contains(&hue) && saturation > 0.3 && (0.25..0.85).contains(&lightness) && alpha > 0.3
}

/// Whether the classes give two stops of these hues, as Tailwind writes them.
fn is_purple_utility(page: &HtmlPage<'_>, at: usize) -> bool {
    let is_stop = |class: &&str| {
        let color = ["from-", "via-", "to-"].iter().find_map(|stop| class.strip_prefix(stop));
        color.is_some_and(|color| ["purple-", "indigo-", "violet-"].iter().any(|hue| color.starts_with(hue)))
    };
    page.classes(at).any(|class| class.starts_with("bg-gradient-") || class.starts_with("bg-linear-"))
        && page.classes(at).filter(is_stop).count() >= 2
}

/// Whether a style belongs to the page or to its first screen.
fn is_main(site: &Site<'_>, style: &Style) -> bool {
    let is_sign = |c: char| !c.is_alphanumeric() && c != '-' && c != '_';
    let Some((page, at)) = style.on else {
        return style.rule.selector.split(is_sign).take(MOST).any(is_main_word);
    };
    let page = &site.pages[page];
    let id = page.attribute(at, "id").unwrap_or_default();
    is_main_word(page.name(at)) || is_main_word(id) || page.classes(at).any(is_main_word)
}

fn is_main_word(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.split(['-', '_']).any(|part| MAIN.contains(&part))
}

/// Whether a style belongs to a card: by its name, or as a box with corners and a shadow.
fn is_card(style: &Style) -> bool {
    let has = |name: &str| style.rule.last(name).is_some();
    style.rule.selector.to_ascii_lowercase().contains("card") || has("border-radius") && has("box-shadow")
}

fn is_white(value: &str, variables: &BTreeMap<&str, Option<&str>>) -> bool {
    let is = |color: &Color| color.to_rgba8() == [255; 4];
    match &*css::parts(value) {
        [Part::Color { color, .. }] => is(color),
        [Part::Variable(name)] => {
            variables.get(&**name).copied().flatten().and_then(css::color).is_some_and(|color| is(&color))
        }
        _ => false,
    }
}

fn is_from_set(page: &HtmlPage<'_>, at: usize) -> bool {
    const CLASSES: [&str; 14] = [
        "fa",
        "fas",
        "far",
        "fab",
        "fal",
        "fad",
        "fa-solid",
        "fa-regular",
        "fa-brands",
        "bi",
        "feather",
        "lucide",
        "heroicon",
        "material-icons",
    ];
    const STARTS: [&str; 5] = ["material-icons-", "material-symbols-", "lucide-", "heroicon-", "feather-"];
    const DATA: [&str; 3] = ["data-feather", "data-lucide", "data-heroicon"];
    let by_class =
        |class: &str| CLASSES.contains(&class) || STARTS.iter().any(|start| class.starts_with(start));
    let is_loaded = matches!(page.name(at), "link" | "script" | "img" | "use");
    let mut links = ["href", "src", "xlink:href"].iter().filter_map(|key| page.attribute(at, key));
    page.classes(at).any(by_class)
        || DATA.iter().any(|key| page.attribute(at, key).is_some())
        || is_loaded && links.any(is_set)
}

fn is_set(link: &str) -> bool {
    const SETS: [&str; 10] = [
        "font-awesome",
        "fontawesome",
        "material+icons",
        "material-icons",
        "material+symbols",
        "bootstrap-icons",
        "feather-icons",
        "lucide",
        "heroicons",
        "ionicons",
    ];
    let link = link.to_ascii_lowercase();
    SETS.iter().any(|set| link.contains(set))
}

/// Whether an element contains emoji and nothing else.
fn is_emoji_alone(page: &HtmlPage<'_>, at: usize) -> bool {
    let is_leaf = page.below(at).all(|below| matches!(page.nodes[below].kind, NodeKind::Text(_)));
    if !is_leaf || page.nodes[at].is_hidden {
        return false;
    }
    let text = short(&page.text(at), 20);
    let joins = |c: char| matches!(c, '\u{fe0f}' | '\u{200d}' | '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}');
    let mut signs = text.chars().filter(|c| !c.is_whitespace() && !joins(*c)).peekable();
    signs.peek().is_some() && signs.all(|c| is_emoji(c, &text))
}

fn is_emoji(c: char, text: &str) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2705}' | '\u{26a1}' | '\u{2728}' | '\u{2b50}')
        || matches!(c, '\u{2600}'..='\u{27bf}') && text.contains('\u{fe0f}')
}
