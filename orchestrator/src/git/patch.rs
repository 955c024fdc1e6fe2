//! The patch of a proposal: a file that `git am` takes.

use crate::crash;
use crate::disk::SafePath;
use crate::disk::atomic::Durability;

use super::error::ProposeError;
use super::repository::Repository;
use super::runner::Command;

/// Produces a plain patch, whatever the configuration sets for patches.
const OPTIONS: [&str; 23] = [
    "--stdout",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-cover-letter",
    "--no-base",
    "--unified=3",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--no-attach",
    "--no-thread",
    "--no-signoff",
    "--no-signature",
    "--no-notes",
    "--no-to",
    "--no-cc",
    "--no-add-header",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--subject-prefix=PATCH",
    "-O/dev/null",
];

/// The largest size of a skill.
const MOST: u64 = 256 << 20;

pub(super) fn write(repository: &Repository<'_>, commit: &str, to: &SafePath) -> Result<(), ProposeError> {
    let arguments = ["format-patch"].into_iter().chain(OPTIONS).chain(["-1", commit]);
    let patch = repository.git.run(Command::new(arguments).most(MOST))?;
    let points = ["proposal: before the patch is written", "proposal: after the patch is written"];
    Ok(crash::around(points, || to.replace(&patch, Durability::Barrier))?)
}
