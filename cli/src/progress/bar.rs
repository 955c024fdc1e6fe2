//! A progress bar in the terminal for a copy that takes a while.

use indicatif::{ProgressBar, ProgressStyle};
use skilltune_orchestrator::snapshot::{Entry, Manifest, Node};

use crate::progress::is_live;
use crate::progress::layout::Letters;
use crate::terminal::environment::Environment;
use crate::terminal::printer::Printer;

/// A bar, or `None` if there is no terminal or the copy is short.
#[derive(Debug)]
pub struct Bar(Option<ProgressBar>);

/// The smallest number of bytes that shows a bar. A smaller copy ends before anyone could read it.
const LONG: u64 = 16 << 20;

/// The number of bytes that take as long to write as creating one file.
const EACH: u64 = 16 << 10;

impl Bar {
    pub fn of(manifests: &[Manifest], env: &Environment, printer: Printer) -> Self {
        let whole = manifests.iter().flat_map(Manifest::entries).map(weight).fold(0, u64::saturating_add);
        Self((whole > LONG && is_live(env, printer)).then(|| ProgressBar::new(whole).with_style(style(env))))
    }

    pub fn add(&self, written: &Entry) {
        if let Some(bar) = &self.0 {
            bar.inc(weight(written));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn weight(entry: &Entry) -> u64 {
    match &entry.node {
        Node::File { size, .. } => size.saturating_add(EACH),
        Node::Folder { .. } | Node::Link { .. } => EACH,
    }
}

fn style(env: &Environment) -> ProgressStyle {
    let style = ProgressStyle::with_template("copying {wide_bar} {percent:>3}%");
    let letters = match Letters::of(env) {
        Letters::Blocks => "█▉▊▋▌▍▎▏ ",
        Letters::Plain => "#- ",
    };
    style.expect("the template is well formed").progress_chars(letters)
}
