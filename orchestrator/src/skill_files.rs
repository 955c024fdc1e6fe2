use crate::disk::{DiskError, OnDisk};
use skilltune_phases::lint::{File, Files};
use skilltune_phases::material::Body;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

pub fn load(root: &Path) -> Result<Files, DiskError> {
    let name = root.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(root).follow_links(false) {
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_dir() {
            continue;
        }
        let path = entry.path().strip_prefix(root).expect("below").to_string_lossy().into_owned();
        let meta = entry.path().symlink_metadata().on_disk("look at", entry.path())?;
        let body = if meta.is_symlink() {
            Body::Link {
                target: fs::read_link(entry.path())
                    .on_disk("read", entry.path())?
                    .to_string_lossy()
                    .into_owned(),
            }
        } else if meta.len() > 1 << 20 {
            Body::Large { bytes: meta.len() }
        } else {
            match String::from_utf8(fs::read(entry.path()).on_disk("read", entry.path())?) {
                Ok(t) => Body::Text(t),
                Err(e) => Body::Binary { bytes: e.as_bytes().len() as u64 },
            }
        };
        files.push(File { path, body, executable: meta.permissions().mode() & 0o100 != 0 });
    }
    Ok(Files::new(name, files))
}
