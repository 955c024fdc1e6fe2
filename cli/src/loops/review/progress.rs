//! Progress of a `review` run for people: each answer in a line, and at the end the findings as data.

use skilltune_orchestrator::snapshot::Objects;
use skilltune_phases::loops::review::{Answer, Decision, Entry, Groups, Review, Run, Step};

use crate::loops::review::ui;
use crate::progress::lines::{self, End};
use crate::progress::talk::{Narrated, Talk};
use crate::report::summary::Line;
use crate::report::ui::Ui as _;
use crate::text::plain::one_line;
use crate::text::width::cut;

impl Narrated for Review {
    type Shelf = ();

    fn shelf(_: Objects) {}

    fn tell_decision(talk: &mut Talk<Self>, run: &Run, decision: &Decision) {
        match decision {
            Decision::Merge { .. } => talk.say(&[cut(&Self::decided(run, decision), talk.layout.width)]),
            Decision::Close => {}
        }
    }

    fn tell_answer(talk: &mut Talk<Self>, run: &Run, step: &Step, answer: &Answer) {
        let line = one_line(&format!("{}: {}", Self::step(run, step), Self::answered(answer)));
        talk.say(&[cut(&line, talk.layout.width)]);
    }

    /// Prints all findings, also of a run that had ended before.
    fn tell_end(talk: &mut Talk<Self>, run: &Run) {
        let width = talk.layout.width;
        let mut lines = lines::fitted(&result(run, width), width);
        if let Some(first) = lines.first_mut() {
            *first = talk.layout.data.bold(first);
        }
        talk.data(&lines);
        talk.say(&[String::new()]);
        let asked = if run.held { ui::commands(run) } else { Vec::new() };
        let asked = asked.into_iter().map(|command| Line::Copy(" ".to_owned(), command));
        let places = ui::files(run).into_iter();
        let places = places.map(|(name, path)| Line::Copy(format!("{}:", name.to_lowercase()), path));
        let end = End { lines: asked.collect(), rounds: None, places: places.collect(), next: ui::next(run) };
        talk.say(&lines::fitted(&lines::ending(run, end), width));
    }
}

/// Returns the result, the findings in their order, and what was looked at.
fn result(run: &Run, width: usize) -> Vec<Line> {
    let Groups { shown, older, refuted, suppressed } = run.groups();
    let mut lines = vec![Line::Text(run.verdict())];
    lines.extend(run.warning().map(|warning| Line::Text(format!("warning: {warning}"))));
    lines.extend(ui::counted(run).map(|counts| Line::Item("findings", counts)));
    lines.extend(run.machine_lines().into_iter().map(|line| Line::Item("machine", line)));
    lines.extend(run.failures().into_iter().map(|line| Line::Item("failed", line)));
    let in_full = shown.len().min(run.plan.task.rules.most as usize);
    let (first, rest) = shown.split_at(in_full);
    for (entry, nth) in first.iter().zip(1..) {
        lines.extend([blank(), Line::Text(format!("{nth}. {}", ui::headline(entry)))]);
        lines.extend(ui::facts(entry).into_iter().map(|(name, text)| Line::Item(name, text)));
    }
    let groups: [(&str, &[Entry<'_>], &[&str]); 4] = [
        ("more findings", rest, &[]),
        ("were there before this change", &older, &[]),
        ("refuted by the second agent", &refuted, &["quote", "against"]),
        ("suppressed", &suppressed, &["reason"]),
    ];
    for (title, entries, named) in groups.into_iter().filter(|(_, entries, _)| !entries.is_empty()) {
        lines.extend([blank(), Line::Text(format!("{title}: {}", entries.len()))]);
        lines.extend(entries.iter().flat_map(|entry| short(entry, named, width)));
    }
    lines.push(blank());
    lines.extend(dropped(run).map(|text| Line::Item("dropped", text)));
    lines.extend(run.looked_at().into_iter().map(|(name, text)| Line::Item(name, text)));
    let left_out = ui::left_out(run).join(", ");
    lines.extend((!left_out.is_empty()).then_some(Line::Item("left out", left_out)));
    lines
}

fn blank() -> Line {
    Line::Drawn(String::new())
}

/// Returns one line about a finding, and one for each of these facts.
fn short(entry: &Entry<'_>, named: &[&str], width: usize) -> Vec<Line> {
    let at = entry.at().map_or_else(String::new, |at| format!(" ({})", one_line(&at)));
    let facts = ui::facts(entry).into_iter().filter(|(name, _)| named.contains(name));
    let facts = facts.map(|(name, text)| format!("    {name}: {}", one_line(&text)));
    let lines = std::iter::once(format!("  {}{at}", ui::headline(entry))).chain(facts);
    lines.map(|line| Line::Drawn(cut(&line, width))).collect()
}

/// Counts the findings that were dropped, by reason.
fn dropped(run: &Run) -> Option<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for (_, one) in run.dropped() {
        match reasons.iter_mut().find(|(why, _)| **why == *one.why) {
            Some((_, number)) => *number += 1,
            None => reasons.push((&*one.why, 1)),
        }
    }
    let reasons: Vec<String> =
        reasons.iter().map(|(why, number)| format!("{number} because {why}")).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::review::finding::{Finding, Severity};
    use skilltune_phases::loops::review::proof::Verdict;
    use skilltune_phases::runs::event::FailureKind;
    use skilltune_worlds::drive::failed;
    use skilltune_worlds::review::{finding, plan, play, refuted, verified, with_proof};

    use super::*;
    use crate::progress::capture::{Captured, follow};
    use crate::progress::layout::{Layout, Letters};
    use crate::terminal::exit::Exit;
    use crate::terminal::style::Style;
    use crate::text::width::columns;

    const PLAIN: Layout =
        Layout { width: 80, live: false, talk: Style::PLAIN, data: Style::PLAIN, letters: Letters::Blocks };

    /// Plays a run whose titles name their verdicts.
    fn reviewed(titles: &[&str]) -> (Captured, Run) {
        let found = titles.iter().zip(1..).map(|(title, nth)| finding(Severity::High, title, nth * 20));
        let verify = |finding: &Finding| match finding.title.split(' ').next() {
            Some("proved") => Ok(with_proof(&["python3", "-m", "unittest"])),
            Some("sure") => Ok(verified(Verdict::Confirmed, "followed\nthe \u{1b}[31m code")),
            Some("wrong") => Ok(refuted(400, "if rate == 0: return")),
            _ => failed(FailureKind::Empty),
        };
        let drive = play(plan(), &[found.collect(), Vec::new()], verify);
        (follow(&drive, |streams| Talk::<Review>::new(streams, PLAIN, ())), drive.run)
    }

    #[test]
    fn only_certain_findings_fail_and_what_was_not_verified_never_passes() {
        let exit = |titles: &[&str]| Review::exit(&reviewed(titles).1);
        assert_eq!([exit(&[]), exit(&["wrong one"])], [Exit::Reached; 2]);
        assert_eq!([exit(&["sure one"]), exit(&["proved one", "lost one"])], [Exit::Ended; 2]);
        assert_eq!(exit(&["lost one"]), Exit::Unjudged);
    }

    #[test]
    fn the_findings_are_data_and_each_answer_is_a_line_of_talk() {
        let six = "sure \u{202e}with a title that is longer than any line of a terminal and so does not fit into it";
        let (captured, _) = reviewed(&["sure a", "sure b", "sure c", "sure d", "proved e", six, "wrong g"]);
        let (data, talk) = (captured.data(), captured.talk());
        let mut rest = data.as_str();
        for text in [
            "Failed: 6 certain findings of severity high or worse.\n",
            "findings  1 proved, 5 confirmed, 1 refuted\n",
            "\n1. high, proved: proved e\n  place     src/pump.py:100\n  quote     quote of proved e\n",
            "  proof     python3 -m unittest: fails with the change (exit code 1)",
            "\n5. high, confirmed: sure d\n",
            "\nmore findings: 1\n  high, confirmed: sure <U+202E>with a title",
            "\nrefuted by the second agent: 1\n  high, refuted: wrong g (src/pump.py:140)\n    quote: quote of wrong g\n    against: src/pump.py:400: if rate == 0: return\n",
            "  reviewers security (built-in expert",
            "  left out  poetry.lock (a lock file)\n",
        ] {
            let (_, after) = rest.split_once(text).unwrap_or_else(|| panic!("{text:?} is not in {rest}"));
            rest = after;
        }
        assert!(talk.contains("review by security: 7 findings\n"), "{talk}");
        assert!(talk.contains("verify finding 1 (sure a): confirmed: followed the "), "{talk}");
        assert!(talk.contains("/review.md\n") && talk.contains("/review.sarif\n"), "{talk}");
        for line in data.lines().filter(|line| !line.contains('/')) {
            assert!(columns(line) <= 80, "{line}");
        }
    }
}
