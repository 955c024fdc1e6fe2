//! The templates of pages, and the one place where text becomes HTML.
//!
//! Text of models, files and people is hostile. It is never a template and never HTML: the formatter cuts it, pictures
//! what could hide in it, and escapes it. Only macros and the filter `prose` make HTML, and they call the formatter's
//! `escaped`. The policy of each page allows one script and one style, by their hashes, and no request.

use std::sync::LazyLock;
use std::time::Duration;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior, Value};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use skilltune_phases::base::base64;

use crate::text::figures;
use crate::text::plain::{beginning, pictured};

/// The most bytes of one text. A longer one makes a page slow; the files beside the page have the whole.
const LONGEST: usize = 32 << 10;

const UNKNOWN: &str = "unknown";

const STYLE: &str = include_str!("templates/style.css");
const SCRIPT: &str = include_str!("templates/page.js");

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("these are the default delimiters"));
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    // A key that only other loops have is unknown here.
    templates.set_undefined_behavior(UndefinedBehavior::Chainable);
    templates.set_formatter(write);
    for (name, filter) in FILTERS {
        templates.add_filter(*name, |value: &Value| filter(value));
    }
    templates.add_filter("prose", |value: &Value| Value::from_safe_string(prose(&text(value))));
    templates.add_global("style", Value::from_safe_string(STYLE.to_owned()));
    templates.add_global("script", Value::from_safe_string(SCRIPT.to_owned()));
    templates.add_global("policy", policy());
    for (name, source) in SOURCES {
        templates.add_template(name, source).expect("the templates are part of the program and tested");
    }
    templates
});

type Source = (&'static str, &'static str);

const SOURCES: &[Source] = &[
    ("base.html", include_str!("templates/base.html")),
    ("charts.html", include_str!("templates/charts.html")),
    ("parts.html", include_str!("templates/parts.html")),
    ("night.html", include_str!("templates/night.html")),
    ("now.html", include_str!("templates/now.html")),
    ("run.html", include_str!("templates/run.html")),
    ("scenario.html", include_str!("templates/scenario.html")),
    ("scenarios.html", include_str!("templates/scenarios.html")),
    ("series.html", include_str!("templates/series.html")),
    ("series_chart.html", include_str!("templates/series_chart.html")),
    ("trial.html", include_str!("templates/trial.html")),
    ("why-evolve.html", include_str!("templates/why-evolve.html")),
    ("why-expert.html", include_str!("templates/why-expert.html")),
    ("why-gan.html", include_str!("templates/why-gan.html")),
    ("why-reflex.html", include_str!("templates/why-reflex.html")),
    ("why-review.html", include_str!("templates/why-review.html")),
    ("why-tune.html", include_str!("templates/why-tune.html")),
];

type Filter = fn(&Value) -> String;

const FILTERS: &[(&str, Filter)] = &[
    ("score", |value| number(value, |points| format!("{points:.1}"))),
    ("signed", |value| number(value, figures::signed)),
    ("usd", |value| number(value, figures::dollars)),
    ("seconds", |value| {
        number(value, |seconds| figures::duration(Duration::from_secs_f64(seconds.max(0.0))))
    }),
    ("short", |value| text(value).chars().take(12).collect()),
];

/// Returns the page of a template.
pub fn page(template: &str, context: impl Serialize) -> String {
    let page = TEMPLATES.get_template(template).and_then(|page| page.render(Serde(context)));
    page.unwrap_or_else(|error| {
        let error = format!("{error:#}");
        // Every template is tested with all stored runs. A paid run still ends in order if one is wrong.
        format!(
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
             <title>skilltune</title><pre>{}</pre>",
            policy(),
            escaped(&error)
        )
    })
}

fn write(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if value.is_safe() {
        return Ok(out.write_str(value.as_str().unwrap_or_default())?);
    }
    Ok(out.write_str(&escaped(&beginning(&text(value), LONGEST)))?)
}

/// Returns a value as text: a number as `report.json` has it.
fn text(value: &Value) -> String {
    if value.is_undefined() || value.is_none() {
        return UNKNOWN.to_owned();
    }
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn number(value: &Value, shown: impl Fn(f64) -> String) -> String {
    let number = f64::try_from(value.clone()).ok().filter(|number| value.is_number() && number.is_finite());
    number.map_or_else(|| UNKNOWN.to_owned(), shown)
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    for c in pictured(text).chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

/// Shows our own words, in which code stands between backticks.
fn prose(text: &str) -> String {
    let parts = escaped(text);
    let parts: Vec<&str> = parts.split('`').collect();
    // A last backtick without a partner is only a backtick.
    if parts.len().is_multiple_of(2) {
        return parts.join("`");
    }
    let parts = parts.iter().enumerate();
    parts
        .map(|(nth, part)| if nth % 2 == 1 { format!("<code>{part}</code>") } else { (*part).to_owned() })
        .collect()
}

fn policy() -> String {
    let hash = |text: &str| base64::encoded(&Sha256::digest(text));
    format!(
        "default-src 'none'; img-src 'self' file:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_html_and_unknown_is_never_a_number() {
        let hostile = "</script><b title='x'>&\u{202e}\u{1b}";
        assert_eq!(escaped(hostile), "&lt;/script&gt;&lt;b title=&#39;x&#39;&gt;&amp;&lt;U+202E&gt;␛");
        let missing = Value::from(());
        let all: Vec<String> = FILTERS.iter().map(|(_, filter)| filter(&missing)).collect();
        assert_eq!(all, [UNKNOWN; 5]);
        assert_eq!(number(&Value::from(f64::NAN), |_| "NaN".to_owned()), UNKNOWN);
    }

    #[test]
    fn code_in_our_own_words_is_marked_and_stays_text() {
        assert_eq!(prose("run `a <b>` now"), "run <code>a &lt;b&gt;</code> now");
        assert_eq!(prose("one ` alone"), "one ` alone");
    }
}
