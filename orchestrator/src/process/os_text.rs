//! Paths and arguments in JSON: text if they are UTF-8, otherwise bytes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OsText {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<OsText> for OsString {
    fn from(text: OsText) -> Self {
        match text {
            OsText::Text(text) => text.into(),
            OsText::Bytes(bytes) => Self::from_vec(bytes),
        }
    }
}

/// Serializes without a copy; `OsText` reads it.
struct Borrowed<'a>(&'a OsStr);

impl Serialize for Borrowed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => to.serialize_str(text),
            None => self.0.as_bytes().serialize(to),
        }
    }
}

pub(super) mod path {
    use super::{Borrowed, Deserialize, Deserializer, OsString, OsText, Serialize, Serializer};
    use std::path::{Path, PathBuf};

    pub(in super::super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        Borrowed(path.as_os_str()).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        OsText::deserialize(from).map(|text| OsString::from(text).into())
    }
}

pub(super) mod maybe_path {
    use super::{Borrowed, Deserialize, Deserializer, OsString, OsText, Serialize, Serializer};
    use std::path::PathBuf;

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(in super::super) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| Borrowed(path.as_os_str())).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let text = Option::<OsText>::deserialize(from)?;
        Ok(text.map(|text| OsString::from(text).into()))
    }
}

pub(super) mod list {
    use super::{Borrowed, Deserialize, Deserializer, OsString, OsText, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(list: &[OsString], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(list.iter().map(|item| Borrowed(item)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<OsString>, D::Error> {
        let list = Vec::<OsText>::deserialize(from)?;
        Ok(list.into_iter().map(OsString::from).collect())
    }
}
