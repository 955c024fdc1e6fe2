//! The real Git LFS, installed for all repositories of a person.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::assert_proposed;
use super::repository::{BRANCH, Repository};

/// Returns the system's git-lfs, or the one that `tests/programs` fetched.
fn git_lfs() -> Option<PathBuf> {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/agents/git-lfs/usr/bin/git-lfs");
    let systems = ["/usr/local/bin/git-lfs", "/usr/bin/git-lfs"].map(PathBuf::from);
    let found = systems.into_iter().chain([fetched]).find_map(|path| path.canonicalize().ok());
    if found.is_none() {
        // Bypasses the test harness, which hides the output of a passing test.
        let _ = writeln!(io::stderr(), "SKIPPED: no git-lfs; tests/programs fetches one");
    }
    found
}

#[test]
fn a_file_that_lfs_tracks_is_committed_as_a_pointer_and_its_content_is_stored() {
    let Some(program) = git_lfs() else { return };
    let program = program.display();
    for filter in [format!("process = {program} filter-process"), format!("clean = {program} clean -- %f")] {
        let repository = Repository::uncommitted();
        let smudge = format!("smudge = {program} smudge -- %f");
        repository.add_to_home(&format!("[filter \"lfs\"]\n\t{smudge}\n\t{filter}\n\trequired = true\n"));
        fs::write(repository.path(".gitattributes"), "*.md filter=lfs diff=lfs merge=lfs -text\n").unwrap();
        repository.commit("Add the skill");
        repository.tuned();
        assert_proposed(&repository, "branch");
        let pointer = repository.page(BRANCH);
        assert!(pointer.starts_with("version https://git-lfs.github.com/spec/v1\n"), "{filter}: {pointer}");
        let id =
            pointer.lines().find_map(|line| line.strip_prefix("oid sha256:")).expect("a pointer has an id");
        let stored = format!(".git/lfs/objects/{}/{}/{id}", &id[..2], &id[2..4]);
        let content = fs::read_to_string(repository.path(&stored)).unwrap();
        assert!(content.contains("Quality: 90"), "{filter}: {content}");

        repository.git(&["merge", "--quiet", BRANCH]);
        assert_eq!(repository.scene.quality("writer"), 90, "{filter}: it can be taken");
    }
}
