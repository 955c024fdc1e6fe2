//! What a command did: messages for a person, or one object for a program.

use serde_json::Value;

use crate::settings::values::Format;
use crate::terminal::complaint::Complaint;
use crate::terminal::exit::Exit;
use crate::terminal::printer::Printer;

/// Prints what a command did, which is its success.
pub fn print(
    format: Format,
    printer: Printer,
    lines: &[impl AsRef<str>],
    object: &Value,
) -> Result<Exit, Complaint> {
    match format {
        Format::Human => lines.iter().for_each(|line| printer.talk(line.as_ref())),
        Format::Json => printer.json(object)?,
    }
    Ok(Exit::Reached)
}
