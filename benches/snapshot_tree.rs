//! Skills to measure, the same in every run, and the floor: the cost of reading metadata and contents without storing
//! anything.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The number of files in a folder.
const NEIGHBOURS: usize = 100;
const WORDS: [&str; 16] = [
    "the", "skill", "reads", "a", "file", "and", "writes", "what", "it", "found", "when", "asked", "to",
    "check", "every", "step",
];

pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    files: Vec<PathBuf>,
}

impl Tree {
    /// Creates files with text that no two of them share.
    pub(crate) fn grow(root: PathBuf, files: usize, bytes: usize) -> Result<Self> {
        let mut tree = Self { root, files: Vec::new() };
        for nth in 0..files {
            let folder = tree.root.join(format!("references/part-{:03}", nth / NEIGHBOURS));
            fs::create_dir_all(&folder)?;
            let path = folder.join(format!("page-{nth:05}.md"));
            fs::write(&path, page(nth, bytes)?)?;
            tree.files.push(path);
        }
        Ok(tree)
    }

    /// Changes one file, differently in each round.
    pub(crate) fn edit(&self, round: usize) -> Result<()> {
        let path = &self.files[self.files.len() / 2];
        let mut bytes = fs::read(path)?;
        let middle = bytes.len() / 2;
        bytes.splice(middle..middle, format!("\nEdited in round {round}.\n").into_bytes());
        Ok(fs::write(path, bytes)?)
    }

    /// Visits every entry and counts them, as cheaply as possible.
    pub(crate) fn look(&self) -> Result<u64> {
        look(&rustix::fs::open(&self.root, FOLDER, Mode::empty())?)
    }

    /// Reads every byte.
    pub(crate) fn hash(&self) -> Result<blake3::Hash> {
        let mut all = blake3::Hasher::new();
        for path in &self.files {
            all.update(blake3::hash(&fs::read(path)?).as_bytes());
        }
        Ok(all.finalize())
    }
}

fn look(folder: &OwnedFd) -> Result<u64> {
    let (mut seen, mut below) = (0, Vec::new());
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        seen += 1;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            below.push(name.to_owned());
        }
    }
    for name in below {
        seen += look(&rustix::fs::openat(folder, &name, FOLDER, Mode::empty())?)?;
    }
    Ok(seen)
}

fn page(nth: usize, bytes: usize) -> Result<String> {
    let mut text = format!("# Page {nth}\n\n");
    let mut state = u64::try_from(nth)?.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while text.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        for shift in 0..12 {
            let word = WORDS[usize::try_from(state >> (shift * 4) & 15)?];
            write!(text, "{word} ")?;
        }
        writeln!(text, "{:x}", state >> 48)?;
    }
    text.truncate(bytes);
    Ok(text)
}
