//! Checks what a real browser finds on an artifact.

use std::fs;
use std::iter;
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use super::look::{axe, browser, findings, look, page, verdict};
use super::{json_file, judged, lay, version};
use crate::scene::Scene;
use crate::tier::sample;

fn nothing_given() -> Value {
    json!({ "given": { "copy": [], "tokens": [], "sections": [] } })
}

#[test]
fn a_page_that_breaks_at_375_pixels_does_not_pass_until_it_no_longer_does() {
    let Some(_browser) = browser() else { return };
    let sections = "<h1>The pump</h1><h2>How it runs</h2><p>On air.</p><h2>Prices</h2><p>Ten.</p>";
    let wide = page(&format!("{sections}<div style=\"width:900px\">It is wide.</div>"));
    let fine = page(&format!("{sections}<p>It is narrow.</p>"));
    let play = json!({ "pages": [wide, fine], "obeys": "The pump" });
    let scene = lay(Scene::new(&[], &json!({ "gan": play })));
    let ran = scene.run(&["gan", "brief.md", "--into", "site", "--format", "json", "--yes"]);
    assert_eq!((ran.code, &ran.json()["rounds"]), (Some(0), &json!(2)), "{} {}", ran.stdout, ran.stderr);
    let report = json_file(&scene, "iterations/iteration-1/evaluation-report-1.json");
    let narrow = report["criteria"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["id"] == "functionality.narrow")
        .unwrap();
    assert_eq!((&narrow["status"], &narrow["by"]), (&json!("failed"), &json!("machine")), "{narrow}");
    assert!(narrow["evidence"].as_str().unwrap().contains("div"), "{narrow} {}", report["not_looked_at"]);
    for size in ["1280x720", "375x667"] {
        let picture =
            fs::read(super::folder(&scene).join(format!("iterations/iteration-2/screens/index-{size}.png")));
        assert!(picture.unwrap().starts_with(b"\x89PNG"));
    }
    assert!(
        judged(&scene).into_iter().all(|prompt| prompt.contains("screens/index-375x667.png")),
        "a judge is shown the pictures"
    );
    assert_eq!(version(&scene), None, "the page has no version: it is a whole page of the test");
    assert!(super::page(&scene).unwrap().contains("It is narrow."));
}

#[test]
fn what_is_given_and_missing_fails_what_is_hidden_does_not_and_errors_are_told() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let given = json!({
        "copy": [
            { "at": "title", "text": "Runs on air" },
            { "at": "price", "text": "Ten euros" },
            { "at": "trial", "text": "First month free" },
        ],
        "tokens": [], "sections": ["How it runs", "Prices", "Answers"],
    });
    let given = json!({ "given": given });
    let body = "<h2>How it runs</h2><p style=\"text-transform:uppercase\">Runs on <b>air</b></p>\
         <p style=\"display:none\">Ten euros</p><h2 hidden>Prices</h2><img src=\"none.png\"><script>nothing()</script>";
    let ran = look(&scene, &browser, &[("index.html", &page(body))], &given, "300");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let inspection = findings(&scene);
    for check in ["copy", "sections", "alt_texts", "console"] {
        assert_eq!(verdict(&inspection, check), "failed", "{check}: {inspection:#}");
    }
    let evidence = inspection["told"].to_string();
    assert!(
        evidence.contains("nowhere to be seen: trial")
            && evidence.contains("nowhere to be seen: the heading “Answers”"),
        "{evidence}"
    );
    for there in ["Runs on air", "Ten euros", "How it runs", "Prices"] {
        assert!(!evidence.contains(there), "{there}: {evidence}");
    }
    assert!(evidence.contains("nothing is not defined") && evidence.contains("none.png"), "{evidence}");
    assert_eq!(verdict(&inspection, "narrow"), "passed");
}

fn fixture(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/pages").join(path)).unwrap()
}

/// Returns the clean site, with one copy of its first page for each of these faults.
fn site_with(faults: &[&str]) -> Vec<(String, String)> {
    let clean = ["index.html", "thanks.html", "style.css", "loaf.svg"];
    let mut files: Vec<_> =
        clean.iter().map(|name| ((*name).to_owned(), fixture(&format!("clean/site/{name}")))).collect();
    for fault in faults {
        let page = Path::new("faulty").join(fault).join("index.html");
        let is_of_page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/pages").join(&page).exists();
        if is_of_page {
            files.push((format!("{fault}.html"), fixture(page.to_str().unwrap())));
        } else {
            let page = fixture("clean/site/index.html").replace("style.css", &format!("{fault}.css"));
            files.push((format!("{fault}.html"), page));
            files.push((format!("{fault}.css"), fixture(&format!("faulty/{fault}/style.css"))));
        }
    }
    files
}

/// Returns the findings for these files, given the texts and headings of the fixtures.
fn found(browser: &Path, files: &[(String, String)]) -> Value {
    let scene = Scene::empty();
    let brief = fixture("clean/brief.md");
    let sections: Vec<_> = brief.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let copy: Value = serde_json::from_str(&fixture("clean/copy.json")).unwrap();
    let copy = [("bake", &copy["bake"]), ("hero.lead", &copy["hero"]["lead"])];
    let copy = copy.map(|(at, text)| json!({ "at": at, "text": text }));
    let given = json!({ "given": { "copy": copy, "tokens": [], "sections": sections } });
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let ran = look(&scene, browser, &files, &given, "300");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    findings(&scene)
}

/// The check that finds each fault, as far as a browser can detect it.
const FAULTS: [(&str, &str); 12] = [
    ("alt-missing", "alt_texts"),
    ("anchor-missing", "interactions"),
    ("button-without-use", "interactions"),
    ("console-error", "console"),
    ("contrast-low", "contrast"),
    ("file-missing", "interactions"),
    ("fixed-width", "narrow"),
    ("form-without-action", "interactions"),
    ("label-missing", "accessibility"),
    ("language-missing", "accessibility"),
    ("link-to-nothing", "interactions"),
    ("viewport-missing", "narrow"),
];

#[test]
fn each_fault_of_a_page_is_found_by_its_check_and_the_clean_pages_have_none() {
    let Some(browser) = browser() else { return };
    let faults = sample(FAULTS, 4);
    // A look covers ten pages, and two of them are clean.
    for some in faults.chunks(8) {
        let names: Vec<_> = some.iter().map(|(fault, _)| *fault).collect();
        let inspection = found(&browser, &site_with(&names));
        for (fault, check) in some {
            let is_told = axe().is_some() || !matches!(*check, "contrast" | "accessibility");
            let found = inspection["told"].as_array().unwrap().iter().find(|one| one["check"] == *check);
            let is_named = found.is_some_and(|one| {
                one["verdict"] == "failed"
                    && one["evidence"].as_str().unwrap().contains(&format!("{fault}.html"))
            });
            assert_eq!(is_named, is_told, "{fault}: {inspection:#}");
        }
        let evidence = inspection["told"].as_array().unwrap().iter().filter(|one| one["verdict"] == "failed");
        let places: Vec<_> = evidence.flat_map(|one| one["evidence"].as_str().unwrap().split("; ")).collect();
        let is_clean =
            |place: &&str| ["index.html", "thanks.html"].iter().any(|page| place.starts_with(page));
        assert_eq!(places.iter().copied().find(is_clean), None, "{places:?}");
    }
}

#[test]
fn a_given_text_or_section_that_is_nowhere_is_missed_and_all_of_a_clean_site_passes() {
    let Some(browser) = browser() else { return };
    let with = |fault: Option<&str>| {
        let mut files = site_with(&[]);
        if let Some(fault) = fault {
            files[0].1 = fixture(&format!("faulty/{fault}/index.html"));
        }
        found(&browser, &files)
    };
    let clean = with(None);
    let all = clean["told"].as_array().unwrap();
    assert_eq!(all.len(), if axe().is_some() { 8 } else { 6 }, "{clean:#}");
    assert!(all.iter().all(|one| one["verdict"] == "passed"), "{clean:#}");
    for (fault, check) in sample([("copy-changed", "copy"), ("section-missing", "sections")], 2) {
        let inspection = with(Some(fault));
        let failed = inspection["told"].as_array().unwrap().iter().filter(|one| one["verdict"] == "failed");
        assert_eq!(failed.map(|one| &one["check"]).collect::<Vec<_>>(), [check], "{inspection:#}");
    }
}

#[test]
fn what_scripts_do_for_a_button_is_seen() {
    let Some(browser) = browser() else { return };
    let verdict_of = |body: &str| {
        let scene = Scene::empty();
        let ran = look(&scene, &browser, &[("index.html", &page(body))], &nothing_given(), "60");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let inspection = findings(&scene);
        (verdict(&inspection, "interactions").as_str().unwrap().to_owned(), inspection.to_string())
    };
    let own = "<button type=button id=b>More</button><a id=l href=\"#\">Less</a><form id=f><button>Send</button></form>\
        <script>for (const id of ['b', 'l']) document.getElementById(id).addEventListener('click', () => 0);\
        document.getElementById('f').onsubmit = () => false;</script>";
    let around = "<div id=app><button type=button>More</button></div>\
        <script>document.getElementById('app').addEventListener('click', () => 0)</script>";
    let watched =
        "<button type=button>More</button><script>window.addEventListener('click', () => 0)</script>";
    let hovered = "<button type=button id=b>More</button>\
        <script>document.getElementById('b').addEventListener('mouseenter', () => 0)</script>";
    let feigned = "<button type=button data-heard-0>More</button><script>let a = 1</script>";
    let made = "<script>document.body.append(document.createElement('button')); document.querySelector('button').type = 'button'</script>";
    for (body, expected) in [
        (own, "passed"),
        (around, "unverified"),
        (watched, "unverified"),
        (hovered, "failed"),
        (feigned, "failed"),
        (made, "failed"),
    ] {
        let (verdict, inspection) = verdict_of(body);
        assert_eq!(verdict, expected, "{body}: {inspection}");
    }
}

#[test]
fn a_page_reaches_nothing_but_its_own_files() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let at = format!("127.0.0.1:{port}");
    let body = format!(
        "<img alt=x src=\"http://{at}/img\"><link rel=prefetch href=\"http://{at}/prefetch\"><link rel=preconnect href=\"http://{at}\">\
         <iframe title=x src=\"http://{at}/frame\"></iframe><script>
         fetch('http://{at}/fetch').catch(() => 0); try {{ new WebSocket('ws://{at}/socket') }} catch (e) {{}}
         navigator.sendBeacon('http://{at}/beacon'); window.open('http://{at}/window'); alert('stop');
         try {{ const p = new RTCPeerConnection({{ iceServers: [{{ urls: 'turn:{at}?transport=tcp', username: 'a', credential: 'b' }}] }});
         p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o)); }} catch (e) {{}}
         </script>"
    );
    let ran = look(&scene, &browser, &[("index.html", &page(&body))], &nothing_given(), "60");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(listener.accept().is_err(), "somebody came");
    assert!(findings(&scene)["notes"].to_string().contains("which is not its own"), "{}", findings(&scene));
}

#[test]
fn a_page_that_never_ends_is_given_up_and_nothing_of_the_browser_is_left() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let ran =
        look(&scene, &browser, &[("index.html", &page("<script>for (;;);</script>"))], &nothing_given(), "4");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("did not answer in time"), "{}", ran.stderr);
    assert!(!scene.path("desk/looked.json").exists());
}

/// Runs each of these lists of steps from the first page, and returns their verdicts with the evidence.
fn tried(browser: &Path, files: &[(&str, &str)], all: &[Value]) -> Vec<(String, String)> {
    let scene = Scene::empty();
    let scenario = |(nth, acts): (usize, &Value)| json!({ "id": format!("t{nth}"), "criterion": "c", "description": "d", "run": { "browser": acts } });
    let tests: Vec<_> = all.iter().enumerate().map(scenario).collect();
    let given = json!({ "given": { "copy": [], "tokens": [], "sections": [] }, "test_scenarios": tests });
    let ran = look(&scene, browser, files, &given, "300");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    let tried = findings(&scene)["tried"].as_array().unwrap().clone();
    assert_eq!(tried.len(), all.len(), "{tried:#?}");
    tried.iter().map(|one| (text(one, "verdict"), text(one, "evidence"))).collect()
}

#[test]
fn a_test_scenario_does_what_a_user_would_do() {
    let Some(browser) = browser() else { return };
    let files = site_with(&[]);
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let order = json!([
        { "act": "width", "on": "375" },
        { "act": "click", "on": "Order a loaf" },
        { "act": "fill", "on": "Your name", "text": "Ada" },
        { "act": "fill", "on": "Your loaf", "text": "Salt-crust white" },
        { "act": "click", "on": "Keep one for me" },
        { "act": "see", "on": "your loaf is kept" },
        { "act": "miss", "on": "Opening hours of the past" },
    ]);
    let wrong = [
        (json!([{ "act": "click", "on": "Order a cake" }, { "act": "see", "on": "x" }]), "has this name"),
        (
            json!([{ "act": "fill", "on": "Your loaf", "text": "Cake" }, { "act": "see", "on": "x" }]),
            "no choice “Cake”",
        ),
        (
            json!([{ "act": "open", "on": "thanks.html" }, { "act": "see", "on": "Order" }]),
            "step 2 of 2, see “Order”",
        ),
        (json!([{ "act": "miss", "on": "harbour rye" }, { "act": "see", "on": "x" }]), "shows this text"),
    ];
    let all: Vec<_> = iter::once(&order).chain(wrong.iter().map(|(acts, _)| acts)).cloned().collect();
    let tried = tried(&browser, &files, &all);
    assert_eq!(tried[0].0, "passed", "{}", tried[0].1);
    for ((acts, why), (verdict, evidence)) in wrong.iter().zip(&tried[1..]) {
        assert_eq!(verdict, "failed", "{acts}: {evidence}");
        assert!(evidence.contains(why), "{acts}: {evidence}");
    }
}

#[test]
fn what_is_covered_cannot_be_clicked_and_a_script_may_take_its_time() {
    let Some(browser) = browser() else { return };
    let covered =
        page("<button type=button>More</button><div id=veil style=\"position:fixed;inset:0\">x</div>");
    let acts = json!([{ "act": "click", "on": "More" }, { "act": "see", "on": "x" }]);
    let (verdict, evidence) = &tried(&browser, &[("index.html", &covered)], &[acts])[0];
    assert!(verdict == "failed" && evidence.contains("div#veil is in front of it"), "{evidence}");
    let slow = page(
        "<button type=button id=b>More</button><script>b.onclick = (event) => { if (event.isTrusted) \
         setTimeout(() => { document.body.append('Here it is') }, 700) }</script>",
    );
    let then = |act: &str| json!([{ "act": "click", "on": "More" }, { "act": act, "on": "Here it is" }]);
    let tried = tried(&browser, &[("index.html", &slow)], &["see", "miss"].map(then));
    assert_eq!(tried[0].0, "passed", "{}", tried[0].1);
    let (verdict, evidence) = &tried[1];
    assert!(verdict == "failed" && evidence.contains("shows this text"), "it comes late: {evidence}");
}

#[test]
fn a_field_that_does_not_take_what_is_typed_is_told() {
    let Some(browser) = browser() else { return };
    let form = page(
        "<label>Day <input type=date id=d></label><label>Size <input type=range min=0 max=10></label>\
         <label>Code <input maxlength=3></label><label>Terms <input type=checkbox></label>\
         <label>Deaf <input id=deaf></label><p id=told></p><script>\
         d.onchange = () => told.append('On ' + d.value); deaf.oninput = () => { deaf.value = '' }</script>",
    );
    let cases = [
        ("Day", "2026-11-25", "On 2026-11-25", "passed", "done"),
        ("Day", "tomorrow", "x", "failed", "no choice “tomorrow”"),
        ("Size", "20", "x", "failed", "no choice “20”"),
        ("Code", "abcd", "x", "failed", "takes only “abc”"),
        ("Deaf", "Ada", "x", "failed", "stays empty"),
        ("Terms", "yes", "x", "unverified", "nothing can be typed"),
        ("Code", "abc", "abc", "failed", "step 2 of 2"),
    ];
    let acts = cases.map(|(on, text, then, ..)| {
        json!([{ "act": "fill", "on": on, "text": text }, { "act": "see", "on": then }])
    });
    let tried = tried(&browser, &[("index.html", &form)], &acts);
    for ((on, text, _, expected, why), (verdict, evidence)) in cases.into_iter().zip(tried) {
        assert!(verdict == expected && evidence.contains(why), "{on} {text}: {verdict} {evidence}");
    }
}

#[test]
fn a_page_in_a_window_of_its_own_is_followed_and_one_that_is_not_there_is_told() {
    let Some(browser) = browser() else { return };
    let home = page(
        "<a target=_blank href=\"other.html\">Other</a><button type=button onclick=\"window.open('other.html')\">Pop</button>\
         <a href=\"https://elsewhere.test/\" target=_blank>Away</a>",
    );
    let other = page("<h1>The other page</h1>");
    let files = [("index.html", home.as_str()), ("other.html", other.as_str())];
    let cases = [
        ("click", "Other", "passed", "done"),
        ("click", "Pop", "passed", "done"),
        ("click", "Away", "unverified", "https://elsewhere.test/ was to open in another window"),
        ("open", "gone.html", "failed", "step 1 of 2, open gone.html: it is answered with 404"),
        ("open", "other", "passed", "done"),
    ];
    let acts = cases
        .map(|(act, on, ..)| json!([{ "act": act, "on": on }, { "act": "see", "on": "The other page" }]));
    for ((_, on, expected, why), (verdict, evidence)) in cases.into_iter().zip(tried(&browser, &files, &acts))
    {
        assert!(verdict == expected && evidence.contains(why), "{on}: {verdict} {evidence}");
    }
}

#[test]
fn what_comes_a_moment_later_is_looked_at_too() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let late = page(
        "<script>fetch('more.json').then((told) => told.json()).then((told) => \
         setTimeout(() => { document.querySelector('main').innerHTML = told.html }, 120))</script>",
    );
    let more = json!({ "html": "<button type=button>More</button>" }).to_string();
    let ran = look(&scene, &browser, &[("index.html", &late), ("more.json", &more)], &nothing_given(), "60");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(verdict(&findings(&scene), "interactions"), "failed", "{:#}", findings(&scene));
}

#[test]
fn a_page_that_never_ends_holds_up_no_other_page_and_nothing_passes_without_it() {
    let Some(browser) = browser() else { return };
    let scene = Scene::empty();
    let files = [
        ("index.html", page("<h1>Fine</h1><img src=\"data:,\">")),
        ("b.html", page("<script>for (;;);</script>")),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let test = json!({ "id": "t", "criterion": "c", "description": "d", "run": { "browser": [{ "act": "see", "on": "Fine" }] } });
    let given = json!({
        "given": { "copy": [{ "at": "t", "text": "Elsewhere" }], "tokens": [], "sections": [] },
        "test_scenarios": [test],
    });
    let ran = look(&scene, &browser, &files, &given, "36");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let inspection = findings(&scene);
    assert_eq!(
        (verdict(&inspection, "alt_texts"), verdict(&inspection, "narrow")),
        (&json!("failed"), &json!("unverified"))
    );
    assert_eq!(verdict(&inspection, "copy"), "unverified", "it may be on the other page: {inspection:#}");
    assert_eq!(inspection["tried"][0]["verdict"], "passed");
    assert!(inspection["notes"].to_string().contains("of 2 pages 1 were looked at"), "{inspection:#}");
}
