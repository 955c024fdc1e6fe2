//! Converts patterns of other programs to ours.

/// Returns a pattern that matches exactly this text.
pub(super) fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Converts a JavaScript pattern with its flags, or returns what is not supported.
pub(super) fn from_javascript(pattern: &str, flags: &str) -> Result<String, String> {
    const LOOKING: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
    if LOOKING.iter().any(|look| pattern.contains(look)) {
        return Err("its pattern uses lookahead or lookbehind, which is not supported".to_owned());
    }
    let (mut ours, mut by_lines) = (String::new(), false);
    for flag in flags.chars() {
        match flag {
            'i' | 's' => ours.push(flag),
            'm' => by_lines = true,
            // Our patterns match anywhere, and in Unicode.
            'g' | 'u' | 'v' | 'd' => {}
            other => return Err(format!("its pattern has the unsupported flag `{other}`")),
        }
    }
    let pattern = pattern.replace("[^]", r"[\s\S]");
    // Here, `^` and `$` match at line ends unless a pattern says otherwise.
    if !by_lines && pattern.contains(['^', '$']) {
        ours.push_str("-m");
    }
    Ok(if ours.is_empty() { pattern } else { format!("(?{ours}){pattern}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_javascript_keeps_its_meaning_or_is_lost() {
        let converted =
            |pattern: &str, flags: &str| from_javascript(pattern, flags).unwrap_or_else(|why| why);
        assert_eq!(converted("a+", ""), "a+");
        assert_eq!(converted("a+", "gi"), "(?i)a+");
        assert_eq!(converted("^a$", "i"), "(?i-m)^a$", "the ends of the text");
        assert_eq!(converted("^a$", "m"), "^a$", "the ends of lines");
        assert_eq!(converted("a[^]b", ""), r"a[\s\S]b");
        assert!(converted("(?<![a])b", "").contains("lookahead or lookbehind"));
        assert!(converted("a", "y").contains("flag `y`"));
    }

    #[test]
    fn an_escaped_text_is_itself() {
        let odd = r"a.b*c\d[e](f){g}|h^i$j#k&l-m~n+o?";
        assert!(regex::Regex::new(&format!("^{}$", escaped(odd))).unwrap().is_match(odd));
    }
}
