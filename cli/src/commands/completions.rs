//! `completions`: prints the script that completes our command line in a shell.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::commands::args::CompletionsArgs;
use crate::commands::cli::Cli;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

pub fn run(args: &CompletionsArgs, printer: Printer) -> Result<Exit, Complaint> {
    printer.bytes(script(args.shell).trim_end())?;
    Ok(Exit::Reached)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "skilltune", &mut script);
    String::from_utf8(script).expect("completion scripts are UTF-8")
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_learns_every_command_and_flag_and_nothing_hidden() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for word in ["rollback", "init", "max-iterations", "reflex", "thresholds", "thorough"] {
                // In PowerShell and elvish, only the help text contains the values.
                let is_complete =
                    script.contains(word) || (word == "thorough" && !script.contains("standard"));
                assert!(is_complete, "{shell}: {word}");
            }
            assert!(!script.contains("guardian"), "{shell}");
        }
    }
}
