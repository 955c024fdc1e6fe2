//! The changes of a version of the artifact, section by section, and whether they were asked for.

use skilltune_phases::loops::reflex::sections::Changed;
use skilltune_phases::loops::reflex::{Judged, Run};

use crate::text::plain;
use crate::text::width::shortened;

/// Further sections are only counted, and longer headings are shortened.
const MOST_SECTIONS: usize = 6;
const LONGEST_HEADING: usize = 40;

/// Returns the changes of the judged artifact since the one that it came from.
pub fn changed(run: &Run, judged: &Judged) -> String {
    let before = run.state.judged.iter().take_while(|other| *other != judged).last();
    match &judged.artifact.changed {
        _ if before.is_some_and(|before| before.artifact.hash == judged.artifact.hash) => {
            "nothing since it was last judged".to_owned()
        }
        None => "everything is new".to_owned(),
        Some(changed) if changed.sections.is_empty() => "nothing".to_owned(),
        Some(changed) => sections(changed),
    }
}

fn sections(changed: &Changed) -> String {
    let unasked = |title: &String| changed.unasked.contains(title);
    let named = |title: &String| {
        let mark = if unasked(title) { " (not asked for)" } else { "" };
        let words = plain::one_line(title);
        let heading = if words.is_empty() { "(empty heading)" } else { &words };
        format!("{}{mark}", shortened(heading, LONGEST_HEADING))
    };
    let (shown, others) = changed.sections.split_at(changed.sections.len().min(MOST_SECTIONS));
    let mut parts: Vec<_> = shown.iter().map(named).collect();
    if !others.is_empty() {
        let marked = others.iter().filter(|title| unasked(title)).count();
        let mark = if marked == 0 { String::new() } else { format!(" ({marked} not asked for)") };
        parts.push(format!("and {} more{mark}", others.len()));
    }
    parts.join("; ")
}
