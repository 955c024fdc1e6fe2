//! Answers a command line that clap rejects: names the mistake and the command to type instead.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use skilltune_phases::base::spelling::nearest;

use crate::commands::cli::Cli;
use crate::inputs::find;
use crate::terminal::complaint::Complaint;
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::{self, Level, Printer};
use crate::text::plain::shell_path;

pub fn answer(error: &mut Error) -> Exit {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return printer::usage(error);
    }
    leave_out_text(error);
    let typed: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    // Without a home, no skill is found, and the rest of the answer is the same.
    let env = Environment::read(None).ok();
    let printer = env.as_ref().map_or(Printer::PLAIN, |env| Printer::new(env, Level::Normal));
    let wrong = wrong_word(error);
    let (path, command) = commands_of(&typed, wrong.as_ref());
    let Some(wrong) = wrong else {
        printer.misuse(error, &format!("run `{path} --help`"));
        return Exit::Input;
    };
    let is_first = path == PROGRAM;
    if let (true, Some(env)) = (is_first, &env)
        && find::skills(&wrong, env).is_ok()
    {
        let skill = shell_path(Path::new(&wrong));
        let complaint = Complaint::input(format!("{wrong} is a skill, not a command"));
        printer.complain(&complaint.hint(format!("run `skilltune tune {skill}`")));
        return Exit::Input;
    }
    let near = nearest(&wrong, command.get_subcommands().map(clap::Command::get_name));
    let near_skill = || near_skill(&wrong, env.as_ref().filter(|_| is_first)?);
    let line = match near {
        Some(near) => corrected(&typed, &wrong, near),
        None => near_skill().map(|skill| format!("{PROGRAM} tune {skill}")),
    };
    if near.is_none() && line.is_some() {
        error.remove(ContextKind::SuggestedSubcommand);
    }
    let hint = match line {
        Some(line) => format!("did you mean `{line}`?"),
        None => format!("run `{path}{} --help`", near.map(|near| format!(" {near}")).unwrap_or_default()),
    };
    printer.misuse(error, &hint);
    Exit::Input
}

const PROGRAM: &str = "skilltune";

/// Leaves out the tip to pass an unknown flag as text, which is hardly ever meant.
fn leave_out_text(error: &mut Error) {
    let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) else { return };
    tips.retain(|tip| !tip.to_string().contains(" as a value, use "));
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Returns the commands on a line before the wrong word as one text, and the last of them.
fn commands_of(typed: &[String], wrong: Option<&String>) -> (String, clap::Command) {
    let (mut path, mut command) = (PROGRAM.to_owned(), Cli::command());
    for word in typed.iter().take_while(|word| Some(*word) != wrong) {
        if let Some(below) = command.find_subcommand(word) {
            path = format!("{path} {}", below.get_name());
            command = below.clone();
        }
    }
    (path, command)
}

/// Returns the word in the place of a command that is none.
fn wrong_word(error: &Error) -> Option<String> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    }
}

/// Returns the line with this command in place of the wrong word, if that makes it valid.
fn corrected(typed: &[String], wrong: &str, near: &str) -> Option<String> {
    let at = typed.iter().position(|word| word == wrong)?;
    let mut line: Vec<&str> = [PROGRAM].into_iter().chain(typed.iter().map(String::as_str)).collect();
    line[at + 1] = near;
    Cli::try_parse_from(&line).ok()?;
    Some(line.iter().map(|word| shell_path(Path::new(word))).collect::<Vec<_>>().join(" "))
}

fn near_skill(word: &str, env: &Environment) -> Option<String> {
    let near = find::near(word, &find::known(env)).into_iter().next()?;
    Some(shell_path(Path::new(&near)))
}
