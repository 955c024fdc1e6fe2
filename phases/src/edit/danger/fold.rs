//! Words as whoever acts on them takes them, whatever they are made to look like.

use unicode_normalization::UnicodeNormalization as _;

/// In small letters, without what cannot be seen, and with the ASCII letter in the place of one that looks like it.
pub(super) fn word(text: &str) -> String {
    text.nfkc().filter(|c| !is_unseen(*c)).flat_map(char::to_lowercase).map(alike).collect()
}

/// A line of a script: folded, and without the quotes and backslashes that a shell drops, as in `c'ur'l` and `cu\rl`.
pub(super) fn unquoted(line: &str) -> String {
    let bare = line.replace("${ifs}", " ").replace("$ifs", " ").replace("$@", "").replace("$*", "");
    bare.chars().filter(|c| !matches!(c, '\\' | '\'' | '"' | '^')).collect()
}

/// Each stretch of white space as one blank.
pub(super) fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters of other scripts that nobody can tell from these.
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
