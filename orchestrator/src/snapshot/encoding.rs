//! The text of a manifest: one line an entry, every byte printable.
//!
//! ```text
//! skilltune manifest 1
//! folder 0755 docs
//! file 0644 5 <64 hex digits> docs/a\20b
//! link ../x docs/c
//! ```

use skilltune_phases::id::BlobId;

use super::manifest::{Entry, ManifestError, Node};
use super::path::RelPath;

const VERSION: &[u8] = b"skilltune manifest 1\n";

pub(super) fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut text = VERSION.to_vec();
    for Entry { path, node } in entries {
        match node {
            Node::File { blob, size, mode } => {
                text.extend_from_slice(format!("file {mode:04o} {size} {blob} ").as_bytes());
            }
            Node::Folder { mode } => text.extend_from_slice(format!("folder {mode:04o} ").as_bytes()),
            Node::Link { target } => {
                text.extend_from_slice(b"link ");
                escape(target, &mut text);
                text.push(b' ');
            }
        }
        escape(path.as_bytes(), &mut text);
        text.push(b'\n');
    }
    text
}

/// Reads the entries as they come; that they are canonical is for the manifest to check.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<Entry>, ManifestError> {
    let body = bytes.strip_prefix(VERSION).ok_or(ManifestError::Version)?;
    let body = std::str::from_utf8(body).map_err(|_| ManifestError::NotCanonical)?;
    let lines = body.lines().enumerate();
    lines.map(|(at, line)| entry(line).ok_or(ManifestError::Line(at + 2))).collect()
}

fn entry(line: &str) -> Option<Entry> {
    let fields: Vec<&str> = line.split(' ').collect();
    let (node, path) = match fields[..] {
        ["file", mode, size, blob, path] => {
            let blob = BlobId(blob.parse().ok()?);
            (Node::File { blob, size: size.parse().ok()?, mode: octal(mode)? }, path)
        }
        ["folder", mode, path] => (Node::Folder { mode: octal(mode)? }, path),
        ["link", target, path] => (Node::Link { target: unescape(target)? }, path),
        _ => return None,
    };
    Some(Entry { path: RelPath::parse(&unescape(path)?).ok()?, node })
}

fn octal(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok()
}

fn escape(bytes: &[u8], text: &mut Vec<u8>) {
    for &byte in bytes {
        if byte.is_ascii_graphic() && byte != b'\\' {
            text.push(byte);
        } else {
            text.extend_from_slice(format!("\\{byte:02x}").as_bytes());
        }
    }
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (hex, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes)
}
