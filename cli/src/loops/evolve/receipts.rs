//! What each criterion of a result rests on, and how the plan compares with one executor, for the report.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::evolve::Run;
use skilltune_phases::loops::evolve::measuring::{Control, Strength};
use skilltune_phases::loops::evolve::oracle::Probed;
use skilltune_phases::loops::evolve::receipt::{Receipt, Receipts, Word};
use skilltune_phases::runs::ledger::Account;

use crate::loops::evolve::words;
use crate::report::document::{
    Block, Section, Text, code, list, paragraph, plain, strong, table, words as theirs,
};
use crate::text::figures::{count, grouped, milliseconds, money};

/// Returns the receipts of a result that machines looked at.
pub fn of(run: &Run) -> Option<Receipts> {
    run.receipts().filter(|_| run.has_evidence())
}

/// Returns how many criteria have each word.
pub fn counted(run: &Run) -> Option<String> {
    Some(of(run)?.counted(Word::ALL))
}

/// Returns the section of the report.
pub fn section(run: &Run) -> Option<Section> {
    let receipts = of(run);
    let of_criteria = receipts.iter().flat_map(about_criteria).chain(hidden(run, receipts.as_ref()));
    let of_control = run.control().into_iter().flat_map(|control| compared(run, receipts.as_ref(), &control));
    let blocks: Vec<Block> = of_criteria.chain(of_control).collect();
    (!blocks.is_empty()).then_some(Section { title: "Receipts", blocks })
}

/// Says that no executor could read an oracle, if that is known.
fn hidden(run: &Run, receipts: Option<&Receipts>) -> Option<Block> {
    let is_hidden = run.result().is_some_and(|result| run.readers(result).is_empty());
    let mut oracles = receipts.iter().flat_map(|all| &all.criteria).filter_map(|one| one.oracle.as_ref());
    let has_any = oracles.any(|oracle| !oracle.is_check);
    (is_hidden && has_any).then(|| paragraph("No executor could read the oracles."))
}

/// Returns a row for each criterion, the wrong versions that oracles pass, and what was not looked at.
fn about_criteria(receipts: &Receipts) -> Vec<Block> {
    let head = ["Criterion", "Word", "Oracle", "Before and After", "Evidence", "Wrong Versions"];
    let is_measured = receipts.criteria.iter().any(|one| one.oracle.iter().any(|one| one.strength.is_some()));
    let columns = head.len() - usize::from(!is_measured);
    let rows = receipts.criteria.iter().map(|one| row(one).into_iter().take(columns).collect());
    let mut blocks = vec![table(&head[..columns], rows)];
    let passed = receipts.criteria.iter().flat_map(|one| {
        let strength = one.oracle.iter().filter_map(|oracle| oracle.strength.as_ref());
        let passed = strength.flat_map(|strength| &strength.passed);
        passed.map(move |what| Text::from([code(&one.id), plain(": "), theirs(what)]))
    });
    blocks.extend(listed("Wrong Versions That Oracles Pass", passed.collect()));
    let others = receipts.not_looked_at.iter().map(|what| theirs(what).into());
    blocks.extend(listed("Not Looked At", others.collect()));
    blocks
}

fn listed(title: &str, lines: Vec<Text>) -> Vec<Block> {
    if lines.is_empty() { Vec::new() } else { vec![Block::Heading(title.to_owned()), list(lines)] }
}

fn row(one: &Receipt) -> Vec<Text> {
    let word = one.word.word();
    let word = if one.word.is_met() { plain(word) } else { strong(word) };
    let oracle = one.oracle.as_ref();
    let argv = oracle.map_or_else(|| plain("none"), |oracle| code(&oracle.argv.join(" ")));
    let lights = oracle.map(|oracle| {
        let [before, after] = [&oracle.before, &oracle.after].map(|end| lit(end.as_ref()));
        format!("{before} -> {after}")
    });
    let evidence = one.evidence.as_ref().map(words::evidence);
    let why = one.why.as_ref().map(ToString::to_string);
    let evidence: Vec<String> = why.into_iter().chain(evidence).collect();
    let strength = oracle.and_then(|oracle| oracle.strength.as_ref()).map(rejects);
    vec![
        [code(&one.id), plain(": "), theirs(&one.text)].into(),
        word.into(),
        argv.into(),
        lights.unwrap_or_default().into(),
        theirs(&evidence.join("; ")).into(),
        strength.unwrap_or_default().into(),
    ]
}

fn lit(end: Option<&Probed>) -> String {
    end.map_or_else(|| "did not run".to_owned(), words::lit)
}

/// Returns how many wrong versions an oracle rejects.
fn rejects(strength: &Strength) -> String {
    let others = match strength.not_counted {
        0 => String::new(),
        number => format!("; {number} not counted, because the oracle ran to no assertion"),
    };
    match strength.all() {
        0 if others.is_empty() => "none was made".to_owned(),
        all => {
            let all = count(all as usize, "wrong version");
            format!("rejects {} of {all}{others}", strength.rejected)
        }
    }
}

/// Compares the plan with one executor that did everything alone.
fn compared(run: &Run, receipts: Option<&Receipts>, control: &Control) -> Vec<Block> {
    let score = |score: f64| format!("{score:.2}");
    let plans = run.evaluation().map_or_else(|| "not judged".to_owned(), |one| score(one.score));
    let red: Vec<&str> = control.red.iter().map(|stage| stage.word()).collect();
    let alone = match &control.evaluation {
        Some(one) => score(one.score),
        None if red.is_empty() => "not judged".to_owned(),
        None => format!("newly red: {}", red.join(", ")),
    };
    let verified = |number: Option<usize>| number.map_or_else(|| "not known".to_owned(), grouped_size);
    let by_plan = receipts.map(|all| all.of(Word::Verified).len());
    let by_one = receipts.and_then(|all| Some(all.control.as_ref()?.verified.len()));
    let is_of_plan = |(role, _): &(&Role, &Account)| **role != Role::CONTROL;
    let accounts = run.ledger.iter().filter(is_of_plan).map(|(_, account)| *account);
    let all = accounts.fold(Account::default(), Account::plus);
    let one = run.ledger.get(&Role::CONTROL).copied().unwrap_or_default();
    let row = |what: &str, plan: String, alone: String| -> Vec<Text> {
        vec![what.into(), plan.into(), alone.into()]
    };
    let rows = [
        row("Score", plans, alone),
        row("Criteria Verified", verified(by_plan), verified(by_one)),
        row("Calls", grouped(all.calls.into()), grouped(one.calls.into())),
        row("Tokens", grouped(all.tokens()), grouped(one.tokens())),
        row("Money", money(&all), money(&one)),
        row("Time of Calls", milliseconds(all.ms), milliseconds(one.ms)),
    ];
    let about =
        "One executor did everything alone, without a plan. All calls of the evaluator count for the plan.";
    vec![
        Block::Heading("Control".to_owned()),
        paragraph(about),
        table(&["Measure", "Plan", "One Executor"], rows),
    ]
}

fn grouped_size(number: usize) -> String {
    grouped(number as u64)
}

#[cfg(test)]
mod tests {
    use skilltune_phases::loops::evolve::oracle::Light;
    use skilltune_phases::loops::evolve::receipt::OracleReceipt;
    use skilltune_phases::loops::evolve::spec::Priority;

    use super::*;
    use crate::report::document::Span;

    fn probed(light: Light, exit: i32) -> Probed {
        Probed { light, exit: Some(exit), said: "the end".into() }
    }

    fn text(Text(spans): &Text) -> String {
        let text = |span: &Span| match span {
            Span::Plain(text) | Span::Strong(text) | Span::Words(text) | Span::Code(text) => text.clone(),
        };
        spans.iter().map(text).collect()
    }

    #[test]
    fn a_row_says_what_a_criterion_rests_on() {
        let strength = Strength { rejected: 2, passed: vec!["it prints 0".into()], not_counted: 1 };
        let oracle = OracleReceipt {
            argv: vec!["python3".to_owned(), "oracle_a1.py".to_owned()],
            is_check: false,
            uses_names: false,
            shows: "it prints 6".into(),
            before: Some(probed(Light::Red, 1)),
            after: Some(probed(Light::Neither, 3)),
            strength: Some(strength),
        };
        let receipt = Receipt {
            id: "A1".into(),
            text: "it works".into(),
            priority: Priority::High,
            word: Word::Judged,
            why: Some("its oracle did not decide it".into()),
            evidence: None,
            oracle: Some(oracle),
        };
        let cells: Vec<String> = row(&receipt).iter().map(text).collect();
        assert_eq!(
            cells,
            [
                "A1: it works",
                "judged",
                "python3 oracle_a1.py",
                "red -> neither red nor green (exit code 3)",
                "its oracle did not decide it",
                "rejects 2 of 3 wrong versions; 1 not counted, because the oracle ran to no assertion",
            ]
        );
        let bare = Receipt { word: Word::NotMet, why: None, oracle: None, ..receipt };
        let cells: Vec<String> = row(&bare).iter().map(text).collect();
        assert_eq!(cells, ["A1: it works", "not met", "none", "", "", ""]);
    }
}
