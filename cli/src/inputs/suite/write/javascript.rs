//! Converts our patterns to JavaScript.

/// Returns the pattern and its flags, or none if there is no equivalent.
pub(super) fn to_javascript(pattern: &str) -> Option<(String, String)> {
    let (given, rest) = flagged(pattern);
    let (mut flags, mut by_lines, mut is_on) = (String::new(), true, true);
    for flag in given.chars() {
        match flag {
            '-' => is_on = false,
            'm' => by_lines = is_on,
            'i' | 's' if is_on => flags.push(flag),
            'i' | 's' => {}
            _ => return None,
        }
    }
    let (has_ends, has_text_ends) = (has_line_ends(rest), rest.contains(r"\A") || rest.contains(r"\z"));
    if (has_ends && has_text_ends) || is_ours_alone(rest) {
        return None;
    }
    let rest = if has_text_ends { rest.replace(r"\A", "^").replace(r"\z", "$") } else { rest.to_owned() };
    if has_ends && by_lines {
        flags.push('m');
    }
    Some((rest, flags))
}

/// Returns the only text that a pattern matches, and whether its case counts.
pub(super) fn literal(pattern: &str) -> Option<(String, bool)> {
    let (flags, rest) = flagged(pattern);
    let is_exact = match flags {
        "" => true,
        "i" => false,
        _ => return None,
    };
    let mut text = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.push(chars.next().filter(|c| !c.is_alphanumeric())?),
            c if ".+*?()|[]{}^$".contains(c) => return None,
            c => text.push(c),
        }
    }
    (!text.is_empty()).then_some((text, is_exact))
}

/// Splits off the flags at the start of a pattern.
fn flagged(pattern: &str) -> (&str, &str) {
    let flags = pattern.strip_prefix("(?").and_then(|inner| inner.split_once(')'));
    let is_flags = |flags: &str| flags.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
    flags.filter(|(flags, _)| is_flags(flags)).unwrap_or(("", pattern))
}

/// Returns whether it has line ends that are not escaped and do not negate a class.
fn has_line_ends(pattern: &str) -> bool {
    let mut before = ' ';
    pattern.chars().any(|c| {
        let is_end = (c == '^' && before != '[' && before != '\\') || (c == '$' && before != '\\');
        // An escaped backslash escapes nothing.
        before = if before == '\\' && c == '\\' { ' ' } else { c };
        is_end
    })
}

/// Returns whether it has inner flags, named classes or nested classes.
fn is_ours_alone(pattern: &str) -> bool {
    let groups = pattern.match_indices("(?").map(|(at, _)| &pattern[at + 2..]);
    let is_common = |group: &str| group.starts_with(':') || group.starts_with('<');
    { groups }.any(|group| !is_common(group))
        || ["[[", "[:", "&&", "--", "~~", r"\p{", r"\P{", r"\x{"].iter().any(|ours| pattern.contains(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_written_so_that_it_finds_the_same_or_not_at_all() {
        let converted = |pattern: &str| to_javascript(pattern);
        let is = |pattern: &str, flags: &str| Some((pattern.to_owned(), flags.to_owned()));
        assert_eq!(converted("a+"), is("a+", ""));
        assert_eq!(converted("(?i)a"), is("a", "i"));
        assert_eq!(converted("^a$"), is("^a$", "m"));
        assert_eq!(converted("(?i-m)^a$"), is("^a$", "i"));
        assert_eq!(converted(r"\Aa\z"), is("^a$", ""));
        assert_eq!(converted(r"[^a]\$"), is(r"[^a]\$", ""));
        for ours in ["(?x)a", "a(?i)b", "(?P<n>a)", "[[:alpha:]]", r"\p{L}", r"^\A"] {
            assert_eq!(converted(ours), None, "{ours}");
        }
    }

    #[test]
    fn a_text_is_known_again() {
        assert_eq!(literal(r"(?i)a\.b"), Some(("a.b".to_owned(), false)));
        assert_eq!(literal("a"), Some(("a".to_owned(), true)));
        for pattern in [r"\d", "a|b", "(?s)a", ""] {
            assert_eq!(literal(pattern), None, "{pattern}");
        }
    }
}
