//! A table of settings: the type, default, bounds and purpose of each key, defined once.
//!
//! The settings file, the template, `config show` and the errors for wrong values are all derived from it.

use std::any::Any;
use std::fmt::Debug;

use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::setting::Slot;

/// One setting of any type.
#[expect(missing_debug_implementations, reason = "a slot shows itself as JSON")]
pub struct Key<'s> {
    /// Such as `tune.threshold`.
    pub name: &'static str,
    /// Its purpose, in one sentence.
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

    /// Sets the values of the preset; `origin` says who has set the preset.
    fn unfold_preset(&mut self, _origin: &Origin) {}

    /// Fails if the settings contradict one another.
    fn check(&self) -> Result<(), SettingsError> {
        Ok(())
    }

    /// Describes the project's setting that lets an agent do more than a person may expect.
    fn needs_trust(&self) -> Option<&'static str> {
        None
    }

    /// Returns the command that one of these settings names.
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

/// Defines a struct of settings, its defaults, and its keys.
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
