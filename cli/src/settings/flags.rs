//! Settings as flags: a command places the keys whose flags it has, and the flags override the settings.

use std::marker::PhantomData;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use serde_json::Value as Json;

use crate::settings::table::{Key, Keyed};

/// Flags that follow each other in the help: their heading, and their keys.
pub type Group = (Option<&'static str>, &'static str);

/// The key of a flag that is different in a command, with the name and the help that it has there.
pub type Different = (&'static str, &'static str, &'static str);

/// The arguments of a command that has flags of settings.
pub trait Placing {
    type Tables: Keyed + Default;
    const GROUPS: &'static [Group];
    const DIFFERENT: &'static [Different] = &[];
}

/// One group of a command's flags.
#[derive(Clone, Debug)]
pub struct Flags<P, const GROUP: usize>(PhantomData<P>);

impl<P, const GROUP: usize> Default for Flags<P, GROUP> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<P: Placing, const GROUP: usize> Args for Flags<P, GROUP> {
    fn augment_args(command: Command) -> Command {
        let mut tables = P::Tables::default();
        let keys = tables.keys();
        let (heading, names) = P::GROUPS[GROUP];
        // The heading is set even if there is none: the heading of an earlier argument would stay.
        command.args(names.split(' ').map(|name| arg::<P>(name, &keys).help_heading(heading)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<P, const GROUP: usize> FromArgMatches for Flags<P, GROUP> {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(PhantomData))
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), Error> {
        Ok(())
    }
}

/// Returns the flag of a key. Its id is the key.
fn arg<P: Placing>(name: &'static str, keys: &[Key<'_>]) -> Arg {
    let key = keys.iter().find(|key| key.name == name);
    let (key, mut flag) = key.and_then(|key| Some((key, key.flag?))).expect("a placed key has a flag");
    if let Some(&(_, long, help)) = P::DIFFERENT.iter().find(|(key, ..)| *key == name) {
        (flag.long, flag.help) = (long, Some(help));
    }
    let help = flag.help.unwrap_or(key.about.trim_end_matches('.'));
    let arg = Arg::new(name).long(flag.long.trim_start_matches('-')).help(help);
    match flag.value {
        Some(value) => {
            let parser = flag.parser.map_or_else(|| key.slot.parser(), |parser| parser());
            arg.value_name(value).value_parser(parser)
        }
        // A switch means the opposite of the default.
        None if key.slot.json() == Json::Bool(true) => arg.action(ArgAction::SetFalse),
        None => arg.action(ArgAction::SetTrue),
    }
}

/// The flags that a command line has. It adds no argument, and must come after all groups.
#[derive(Clone, Debug, Default)]
pub struct Given(ArgMatches);

impl Given {
    /// Returns whether the flag of a key was given.
    pub fn has(&self, key: &str) -> bool {
        let is_known = self.0.try_contains_id(key).unwrap_or(false);
        is_known && self.0.value_source(key) == Some(ValueSource::CommandLine)
    }

    /// Overrides a setting with its flag. Returns whether the flag was given.
    pub fn take(&self, key: Key<'_>) -> bool {
        let Key { name, flag, slot, .. } = key;
        let flag = flag.filter(|_| self.has(name));
        flag.inspect(|flag| slot.take(&self.0, name, flag.long)).is_some()
    }

    /// Overrides settings with their flags.
    pub fn apply_to<'s>(&self, keys: impl IntoIterator<Item = Key<'s>>) {
        for key in keys {
            self.take(key);
        }
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self(matches.clone());
        Ok(())
    }
}
