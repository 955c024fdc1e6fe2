//! The text of a manifest: one line per entry, every byte printable.
//!
//! ```text
//! skilltune manifest 1
//! folder 0755 docs
//! file 0644 5 <64 hex digits> docs/a\20b
//! link ../x docs/c
//! ```

use std::borrow::Cow;

use skilltune_phases::base::id::{BlobId, Digest, TreeId};

use super::manifest::{Entry, Manifest, ManifestError, Node};
use super::path::RelPath;

pub(super) const VERSION: &[u8] = b"skilltune manifest 1\n";
/// The approximate length of a line.
const USUAL: usize = 120;
const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl Manifest {
    pub fn tree(&self) -> TreeId {
        TreeId(Digest::of(&self.encode()))
    }

    pub fn encode(&self) -> Vec<u8> {
        encode(&self.entries)
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        let manifest = Self { entries: decode(bytes)?.into() };
        manifest.check()?;
        if manifest.encode() == bytes { Ok(manifest) } else { Err(ManifestError::NotCanonical) }
    }
}

fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut text = Vec::with_capacity(VERSION.len() + entries.len() * USUAL);
    text.extend_from_slice(VERSION);
    for Entry { path, node } in entries {
        match node {
            Node::File { blob, size, mode } => {
                text.extend_from_slice(b"file ");
                put_octal(*mode, &mut text);
                put_number(*size, &mut text);
                put_hex(blob.0.as_bytes(), &mut text);
                text.push(b' ');
            }
            Node::Folder { mode } => {
                text.extend_from_slice(b"folder ");
                put_octal(*mode, &mut text);
            }
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

/// Reads the entries in their order; `Manifest` checks that they are canonical.
fn decode(bytes: &[u8]) -> Result<Vec<Entry>, ManifestError> {
    let body = bytes.strip_prefix(VERSION).ok_or(ManifestError::Version)?;
    let body = std::str::from_utf8(body).map_err(|_| ManifestError::NotCanonical)?;
    let lines = body.lines().enumerate();
    lines.map(|(at, line)| entry(line).ok_or(ManifestError::Line(at + 2))).collect()
}

fn entry(line: &str) -> Option<Entry> {
    let mut fields = line.split(' ');
    let mut next = || fields.next();
    let node = match next()? {
        "file" => {
            let (mode, size) = (octal(next()?)?, next()?.parse().ok()?);
            Node::File { mode, size, blob: BlobId(digest(next()?)?) }
        }
        "folder" => Node::Folder { mode: octal(next()?)? },
        "link" => Node::Link { target: unescape(next()?)?.into_owned() },
        _ => return None,
    };
    let path = RelPath::parse(&unescape(next()?)?).ok()?;
    next().is_none().then_some(Entry { path, node })
}

// By hand, because a manifest has many numbers: formatting and parsing them costs more than everything else.

fn put_octal(mode: u32, text: &mut Vec<u8>) {
    text.extend([9, 6, 3, 0].map(|shift| DIGITS[(mode >> shift & 7) as usize]));
    text.push(b' ');
}

fn put_number(mut number: u64, text: &mut Vec<u8>) {
    let mut digits = [b' '; 21];
    let mut at = digits.len() - 1;
    loop {
        at -= 1;
        digits[at] = DIGITS[(number % 10) as usize];
        number /= 10;
        if number == 0 {
            return text.extend_from_slice(&digits[at..]);
        }
    }
}

fn put_hex(bytes: &[u8; 32], text: &mut Vec<u8>) {
    let mut digits = [0; 64];
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = hex(*byte);
    }
    text.extend_from_slice(&digits);
}

fn hex(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)])
}

fn digest(text: &str) -> Option<Digest> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let (mut bytes, mut largest) = ([0; 32], 0);
    if pairs.len() != bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|digit| VALUES[usize::from(digit)]);
        *byte = high << 4 | low;
        largest = largest.max(high).max(low);
    }
    (largest < 16).then(|| Digest::from_bytes(bytes))
}

/// The value of each digit, and a larger value for other bytes. A table, because branches on the digits of a hash are
/// unpredictable.
const VALUES: [u8; 256] = {
    let (mut values, mut digit) = ([u8::MAX; 256], 0);
    while digit < 16 {
        values[DIGITS[digit as usize] as usize] = digit;
        digit += 1;
    }
    values
};

fn octal(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok()
}

fn escape(bytes: &[u8], text: &mut Vec<u8>) {
    for part in bytes.chunk_by(|one, other| is_plain(*one) && is_plain(*other)) {
        match part {
            &[byte] if !is_plain(byte) => {
                text.push(b'\\');
                text.extend(hex(byte));
            }
            plain => text.extend_from_slice(plain),
        }
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'\\'
}

fn unescape(text: &str) -> Option<Cow<'_, [u8]>> {
    if !text.contains('\\') {
        return Some(text.as_bytes().into());
    }
    let mut parts = text.split('\\');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (hex, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes.into())
}
