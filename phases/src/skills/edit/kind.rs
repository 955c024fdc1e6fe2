//! Determines the kinds of an edit from the files before and after it, without asking the improver.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::skills::lint::{self, File, Files};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// The words of a text.
    Wording,
    /// Headings, links between files, and files that were added, removed or renamed.
    Structure,
    /// Executable files.
    Script,
    /// The description in the front matter, by which an agent decides whether to use the skill.
    Description,
}

impl EditKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Wording => "wording",
            Self::Structure => "structure",
            Self::Script => "script",
            Self::Description => "description",
        }
    }
}

/// Returns the kinds of an edit, each once and in a fixed order.
pub fn kinds(before: &Files, after: &Files) -> Vec<EditKind> {
    let mut kinds = BTreeSet::new();
    let paths: BTreeSet<&str> =
        before.files().iter().chain(after.files()).map(|file| file.path.as_str()).collect();
    for path in paths {
        match (before.get(path), after.get(path)) {
            (Some(old), Some(new)) if old != new => changed(old, new, &mut kinds),
            (Some(one), None) | (None, Some(one)) => {
                kinds.insert(EditKind::Structure);
                kinds.extend(lint::is_script(one).then_some(EditKind::Script));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
    if kinds.is_empty() {
        kinds.insert(EditKind::Wording);
    }
    kinds.into_iter().collect()
}

fn changed(old: &File, new: &File, kinds: &mut BTreeSet<EditKind>) {
    if lint::is_script(old) || lint::is_script(new) {
        kinds.insert(EditKind::Script);
        return;
    }
    let (Some(old), Some(new)) = (lint::outline(old), lint::outline(new)) else {
        kinds.insert(EditKind::Wording);
        return;
    };
    let differ = [
        (EditKind::Description, old.description != new.description),
        (EditKind::Structure, old.headings != new.headings || old.links != new.links),
        (EditKind::Wording, old.words != new.words),
    ];
    kinds.extend(differ.into_iter().filter(|(_, differ)| *differ).map(|(kind, _)| kind));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::material::Body;

    const PAGE: &str = "---\nname: a\ndescription: Does it.\n---\n# Steps\n\nRead [more](more.md).\n";
    const MORE: &str = "# More\n\nDo it well.\n";
    const RUN: &str = "#!/bin/sh\necho 1\n";

    fn skill(files: &[(&str, &str)]) -> Files {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).into(),
            body: Body::Text((*text).into()),
            executable: text.starts_with("#!"),
        };
        Files::new("a", files.iter().map(file))
    }

    fn of(after: &[(&str, &str)]) -> String {
        let before = skill(&[("SKILL.md", PAGE), ("more.md", MORE), ("run.sh", RUN)]);
        let kinds = kinds(&before, &skill(after));
        kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn an_edit_is_of_the_kinds_that_its_files_show() {
        let page = |from: &str, to: &str| {
            let page = PAGE.replace(from, to);
            assert_ne!(page, PAGE);
            of(&[("SKILL.md", &page), ("more.md", MORE), ("run.sh", RUN)])
        };
        assert_eq!(page("Read", "First read"), "wording");
        assert_eq!(page("# Steps", "# What to do"), "structure");
        assert_eq!(page("# Steps", "## Steps"), "structure");
        assert_eq!(page("Does it.", "Does it, and says so."), "description");
        assert_eq!(page("(more.md)", "(./more.md)"), "wording, structure");
        assert_eq!(page("# Steps\n\nRead", "# Two\n\nNow read"), "wording, structure");
    }

    #[test]
    fn files_that_come_and_go_are_structure_and_programs_are_scripts() {
        let (page, more) = (("SKILL.md", PAGE), ("more.md", MORE));
        assert_eq!(of(&[page, ("run.sh", RUN)]), "structure");
        assert_eq!(of(&[page, ("less.md", MORE), ("run.sh", RUN)]), "structure");
        assert_eq!(of(&[page, more, ("run.sh", "#!/bin/sh\necho 2\n")]), "script");
        assert_eq!(of(&[page, more]), "structure, script");
        assert_eq!(of(&[page, more, ("run.sh", RUN), ("scripts/a.py", "print(1)")]), "structure, script");
        assert_eq!(of(&[page, more, ("run.sh", RUN), ("data.json", "{}")]), "structure");
    }

    #[test]
    fn a_page_that_no_agent_could_read_is_compared_by_its_words() {
        let broken = "---\nname: a\ndescription: [\n---\n# Steps\n\nRead [more](more.md).\n";
        assert_eq!(of(&[("SKILL.md", broken), ("more.md", MORE), ("run.sh", RUN)]), "wording, description");
    }
}
