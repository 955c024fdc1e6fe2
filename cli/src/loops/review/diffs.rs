//! The diffs that reviewers read: one a changed file, in parts that fit a prompt. Files that programs write are
//! left out by name.

use skilltune_orchestrator::git::{ChangeSet, Content, FileChange, Kind, link_text};
use skilltune_orchestrator::snapshot::{LineChanges, RelPath, line_diff};
use skilltune_phases::base::json::is_hidden;
use skilltune_phases::loops::review::task::{Changed, LeftOut};
use skilltune_phases::skills::keys::HIDDEN;
use skilltune_phases::skills::lint;

/// The diffs of one call have at most about this many bytes.
const PART: usize = 40 << 10;
/// A larger text was not written by hand.
const LARGEST: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
pub struct Diffs {
    /// The name and the text of each diff. A name is a number, whatever the file is called.
    pub texts: Vec<(String, String)>,
    pub parts: Vec<Vec<Box<str>>>,
    pub changed: Vec<Changed>,
    pub left_out: Vec<LeftOut>,
}

impl Diffs {
    pub fn of(changes: &ChangeSet) -> Self {
        let mut diffs = Self::default();
        for file in &changes.files {
            diffs.add(file);
        }
        let inner =
            |path: &RelPath| LeftOut { path: path.to_string().into(), why: "another repository".into() };
        diffs.left_out.extend(changes.submodules.iter().map(inner));
        diffs.divide();
        diffs
    }

    fn add(&mut self, file: &FileChange) {
        let path = file.path.to_string();
        let [before, after] = [&file.before, &file.after].map(|side| text(side.as_ref()));
        let readable = before.as_deref().zip(after.as_deref());
        let (text, lines) = readable.map(|(before, after)| line_diff(before, after)).unzip();
        // Without a diff, every line may be a changed one.
        let all =
            || LineChanges { added: vec![(1, u32::MAX)], removed: vec![(1, u32::MAX)], gaps: Vec::new() };
        let LineChanges { added, removed, gaps } = lines.unwrap_or_else(all);
        let mut diffs = Vec::new();
        match (left_out(&path, file), text) {
            (None, Some(text)) => {
                for piece in pieces(&heading(file, &path), &lint::without_keys(&text, HIDDEN)) {
                    let name = format!("{:04}.diff", self.texts.len() + 1);
                    diffs.push(name.as_str().into());
                    self.texts.push((name, piece));
                }
            }
            (why, _) => {
                let why = why.unwrap_or("not text, or too large");
                self.left_out.push(LeftOut { path: path.as_str().into(), why: why.into() });
            }
        }
        let is_removed = file.after.is_none();
        self.changed.push(Changed { path: path.into(), added, removed, gaps, diffs, is_removed });
    }

    /// Divides the diffs into parts: the files of a part follow each other.
    fn divide(&mut self) {
        let mut room = 0;
        for (name, text) in &self.texts {
            if text.len() > room || self.parts.is_empty() {
                self.parts.push(Vec::new());
                room = PART;
            }
            self.parts.last_mut().expect("one was just made").push(name.as_str().into());
            room = room.saturating_sub(text.len());
        }
    }
}

/// Returns the text of a side, empty if the side is missing.
fn text(side: Option<&Content>) -> Option<String> {
    match side {
        None => Some(String::new()),
        Some(content) if content.bytes.len() > LARGEST => None,
        Some(content) => match content.kind {
            Kind::File { .. } => content.text().map(str::to_owned),
            Kind::Link => Some(link_text(&content.bytes)),
        },
    }
}

fn heading(file: &FileChange, path: &str) -> String {
    let mode = |side: &Option<Content>| match side.as_ref().map(|content| content.kind) {
        Some(Kind::File { mode }) => Some(mode & 0o111 != 0),
        Some(Kind::Link) | None => None,
    };
    let runs = match (mode(&file.before), mode(&file.after)) {
        (Some(false) | None, Some(true)) => " (now executable)",
        _ => "",
    };
    // Git writes `a/` and `b/` before the names, which agents would take for folders.
    let side = |side: &Option<Content>| if side.is_some() { path } else { "/dev/null" };
    format!("--- {}\n+++ {}{runs}\n", side(&file.before), side(&file.after))
}

/// Cuts a long diff at its lines.
fn pieces(heading: &str, text: &str) -> Vec<String> {
    let mut pieces = vec![heading.to_owned()];
    for line in text.split_inclusive('\n') {
        let last = pieces.last_mut().expect("there is one from the start");
        if last.len() + line.len() > PART && last.len() > heading.len() {
            pieces.push(format!("{heading}(continued)\n{line}"));
        } else {
            last.push_str(line);
        }
    }
    pieces
}

/// Returns why no reviewer gets a file. What the change itself says of a file does not count.
fn left_out(path: &str, file: &FileChange) -> Option<&'static str> {
    const LOCKS: [&str; 9] = [
        "Cargo.lock",
        "package-lock.json",
        "pnpm-lock.yaml",
        "yarn.lock",
        "bun.lock",
        "go.sum",
        "poetry.lock",
        "uv.lock",
        "Gemfile.lock",
    ];
    const VENDORED: [&str; 4] = ["vendor", "node_modules", "third_party", "bower_components"];
    const BUILT: [&str; 4] = [".min.js", ".min.css", ".map", ".snap"];
    let mut folders = path.split('/');
    let name = folders.next_back().unwrap_or_default();
    // Of an odd name, `path` has another spelling.
    let name_itself = std::str::from_utf8(file.path.as_bytes());
    if !name_itself.is_ok_and(|path| !path.contains(|c: char| is_hidden(c) || matches!(c, '\n' | '\t'))) {
        Some("its name is not plain text")
    } else if LOCKS.contains(&name) {
        Some("a lock file")
    } else if folders.any(|folder| VENDORED.contains(&folder)) {
        Some("vendored")
    } else if BUILT.iter().any(|end| name.ends_with(end)) || file.before.as_ref().is_some_and(says_generated)
    {
        Some("generated")
    } else {
        None
    }
}

/// Whether a file says at its top that a program writes it.
fn says_generated(content: &Content) -> bool {
    let head = String::from_utf8_lossy(&content.bytes[..content.bytes.len().min(1_000)]).into_owned();
    let mut lines = head.lines().take(10);
    lines.any(|line| {
        line.contains("@generated") || (line.contains("generated") && line.contains("DO NOT EDIT"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
        let side = |text: &str| Content { bytes: text.into(), kind: Kind::File { mode: 0o644 } };
        FileChange {
            path: RelPath::parse(path.as_bytes()).unwrap(),
            before: before.map(side),
            after: after.map(side),
        }
    }

    fn diffs(files: Vec<FileChange>) -> Diffs {
        Diffs::of(&ChangeSet { files, ..ChangeSet::default() })
    }

    #[test]
    fn a_diff_names_its_file_and_its_lines() {
        let diffs = diffs(vec![file("src/a.rs", Some("one\ntwo\nthree\n"), Some("one\n2\nthree\nfour\n"))]);
        assert!(
            diffs.texts[0].1.starts_with("--- src/a.rs\n+++ src/a.rs\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n")
        );
        let Changed { added, removed, gaps, .. } = &diffs.changed[0];
        assert_eq!(
            (added.as_slice(), removed.as_slice(), gaps.as_slice()),
            (&[(2, 2), (4, 4)][..], &[(2, 2)][..], &[][..])
        );
        assert_eq!(diffs.parts, [vec!["0001.diff".into()]]);
    }

    #[test]
    fn a_large_change_is_cut_by_file_and_a_large_file_by_lines() {
        let long = "some line of text\n".repeat(5_000);
        let diffs = diffs(vec![
            file("a", None, Some("x\n")),
            file("b", None, Some(&long)),
            file("c", None, Some("y\n")),
        ]);
        let parts: Vec<Vec<&str>> =
            diffs.parts.iter().map(|part| part.iter().map(AsRef::as_ref).collect()).collect();
        assert_eq!(
            parts,
            [vec!["0001.diff"], vec!["0002.diff"], vec!["0003.diff"], vec!["0004.diff", "0005.diff"]]
        );
        assert!(diffs.texts.iter().all(|(_, text)| text.len() <= PART + 100));
    }

    #[test]
    fn files_that_nobody_writes_are_left_out_but_a_change_cannot_say_so_itself() {
        let generated = "// Code generated by x. DO NOT EDIT.\n";
        let diffs = diffs(vec![
            file("Cargo.lock", Some("a"), Some("b")),
            file("vendor/x.js", None, Some("b")),
            file("was.rs", Some(generated), Some("b")),
            file("new.rs", None, Some(generated)),
            file("bin", None, Some("\0")),
            file("new\nline", None, Some("b")),
            file("bi\u{202e}di", None, Some("b")),
        ]);
        let why: Vec<(&str, &str)> = diffs.left_out.iter().map(|one| (&*one.path, &*one.why)).collect();
        let expected = [
            ("Cargo.lock", "a lock file"),
            ("vendor/x.js", "vendored"),
            ("was.rs", "generated"),
            ("bin", "not text, or too large"),
            ("new\\nline", "its name is not plain text"),
            ("bi\\u{202e}di", "its name is not plain text"),
        ];
        assert_eq!(why, expected);
        assert_eq!(diffs.texts.len(), 1);
        assert_eq!(diffs.changed[4].added, [(1, u32::MAX)], "a fault in it is no older one");
    }
}
