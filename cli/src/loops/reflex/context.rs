//! What a project says of itself, where it does: three pages, read as data.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::id::TreeId;

use crate::terminal::complaint::{Complaint, ours};

const PAGES: [&str; 3] = ["DESCRIPTION.md", "ARCHITECTURE.md", "RULES.md"];
/// Where the original keeps them; else they are looked for in the project itself.
const FOLDER: &str = ".ai-factory";
/// More than this is no page.
const LARGEST: u64 = 1 << 20;

/// The pages that are there. What is a link or no file is none: a repository does not choose what an agent is shown.
pub fn pages(project: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let own = project.join(FOLDER);
    let own = fs::symlink_metadata(&own).is_ok_and(|meta| meta.is_dir()).then_some(own);
    let folders = [own.as_deref(), Some(project)];
    let page = |name: &'static str| {
        let found = folders.into_iter().flatten().find_map(|folder| read(&folder.join(name)));
        found.map(|text| (name, text))
    };
    PAGES.into_iter().filter_map(page).collect()
}

/// The pages as a stored folder; none where there are none.
pub fn store(objects: &Objects, pages: &[(&str, Vec<u8>)]) -> Result<Option<TreeId>, Complaint> {
    if pages.is_empty() {
        return Ok(None);
    }
    let files: Vec<_> = pages.iter().map(|(name, text)| (*name, text.as_slice())).collect();
    objects.put_files(&files).map(Some).map_err(ours)
}

/// Opened without waiting, for a pipe would never answer.
fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let is_page = file.metadata().is_ok_and(|meta| meta.is_file() && (1..=LARGEST).contains(&meta.len()));
    let mut text = Vec::new();
    file.take(LARGEST).read_to_end(&mut text).ok().filter(|_| is_page)?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn pages_are_read_where_they_are_and_links_and_pipes_are_none() {
        let project = TempDir::new().unwrap();
        let at = |name: &str| project.path().join(name);
        assert_eq!(pages(project.path()), []);
        fs::create_dir(at(FOLDER)).unwrap();
        fs::write(at("RULES.md"), "of the project").unwrap();
        fs::write(at(".ai-factory/RULES.md"), "of the loop").unwrap();
        fs::write(at("ARCHITECTURE.md"), "floors").unwrap();
        symlink("/etc/passwd", at(".ai-factory/DESCRIPTION.md")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("DESCRIPTION.md"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        let found = pages(project.path());
        assert_eq!(found, [("ARCHITECTURE.md", b"floors".to_vec()), ("RULES.md", b"of the loop".to_vec())]);
        let objects = Objects::at(at("objects"));
        fs::create_dir(at("objects")).unwrap();
        assert!(store(&objects, &found).unwrap().is_some_and(|tree| objects.contains_tree(tree)));
        assert_eq!(store(&objects, &[]).unwrap(), None);
    }

    #[test]
    fn a_folder_of_the_loop_that_is_a_link_is_not_gone_through() {
        let (project, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        fs::write(elsewhere.path().join("RULES.md"), "secret").unwrap();
        symlink(elsewhere.path(), project.path().join(FOLDER)).unwrap();
        assert_eq!(pages(project.path()), []);
    }
}
