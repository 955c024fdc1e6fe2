//! `final-report.md`: the report of a run as Markdown.

use std::mem::take;

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::runs::run::Run;

use crate::report::costs::{costs, errors};
use crate::report::document::{
    Block, Item, Report, Row, Section, Span, Text, code, paragraph, plain, table, words,
};
use crate::report::machines::machines;
use crate::report::summary::Summary;
use crate::report::ui::Ui;
use crate::report::words as texts;
use crate::text::markdown::{self, MarkdownPage};

pub fn page<L: Ui>(run: &Run<L>, objects: &Objects) -> String {
    let mut report = L::report(run, objects);
    let summary = in_short(run, &mut report);
    let Report { title, warning, lead, sections, unit, tail, .. } = report;
    let mut page = MarkdownPage::titled(&shown(&title));
    if let Some(section) = &warning {
        add(&mut page, section);
    }
    for block in &lead {
        add_block(&mut page, block);
    }
    let calls = [costs(run)].into_iter().chain(machines(run)).chain([errors(run, unit)]);
    let sections = [summary].into_iter().chain(sections).chain(calls).chain(tail);
    sections.for_each(|section| add(&mut page, &section));
    page.finish()
}

/// Takes the rows about a run out of its report, and returns them as the section that summarizes it.
pub fn in_short<L: Ui>(run: &Run<L>, report: &mut Report) -> Section {
    let (about, more, remark) = (take(&mut report.about), take(&mut report.more), report.remark.take());
    let Summary { kind, cast, notes, found, .. } = L::summary(run, None);
    // A run may need no agent.
    let or_nobody = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let id = [code(run.plan.run.as_str()), plain(format!(" ({kind})"))];
    let mut rows: Vec<Row> = vec![("Run", id.into())];
    rows.extend(about);
    rows.push(("Agents", words(&or_nobody(texts::roles(&cast))).into()));
    rows.extend(texts::models(run).map(|models| ("Models", words(&models).into())));
    rows.extend(notes.iter().chain(&found).map(|note| ("Note", words(note).into())));
    rows.push(("Rights of Roles", or_nobody(texts::rights(&cast)).into()));
    rows.extend(more);
    let completed = run.closed_at.map_or("not yet".to_owned(), |at| format!("{at:.0}"));
    rows.extend([("Started", format!("{:.0}", run.started_at).into()), ("Completed", completed.into())]);
    let rows = rows.into_iter().map(|(field, value)| vec![field.into(), value]);
    let blocks = [table(&["Field", "Value"], rows)].into_iter().chain(remark.map(paragraph)).collect();
    Section { title: "Summary", blocks }
}

pub fn add(page: &mut MarkdownPage, section: &Section) {
    page.section(section.title);
    section.blocks.iter().for_each(|block| add_block(page, block));
}

fn add_block(page: &mut MarkdownPage, block: &Block) {
    match block {
        Block::Heading(title) => page.subsection(title),
        Block::Paragraph(text) => page.paragraph(shown(text)),
        Block::List(items) => page.list(items.iter().map(item)),
        Block::Table { head, rows } => {
            let head: Vec<_> = head.iter().map(shown).collect();
            let head: Vec<_> = head.iter().map(String::as_str).collect();
            page.table(&head, rows.iter().map(|row| row.iter().map(shown).collect()));
        }
        Block::Verbatim(text) => page.fenced("text", text),
    }
}

fn item(Item { text, below }: &Item) -> String {
    below.iter().fold(shown(text), |item, text| item + "\n- " + &shown(text))
}

fn shown(Text(spans): &Text) -> String {
    let span = |span: &Span| match span {
        Span::Plain(text) => text.clone(),
        Span::Strong(text) => format!("**{text}**"),
        Span::Words(text) => markdown::words(text),
        Span::Code(text) => markdown::code_cell(text),
    };
    spans.iter().map(span).collect()
}
