//! The pages about a project: its own, if any, and those that the user adds; a few pages, read as data.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use skilltune_orchestrator::disk;
use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::base::id::TreeId;

use crate::terminal::complaint::{Complaint, ours};

const PAGES: [&str; 3] = ["DESCRIPTION.md", "ARCHITECTURE.md", "RULES.md"];
/// The folder where the original keeps them; otherwise they are looked for in the project itself.
const FOLDER: &str = ".ai-factory";
/// The largest page that is read.
const LARGEST: u64 = 1 << 20;

/// Returns the pages that exist. The user's pages replace others of the same name. Symlinks and other non-files are
/// skipped: a repository does not choose what an agent is shown.
pub fn pages(project: &Path, named: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let own = project.join(FOLDER);
    let own = fs::symlink_metadata(&own).is_ok_and(|meta| meta.is_dir()).then_some(own);
    let folders = [own.as_deref(), Some(project)];
    let page = |name: &'static str| {
        let found = folders.into_iter().flatten().find_map(|folder| read(&folder.join(name)));
        found.map(|text| (name.to_owned(), text))
    };
    let own =
        PAGES.into_iter().filter_map(page).filter(|(name, _)| !named.iter().any(|(other, _)| other == name));
    own.chain(named.iter().cloned()).collect()
}

/// Reads a page that the user has named, under its own name.
pub fn named(path: &Path) -> Result<(String, Vec<u8>), Complaint> {
    let refused = |why: &str| Complaint::input(format!("cannot read the page {}: {why}", path.display()));
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| refused("it has no valid file name"))?;
    let text = disk::read(path, LARGEST).map_err(|error| refused("it cannot be opened").caused_by(error))?;
    Ok((name.to_owned(), text))
}

/// Stores the pages as a folder; returns `None` if there are none.
pub fn store(objects: &Objects, pages: &[(String, Vec<u8>)]) -> Result<Option<TreeId>, Complaint> {
    if pages.is_empty() {
        return Ok(None);
    }
    let files: Vec<_> = pages.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    objects.put_files(&files).map(Some).map_err(ours)
}

/// Opens the file without waiting, because a pipe would never answer.
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
        assert_eq!(pages(project.path(), &[]), []);
        fs::create_dir(at(FOLDER)).unwrap();
        fs::write(at("RULES.md"), "of the project").unwrap();
        fs::write(at(".ai-factory/RULES.md"), "of the loop").unwrap();
        fs::write(at("ARCHITECTURE.md"), "floors").unwrap();
        symlink("/etc/passwd", at(".ai-factory/DESCRIPTION.md")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("DESCRIPTION.md"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        let found = pages(project.path(), &[]);
        let page = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
        assert_eq!(found, [page("ARCHITECTURE.md", "floors"), page("RULES.md", "of the loop")]);
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
        assert_eq!(pages(project.path(), &[]), []);
    }
}
