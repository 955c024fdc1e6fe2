//! `man`: writes the manual pages.

use std::io;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use skilltune_orchestrator::disk::atomic::{self, Durability};

use crate::commands::args::ManArgs;
use crate::commands::cli::Cli;
use crate::terminal::complaint::{Complaint, ours};
use crate::terminal::environment::Environment;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;
use crate::text::figures;

/// A page and the name of its file.
struct ManPage {
    file: String,
    text: Vec<u8>,
}

pub fn run(args: &ManArgs, env: &Environment, printer: Printer) -> Result<Exit, Complaint> {
    let pages = pages().map_err(|error| Complaint::ours("cannot generate the manual").caused_by(error))?;
    if let Some(folder) = &args.out {
        write(&pages, &env.cwd.join(folder), printer)?;
    } else {
        let whole = pages.last().expect("the program itself has a page");
        printer.bytes(String::from_utf8_lossy(&whole.text).trim_end())?;
    }
    Ok(Exit::Reached)
}

fn write(pages: &[ManPage], folder: &Path, printer: Printer) -> Result<(), Complaint> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Complaint::input(format!("cannot create the folder {}", folder.display())).caused_by(error)
    })?;
    for page in pages {
        atomic::replace(&folder.join(&page.file), &page.text, Durability::Order).map_err(ours)?;
    }
    printer.talk(&format!("wrote {} to {}", figures::count(pages.len(), "page"), folder.display()));
    Ok(())
}

/// Returns one page per command, and the program's page last.
fn pages() -> io::Result<Vec<ManPage>> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    add(&program, &mut pages)?;
    Ok(pages)
}

fn add(command: &Command, pages: &mut Vec<ManPage>) -> io::Result<()> {
    for subcommand in command.get_subcommands() {
        add(subcommand, pages)?;
    }
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push(ManPage { file: man.get_filename(), text });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_that_names_it() {
        let pages = pages().unwrap();
        let files: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
        assert_eq!(files.last(), Some(&"skilltune.1"));
        for command in Cli::command().get_subcommands() {
            assert!(files.contains(&format!("skilltune-{}.1", command.get_name()).as_str()), "{files:?}");
        }
        assert!(files.contains(&"skilltune-config-show.1"), "{files:?}");
        for ManPage { file, text } in &pages {
            let text = String::from_utf8_lossy(text);
            let name = file.strip_suffix(".1").unwrap().replace('-', "\\-");
            assert!(text.contains(&format!(".SH NAME\n{name} \\- ")), "{file}: {text}");
        }
    }
}
