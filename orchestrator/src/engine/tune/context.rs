//! The context tokens that a stored skill uses.

use std::path::Path;

use skilltune_phases::base::id::TreeId;
use skilltune_phases::skills::context::Context;

use crate::snapshot::{Node, ObjectError, Objects};

/// Agents read no longer texts.
const LONGEST: u64 = 1 << 20;

/// Counts the text files of a skill, without the files that are hidden from it.
pub fn context(objects: &Objects, skill: TreeId, hidden: &[String]) -> Result<Context, ObjectError> {
    let mut context = Context::default();
    for entry in objects.manifest(skill)?.entries() {
        let Node::File { blob, .. } = entry.node else { continue };
        if hidden.iter().any(|path| entry.path.as_path().starts_with(Path::new(path))) {
            continue;
        }
        let text = objects.read_at_most(blob, LONGEST)?.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some(text) = text.filter(|text| !text.contains('\0')) {
            context.add(&entry.path.to_string(), &text);
        }
    }
    Ok(context)
}
