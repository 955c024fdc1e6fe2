//! Tests which texts pass: those a reader sees. `fixtures/pages` has ways to hide a text, and pages that hide nothing.
//! CI looks at all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::look::{browser, findings, look_with, page, verdict};
use super::{json_file, judged, lay};
use crate::scene::Scene;
use crate::tier::sample;

/// Page bodies by name. TEXT is replaced by the given text of the page, HEAD by a heading.
type Bodies = BTreeMap<String, String>;

fn bodies(file: &str, group: &str) -> Bodies {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/pages").join(file);
    let groups: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    serde_json::from_value(groups[group].clone()).unwrap()
}

/// A look names at most five failures, and each page has its own text.
const AT_ONCE: usize = 5;
const NAMES: [&str; AT_ONCE] = ["Ada", "Ben", "Cleo", "Dan", "Eve"];

/// Returns the findings for these pages' texts, and for their headings if they have any.
fn looked(browser: &Path, pages: &[(&String, &String)]) -> Value {
    let scene = Scene::empty();
    let text = |nth: usize| format!("Ten euros a month for {}", NAMES[nth]);
    let heading = |nth: usize| format!("What it costs {}", NAMES[nth]);
    let filled = |(nth, (_, body)): (usize, &(&String, &String))| {
        let body = body.replace("TEXT", &text(nth)).replace("HEAD", &heading(nth));
        let file = if nth == 0 { "index.html".to_owned() } else { format!("{nth}.html") };
        (file, page(&format!("<h1>Pump</h1>{body}")))
    };
    let files: Vec<_> = pages.iter().enumerate().map(filled).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let copy: Vec<_> = (0..pages.len()).map(|nth| json!({ "at": "t", "text": text(nth) })).collect();
    let has_heading = |nth: &usize| pages[*nth].1.contains("HEAD");
    let sections: Vec<_> = (0..pages.len()).filter(has_heading).map(heading).collect();
    let given = json!({ "given": { "copy": copy, "tokens": [], "sections": sections } });
    let ran = look_with(None, &scene, browser, &files, &given, "300");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    findings(&scene)
}

fn evidence(inspection: &Value) -> String {
    let all = inspection["told"].as_array().unwrap();
    all.iter().find(|one| one["check"] == "copy").unwrap()["evidence"].as_str().unwrap().to_owned()
}

const OPEN: (&str, &str) = ("unverified", "pictures do not show");

/// Fails unless each of these pages has this verdict for this reason, and each of its texts is named.
fn assert_verdict(pages: &[(&String, &String)], (expected, why): (&str, &str)) {
    let Some(browser) = browser() else { return };
    for pages in pages.chunks(AT_ONCE) {
        let inspection = looked(&browser, pages);
        assert_eq!(verdict(&inspection, "copy"), expected, "{pages:#?} {inspection:#}");
        let evidence = evidence(&inspection);
        assert!(evidence.starts_with(why), "{evidence}");
        for ((name, _), owner) in pages.iter().zip(NAMES) {
            assert!(evidence.contains(&format!("for {owner}”")), "{name} passes: {evidence}");
        }
    }
}

#[test]
fn no_text_that_a_page_hides_passes_and_none_fails_because_it_may_be_hidden() {
    let all = bodies("hidden.json", "left to the judge");
    assert!(all.len() >= 60, "{}", all.len());
    let pages = sample(&all, 8);
    assert_verdict(&pages[..pages.len() / 2], OPEN);
}

#[test]
fn no_text_that_a_page_hides_passes_second_half() {
    let all = bodies("hidden.json", "left to the judge");
    let pages = sample(&all, 8);
    assert_verdict(&pages[pages.len() / 2..], OPEN);
}

#[test]
fn a_text_that_no_page_has_fails() {
    assert_verdict(
        &bodies("hidden.json", "missing").iter().collect::<Vec<_>>(),
        ("failed", "nowhere to be seen"),
    );
}

#[test]
fn the_texts_and_headings_of_innocent_pages_pass() {
    let Some(browser) = browser() else { return };
    let all = bodies("innocent.json", "passed");
    assert!(all.len() >= 20, "{}", all.len());
    for pages in sample(&all, 6).chunks(AT_ONCE) {
        let inspection = looked(&browser, pages);
        for check in ["copy", "sections"] {
            assert_eq!(verdict(&inspection, check), "passed", "{pages:#?} {inspection:#}");
        }
    }
}

#[test]
fn text_that_no_picture_can_be_compared_with_is_left_to_the_judge() {
    assert_verdict(&bodies("innocent.json", "left to the judge").iter().collect::<Vec<_>>(), OPEN);
}

const NO_BROWSER: [&str; 9] =
    ["gan", "brief.md", "--into", "site", "--format", "json", "--yes", "--no-browser", "--max-rounds=2"];

/// Returns the status of a criterion in a round, and who decided it.
fn decided(scene: &Scene, round: u32, id: &str) -> (String, String) {
    let report = json_file(scene, &format!("iterations/iteration-{round}/evaluation-report-{round}.json"));
    let found = report["criteria"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone();
    (found["status"].as_str().unwrap().to_owned(), found["by"].as_str().unwrap().to_owned())
}

fn by(status: &str, who: &str) -> (String, String) {
    (status.to_owned(), who.to_owned())
}

const PROSE: &str = "<h1>The pump</h1><h2>How it runs</h2><p>Runs on air.</p>";

#[test]
fn a_page_without_a_section_of_the_brief_does_not_pass_and_without_a_browser_no_section_passes_by_machine() {
    let all = page(&format!("{PROSE}<h2>Prices</h2><p>Ten euros.</p>"));
    let play = json!({ "pages": [page(PROSE), all], "obeys": "The pump" });
    let scene = lay(Scene::new(&[], &json!({ "gan": play })));
    let ran = scene.run(&NO_BROWSER);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(2)), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(decided(&scene, 1, "completeness.sections"), by("failed", "machine"));
    assert_eq!(decided(&scene, 2, "completeness.sections"), by("passed", "judge"));
}

#[test]
fn a_page_whose_contrast_fails_does_not_pass() {
    let with = |style: &str| {
        let body = format!("{PROSE}<h2>Prices</h2><p class=p>Ten euros.</p><style>.p {{ {style} }}</style>");
        page(&body)
    };
    let pages = [with("color: #bbb; background: #fff"), with("color: #333; background: #fff")];
    let play = json!({ "pages": pages, "obeys": "The pump" });
    let scene = lay(Scene::new(&[], &json!({ "gan": play })));
    let ran = scene.run(&NO_BROWSER);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(2)), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(decided(&scene, 1, "design.contrast"), by("failed", "machine"));
}

#[test]
fn the_copy_section_of_a_brief_is_asked_for_as_texts() {
    let brief = "# The pump\n\n## How it runs\n\n## Copy\n\n- **Lead:** Runs on air.\n- Ten euros.\n";
    let whole = page(&format!("{PROSE}<p>Ten euros.</p>"));
    let play = json!({ "pages": [page(PROSE), whole], "obeys": "The pump" });
    let scene = lay(Scene::new(&[], &json!({ "gan": play })));
    fs::write(scene.path("project/brief.md"), brief).unwrap();
    let dry_run = scene.run(&["gan", "brief.md", "--into", "site", "--no-browser", "--dry-run"]);
    assert!(dry_run.stdout.contains("sections of the brief: How it runs\n"), "{}", dry_run.stdout);
    assert!(dry_run.stdout.contains("given texts: Runs on air. | Ten euros.\n"), "{}", dry_run.stdout);
    let ran = scene.run(&NO_BROWSER);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(2)), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(decided(&scene, 1, "completeness.copy"), by("failed", "machine"));
    assert_eq!(decided(&scene, 2, "completeness.copy"), by("passed", "judge"));
    assert_ne!(decided(&scene, 2, "completeness.sections"), by("failed", "machine"));
}

#[test]
fn what_the_browser_leaves_open_the_source_does_not_decide() {
    let Some(_browser) = browser() else { return };
    let page = page(&format!("{PROSE}<h2>Prices</h2><p hidden>Ten euros.</p>"));
    let play = json!({ "pages": [page], "obeys": "The pump" });
    let scene = lay(Scene::new(&[], &json!({ "gan": play })));
    fs::write(scene.path("project/copy.json"), r#"["Ten euros."]"#).unwrap();
    let words = ["gan", "brief.md", "--copy", "copy.json", "--into", "site", "--format", "json", "--yes"];
    let ran = scene.run(&[&words[..], &["--max-rounds", "1"]].concat());
    assert_eq!(
        decided(&scene, 1, "completeness.copy"),
        by("passed", "judge"),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(decided(&scene, 1, "completeness.sections"), by("passed", "machine"));
    assert!(judged(&scene)[0].contains("completeness.copy"));
}
