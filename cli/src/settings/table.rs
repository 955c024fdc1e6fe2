//! A table of settings: for each key its type, default, bounds and purpose, each said once.
//!
//! The settings file, the template, `config show` and the messages about wrong values all follow from it.

use std::any::Any;
use std::fmt::Debug;

use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::setting::Slot;

/// One setting, whatever its type.
#[expect(missing_debug_implementations, reason = "a slot shows itself as JSON")]
pub struct Key<'s> {
    /// Such as `tune.threshold`.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    pub slot: &'s mut dyn Slot,
}

/// A command that a setting names.
#[derive(Clone, Copy, Debug)]
pub struct Named<'s> {
    /// Such as `calls.wrap`.
    pub key: &'static str,
    pub words: &'s [String],
    pub origin: &'s Origin,
}

/// The settings of one loop.
pub trait Table: Any + Debug {
    fn keys(&mut self) -> Vec<Key<'_>>;

    /// Sets what the preset stands for; `origin` says who has set the preset.
    fn unfold_preset(&mut self, _origin: &Origin) {}

    /// Whether the settings agree with one another.
    fn check(&self) -> Result<(), SettingsError> {
        Ok(())
    }

    /// What the project asks for that lets an agent do more than a person may expect.
    fn needs_trust(&self) -> Option<&'static str> {
        None
    }

    /// The command that one of these settings names.
    fn command(&self) -> Option<Named<'_>> {
        None
    }

    fn boxed_clone(&self) -> Box<dyn Table>;
}

impl Clone for Box<dyn Table> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// A struct of settings, its defaults, and its keys.
macro_rules! table {
    ($(#[$meta:meta])* $struct:ident, $table:literal, {
        $($name:ident: $type:ty = $default:expr, $about:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $struct {
            $(pub $name: $crate::settings::setting::Setting<$type>,)*
        }

        impl Default for $struct {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl $struct {
            pub fn table_keys(&mut self) -> Vec<$crate::settings::table::Key<'_>> {
                vec![$($crate::settings::table::Key {
                    name: concat!($table, ".", stringify!($name)),
                    about: $about,
                    slot: &mut self.$name,
                },)*]
            }
        }
    };
}

pub(crate) use table;
