//! The files that the engine loads for a prompt: folders of a workspace, with the text of files small enough to show.

/// A larger text is only in the workspace; a prompt names its path.
pub const LARGEST_SHOWN: u64 = 48 << 10;
/// A prompt shows at most this much text of one folder.
const MOST_SHOWN: u64 = 384 << 10;

/// A folder in an agent's workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Its path within the workspace, such as `skill/writer`.
    pub at: String,
    /// The files in the order in which prompts show them.
    pub files: Vec<Material>,
}

impl Folder {
    /// Returns the folder without the texts that a prompt has no room for. The needed files get room first; a long license
    /// or lock file is shown only if it is needed.
    pub(crate) fn fitted(&self, is_needed: impl Fn(&str) -> bool) -> Self {
        let (mut fitted, mut room) = (self.clone(), MOST_SHOWN);
        for needed in [true, false] {
            for file in &mut fitted.files {
                let Body::Text(text) = &file.body else { continue };
                if is_needed(&file.path) != needed {
                    continue;
                }
                let bytes = text.len() as u64;
                if bytes > room || (!needed && is_bystander(&file.path, bytes)) {
                    file.body = Body::Large { bytes };
                } else {
                    room -= bytes;
                }
            }
        }
        fitted
    }
}

/// Returns whether a file is long and no judge or improver has to read it: a license or a lock file.
fn is_bystander(path: &str, bytes: u64) -> bool {
    const LONG: u64 = 2 << 10;
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_legal = ["licence", "license", "copying", "notice"].iter().any(|word| name.starts_with(word));
    let is_lock = [".lock", "-lock.json", "-lock.yaml"].iter().any(|end| name.ends_with(end));
    bytes > LONG && (is_legal || is_lock)
}

/// One file of a folder, by its path within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    pub path: String,
    pub body: Body,
}

/// The part of a file that a prompt can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Text(String),
    /// A text that a prompt does not show: it is too large, or there is no room for it.
    Large {
        bytes: u64,
    },
    Binary {
        bytes: u64,
    },
    Link {
        target: String,
    },
}

/// The folders of a workspace, by their path in it.
#[derive(Clone, Debug, Default)]
pub struct Folders(Vec<Folder>);

impl Folders {
    pub fn find(&self, at: &str) -> Option<&Folder> {
        self.0.iter().find(|folder| folder.at == at)
    }

    /// Returns a folder that the order itself has placed.
    pub fn placed(&self, at: &str) -> &Folder {
        self.find(at).expect("the engine loads each folder of an order")
    }
}

impl FromIterator<Folder> for Folders {
    fn from_iter<I: IntoIterator<Item = Folder>>(folders: I) -> Self {
        Self(folders.into_iter().collect())
    }
}

/// A folder that belongs to a member of the chain.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    pub name: &'a str,
    pub folder: &'a Folder,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths of the files that a prompt shows.
    fn shown(files: &[(&str, usize)], needed: &str) -> Vec<String> {
        let file = |(path, bytes): &(&str, usize)| Material {
            path: (*path).to_owned(),
            body: Body::Text("x".repeat(*bytes)),
        };
        let folder = Folder { at: "skill".to_owned(), files: files.iter().map(file).collect() };
        let fitted = folder.fitted(|path| path == needed).files;
        let shown = fitted.into_iter().filter(|file| matches!(file.body, Body::Text(_)));
        shown.map(|file| file.path).collect()
    }

    #[test]
    fn licences_and_locks_are_named_unless_they_are_needed_and_everything_else_is_shown() {
        let files = [
            ("COPYING", 3000),
            ("SKILL.md", 3000),
            ("a/LICENSE.txt", 3000),
            ("a/NOTICE", 5),
            ("licences-of-animals.md", 5),
            ("package-lock.json", 3000),
        ];
        assert_eq!(shown(&files, ""), ["SKILL.md", "a/NOTICE", "licences-of-animals.md"]);
        assert_eq!(shown(&files, "COPYING"), ["COPYING", "SKILL.md", "a/NOTICE", "licences-of-animals.md"]);
    }

    #[test]
    fn a_needed_file_is_shown_even_if_files_before_it_fill_the_prompt() {
        let files = ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map(|path| (path, 48 << 10));
        assert_eq!(shown(&files, ""), ["a", "b", "c", "d", "e", "f", "g", "h"]);
        assert_eq!(shown(&files, "i"), ["a", "b", "c", "d", "e", "f", "g", "i"]);
    }
}
