//! The outputs of a review: the comment for a pull request, and SARIF.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::{Value, json};
use skilltune_phases::base::json::is_hidden;
use skilltune_phases::loops::review::finding::{Dropped, Finding, Place, Severity, Side, Suppression};
use skilltune_phases::loops::review::markdown::markdown;
use skilltune_phases::loops::review::proof::{Verdict, Verification};
use skilltune_phases::loops::review::sarif::sarif;
use skilltune_phases::loops::review::task::OwnFinding;
use skilltune_phases::loops::review::{Answer, Plan, Step};
use skilltune_phases::runs::event::{FailureKind, Outcome};
use skilltune_worlds::review::{Drive, answer, finding, place, plan, play, refuted, verified, with_proof};

use crate::drive::{failed, failed_as};

/// Checks a finding by the first word of its title.
fn verify(finding: &Finding) -> Outcome<Verification> {
    match finding.title.split(' ').next() {
        Some("Proved") => Ok(with_proof(&["python3", "-c", "import pump; pump.rate(0)"])),
        Some("Sure" | "Old") => Ok(verified(Verdict::Confirmed, "followed the code")),
        Some("Doubtful") => Ok(verified(Verdict::Uncertain, "the files do not decide it")),
        Some("Wrong") => Ok(refuted(400, "if rate == 0: return")),
        _ => failed(FailureKind::Empty),
    }
}

fn old(finding: Finding) -> Finding {
    let place = finding.place.map(|place| Place { is_changed: false, ..place });
    Finding { place, ..finding }
}

/// Plans a run in which skilltune itself has found something, and a person has suppressed a finding.
fn mixed_plan() -> Plan {
    let mut plan = plan();
    plan.task.found =
        vec![OwnFinding { by: "keys".into(), finding: finding(Severity::High, "Machine key", 20) }];
    let fingerprint = finding(Severity::Critical, "Sure but accepted", 170).fingerprint().into();
    plan.task.suppressed = vec![Suppression { fingerprint, reason: "a test server".into() }];
    plan
}

fn mixed() -> Drive {
    let security = vec![
        finding(Severity::High, "Sure one", 30),
        finding(Severity::Critical, "Doubtful one", 50),
        finding(Severity::High, "Lost one", 70),
        finding(Severity::Medium, "Wrong one", 90),
        finding(Severity::Critical, "Sure but accepted", 170),
    ];
    let quality = vec![
        finding(Severity::Low, "Proved one", 10),
        finding(Severity::Low, "Sure but small", 130),
        finding(Severity::High, "Sure again", 110),
        old(finding(Severity::High, "Old one", 150)),
    ];
    play(mixed_plan(), &[security, quality], verify)
}

/// Fails unless these texts are in the page, in this order.
fn assert_in_order(page: &str, texts: &[&str]) {
    let mut rest = page;
    for text in texts {
        let (_, after) = rest.split_once(text).unwrap_or_else(|| panic!("{text:?} is not here: {rest}"));
        rest = after;
    }
}

#[test]
fn findings_stand_by_grade_and_severity_and_those_that_do_not_count_are_folded() {
    let page = markdown(&mixed().run);
    assert_in_order(
        &page,
        &[
            "**Failed: 3 certain findings of severity high or worse.**",
            "| 1 | 1 | 3 | 1 | 1 | 1 | 1 | 1 | 0 |",
            "### 1. low, proved: Proved one",
            "`src/pump.py:10`, seen by quality, fingerprint `",
            "```text\nquote of Proved one\n```",
            "**What fails:** What fails of Proved one.",
            "**Suggestion:** Mend Proved one.",
            "**Second agent:** confirmed: it happens",
            "**Proof:** `python3 -c 'import pump; pump.rate(0)'`: fails with the change (exit code 1), in the announced words; passes without it",
            "### 2. high, machine: Machine key",
            "### 3. high, confirmed: Sure one",
            "### 4. high, confirmed: Sure again",
            "### 5. low, confirmed: Sure but small",
            "**More findings**\n\n- critical, uncertain: Doubtful one (`src/pump.py:50`), seen by security",
            "- high, not verified: Lost one",
            "<summary>Were there before this change: 1</summary>\n\n- high, confirmed: Old one",
            "<summary>Refuted by the second agent: 1</summary>\n\n- medium, refuted: Wrong one",
            "  - quote `quote of Wrong one`\n  - against it `if rate == 0: return` in `src/pump.py:400`\n",
            "<summary>Suppressed: 1</summary>\n\n- critical, confirmed: Sure but accepted",
            "  - suppressed: a test server",
            "<summary>Files that no reviewer got: 1</summary>",
            "**What was looked at**",
        ],
    );
    assert!(!page.contains("### 6"), "five in full");
}

#[test]
fn a_clean_result_says_what_was_looked_at_and_by_whom() {
    insta::assert_snapshot!(markdown(&play(plan(), &[vec![], vec![]], verify).run), @"
    ## skilltune review

    **Passed: nothing was found.**

    | proved | machine | confirmed | uncertain | not verified | refuted | older | suppressed | dropped |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |

    <details>
    <summary>Files that no reviewer got: 1</summary>

    - `poetry.lock`: a lock file

    </details>

    **What was looked at**

    - change: uncommitted changes of /project
    - files: 1 (src/pump.py)
    - machines: none
    - reviewers: security (built-in expert security-reviewer), quality (built-in expert quality-reviewer)
    - agents: reviewer world, verifier world
    ");
}

#[test]
fn a_review_that_failed_or_was_not_verified_never_reads_like_a_pass() {
    let mut drive = Drive::start(plan());
    drive.finish_alone(|run, step| match step {
        Step::Review { reviewer: 0, .. } => failed_as(FailureKind::TimedOut, "after 5 minutes"),
        step => answer(run, *step, &[vec![], vec![finding(Severity::Low, "Lost one", 10)]], verify),
    });
    let page = markdown(&drive.run);
    assert_in_order(&page, &["**Incomplete: 1 of 2 reviews failed; 1 of 1 finding not verified.**"]);
    assert_in_order(
        &page,
        &["- security failed: after 5 minutes", "low, not verified: Lost one", "no usable answer"],
    );
    let runs = runs(&drive);
    let successes: Vec<&Value> =
        runs.iter().map(|run| &run["invocations"][0]["executionSuccessful"]).collect();
    assert_eq!(successes, [&json!(false), &json!(true), &json!(true)]);
}

const HOSTILE: &str = "](http://evil.test) ![i](x) <img src=x> @all `x` | #1 *b* $y$ www.evil.test [^1]\n# big\n---\n\u{1b}[31m\u{202e}</details>";

/// A change whose agents try to leave their place.
fn hostile() -> Drive {
    let bad = |line| {
        let mut bad = finding(Severity::High, HOSTILE, line);
        let place = bad.place.as_mut().expect("it has a place");
        place.path = "a`b|<i>\n#x.py".into();
        place.quote = "````\n</details>\n`````` @all \u{1b}[2J".into();
        Finding { what: HOSTILE.into(), suggestion: HOSTILE.into(), ..bad }
    };
    let mut plan = plan();
    plan.task.rules.most = 1;
    plan.task.remarks = vec![HOSTILE.to_owned()];
    plan.task.subject = HOSTILE.into();
    let found = [vec![bad(10), bad(100)], vec![bad(200)]];
    let mut drive = Drive::start(plan);
    drive.finish_alone(|run, step| match *step {
        Step::Review { part: 0, reviewer: 0 } => {
            let lost = Dropped {
                title: HOSTILE.into(),
                place: HOSTILE.into(),
                quote: HOSTILE.into(),
                why: HOSTILE.into(),
            };
            Ok(Answer::Reviewed { findings: found[0].clone(), dropped: vec![lost] })
        }
        step => {
            answer(run, step, &found, |finding| match finding.place.as_ref().map(|place| place.lines.0) {
                Some(100) => Ok(refuted(5, HOSTILE)),
                _ => Ok(verified(Verdict::Confirmed, HOSTILE)),
            })
        }
    });
    drive
}

#[test]
fn no_text_of_an_agent_leaves_its_place_in_the_comment() {
    let page = markdown(&hostile().run);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
        | Options::ENABLE_TASKLISTS;
    let (mut headings, mut tags, mut outside, mut is_code) = (0, Vec::new(), String::new(), false);
    for event in Parser::new_ext(&page, options) {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => tags.extend(text.lines().map(str::to_owned)),
            Event::Start(Tag::Heading { .. }) => headings += 1,
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(text) if !is_code => outside.push_str(&text),
            Event::Start(
                Tag::Link { .. } | Tag::Image { .. } | Tag::FootnoteDefinition(_) | Tag::BlockQuote(_),
            )
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::Rule => panic!("{event:?} in {page}"),
            _ => {}
        }
    }
    assert_eq!(headings, 2, "the page's own, and that of the one finding in full: {page}");
    let count = |tag: &str| tags.iter().filter(|line| *line == tag).count();
    let summaries = tags.iter().filter(|line| line.starts_with("<summary>")).count();
    assert_eq!([count("<details>"), count("</details>"), summaries], [3; 3], "{tags:?}");
    assert_eq!(tags.len(), 9, "{tags:?}");
    for active in ["@all", "://", "www.", "#1"] {
        assert!(!outside.contains(active), "{active} in {outside}");
    }
    assert!(!page.contains(is_hidden), "{page}");
    assert!(page.contains("\n```````text\n````\n"), "the fence is longer than all within: {page}");
}

#[test]
fn a_page_never_exceeds_a_comment_and_says_what_it_cut() {
    let long = |line: u32| {
        let what = "& ".repeat(600).into();
        Finding { what, ..finding(Severity::High, &format!("Wrong number {line}"), line * 10) }
    };
    // More parts allow more findings.
    let plan = || {
        let mut plan = plan();
        plan.task.parts = vec![plan.task.parts[0].clone(); 4];
        plan
    };
    let page = markdown(&play(plan(), &[(1..=150).map(long).collect(), vec![]], verify).run);
    let sure = |line: u32| Finding { title: format!("Sure {line}").into(), ..long(line) };
    let mut wide = plan();
    wide.task.rules.most = 100;
    let whole = markdown(&play(wide, &[(1..=150).map(sure).collect(), vec![]], verify).run);
    assert!(page.contains("- Warning: the second agent refuted every finding"));
    assert!(whole.contains("**Cut:** a comment has no room for"));
    for page in [page, whole] {
        assert!(page.chars().count() <= 60_000, "{}", page.chars().count());
        assert_eq!(page.matches("<details>").count(), page.matches("</details>").count());
        assert_in_order(&page, &["**What was looked at**", "- agents: reviewer world"]);
    }
}

fn runs(drive: &Drive) -> Vec<Value> {
    let text = sarif(&drive.run);
    assert!(text.ends_with("}\n") && !text.contains(is_hidden), "{text}");
    let log: Value = serde_json::from_str(&text).expect("SARIF is JSON");
    assert_eq!(log["version"], "2.1.0");
    log["runs"].as_array().expect("a list of runs").clone()
}

fn titles(run: &Value) -> Vec<&str> {
    let results = run["results"].as_array().expect("a list of results").iter();
    results
        .map(|result| {
            result["message"]["text"].as_str().and_then(|text| text.lines().next()).expect("a message")
        })
        .collect()
}

#[test]
fn sarif_has_a_run_for_each_reviewer_and_the_certain_findings_alone() {
    let runs = runs(&mixed());
    let ids: Vec<&Value> = runs.iter().map(|run| &run["automationDetails"]["id"]).collect();
    assert_eq!(ids, ["skilltune/security/", "skilltune/quality/", "skilltune/machines/"]);
    assert_eq!(titles(&runs[0]), ["Sure but accepted", "Sure one"]);
    assert_eq!(titles(&runs[1]), ["Proved one", "Sure again", "Old one", "Sure but small"]);
    assert_eq!(titles(&runs[2]), ["Machine key"]);
    let [accepted, sure] = &runs[0]["results"].as_array().unwrap()[..] else { panic!("{runs:#?}") };
    let suppression = json!([{ "kind": "external", "status": "accepted", "justification": "a test server" }]);
    assert_eq!((&accepted["suppressions"], &sure["suppressions"]), (&suppression, &Value::Null));
    assert_eq!(
        (&sure["ruleId"], &sure["level"], &sure["rank"]),
        (&json!("security"), &json!("error"), &json!(80))
    );
    let location = json!([{ "physicalLocation": {
        "artifactLocation": { "uri": "src/pump.py", "uriBaseId": "%SRCROOT%" },
        "region": { "startLine": 30, "endLine": 30, "snippet": { "text": "quote of Sure one" } },
    } }]);
    assert_eq!(sure["locations"], location);
    assert_eq!(sure["message"]["text"], "Sure one\n\nWhat fails of Sure one.\n\nSuggestion: Mend Sure one.");
    let proved = &runs[1]["results"][0];
    assert_eq!((&proved["level"], &proved["rank"]), (&json!("note"), &json!(100)));
    assert_eq!(proved["properties"]["proof"][0], "python3");
    let states: Vec<&Value> =
        runs[1]["results"].as_array().unwrap().iter().map(|one| &one["baselineState"]).collect();
    assert_eq!(states, ["new", "new", "unchanged", "new"]);
    assert_eq!(runs[2]["tool"]["driver"]["rules"][0]["id"], "keys");
    assert_eq!(runs[2]["results"][0]["rank"], 95);
}

#[test]
fn sarif_names_places_that_code_scanning_can_read() {
    let mut removed = finding(Severity::Medium, "Sure of removed lines", 10);
    let old = removed.place.as_mut().unwrap();
    (old.side, old.path) = (Side::Old, "src/größe 1%.py".into());
    let quoting = |title: &str, line| {
        let mut finding = finding(Severity::Low, title, line);
        finding.place = Some(place(line, "the same line"));
        finding
    };
    let found = [vec![removed, quoting("Sure of a", 100), quoting("Sure of b", 300)], vec![]];
    let runs = runs(&play(plan(), &found, verify));
    let results = &runs[0]["results"];
    let location = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "src/gr%C3%B6%C3%9Fe%201%25.py");
    assert_eq!(location["region"], Value::Null, "its lines are others now");
    let prints =
        [1_usize, 2].map(|nth| results[nth]["partialFingerprints"]["skilltune/v1"].as_str().unwrap());
    assert_eq!(prints[1], format!("{}:2", prints[0]));
    for result in self::runs(&hostile())[0]["results"].as_array().unwrap() {
        assert!(!result["message"]["text"].as_str().unwrap().contains("]("));
    }
}
