//! Texts as words and runs of words: two texts can share a run even if their layout differs.

/// The length of a run. Six words in a row are not the same by chance, or eight letters of a script without spaces.
const RUN: usize = 24;
const WORD: usize = RUN / 6;
const LETTER: usize = RUN / 8;

/// Returns the words of a text in lower case, each with its line. In scripts without spaces each letter is a word.
pub(super) fn words(text: &str) -> Vec<(usize, String)> {
    let lines = (1..).zip(text.lines());
    let words = lines.flat_map(|(line, text)| {
        let parts = text.split(|letter: char| !letter.is_alphanumeric());
        let words = parts.flat_map(|part| part.split_inclusive(is_letter_word)).flat_map(|part| {
            let last = part.char_indices().next_back().filter(|(_, letter)| is_letter_word(*letter));
            let (word, letter) = part.split_at(last.map_or(part.len(), |(at, _)| at));
            [word, letter]
        });
        words.filter(|word| !word.is_empty()).map(move |word| (line, word.to_lowercase()))
    });
    words.collect()
}

/// Returns whether it is Chinese, Japanese, or from the scripts of Thailand, Laos, Burma and Cambodia.
fn is_letter_word(letter: char) -> bool {
    matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns how much of a run a word fills.
fn weight(word: &str) -> usize {
    if word.chars().next().is_some_and(is_letter_word) { LETTER } else { WORD }
}

/// Returns whether joined words have at least the weight of this many words of a script with spaces.
pub(super) fn are_at_least(joined: &str, words: usize) -> bool {
    joined.split(' ').map(weight).sum::<usize>() >= words * WORD
}

/// Returns every run of words with its first line. Characters between the words do not matter.
pub(super) fn runs(text: &str) -> impl Iterator<Item = (usize, String)> {
    let words = words(text);
    (0..words.len()).map_while(move |at| {
        let mut whole = 0;
        let length = words[at..].iter().position(|(_, word)| {
            whole += weight(word);
            whole >= RUN
        })?;
        let run: Vec<&str> = words[at..=at + length].iter().map(|(_, word)| word.as_str()).collect();
        Some((words[at].0, run.join(" ")))
    })
}

/// Returns JSON or source code with spaces instead of its escapes, and the lines unchanged.
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

    #[test]
    fn a_run_is_six_words_or_eight_letters_of_a_script_without_spaces() {
        let runs = |text: &str| runs(text).map(|(_, run)| run).collect::<Vec<_>>();
        assert_eq!(runs("One two, three four five six seven").len(), 2);
        assert_eq!(runs("one two three four five"), [""; 0]);
        assert_eq!(runs("表格里有每个水箱，共九行").len(), 4);
        assert_eq!(runs("表格里有每个水"), [""; 0]);
        assert_eq!(runs("用 Rust 写出每个水箱"), ["用 rust 写 出 每 个 水 箱"]);
    }
}
