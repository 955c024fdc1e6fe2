//! Colours, only where a person sees them.

use crate::terminal::environment::Environment;
use crate::text::plain::pictured;

/// The escape sequences that we print; all others come from untrusted text.
const OURS: [&str; 7] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[1;31m"];

/// Adds colours, or leaves the text unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    on: bool,
}

impl Style {
    pub const PLAIN: Self = Self { on: false };
    #[cfg(test)]
    pub const VIVID: Self = Self { on: true };

    /// Returns the style of one stream: colours on a terminal only, and never against `NO_COLOR`, `TERM=dumb` or `CI`.
    pub fn on(is_terminal: bool, env: &Environment) -> Self {
        let refused = env.is_set("NO_COLOR") || env.is_dumb() || env.is_ci();
        Self { on: is_terminal && !refused }
    }

    pub fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Makes a text safe to print, as the last step: everything that a terminal would act on becomes visible, except
    /// for our own colours.
    pub fn shown(self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\x1b') {
            shown.push_str(&pictured(&rest[..at]));
            rest = &rest[at..];
            let ours = OURS.iter().find(|code| self.on && rest.starts_with(**code));
            shown.push_str(&ours.map_or_else(|| pictured("\x1b"), |code| (*code).to_owned()));
            rest = &rest[ours.map_or(1, |code| code.len())..];
        }
        shown + &pictured(rest)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(is_terminal: bool, vars: &[(&str, &str)]) -> bool {
        Style::on(is_terminal, &Environment::fake("/w", vars)).on
    }

    #[test]
    fn colours_are_for_terminals_and_can_be_refused() {
        assert!(on(true, &[]));
        assert!(on(true, &[("NO_COLOR", ""), ("CI", "false"), ("TERM", "xterm")]));
        assert!(!on(false, &[]));
        assert!(!on(true, &[("NO_COLOR", "1")]));
        assert!(!on(true, &[("TERM", "dumb")]));
        assert!(!on(true, &[("CI", "true")]));
    }

    #[test]
    fn only_our_own_colours_reach_a_terminal() {
        let style = Style::VIVID;
        let paints = [Style::red, Style::cyan, Style::green, Style::yellow, Style::bold, Style::dim];
        let painted: String = paints.iter().map(|paint| paint(style, "x")).collect();
        assert_eq!(style.shown(&painted), painted);
        assert_eq!(style.shown("a\x1b[8mb\x1b[2J\x1b"), "a␛[8mb␛[2J␛");
        assert_eq!(Style::PLAIN.shown("\x1b[1mx\u{202e}"), "␛[1mx<U+202E>");
    }

    #[test]
    fn a_plain_style_leaves_text_alone() {
        assert_eq!(Style::PLAIN.red("text"), "text");
        assert_eq!(Style::VIVID.red("text"), "\x1b[1;31mtext\x1b[0m");
    }
}
