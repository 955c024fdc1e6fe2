//! The text format of a stored run: named texts in sequence, so that a diff shows which text changed.
//!
//! Two test crates share this file: one writes stored runs, one replays them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The reason given for each stored run that the user stopped.
pub(crate) const REASON: &str = "it is good enough";

/// Texts by name.
pub(crate) type Texts = BTreeMap<String, String>;

const BEGIN: &str = "=== ";
const SAME: &str = " = ";
const CUT: &str = " (without a newline at its end)";

/// Prints all texts; a repeated text is written only once.
pub(crate) fn print(texts: &Texts) -> String {
    let (mut page, mut written) = (String::new(), BTreeMap::<&str, &str>::new());
    for (name, text) in texts {
        assert!(!name.contains(SAME) && !name.ends_with(CUT), "{name}");
        assert!(text.lines().all(|line| !line.starts_with(BEGIN)), "{name} has a line that begins a text");
        match written.get(&**text) {
            Some(other) => writeln!(page, "{BEGIN}{name}{SAME}{other}"),
            None if text.ends_with('\n') => write!(page, "{BEGIN}{name}\n{text}"),
            None => writeln!(page, "{BEGIN}{name}{CUT}\n{text}"),
        }
        .expect("a text takes more text");
        written.entry(text).or_insert(name);
    }
    page
}

pub(crate) fn parse(page: &str) -> Texts {
    let mut texts = Texts::new();
    let (mut name, mut is_cut) = (String::new(), false);
    let end = |texts: &mut Texts, name: &str, is_cut| {
        if let (true, Some(text)) = (is_cut, texts.get_mut(name)) {
            text.pop();
        }
    };
    for line in page.split_inclusive('\n') {
        let Some(head) = line.strip_prefix(BEGIN) else {
            texts.entry(name.clone()).or_default().push_str(line);
            continue;
        };
        end(&mut texts, &name, is_cut);
        let head = head.trim_end_matches('\n');
        is_cut = head.ends_with(CUT);
        let (own, other) =
            head.trim_end_matches(CUT).split_once(SAME).unwrap_or((head.trim_end_matches(CUT), ""));
        own.clone_into(&mut name);
        texts.insert(name.clone(), texts.get(other).cloned().unwrap_or_default());
    }
    end(&mut texts, &name, is_cut);
    texts
}
