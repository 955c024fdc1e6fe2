//! Makes text of models and files safe to show: it cannot control a terminal or change the direction of a line, and
//! hides nothing.

use std::path::Path;

use skilltune_phases::base::json::is_hidden;

/// Returns the text on one line, with each run of white space as one space.
pub fn one_line(text: &str) -> String {
    unbroken(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text with a capital first letter, as in a heading.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns the text on one line, with all its spaces.
pub fn unbroken(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    pictured(&spaced)
}

/// Replaces each control character, and each character that changes the direction of a line, with a picture or its
/// number; keeps line ends and tabs.
pub fn pictured(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    text.chars().map(|c| if is_hidden(c) { picture(c) } else { c.to_string() }).collect()
}

/// Returns the beginning of a text, up to this many bytes, and says if something is left out.
pub fn beginning(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}\n[the rest is left out]", &text[..end])
}

/// Makes a patch safe and keeps its line endings, so that a program can apply it.
pub fn patch(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| match line.strip_suffix("\r\n") {
        Some(line) => pictured(line) + "\r\n",
        None => pictured(line),
    });
    lines.collect()
}

/// Quotes a path for a shell command that the user types.
pub fn shell_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    let stays = !text.is_empty() && text.chars().all(plain);
    if stays { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn picture(c: char) -> String {
    match c {
        '\0'..='\x1f' => {
            char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER).to_string()
        }
        '\x7f' => '\u{2421}'.to_string(),
        hidden => format!("<U+{:04X}>", u32::from(hidden)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_a_terminal_is_shown() {
        assert_eq!(pictured("a\x1b[31mb\u{9b}c\r\n\td\u{202e}e"), "a␛[31mb<U+009B>c␍\n\td<U+202E>e");
        assert_eq!(pictured("\u{61c}\u{200e}\u{2066}\x7f"), "<U+061C><U+200E><U+2066>␡");
        assert_eq!(one_line("  a\r\n\n b\t\u{2028}c\x07 "), "a b c␇");
    }

    #[test]
    fn a_patch_keeps_the_ends_of_lines() {
        assert_eq!(patch("-a\r\n+b\rc\x1b\r\n \n"), "-a\r\n+b␍c␛\r\n \n");
    }

    #[test]
    fn a_path_in_a_command_is_one_word_to_a_shell() {
        let paths = ["demo", "my demo", "it's", ""].map(|path| shell_path(Path::new(path)));
        assert_eq!(paths, ["demo", "'my demo'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn what_a_file_hides_is_pictured() {
        assert_eq!(pictured("a\x1b\r\n\x7f\u{85}\u{202e}"), "a␛␍\n␡<U+0085><U+202E>");
    }
}
