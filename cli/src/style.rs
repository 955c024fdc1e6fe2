//! Colours, only where a person sees them.

use crate::folders::Surroundings;

/// Paints, or leaves the text alone.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    on: bool,
}

impl Style {
    pub const PLAIN: Self = Self { on: false };
    #[cfg(test)]
    pub const VIVID: Self = Self { on: true };

    /// The style of one stream: colours on a terminal only, and never against `NO_COLOR`, `TERM=dumb` or `CI`.
    pub fn on(is_terminal: bool, around: &Surroundings) -> Self {
        let refused = around.is_set("NO_COLOR") || around.is_dumb() || around.is_ci();
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

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(is_terminal: bool, vars: &[(&str, &str)]) -> bool {
        Style::on(is_terminal, &Surroundings::fake("/w", vars)).on
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
    fn a_plain_style_leaves_text_alone() {
        assert_eq!(Style::PLAIN.red("text"), "text");
        assert_eq!(Style::VIVID.red("text"), "\x1b[1;31mtext\x1b[0m");
    }
}
