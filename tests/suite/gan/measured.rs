//! Tests what a browser reports about texts that are hardly visible, and about what it could not measure.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::look::{self, axe, browser, findings, look, look_with, verdict};
use super::{json_file, lay};
use crate::scene::{FAKE_AGENT, Ran, SKILLTUNE, Scene};

fn page(body: &str) -> String {
    look::page(&format!("<h1>Pump</h1>{body}"))
}

/// Returns the findings for a page, given these texts and headings.
fn inspected(browser: &Path, body: &str, copy: &[&str], sections: &[&str]) -> Value {
    let scene = Scene::empty();
    let copy: Vec<_> = copy.iter().map(|text| json!({ "at": "t", "text": text })).collect();
    let given = json!({ "given": { "copy": copy, "tokens": [], "sections": sections } });
    let ran = look(&scene, browser, &[("index.html", &page(body))], &given, "300");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    findings(&scene)
}

fn evidence<'a>(inspection: &'a Value, check: &str) -> &'a str {
    let all = inspection["told"].as_array().unwrap();
    let found = all.iter().find(|one| one["check"] == check);
    found.and_then(|one| one["evidence"].as_str()).unwrap_or_default()
}

#[test]
fn texts_are_seen_in_whole_words_whatever_their_style() {
    let Some(browser) = browser() else { return };
    let body = "<p style=\"text-transform:uppercase\">Order <b>now</b></p><p>Two<br>lines</p>\
         <div><template shadowrootmode=open><p>In the <slot></slot></p></template><span>shadow</span></div>\
         <div style=\"overflow:hidden;height:40px\"><p style=\"margin:0\">In a frame</p></div>";
    let inspection =
        inspected(&browser, body, &["Order now", "Two lines", "In the shadow", "In a frame"], &["Pump"]);
    assert_eq!(verdict(&inspection, "copy"), "passed", "{inspection:#}");
    let body = "<div style=\"display:flex\"><span>$9</span><span>/month</span></div>\
         <p>Runs on <span style=\"display:inline-block\">air</span>.</p><p><span style=\"float:left\">O</span>nce more</p>\
         <a>Home</a><a style=\"margin-left:1em\">Pricing</a><p>20 hours<sup>2</sup></p>\
         <div style=\"display:contents\">Boxed by nothing</div><h2><span>1</span>Answers</h2>\
         <p>Donau&shy;dampf</p><p>\u{73b0}\u{5728}\u{7acb}\u{5373}\u{8d2d}\u{4e70}</p>\
         <div style=\"height:60px;overflow:hidden\"><div style=\"height:60px;overflow:auto\"><p style=\"margin-top:400px\">Scrolled to</p></div></div>";
    let copy = [
        "$9/month",
        "Runs on air.",
        "Once more",
        "Pricing",
        "20 hours",
        "Boxed by nothing",
        "Donaudampf",
        "\u{7acb}\u{5373}\u{8d2d}\u{4e70}",
        "Scrolled to",
    ];
    let inspection = inspected(&browser, body, &copy, &["Answers"]);
    assert_eq!(
        (verdict(&inspection, "copy"), verdict(&inspection, "sections")),
        (&json!("passed"), &json!("passed")),
        "{inspection:#}"
    );
    for (body, text) in
        [("<p>Ordernow</p>", "Order now"), ("<p>All Buyers</p>", "Buy"), ("<p>order now</p>", "Order now")]
    {
        let inspection = inspected(&browser, body, &[text], &[]);
        assert_eq!(verdict(&inspection, "copy"), "failed", "{body}: {inspection:#}");
    }
}

#[test]
fn what_a_style_may_hide_neither_passes_nor_fails() {
    let Some(browser) = browser() else { return };
    let hidden = [
        ("style=\"opacity:0\"", "One"),
        ("style=\"position:absolute;left:-9999px\"", "Two"),
        ("style=\"font-size:0\"", "Three"),
        ("style=\"color:transparent\"", "Four"),
        ("style=\"position:absolute;width:1px;height:1px;overflow:hidden\"", "Five"),
        ("style=\"max-height:0;overflow:hidden\"", "Six"),
        ("style=\"text-indent:-999em\"", "Seven"),
        ("hidden=until-found", "Eight"),
        ("hidden", "Nine"),
        ("style=\"visibility:hidden\"", "Ten"),
    ];
    for some in hidden.chunks(5) {
        let bodies = some.iter().map(|(style, text)| format!("<section {style}><p>{text}.</p></section>"));
        let copy: Vec<_> = some.iter().map(|(_, text)| *text).collect();
        let inspection = inspected(&browser, &bodies.collect::<String>(), &copy, &[]);
        assert_eq!(verdict(&inspection, "copy"), "unverified", "{inspection:#}");
        for text in copy {
            assert!(evidence(&inspection, "copy").contains(&format!("“{text}”")), "{text}: {inspection:#}");
        }
    }
    let body = "<details><summary>More</summary><h2>Answers</h2></details>";
    let inspection = inspected(&browser, body, &["More"], &["Answers"]);
    assert_eq!(
        (verdict(&inspection, "copy"), verdict(&inspection, "sections")),
        (&json!("passed"), &json!("unverified"))
    );
}

#[test]
fn text_of_attributes_and_options_is_left_to_the_judge() {
    let Some(browser) = browser() else { return };
    let body = "<select aria-label=Loaf><option>Rye</option><option>White bread</option></select>\
         <img alt=\"A round loaf\" src=\"data:,\" width=9 height=9><input aria-label=Name placeholder=\"Your name\">";
    let copy = ["White bread", "A round loaf", "Your name", "Name"];
    let inspection = inspected(&browser, body, &copy, &[]);
    assert_eq!(verdict(&inspection, "copy"), "unverified", "{inspection:#}");
    for text in copy {
        assert!(evidence(&inspection, "copy").contains(&format!("“{text}”")), "{text}: {inspection:#}");
    }
}

#[test]
fn an_inert_page_does_not_pass_what_axe_core_skips() {
    let Some(browser) = browser() else { return };
    if axe().is_none() {
        return;
    }
    let faulty = "<input type=text><p style=\"color:#ddd;background:#fff\">Pale</p>";
    let inert = format!("{faulty}<script>document.body.inert = true</script>");
    let modal = format!("{faulty}<dialog id=d>Yes</dialog><script>d.showModal()</script>");
    for body in [inert, modal] {
        let inspection = inspected(&browser, &body, &[], &[]);
        for check in ["accessibility", "contrast"] {
            assert_ne!(verdict(&inspection, check), "passed", "{body}: {inspection:#}");
        }
        assert!(
            evidence(&inspection, "accessibility").contains("axe-core skips its inert parts"),
            "{inspection:#}"
        );
    }
}

#[test]
fn a_page_whose_elements_are_named_like_parts_of_the_document_is_measured_all_the_same() {
    let Some(browser) = browser() else { return };
    let body = "<img name=scrollingElement alt=\"\" src=\"data:,\"><img name=body alt=\"\" src=\"data:,\">\
         <img name=querySelectorAll alt=\"\" src=\"data:,\"><img name=documentElement alt=\"\" src=\"data:,\">\
         <div style=\"width:900px;font-size:60px\">Wide</div>";
    let inspection = inspected(&browser, body, &["Wide"], &["Pump"]);
    assert_eq!(
        (verdict(&inspection, "narrow"), verdict(&inspection, "copy")),
        (&json!("failed"), &json!("passed")),
        "{inspection:#}"
    );
}

#[test]
fn what_axe_core_does_not_come_to_an_end_with_is_left_open() {
    let Some(browser) = browser() else { return };
    for said in ["Promise.reject(new Error('no'))", "Promise.resolve({ violations: [] })", "nothing()"] {
        let scene = Scene::empty();
        let axe = scene.path("axe.js");
        fs::write(&axe, format!("globalThis.axe = {{ run: () => {said} }}")).unwrap();
        let given = json!({ "given": { "copy": [], "tokens": [], "sections": [] } });
        let files = [("index.html", &*page("<p>On air.</p>"))];
        let ran = look_with(axe.to_str(), &scene, &browser, &files, &given, "60");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let inspection = findings(&scene);
        for check in ["accessibility", "contrast"] {
            assert_eq!(verdict(&inspection, check), "unverified", "{said}: {inspection:#}");
            assert!(
                evidence(&inspection, check).contains("axe-core did not finish"),
                "{said}: {inspection:#}"
            );
        }
    }
}

#[test]
fn text_whose_contrast_nobody_can_measure_does_not_pass() {
    let Some(browser) = browser() else { return };
    if axe().is_none() {
        return;
    }
    let body = "<p style=\"background:linear-gradient(#fff, #000)\">On a gradient</p>";
    let inspection = inspected(&browser, body, &[], &[]);
    assert_eq!(verdict(&inspection, "contrast"), "unverified", "{inspection:#}");
    assert_eq!(verdict(&inspection, "accessibility"), "passed", "{inspection:#}");
}

/// Copies a program to where every user can read it. Nothing else on this machine needs to be readable.
fn moved(scene: &Scene, program: &str) -> PathBuf {
    let to = scene.path("bin").join(Path::new(program).file_name().unwrap());
    fs::create_dir_all(scene.path("bin")).unwrap();
    fs::copy(program, &to).unwrap();
    to
}

#[test]
fn whoever_is_not_root_has_a_browser_with_its_sandbox_though_it_is_confined() {
    let Some(_browser) = browser() else { return };
    let wide = page("<h2>How it runs</h2><h2>Prices</h2><div style=\"width:900px\">It is wide.</div>");
    let scene = lay(Scene::new(&[], &json!({ "gan": { "pages": [wide] } })));
    let (ours, agent) = (moved(&scene, SKILLTUNE), moved(&scene, FAKE_AGENT));
    let settings = scene.path("config/skilltune/skilltune.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace(FAKE_AGENT, agent.to_str().unwrap())).unwrap();
    let words = ["gan", "brief.md", "--into", "site", "--format", "json", "--yes", "--max-rounds", "1"];
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        let owner = Command::new("chown").args(["-R", "65534:65534"]).arg(scene.path("")).status().unwrap();
        assert!(owner.success());
    }
    let run = |words: &[&str]| {
        const NOBODY: u32 = 65534;
        let mut command = scene.command_of(ours.to_str().unwrap(), &[], words);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        Ran::of(command.output().unwrap())
    };
    let refused = run(&["gan", "brief.md", "--into", "/etc/site"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("pass a writable folder"), "{refused:?}");
    let ran = run(&words);
    assert_eq!(ran.code, Some(3), "{} {}", ran.stdout, ran.stderr);
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    let limits = report["not_looked_at"].to_string();
    assert!(!limits.contains("sandbox") && !limits.contains("failed"), "{limits}");
    let all = report["criteria"].as_array().unwrap();
    let narrow = all.iter().find(|one| one["id"] == "functionality.narrow").unwrap();
    assert_eq!((&narrow["status"], &narrow["by"]), (&json!("failed"), &json!("machine")), "{narrow}");
}

#[test]
fn a_browser_that_does_not_start_is_told_with_its_last_words() {
    let scene = Scene::empty();
    let program = scene.path("chromium");
    fs::write(&program, "#!/bin/sh\necho 'No usable sandbox!' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let given = json!({ "given": { "copy": [], "tokens": [], "sections": [] } });
    let ran = look(&scene, &program, &[("index.html", &page(""))], &given, "60");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.stderr.trim(), "the browser did not start: No usable sandbox!");
}
