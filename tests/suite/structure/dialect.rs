//! Words and forms that hide who does what: comments, messages and names have none of them.

use super::*;

/// In comments and in messages.
const FORMS: [&str; 9] = [
    "is told",
    "are told",
    "was told",
    "tells of",
    "nobody",
    "whoever",
    "comes to",
    "came to",
    "what becomes",
];

/// Names without a meaning of their own, or with several. No item has one.
const NAMES: [&str; 7] = ["told", "Told", "Tried", "Looked", "Seen", "Said", "unaided"];

/// The comments of a source, or its strings; both without their marks.
fn pieces(source: &str, of_comments: bool) -> Vec<&str> {
    static PIECES: LazyLock<Regex> = LazyLock::new(|| {
        let string = r##"b?r#+"(?s:.*?)"#+|b?r"[^"]*"|b?"(?:\\(?s:.)|[^"\\])*""##;
        Regex::new(&format!(r"(//[^\n]*)|({string})|'(?:\\.[^']*|[^'\\])'")).expect("it is well formed")
    });
    let group = if of_comments { 1 } else { 2 };
    PIECES.captures_iter(source).filter_map(|piece| piece.get(group)).map(|piece| piece.as_str()).collect()
}

/// Returns whether a source contains a form. Few do, and taking a source apart is slow.
fn may_have_a_form(source: &str) -> bool {
    let lower = source.to_lowercase();
    FORMS.iter().any(|form| lower.contains(form))
}

/// Returns each piece in which a form of the dialect is, with the form.
fn dialect<'a>(pieces: &[&'a str]) -> Vec<(&'static str, &'a str)> {
    let found = |text: &&'a str| {
        let lower = text.to_lowercase();
        let is_word = |form: &str| {
            lower.match_indices(form).any(|(at, _)| {
                let is_end = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
                is_end(lower[..at].chars().next_back()) && is_end(lower[at + form.len()..].chars().next())
            })
        };
        let text = *text;
        FORMS.into_iter().filter(move |form| is_word(form)).map(|form| (form, text)).collect::<Vec<_>>()
    };
    pieces.iter().flat_map(found).collect()
}

fn production(source: &str) -> &str {
    source.split("#[cfg(test)]\nmod tests {").next().expect("the first part")
}

#[test]
fn comments_say_who_does_what() {
    for (name, read) in CRATES.iter() {
        for (file, source) in read.sources.iter().filter(|(_, source)| may_have_a_form(source)) {
            let found = dialect(&pieces(source, true));
            assert!(found.is_empty(), "{name}/src/{file}: {found:#?}");
        }
    }
}

#[test]
fn messages_and_names_say_who_does_what() {
    let mut found = Vec::new();
    let mut names = BTreeMap::<&str, usize>::new();
    for (name, read) in CRATES.iter() {
        for file in read.code.keys() {
            let source = &read.sources[file];
            if NAMES.iter().any(|name| source.contains(name)) {
                for token in without_tests(&tokens(source)) {
                    *names.entry(token.text).or_default() += 1;
                }
            }
            // The strings of the core are prompts, and their words are part of call keys.
            if *name != "phases" && may_have_a_form(source) {
                found.extend(dialect(&pieces(production(source), false)));
            }
        }
    }
    assert!(found.is_empty(), "a message says who does what: {found:#?}");
    let now = NAMES.map(|name| (name, names.get(name).copied().unwrap_or(0)));
    assert_eq!(now, NAMES.map(|name| (name, 0)), "a name says what it gives");
}

#[test]
fn a_form_is_found_as_words_in_its_place_alone() {
    let source = "// Nobody knows.\nlet whoever = \"who is told\"; // nobodys\n/// fine\n";
    assert_eq!(dialect(&pieces(source, true)), [("nobody", "// Nobody knows.")]);
    assert_eq!(dialect(&pieces(source, false)), [("is told", "\"who is told\"")]);
}
