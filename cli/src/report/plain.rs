//! Text of models and files, made safe to show: nothing in it can drive a terminal or turn a line around.

use std::path::Path;

/// Without control characters; the ends of lines and tabs stay.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_hidden(*c)).collect()
}

/// On one line, each stretch of white space as one blank.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    clean(&spaced).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// With a picture in the place of each control character, so that a change of one can be seen.
pub(crate) fn pictured(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') { c } else { picture(c) }).collect()
}

/// A path as a shell takes it, for a command that is there to be typed.
pub(crate) fn shell_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    let stays = !text.is_empty() && text.chars().all(plain);
    if stays { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn picture(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        hidden if is_hidden(hidden) => char::REPLACEMENT_CHARACTER,
        shown => shown,
    }
}

/// Control characters, and those that change the direction or the end of a line unseen.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_is_taken_out() {
        assert_eq!(clean("a\x1b[31mb\u{9b}c\r\n\td\u{202e}e"), "a[31mbc\n\tde");
        assert_eq!(one_line("  a\r\n\n b\t\u{2028}c\x07 "), "a b c");
    }

    #[test]
    fn a_path_in_a_command_is_one_word_to_a_shell() {
        let paths = ["demo", "my demo", "it's", ""].map(|path| shell_path(Path::new(path)));
        assert_eq!(paths, ["demo", "'my demo'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn what_a_file_hides_is_pictured() {
        assert_eq!(pictured("a\x1b\r\n\x7f\u{85}\u{202e}"), "a␛␍\n␡\u{fffd}\u{fffd}");
    }
}
