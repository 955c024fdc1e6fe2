use skilltune_worlds::tier::stride;

use super::*;

fn given(copy: &[&str], tokens: &[(&str, &str)]) -> Given {
    let text = |text: &&str| Text { at: "t".into(), text: (*text).into() };
    let token = |(name, value): &(&str, &str)| Token { name: (*name).into(), value: (*value).into() };
    Given {
        copy: copy.iter().map(text).collect(),
        tokens: tokens.iter().map(token).collect(),
        sections: vec!["Our story".into()],
    }
}

/// Asserts the verdict on each of these pages.
fn verdicts(check: Check, given: &Given, pages: &[(&str, Verdict)]) {
    for (page, verdict) in pages {
        let found = look(check, page, given);
        assert_eq!(found.0, *verdict, "{page}: {}", found.1);
    }
}

#[test]
fn a_text_that_is_missing_fails_and_one_that_is_there_is_left_to_a_browser() {
    use Verdict::{Failed, Unverified};
    let pages = [
        ("<p>Fish &amp; <em>chi</em>ps", Unverified),
        ("<p>Fish\n  &#38; chips, today", Unverified),
        ("<p>Fish &<br>chips", Unverified),
        ("<img alt='Fish & chips'>", Unverified),
        ("<input type=submit value='Fish & chips'>", Unverified),
        ("<input placeholder='Fish & chips'>", Unverified),
        ("<a>20</a><a>Fish & chips</a><a>Home</a>", Unverified),
        ("<p>Fish <b>&</b> <i>chips</i>", Unverified),
        ("<p>Fish & chips\u{3055}\u{3093}", Unverified),
        ("<p>fish & chips", Failed),
        ("<p>Fish & chipsy", Failed),
        ("<p>Fish &</p><p>x</p>chips", Failed),
        ("<!-- Fish & chips -->", Failed),
        ("<title>Fish & chips</title>", Failed),
        ("<style>/* Fish & chips */</style>", Failed),
        ("<template>Fish & chips</template>", Failed),
        ("<div hidden><p>Fish & chips", Failed),
        ("<div style='DISPLAY: none'>Fish & chips", Failed),
        ("<script type='application/json'>Fish & chips</script>", Failed),
        ("<script>Fish & chips</script>", Unverified),
        ("<p>x<script src=a.js></script>", Unverified),
        ("<style>.a .b { display: none }</style><div class=b><p>Fish & chips", Unverified),
        ("<style>.a { display: none }</style><div class=b><p>Fish & chips", Unverified),
        ("<link rel=stylesheet href=https://a.example/a.css><p>Fish & chips", Unverified),
    ];
    verdicts(Check::Copy, &given(&["Fish & chips"], &[]), &pages);
    verdicts(Check::Copy, &given(&[], &[]), &[("<p>x", Unverified)]);
}

#[test]
fn a_section_fails_without_a_heading_a_label_or_an_id_and_never_passes() {
    use Verdict::{Failed, Unverified};
    let pages = [
        ("<h3>Our <b>story</b>!</h3>", Unverified),
        ("<h2>OUR STORY, so far</h2>", Unverified),
        ("<section aria-label='Our story'>", Unverified),
        ("<section id=our-story>", Unverified),
        ("<p>Our story", Failed),
        ("<h2 hidden>Our story</h2>", Failed),
        ("<h2>Your story</h2>", Failed),
        ("<h2>Your story</h2><script>1</script>", Unverified),
    ];
    verdicts(Check::Sections, &given(&[], &[]), &pages);
}

#[test]
fn colours_fonts_and_spacing_are_those_of_the_tokens() {
    use Verdict::{Failed, Passed, Unverified};
    let all = given(
        &[],
        &[("color.a", "#0a5"), ("font.family", "Inter, serif"), ("space.1", "1rem"), ("radius", "3px")],
    );
    let pages = [
        ("<style>p { color: rgb(0, 170, 85); border: 1px solid #00aa55 }</style>", Passed),
        ("<style>p { color: rgb(0 170 85 / 50%) }</style>", Passed),
        (
            "<style>p { --x: #0A5; color: var(--x); background: transparent; fill: currentColor }</style>",
            Passed,
        ),
        ("<style>p { --x: #0a6; color: #0a5 }</style>", Failed),
        ("<style>@media print { p { & b { color: white } } }</style>", Failed),
        ("<p style='color: hsl(150, 100%, 40%)'>", Failed),
        ("<style>p { background: linear-gradient(#0a5, tomato) }</style>", Failed),
        ("<style>p { font: bold 1rem/1.2 'Inter', sans-serif }</style>", Passed),
        ("<style>p { font: 1rem Arial, sans-serif }</style>", Failed),
        ("<p>x", Unverified),
    ];
    verdicts(Check::Tokens, &all, &pages);
    let pages = [
        (
            "<style>p { margin: 0 auto; padding: 16px -1rem; gap: 5%; inset: calc(100% - 16px); width: 7px }</style>",
            Passed,
        ),
        ("<style>p { margin-left: 7px }</style>", Failed),
        ("<p style='padding: 3px'>", Failed),
        ("<style>p { gap: 32px }</style>", Failed),
        ("<style>p { --a: 7px; --b: var(--a); gap: var(--b) }</style>", Failed),
        ("<style>p { gap: calc(100% - 7px) }</style>", Unverified),
    ];
    verdicts(Check::Spacing, &all, &pages);
    let none = given(&[], &[]);
    assert_eq!(look(Check::Tokens, "<p>x", &none), (Unverified, "no tokens were given".to_owned()));
    assert_eq!(
        look(Check::Spacing, "<p>x", &none),
        (Unverified, "no tokens for spacing were given".to_owned())
    );
}

#[test]
fn what_a_script_could_make_work_is_no_fault_yet() {
    use Verdict::{Failed, Passed, Unverified};
    let pages = [
        ("<a href=https://a.example/x>x</a><a href=mailto:a@b.example>x</a>", Passed),
        ("<base href=/x/><a href=y.html>x</a>", Unverified),
        ("<a href='#'>x</a>", Failed),
        ("<a href='#'>x</a><script>go()</script>", Unverified),
        ("<a href='javascript:void(0)'>x</a>", Failed),
        ("<a href='../../etc/passwd'>x</a><script>go()</script>", Failed),
        ("<a href='/index.html?x#y'>x</a><p id=y>", Passed),
        ("<img src=a.png alt=a>", Failed),
        ("<button>x</button>", Failed),
        ("<button onclick='go()'>x</button>", Unverified),
        ("<button popovertarget=p>x</button><p id=p popover>", Passed),
        ("<form action=/send><button>x</button></form>", Passed),
        ("<form><button>x</button></form>", Failed),
    ];
    verdicts(Check::Interactions, &given(&[], &[]), &pages);
}

#[test]
fn generic_looks_are_told_from_others() {
    use Verdict::{Failed, Passed, Unverified};
    let none = given(&[], &[]);
    let gradient = "<style>body { background: linear-gradient(#667eea, #764ba2) }</style>";
    let styles = [
        (format!("{gradient}<style>.card {{ background: #fff }}</style>"), Failed),
        (gradient.to_owned(), Unverified),
        ("<style>body { background: linear-gradient(#0a5, #fc0) } .card { background: #fff }</style>".to_owned(), Passed),
        ("<header class='bg-gradient-to-r from-indigo-500 to-purple-600'></header><div class='bg-white rounded-lg'>".to_owned(), Failed),
    ];
    for (page, verdict) in styles {
        let found = look(Check::GenericStyle, &page, &none);
        assert_eq!(found.0, verdict, "{page}: {}", found.1);
    }
    let icons = [
        ("<span class=material-icons>home</span>", Failed),
        ("<i data-lucide=home></i>", Failed),
        ("<link rel=stylesheet href=https://cdn.example/bootstrap-icons.css>", Failed),
        ("<div>\u{1f680}</div>", Failed),
        ("<div>Go \u{1f680} now</div><i class=family>x</i>", Passed),
    ];
    verdicts(Check::GenericIcons, &none, &icons);
}

#[test]
fn a_site_without_a_page_is_told_of_by_nobody() {
    let given = given(&["x"], &[]);
    let results = source(&site([("a.css", "p { color: red }".to_owned())]), &given);
    assert!(
        results
            .iter()
            .all(|result| result.verdict == Verdict::Unverified && &*result.evidence == "there is no page")
    );
    let body = Body::Large { bytes: 1 << 30 };
    let large = Files::new("site", [File { path: "index.html".to_owned(), body, executable: false }]);
    let results = source(&large, &given);
    assert!(
        results
            .iter()
            .all(|result| result.verdict == Verdict::Unverified && result.evidence.contains("too large"))
    );
}

#[test]
fn all_pages_are_looked_at() {
    let files = site([("a.html", "<p>one".to_owned()), ("b/c.html", "<p>two<img src=x.png>".to_owned())]);
    let results = source(&files, &given(&["one", "two"], &[]));
    assert_eq!(results[0].verdict, Verdict::Unverified);
    assert!(results[4].evidence.starts_with("b/c.html:1 <img"), "{}", results[4].evidence);
}

#[test]
fn a_page_that_is_made_to_take_long_comes_to_an_end() {
    // For people an eighth of each: only CI reaches every limit.
    let many = |count: usize| count / stride(8);
    let attributes: String = (0..many(100_000)).fold(String::new(), |mut out, nth| {
        write!(out, " a{nth}").unwrap();
        out
    });
    let formats: String = (0..many(30_000)).fold(String::new(), |mut out, nth| {
        write!(out, "<b x={nth}><p>").unwrap();
        out
    });
    let pages = [
        "<div>".repeat(many(100_000)),
        "<p><b>".repeat(many(80_000)),
        "<table>".repeat(many(50_000)),
        format!("<a{}>", &attributes[..many(200_000)]),
        format!(
            "<style>{}{{display:none}}</style>{}",
            ".a,".repeat(many(50_000)),
            "<p class=a>".repeat(many(30_000))
        ),
        format!("<style>{}{{display:none}}</style>{}", ".a".repeat(100), "<p class=a>".repeat(many(30_000))),
        formats,
        "<a href='#x'>".repeat(many(35_000)),
        "<input>".repeat(many(60_000)),
        format!("<style>{}</style>", "a{".repeat(many(200_000))),
        format!("<style>{}</style>", "@media x{".repeat(many(50_000))),
        format!("<style>p {{ color: {} }}</style>", "rgb(".repeat(many(100_000))),
        format!("<style>{}</style>{}", ".a{display:none}".repeat(many(15_000)), "<p>".repeat(many(50_000))),
        format!(
            "<style>{}</style>{}",
            ".a{color:#777;background:#777}".repeat(many(10_000)),
            "<p>".repeat(many(50_000))
        ),
        format!("<style>{}</style>", "p{width:900px}".repeat(many(30_000))),
        format!("<p style='{}'>", "color:red;".repeat(many(50_000))),
        "<!--".repeat(many(100_000)),
        "&".repeat(many(500_000)),
    ];
    let given = given(&["Fish & chips"], &[("color.a", "#0a5"), ("space.a", "4px")]);
    for page in pages {
        assert!(page.len() <= 512 << 10, "{}", &page[..40]);
        let results = source(&site([("index.html", page.clone())]), &given);
        assert!(results.iter().all(|result| result.evidence.len() < 8_000), "{}", &page[..40]);
    }
}

proptest! {
    #[test]
    fn no_page_makes_it_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "<div", "<p>", "</p>", "<table>", "<td>", "<b>", "</b>", "<a href='#x'>", "<template>", "</template>", "<svg>", "<select>",
        "<style>", "</style>", "a{", "}", "color:", "#fff", "rgb(", ")", ";", "var(--a)", "--a:", "@media x{", "<!--", "-->", "<form>",
        "</form>", "<button>", "style='", "'", ">", " class=card", "é", "\u{1f680}", "\0", "<frameset>", "<body lang=x>", "<script>",
        "</script>", "font:", "1px", "background:", "gradient(", ",", "<label for=x>", "id=x", "width:", "900px", "%", "url(",
    ]), 0..60)) {
        let page: String = parts.concat();
        let results = source(&site([("index.html", page.clone()), ("a.css", page)]), &given(&["x"], &[("a", "#fff"), ("gap", "1px")]));
        prop_assert_eq!(results.len(), 12);
    }
}

fn page(html: &str) -> Live {
    let to = |path: &str| Lead::To(path.to_owned());
    let links = [("other.html", to("other.html")), ("#prices", to("index.html")), ("gone.js", Lead::Nowhere)];
    Live {
        path: "index.html".to_owned(),
        html: html.to_owned(),
        mark: "heard".to_owned(),
        links: links.map(|(link, lead)| (link.to_owned(), lead)).into(),
    }
}

#[test]
fn what_listens_on_a_live_page_does_something_and_a_link_leads_where_the_browser_says() {
    use Verdict::{Failed, Passed, Unverified};
    let pages = [
        ("<button type=button heard>More</button>", Passed),
        ("<button type=button>More</button>", Failed),
        ("<div heard><button type=button>More</button></div>", Unverified),
        ("<a href='#' heard>More</a>", Passed),
        ("<a href='#prices'>Prices</a>", Failed),
        ("<a href='#prices'>Prices</a><p id=prices>Ten.</p>", Passed),
        ("<a href='other.html'>Other</a><script src=gone.js></script>", Failed),
        ("<a href='other.html'>Other</a><script>let a = 1</script>", Passed),
        ("<a href='https://elsewhere.test/'>Other</a>", Passed),
        ("<a href='unknown.html'>Other</a>", Unverified),
        ("<base href='/'><a href='other.html'>Other</a>", Passed),
        ("<form heard><button>Send</button></form>", Passed),
        ("<form><button>Send</button></form>", Failed),
        ("<iframe srcdoc='<button type=button>More</button>'></iframe>", Unverified),
    ];
    for (html, verdict) in pages {
        let result = live(&[page(html)], false);
        assert_eq!((result.verdict, result.by), (verdict, Means::Browser), "{html}: {}", result.evidence);
    }
    let watched = page("<html heard><body><button type=button>More</button>");
    assert_eq!(live(&[watched], false).verdict, Unverified, "the page listens, and may act for the button");
    let form = page("<form method=post><button>Send</button></form><form action='#'></form>");
    let result = live(&[form], true);
    assert_eq!((result.verdict, result.evidence.matches("has no target").count()), (Failed, 1), "{result:?}");
}
