//! A table of settings: the type, default, bounds, purpose and flag of each key, defined once.
//!
//! The settings file, the template, `config show`, the flags, their help, the rules of a loop and the errors for wrong
//! values are all derived from it.

use std::any::Any;
use std::fmt::Debug;

use clap::builder::ValueParser;

use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::setting::Slot;

/// The flag of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Such as `--threshold`.
    pub long: &'static str,
    /// The name of its value in the help; a switch has none.
    pub value: Option<&'static str>,
    /// The purpose of the setting, if nothing else is set.
    pub help: Option<&'static str>,
    /// The parser of the setting's type, if nothing else is set.
    pub parser: Option<fn() -> ValueParser>,
}

pub fn flag(long: &'static str, value: &'static str) -> Flag {
    Flag { value: Some(value), ..switch(long) }
}

pub fn switch(long: &'static str) -> Flag {
    Flag { long, value: None, help: None, parser: None }
}

impl Flag {
    pub fn help(self, help: &'static str) -> Self {
        Self { help: Some(help), ..self }
    }

    pub fn by(self, parser: fn() -> ValueParser) -> Self {
        Self { parser: Some(parser), ..self }
    }
}

/// One setting of any type.
#[expect(missing_debug_implementations, reason = "a slot shows itself as JSON")]
pub struct Key<'s> {
    /// Such as `tune.threshold`.
    pub name: &'static str,
    /// Its purpose, in one sentence.
    pub about: &'static str,
    pub flag: Option<Flag>,
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

/// A table of settings, as `options!` defines it.
pub trait Keyed {
    fn keys(&mut self) -> Vec<Key<'_>>;
}

impl<A: Keyed, B: Keyed> Keyed for (A, B) {
    fn keys(&mut self) -> Vec<Key<'_>> {
        self.0.keys().into_iter().chain(self.1.keys()).collect()
    }
}

/// Copies a table of any loop.
pub trait Copied {
    fn boxed_clone(&self) -> Box<dyn Table>;
}

impl<T: Table + Clone> Copied for T {
    fn boxed_clone(&self) -> Box<dyn Table> {
        Box::new(self.clone())
    }
}

/// The settings of one loop.
pub trait Table: Any + Debug + Keyed + Copied {
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
}

impl Clone for Box<dyn Table> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// Defines a table: a struct of settings, their defaults, their keys, and their flags if they have any.
///
/// A table of a loop names the rules that its settings make (`Rules as usual`: the defaults may use the usual rules),
/// and `=> field` says which field of the rules has the value of a setting.
macro_rules! options {
    (
        $(#[$meta:meta])* $struct:ident, $table:literal, $rules:ty as $usual:ident;
        $($name:ident: $type:ty = $default:expr $(=> $($field:ident).+)?, $about:literal $(, $flag:expr)?;)*
    ) => {
        $crate::settings::table::options! {
            @table [let $usual = <$rules as Default>::default();]
            $(#[$meta])* $struct, $table; $($name: $type = $default, $about $(, $flag)?;)*
        }

        impl $struct {
            /// Returns the usual rules, changed by these settings.
            fn as_rules(&self) -> $rules {
                let mut rules = <$rules as Default>::default();
                $($(rules.$($field).+ = Clone::clone(&self.$name.value);)?)*
                rules
            }
        }
    };
    (
        $(#[$meta:meta])* $struct:ident, $table:literal;
        $($name:ident: $type:ty = $default:expr, $about:literal $(, $flag:expr)?;)*
    ) => {
        $crate::settings::table::options! {
            @table [] $(#[$meta])* $struct, $table; $($name: $type = $default, $about $(, $flag)?;)*
        }
    };
    (
        @table [$($before:tt)*] $(#[$meta:meta])* $struct:ident, $table:literal;
        $($name:ident: $type:ty = $default:expr, $about:literal $(, $flag:expr)?;)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $struct {
            $(pub $name: $crate::settings::setting::Setting<$type>,)*
        }

        impl Default for $struct {
            fn default() -> Self {
                $($before)*
                Self { $($name: $default,)* }
            }
        }

        impl $crate::settings::table::Keyed for $struct {
            fn keys(&mut self) -> Vec<$crate::settings::table::Key<'_>> {
                vec![$($crate::settings::table::Key {
                    name: concat!($table, ".", stringify!($name)),
                    about: $about,
                    flag: None$(.or(Some($flag)))?,
                    slot: &mut self.$name,
                },)*]
            }
        }
    };
}

pub(crate) use options;
