//! A settings file during parsing, so that every error has its line and key.

use skilltune_phases::base::spelling::nearest_key;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::error::{SettingsError, Spot};
use crate::settings::setting::described;
use crate::trust::file::TextFile;

/// A parsed value and its position.
pub type Found<'t> = Spanned<DeValue<'t>>;

/// The file that contains a value, for error messages.
#[derive(Clone, Copy, Debug)]
pub struct SettingsPage<'f> {
    file: &'f TextFile,
}

/// The tables whose keys are names from users or vendors.
const NAMED: [&str; 3] = ["agents", "prices", "workers"];

/// The keys that only the user's own settings may have.
pub const OWN: [&str; 2] = ["calls.workers", "workers"];

impl<'f> SettingsPage<'f> {
    pub fn of(file: &'f TextFile) -> Self {
        Self { file }
    }

    pub fn parse(self) -> Result<Spanned<DeTable<'f>>, SettingsError> {
        // Only the message: the rest quotes the line, which may contain a secret.
        DeTable::parse(self.file.text()).map_err(|error| SettingsError::Syntax {
            spot: self.spot(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })
    }

    /// Fails for every key that is not listed and not in a table with free names.
    pub fn refuse_unknown(self, table: &DeTable<'_>, keys: &[&str]) -> Result<(), SettingsError> {
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

    /// Fails if a project's file has what only the user's own settings may have.
    pub fn refuse_own(self, table: &DeTable<'_>) -> Result<(), SettingsError> {
        match OWN.into_iter().find_map(|key| Some((key, value_at(table, key)?))) {
            Some((key, value)) => Err(SettingsError::NotYours { spot: self.spot(value.span().start), key }),
            None => Ok(()),
        }
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

    /// Like `wrong`, for a value that may be a secret.
    pub fn wrong_secret(self, key: &str, value: &Found<'_>, must: impl Into<String>) -> SettingsError {
        SettingsError::Wrong {
            spot: self.spot(value.span().start),
            key: key.to_owned(),
            must: must.into(),
            found: None,
        }
    }

    fn spot(self, offset: usize) -> Spot {
        let before = self.file.text().as_bytes().iter().take(offset);
        Spot { file: self.file.path.clone(), line: 1 + before.filter(|byte| **byte == b'\n').count() }
    }
}

/// Returns the value of a dotted key.
pub fn value_at<'a, 't>(table: &'a DeTable<'t>, key: &str) -> Option<&'a Found<'t>> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => value_at(table.get(first)?.get_ref().as_table()?, rest),
    }
}

/// Lists the valid names at the place of this key.
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
