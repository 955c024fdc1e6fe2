//! The text of a task, where it is not on the command line.

use std::io::{self, Read as _};
use std::path::Path;

use skilltune_orchestrator::disk;

use crate::terminal::complaint::Complaint;

/// A longer task is a mistake, such as a binary file.
const LONGEST: u64 = 1 << 20;

pub fn read_file(path: &Path) -> Result<String, Complaint> {
    let refused = |error: io::Error| {
        Complaint::input(format!("cannot read the task from {}", path.display())).caused_by(error)
    };
    read(disk::open(path).map_err(refused)?).map_err(refused)
}

pub fn read_stdin() -> Result<String, Complaint> {
    read(io::stdin().lock())
        .map_err(|error| Complaint::input("cannot read the task from stdin").caused_by(error))
}

fn read(from: impl io::Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}
