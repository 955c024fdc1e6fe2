#![expect(clippy::disallowed_methods, reason = "the fixtures are our own")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::base::material::Body;
use crate::skills::lint::{File, Files};

mod readings;
mod sites;

fn pages(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/pages").join(part)
}

fn site<'a>(files: impl IntoIterator<Item = (&'a str, String)>) -> Files {
    let file = |(path, text): (&str, String)| File {
        path: path.to_owned(),
        body: Body::Text(text),
        executable: false,
    };
    Files::new("site", files.into_iter().map(file))
}

/// Returns the clean page with the files of a fault on top, and the given texts and tokens.
fn fixture(fault: Option<&str>) -> (Files, Given) {
    let over = fault.map(|fault| pages("faulty").join(fault));
    let read = |name: &str, clean: &str| {
        let laid = over.as_ref().map(|over| over.join(name)).filter(|path| path.exists());
        fs::read_to_string(laid.unwrap_or_else(|| pages(clean).join(name))).unwrap()
    };
    let names = ["index.html", "thanks.html", "style.css", "loaf.svg"];
    let files = site(names.map(|name| (name, read(name, "clean/site"))));
    let given = Given {
        copy: Given::copy(&read("copy.json", "clean")).unwrap(),
        tokens: Given::tokens(&read("tokens.json", "clean")).unwrap(),
        sections: sections(&read("brief.md", "clean")),
    };
    (files, given)
}

/// Returns the result of one check on the source of one page.
fn look(check: Check, page: &str, given: &Given) -> (Verdict, String) {
    let results = source(&site([("index.html", page.to_owned())]), given);
    let result = results.into_iter().find(|result| result.check == check).unwrap();
    (result.verdict, result.evidence.into())
}

fn with_verdict(results: &[MachineResult], verdict: Verdict) -> Vec<Check> {
    results.iter().filter(|result| result.verdict == verdict).map(|result| result.check).collect()
}

/// The checks that only a browser can pass.
const UNSEEN: [Check; 6] =
    [Check::Copy, Check::Sections, Check::Narrow, Check::Contrast, Check::Accessibility, Check::Console];

#[test]
fn the_clean_page_passes_all_that_its_source_can_prove() {
    let (files, given) = fixture(None);
    let results = source(&files, &given);
    assert_eq!(with_verdict(&results, Verdict::Unverified), UNSEEN, "{results:#?}");
    assert!(with_verdict(&results, Verdict::Failed).is_empty());
    let in_order = results.windows(2).all(|pair| pair[0].check < pair[1].check);
    assert!(in_order && results.len() == 12 && results.iter().all(|result| result.by == Means::Source));
}

#[test]
fn each_fault_is_found_by_its_check_and_by_no_other() {
    let faults = [
        ("copy-changed", Check::Copy, "bake: “We feed the starter"),
        ("section-missing", Check::Sections, "“Opening hours”"),
        ("color-literal", Check::Tokens, "style.css:35 color: #35524a"),
        ("font-literal", Check::Tokens, "style.css:12 font-family: Papyrus, serif"),
        ("spacing-off-scale", Check::Spacing, "margin: 37px 0 0"),
        ("alt-missing", Check::AltTexts, "index.html:22 <img src=\"loaf.svg\">"),
        (
            "link-to-nothing",
            Check::Interactions,
            "index.html:20 <a class=\"action\" href=\"#\"> does nothing",
        ),
        ("anchor-missing", Check::Interactions, "href=\"#times\"> leads to a missing anchor"),
        ("file-missing", Check::Interactions, "href=\"allergens.html\"> leads nowhere"),
        ("button-without-use", Check::Interactions, "<button type=\"button\"> does nothing"),
        ("form-without-action", Check::Interactions, "<form> has no target"),
        ("viewport-missing", Check::Narrow, "index.html:1 the page has no viewport"),
        ("fixed-width", Check::Narrow, "style.css:42 min-width: 640px"),
        ("contrast-low", Check::Contrast, "below 4.5"),
        ("label-missing", Check::Accessibility, "<select id=\"loaf\" name=\"loaf\"> has no name (label)"),
        ("language-missing", Check::Accessibility, "no language (html-has-lang)"),
        ("generic-style", Check::GenericStyle, "linear-gradient(135deg, #8b5cf6, #6d28d9)"),
        ("generic-icons", Check::GenericIcons, "<i class=\"fa-solid fa-wheat-awn\">"),
        ("emoji-icons", Check::GenericIcons, "index.html:27 <span>"),
    ];
    let mut others = String::new();
    for (fault, check, evidence) in faults {
        let (files, given) = fixture(Some(fault));
        let results = source(&files, &given);
        let failed = results.iter().filter(|result| result.verdict == Verdict::Failed);
        let failed: Vec<_> = failed.map(|result| (result.check, &*result.evidence)).collect();
        let is_found = matches!(&*failed, [(found, why)] if *found == check && why.contains(evidence));
        if !is_found {
            writeln!(others, "{fault}: {failed:?}").unwrap();
        }
    }
    assert_eq!(others, "");
    let known = fs::read_dir(pages("faulty")).unwrap().count();
    assert_eq!(known, faults.len() + 1, "the errors of the console are seen by a browser alone");
}

#[test]
fn an_error_of_a_script_is_left_to_a_browser() {
    let (files, given) = fixture(Some("console-error"));
    let results = source(&files, &given);
    assert!(with_verdict(&results, Verdict::Failed).is_empty(), "{results:#?}");
    assert!(results.iter().all(|result| result.verdict != Verdict::Passed), "a script can change all of it");
}

#[test]
fn no_text_and_no_section_passes_by_the_source_alone() {
    let of = |file: &str| -> serde_json::Map<String, serde_json::Value> {
        serde_json::from_str(&fs::read_to_string(pages(file)).unwrap()).unwrap()
    };
    let given = Given {
        copy: vec![Text { at: "t".into(), text: "Ten euros".into() }],
        sections: vec!["Prices".into()],
        ..Given::default()
    };
    let groups = of("hidden.json").into_iter().chain(of("innocent.json"));
    let bodies = groups.flat_map(|(_, group)| group.as_object().unwrap().clone());
    let mut count = 0;
    for (name, body) in bodies {
        let body = body.as_str().unwrap().replace("TEXT", "Ten euros").replace("HEAD", "Prices");
        for check in [Check::Copy, Check::Sections] {
            let found = look(check, &format!("<!doctype html><body>{body}"), &given);
            assert_ne!(found.0, Verdict::Passed, "{name}: {}", found.1);
        }
        count += 1;
    }
    assert!(count >= 80, "{count}");
}
