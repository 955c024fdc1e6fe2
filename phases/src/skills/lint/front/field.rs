//! The lines of front matter with keys: the place of each, and how its value is written.

/// A key at the start of a line.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub key: &'a str,
    /// The line in the file, counted from one.
    pub line: usize,
    /// The start of its line in the front matter.
    pub at: usize,
    /// The end of its value: before the next key, and before comments and blank lines there.
    pub end: usize,
    /// The text after the colon on the same line.
    pub raw: &'a str,
    /// Whether the value continues on the next lines.
    pub goes_on: bool,
}

impl Field<'_> {
    /// Returns true if the value is written without quotes, at least on this line.
    pub(super) fn is_plain(&self) -> bool {
        !self.raw.is_empty() && !self.raw.starts_with(['"', '\'', '|', '>', '&', '*', '!', '[', '{', '#'])
    }
}

pub(super) fn scan(yaml: &str) -> Vec<Field<'_>> {
    let mut fields: Vec<Field> = Vec::new();
    let mut at = 0;
    for (number, line) in yaml.split_inclusive('\n').enumerate() {
        let content = line.trim_end();
        if let Some((key, raw)) = key(content) {
            let end = at + content.len();
            fields.push(Field { key, line: number + 2, at, end, raw, goes_on: false });
        } else if let Some(last) =
            fields.last_mut().filter(|_| content.starts_with([' ', '\t', '-', ']', '}']))
        {
            last.end = at + content.len();
            last.goes_on = true;
        }
        at += line.len();
    }
    fields
}

fn key(line: &str) -> Option<(&str, &str)> {
    if line.starts_with([' ', '\t', '#', '-', '{', '[', '}', ']']) {
        return None;
    }
    let colon = line.match_indices(':').map(|(at, _)| at);
    let mut colon = colon.filter(|at| line[at + 1..].is_empty() || line[at + 1..].starts_with([' ', '\t']));
    let colon = colon.next()?;
    Some((line[..colon].trim().trim_matches(['"', '\'']), line[colon + 1..].trim()))
}

/// Returns the type that some YAML parser reads instead of text in a plain value.
pub(super) fn misread(plain: &str) -> Option<&'static str> {
    let small = plain.to_ascii_lowercase();
    match small.as_str() {
        "yes" | "no" | "on" | "off" | "true" | "false" | "y" | "n" => return Some("a boolean"),
        "null" | "~" => return Some("null"),
        ".inf" | "-.inf" | "+.inf" | ".nan" => return Some("a number"),
        _ => {}
    }
    let digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let prefixed = ["0x", "0o", "0b"].iter().any(|prefix| {
        small
            .strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_hexdigit()))
    });
    let unsigned = small.trim_start_matches(['+', '-']);
    if prefixed
        || digits(unsigned)
        || (unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && unsigned.parse::<f64>().is_ok())
    {
        return Some("a number");
    }
    if small.split('-').count() == 3 && small.split('-').all(digits) && small.split('-').next()?.len() == 4 {
        return Some("a date");
    }
    (small.contains(':') && small.split(':').all(digits)).then_some("a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_with_the_lines_that_belong_to_them() {
        let yaml =
            "name: a\n# said of b\ndescription: >\n  two\n\n  lines\n\n# c\n\"tools\":\n- x\nurl:http\n";
        let fields = scan(yaml);
        let seen: Vec<_> =
            fields.iter().map(|f| (f.key, f.line, f.raw, f.goes_on, &yaml[f.at..f.end])).collect();
        assert_eq!(
            seen,
            [
                ("name", 2, "a", false, "name: a"),
                ("description", 4, ">", true, "description: >\n  two\n\n  lines"),
                ("tools", 10, "", true, "\"tools\":\n- x"),
            ]
        );
    }

    #[test]
    fn plain_values_that_are_no_text_are_known() {
        for number in ["1", "1.0", "-3", "1e5", "0x1f", "1_000", "12:30", ".5"] {
            assert_eq!(misread(number), Some("a number"), "{number}");
        }
        assert_eq!(
            [misread("No"), misread("~"), misread("2026-01-31")],
            [Some("a boolean"), Some("null"), Some("a date")]
        );
        for text in ["a", "1 a", "v1", "1-2", "3d-print", "nano", "inf", "a:b", "2026-01-31 x"] {
            assert_eq!(misread(text), None, "{text}");
        }
    }
}
