//! Words as programs and agents read them, without disguise.

use unicode_normalization::UnicodeNormalization as _;

/// Returns text in lower case, without invisible characters, and with ASCII letters instead of lookalikes.
pub(super) fn word(text: &str) -> String {
    text.nfkc().filter(|c| !is_unseen(*c)).flat_map(char::to_lowercase).map(alike).collect()
}

/// Returns a folded line of a script without the quotes and backslashes that a shell drops, as in `c'ur'l` and `cu\rl`.
pub(super) fn unquoted(line: &str) -> String {
    let bare = line.replace("${ifs}", " ").replace("$ifs", " ").replace("$@", "").replace("$*", "");
    bare.chars().filter(|c| !matches!(c, '\\' | '\'' | '"' | '^')).collect()
}

/// Returns the text with single spaces.
pub(super) fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Maps letters of other scripts that look the same as ASCII letters.
fn alike(c: char) -> char {
    match c {
        'а' | 'α' | 'ɑ' => 'a',
        'ь' => 'b',
        'с' | 'ϲ' | 'ᴄ' => 'c',
        'ԁ' => 'd',
        'е' | 'ҽ' => 'e',
        'ɡ' => 'g',
        'һ' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' | 'ϳ' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' | 'ǀ' => 'l',
        'м' => 'm',
        'ո' | 'п' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' | 'ᴜ' => 'u',
        'ν' | 'ѵ' | 'ᴠ' => 'v',
        'ԝ' | 'ᴡ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'ᴢ' => 'z',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    }
}
