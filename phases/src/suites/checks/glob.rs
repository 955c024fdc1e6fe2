//! Paths with wildcards: `*` is a part of a name, `?` one character, and `**` any folders.

/// The limit of a path and of a glob, in bytes.
const LONGEST: usize = 1000;

/// Returns whether a path matches a glob, in time at most proportional to the product of their lengths.
pub(super) fn is_like(glob: &str, path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    let parts: Vec<&str> = glob.split('/').collect();
    // A match below a folder does not match the folder itself.
    let last = parts.len() - 1;
    if parts[last] == "**" && last > 0 {
        let whole = [&parts[..], &["*"]].concat();
        return wild(&whole, &names, |part| *part == "**", |part, name| is_name_like(part, name));
    }
    wild(&parts, &names, |part| *part == "**", |part, name| is_name_like(part, name))
}

fn is_name_like(part: &str, name: &str) -> bool {
    let (part, name): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
    wild(&part, &name, |sign| *sign == '*', |sign, char| *sign == '?' || sign == char)
}

/// Returns whether a row matches a pattern in which some signs match any number of entries. It only backtracks to the
/// last of these signs, because the matches of earlier ones need not change.
fn wild<P, T>(
    pattern: &[P],
    row: &[T],
    is_any: impl Fn(&P) -> bool,
    is_one: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut again = None;
    while seen < row.len() {
        match pattern.get(at) {
            Some(sign) if is_any(sign) => {
                again = Some((at, seen));
                at += 1;
            }
            Some(sign) if is_one(sign, &row[seen]) => (at, seen) = (at + 1, seen + 1),
            Some(_) | None => {
                let Some((any, from)) = again else { return false };
                again = Some((any, from + 1));
                (at, seen) = (any + 1, from + 1);
            }
        }
    }
    pattern[at..].iter().all(is_any)
}

/// Returns the fault of a glob.
pub(super) fn fault(glob: &str) -> Option<String> {
    if let Some(sign) = glob.chars().find(|sign| "[]{}\\".contains(*sign)) {
        return Some(format!(
            "a path supports only `*`, `?` and `**`, not `{sign}`; `?` matches any character"
        ));
    }
    if glob.split('/').any(|part| part.contains("**") && part != "**") {
        return Some("`**` must be alone between two slashes".to_owned());
    }
    path_fault(glob)
}

/// Returns the fault of a path.
pub(super) fn path_fault(path: &str) -> Option<String> {
    let why = if path.is_empty() {
        "the path is empty"
    } else if path.len() > LONGEST {
        return Some(format!("the path is longer than {LONGEST} bytes"));
    } else if path.contains(char::is_control) {
        "the path contains a control character"
    } else if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        "the path is outside the workspace; write it relative to the workspace, without `..`"
    } else if path.split('/').any(|part| matches!(part, "" | ".")) {
        "the path has an empty part or a `.`"
    } else {
        return None;
    };
    Some(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_in_a_name_and_two_go_through_folders() {
        for (glob, like, unlike) in [
            ("out.md", &["out.md"][..], &["Out.md", "a/out.md", "out.md/a", "out_md"][..]),
            ("*.md", &["a.md", ".md"], &["a/b.md", "a.mdx"]),
            ("a?c", &["abc", "aéc"], &["ac", "abbc", "a/c"]),
            ("**/*.md", &["a.md", "a/b/c.md"], &["a.txt", "a/b.md/c"]),
            ("docs/**", &["docs/a", "docs/a/b"], &["docs", "docs2/a", "a/docs/b"]),
            ("docs/**/index.*", &["docs/index.md", "docs/a/b/index.html"], &["docs/a", "index.md"]),
            ("**", &["a", "a/b"], &[]),
            ("a*b*c", &["abc", "aXbYbZc"], &["abcd", "acb"]),
            ("**/a/**/b", &["a/b", "x/a/y/a/z/b"], &["b", "a/c", "a/b/c"]),
        ] {
            for path in like {
                assert!(is_like(glob, path), "{glob} {path}");
            }
            for path in unlike {
                assert!(!is_like(glob, path), "{glob} {path}");
            }
        }
    }

    #[test]
    fn a_glob_made_to_be_tried_again_and_again_ends_soon() {
        let begun = std::time::Instant::now();
        let (glob, path) = ("*a".repeat(400) + "b", "a".repeat(4000));
        assert!(!is_like(&glob, &path));
        let (glob, path) = ("**/a/".repeat(150) + "b", vec!["a"; 2000].join("/"));
        assert!(!is_like(&glob, &path));
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_glob_that_leaves_the_workspace_or_is_not_understood_is_faulty() {
        for glob in [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a\nb",
            "a\u{0}",
            "*.{md,txt}",
            "[a]",
            "a**",
            "a/**b",
            "\\*",
        ] {
            assert!(fault(glob).is_some(), "{glob:?}");
        }
        assert!(fault(&"a".repeat(1001)).is_some());
        for glob in ["a", "**", "a/**/b*.??", "..a", "a b/é"] {
            assert_eq!(fault(glob), None, "{glob:?}");
        }
    }
}
