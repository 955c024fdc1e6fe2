//! Texts as words, and runs of them: two texts share a run however it is set.

/// So many words in a row are not written alike by chance.
pub(super) const RUN: usize = 6;

/// The words of a text in lower case, each with its line.
pub(super) fn words(text: &str) -> Vec<(usize, String)> {
    let lines = (1..).zip(text.lines());
    let words = lines.flat_map(|(line, text)| {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(move |word| (line, word.to_lowercase()))
    });
    words.collect()
}

/// Every run of words, whatever stands between them, with the line that it begins on.
pub(super) fn runs(text: &str) -> impl Iterator<Item = (usize, String)> {
    let words = words(text);
    (0..(words.len() + 1).saturating_sub(RUN)).map(move |at| {
        let run: Vec<&str> = words[at..at + RUN].iter().map(|(_, word)| word.as_str()).collect();
        (words[at].0, run.join(" "))
    })
}

/// A text of JSON or of source code with spaces in the place of its escapes, each line where it was.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut letters = after.chars();
        rest = match letters.next() {
            Some('u') => {
                let code = after.get(1..5).and_then(|code| u32::from_str_radix(code, 16).ok());
                plain.push(code.and_then(char::from_u32).unwrap_or(' '));
                if code.is_some() { &after[5..] } else { letters.as_str() }
            }
            Some('n' | 't' | 'r' | '"' | '\'' | '/' | '\\') => {
                plain.push(' ');
                letters.as_str()
            }
            Some(_) | None => {
                plain.push(' ');
                after
            }
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_no_part_of_words() {
        let json = r#"["One\ntwo \"three\" caf\u00e9 \u12", "C:\\x"]"#;
        let found: Vec<String> = words(&unescaped(json)).into_iter().map(|(_, word)| word).collect();
        assert_eq!(found, ["one", "two", "three", "café", "12", "c", "x"]);
    }
}
