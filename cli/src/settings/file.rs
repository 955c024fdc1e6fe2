//! One settings file, read key by key, so that every mistake has its line and its key.

use std::io;
use std::path::{Path, PathBuf};

use skilltune_orchestrator::disk;
use skilltune_phases::id::Digest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::error::{SettingsError, Spot};
use crate::settings::origin::Origin;
use crate::settings::setting::described;
use crate::settings::{PRESET, Settings, agents, prices};
use crate::text::nearest::nearest_key;

/// A file of settings, or a suite, as it was when it was read: trust is bound to these very bytes.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// The real path.
    pub path: PathBuf,
    pub digest: Digest,
    text: String,
}

/// Larger than any prompt that a model takes.
const LARGEST: u64 = 8 << 20;

/// A parsed value, and where.
pub type Found<'t> = Spanned<DeValue<'t>>;

/// The file that a value stands in, for complaints.
#[derive(Clone, Copy, Debug)]
pub struct Page<'f> {
    file: &'f SettingsFile,
}

impl SettingsFile {
    /// Nothing, when there is no such file.
    pub fn read(path: &Path) -> Result<Option<Self>, SettingsError> {
        let unreadable = |source| SettingsError::Unreadable { path: path.to_owned(), source };
        let bytes = match disk::read(path, LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(unreadable)?,
        };
        let digest = Digest::of(&bytes);
        let text = String::from_utf8(bytes)
            .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
        Ok(Some(Self { path: path.canonicalize().map_err(unreadable)?, digest, text }))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Puts what the file says over what was said before.
    pub fn lay_upon(&self, settings: &mut Settings, origin: &Origin) -> Result<(), SettingsError> {
        let page = Page { file: self };
        let document = page.parse()?;
        let table = document.get_ref();
        page.refuse_unknown(table, settings)?;
        if let Some(agents) = value_at(table, "agents") {
            settings.agents.extend(agents::read(agents, page, origin)?);
        }
        if let Some(prices) = value_at(table, "prices") {
            settings.prices.extend(prices::read(prices, page, origin)?);
        }
        // First, for whatever else the file says goes over the preset.
        if let Some(value) = value_at(table, PRESET) {
            page.take(PRESET, value, settings, origin)?;
            settings.set_preset(settings.preset.value, origin);
        }
        let keys: Vec<&str> = settings.slots().iter().map(|(key, _)| *key).collect();
        for key in keys {
            if let Some(value) = value_at(table, key) {
                page.take(key, value, settings, origin)?;
            }
        }
        Ok(())
    }
}

/// The tables whose keys are names that a person gives, or others have given.
const NAMED: [&str; 2] = ["agents", "prices"];

impl<'f> Page<'f> {
    fn parse(self) -> Result<Spanned<DeTable<'f>>, SettingsError> {
        // Only the message: the rest quotes the line, and a secret may stand there.
        DeTable::parse(&self.file.text).map_err(|error| SettingsError::Syntax {
            spot: self.spot(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })
    }

    fn take(
        self,
        key: &str,
        value: &Found<'_>,
        into: &mut Settings,
        origin: &Origin,
    ) -> Result<(), SettingsError> {
        let slot = into.slots().into_iter().find(|(name, _)| *name == key);
        let (_, slot) = slot.expect("the key comes from the slots");
        slot.read(value.get_ref(), origin).map_err(|must| self.wrong(key, value, must))
    }

    fn refuse_unknown(self, table: &DeTable<'_>, settings: &mut Settings) -> Result<(), SettingsError> {
        let keys: Vec<&str> = settings.slots().iter().map(|(key, _)| *key).collect();
        let tables = || keys.iter().filter_map(|key| Some(key.split_once('.')?.0)).chain(NAMED);
        for (name, value) in table {
            if !tables().any(|table| table == name.get_ref()) {
                return Err(self.unknown(name, name.get_ref(), tables().chain(keys.iter().copied())));
            }
            let inner = value.get_ref().as_table();
            let inner = inner.ok_or_else(|| self.wrong(name.get_ref(), value, "a table".to_owned()))?;
            if NAMED.contains(&name.get_ref().as_ref()) {
                continue;
            }
            for inner_name in inner.keys() {
                let key = format!("{}.{}", name.get_ref(), inner_name.get_ref());
                if !keys.contains(&key.as_str()) {
                    return Err(self.unknown(inner_name, &key, keys.iter().copied()));
                }
            }
        }
        Ok(())
    }

    pub fn unknown<'k, T>(
        self,
        at: &Spanned<T>,
        key: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) -> SettingsError {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = match nearest_key(key, known.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known keys: {}", beside(key, &known)),
        };
        SettingsError::Unknown { spot: self.spot(at.span().start), key: key.to_owned(), hint }
    }

    pub fn wrong(self, key: &str, value: &Found<'_>, must: impl Into<String>) -> SettingsError {
        let found = Some(described(value.get_ref()));
        SettingsError::Wrong {
            spot: self.spot(value.span().start),
            key: key.to_owned(),
            must: must.into(),
            found,
        }
    }

    /// As `wrong`, where the value may be a secret.
    pub fn wrong_secret(self, key: &str, value: &Found<'_>, must: impl Into<String>) -> SettingsError {
        SettingsError::Wrong {
            spot: self.spot(value.span().start),
            key: key.to_owned(),
            must: must.into(),
            found: None,
        }
    }

    fn spot(self, offset: usize) -> Spot {
        let before = self.file.text.as_bytes().iter().take(offset);
        Spot { file: self.file.path.clone(), line: 1 + before.filter(|byte| **byte == b'\n').count() }
    }
}

/// The value of a dotted key.
fn value_at<'a, 't>(table: &'a DeTable<'t>, key: &str) -> Option<&'a Found<'t>> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => value_at(table.get(first)?.get_ref().as_table()?, rest),
    }
}

/// The names that may stand where this key stands.
fn beside(key: &str, known: &[&str]) -> String {
    let table = &key[..key.rfind('.').map_or(0, |dot| dot + 1)];
    let mut names: Vec<&str> = Vec::new();
    for name in known.iter().filter_map(|known| known.strip_prefix(table)).filter(|name| !name.contains('.'))
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}
