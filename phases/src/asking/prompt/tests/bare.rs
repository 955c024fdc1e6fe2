//! A page without the content of its fences, for the tests of each loop.

/// Returns the text outside fences, with one line instead of each fence.
pub(crate) fn bare(page: &str) -> String {
    let mut open: Option<String> = None;
    let mut found = Vec::new();
    for line in page.lines() {
        match (&open, line.strip_prefix("<<<BEGIN ")) {
            (None, Some(rest)) => {
                open = Some(format!("<<<END {}>>>", &rest[..16]));
                found.push(format!("<<<{}", &rest[16..]));
            }
            (None, None) => found.push(line.to_owned()),
            (Some(end), _) if end == line => open = None,
            (Some(_), _) => {}
        }
    }
    assert_eq!(open, None, "every fence is closed");
    found.join("\n")
}

pub(crate) fn headings(page: &str) -> String {
    bare(page).lines().filter(|line| line.starts_with('#')).collect::<Vec<_>>().join("\n")
}
