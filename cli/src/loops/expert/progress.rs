//! Progress of an `expert` run for people: the answer alone is data, and everything else is talk.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::expert::{Decision, Expert, Run};

use crate::loops::expert::ui;
use crate::progress::lines::{self, End};
use crate::progress::talk::{Narrated, Talk};
use crate::report::summary::Line;
use crate::report::ui::Ui as _;
use crate::terminal::exit::Exit;
use crate::text::plain;

impl Narrated for Expert {
    type Shelf = ();

    fn shelf(_: Objects) {}

    fn tell_decision(_: &mut Talk<Self>, _: &Run, decision: &Decision) {
        match decision {
            Decision::Close => {}
        }
    }

    /// Prints the whole answer, also of a run that had ended before.
    fn tell_end(talk: &mut Talk<Self>, run: &Run) {
        if let Some(answer) = run.answer() {
            let lines: Vec<String> = plain::pictured(answer).lines().map(str::to_owned).collect();
            talk.data(&lines);
            talk.say(&[String::new()]);
        }
        let file = ui::answer_file(run).map(|path| Line::Copy("answer:".to_owned(), path));
        let end = End {
            lines: vec![Line::Text(ui::sentence(run))],
            rounds: None,
            places: file.into_iter().collect(),
            next: ui::next(run),
        };
        let lines = lines::fitted(&lines::ending(run, end), talk.layout.width);
        if Expert::exit(run) == Exit::Unjudged { talk.warn(&lines) } else { talk.say(&lines) }
    }
}
