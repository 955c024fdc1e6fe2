use super::*;

fn texts(json: &str) -> String {
    let show = |mut out: String, Text { at, text }: Text| {
        write!(out, "{at}={text};").unwrap();
        out
    };
    Given::copy(json).unwrap().into_iter().fold(String::new(), show)
}

fn tokens(json: &str) -> String {
    match Given::tokens(json) {
        Ok(tokens) => {
            let shown = tokens.iter().map(|token| format!("{}={}", token.name, token.value));
            shown.collect::<Vec<_>>().join(";") + ";"
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_text_of_any_json_is_a_text_with_its_place() {
    assert_eq!(
        texts(r#"{"hero": {"title": "A", "n": 1}, "list": ["B", {"c": "C"}], "no": " "}"#),
        "hero.title=A;list.0=B;list.1.c=C;"
    );
    assert_eq!(texts("\u{feff}\"A\""), "=A;");
}

#[test]
fn what_is_no_text_is_refused_with_the_reason() {
    let why = |json: &str| Given::copy(json).unwrap_err().to_string();
    assert!(why("{").starts_with("it is not valid JSON: "));
    assert_eq!(why("[1, null]"), "it has no text");
    assert_eq!(why(&format!("[{}\"a\"]", "\"a\",".repeat(3000))), "it has more than 2000 values");
    assert_eq!(
        why(&format!("[\"{}\"]", "a".repeat(20_000))),
        "the value at 0 has more than 10000 characters"
    );
    assert!(why(&" ".repeat(2 << 20)).starts_with("it has 2097152 bytes"));
    assert!(why(&"[".repeat(100_000)).starts_with("it is not valid JSON: recursion limit"));
}

#[test]
fn tokens_are_read_in_each_of_their_forms() {
    assert_eq!(
        tokens(r##"{"color": {"$type": "color", "brand": {"$value": "#0a5", "$description": "x"}}}"##),
        "color.brand=#0a5;"
    );
    assert_eq!(tokens(r##"{"color": {"brand": {"value": "#0a5", "type": "color"}}}"##), "color.brand=#0a5;");
    assert_eq!(tokens(r##"{"color": {"brand": "#0a5"}, "space": {"1": 4}}"##), "color.brand=#0a5;space.1=4;");
    assert_eq!(
        tokens(
            r#"{"font": {"$value": ["Inter", "sans-serif"]}, "gap": {"$value": {"value": 16, "unit": "px"}}}"#
        ),
        "font=Inter, sans-serif;gap=16px;"
    );
}

#[test]
fn a_token_that_stands_for_another_has_its_value_and_circles_end() {
    assert_eq!(
        tokens(r#"{"a": "{b.c}", "b": {"c": {"$value": "{d}"}}, "d": "1px"}"#),
        "a=1px;b.c=1px;d=1px;"
    );
    assert_eq!(tokens(r#"{"a": "{b}", "b": "{a}"}"#), "the token a refers to itself");
    assert_eq!(tokens(r#"{"a": "{b}"}"#), "the token a refers to {b}, which is not a token");
    assert_eq!(tokens("{}"), "it has no token");
}

#[test]
fn the_sections_of_a_brief_are_its_headings_without_its_title() {
    let read = |brief: &str| sections(brief).join("|");
    assert_eq!(
        read("# Title\n\n## One\n\n### Not\n\n```\n## not\n```\n\nTwo `x`\n---\n\n## one\n"),
        "One|Two x"
    );
    assert_eq!(read("# One\n\n# Two\n"), "One|Two");
    assert_eq!([read("# Title\n\ntext\n"), read("text")], ["", ""]);
}

#[test]
fn a_copy_section_of_a_brief_is_read_as_texts_and_is_no_section_of_the_result() {
    let read = |copy: &str| {
        let brief =
            format!("# Title\n\n## One\n\n- not a text\n\n## Copy\n\n{copy}\n\n## Two\n\n> not a text\n");
        assert_eq!(sections(&brief).join("|"), "One|Two", "{brief}");
        let texts = super::super::texts(&brief);
        texts.iter().map(|text| format!("{}={};", text.at, text.text)).collect::<Vec<_>>().concat()
    };
    assert_eq!(
        read("Use these texts:\n\n- Runs on *air*\n- \"Ten euros\"\n- `Order now`\n"),
        "Copy: 1=Runs on air;Copy: 2=Ten euros;Copy: 3=Order now;"
    );
    assert_eq!(
        read(
            "- **Hero:** Runs on air\n- **Price**: “Ten euros”\n- Button: \"Order now\"\n- **Bold** words\n- Open: 6 to 14\n"
        ),
        "Copy: Hero=Runs on air;Copy: Price=Ten euros;Copy: Button=Order now;Copy: 4=Bold words;Copy: 5=Open: 6 to 14;"
    );
    assert_eq!(
        read("### Hero\n\n> Runs on\n> air\n\n```\nTen euros\nOrder now\n```\n"),
        "Copy: 1=Runs on air;Copy: 2=Ten euros;Copy: 3=Order now;"
    );
    assert_eq!(
        read("```json\n{\"hero\": {\"title\": \"Runs on air\"}}\n```\n\n- Hero:\n  - Ten euros\n"),
        "hero.title=Runs on air;Copy: 2=Ten euros;"
    );
    assert_eq!(
        read("| place | text |\n|---|---|\n| hero | Runs on air |\n| price | Ten euros |\n"),
        "Copy: hero=Runs on air;Copy: price=Ten euros;"
    );
    assert_eq!(read("Runs on air.\n\nNo batteries."), "Copy: 1=Runs on air.;Copy: 2=No batteries.;");
    assert_eq!(super::super::texts("# T\n\n## One\n\n- Runs on air\n").len(), 0);
}
