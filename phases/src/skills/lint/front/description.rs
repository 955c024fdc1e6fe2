//! The description: its length, content and voice.

use super::value::Value;
use super::{Found, Front};
use crate::skills::lint::{Diagnostic, Rule};
use crate::skills::skill::strict::LONGEST_DESCRIPTION as LONGEST;

pub(super) fn check(found: &Found, out: &mut Vec<Diagnostic>) {
    let mut say = |rule, message: String| out.push(found.say(rule, "description", message));
    let value = found.front.values.as_ref().ok().and_then(|values| values.get("description"));
    if value == Some(&Value::Many) {
        return say(Rule::Description, "the description is not text".into());
    }
    let Some(text) = found.front.text("description") else {
        return if value != Some(&Value::Scalar) {
            say(Rule::Description, "the description is missing".into());
        };
    };
    let length = text.chars().count();
    if length > LONGEST {
        say(
            Rule::DescriptionLong,
            format!("the description has {length} characters; the limit is {LONGEST}"),
        );
    }
    if let Some(bracket) = text.chars().find(|c| matches!(c, '<' | '>')) {
        say(Rule::DescriptionMarkup, format!("the description contains `{bracket}`"));
    }
    if is_english(&words(text)) && found.front.text("when_to_use").is_none() && !says_when(text) {
        say(Rule::DescriptionWhen, "the description does not say when to use the skill".into());
    }
    if let Some(word) = other_person(text) {
        say(Rule::DescriptionPerson, format!("the description uses `{word}`"));
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The equivalent phrases of other languages are unknown here, so they are not required.
fn is_english(words: &[String]) -> bool {
    const COMMON: [&str; 9] = ["the", "and", "to", "of", "with", "from", "for", "is", "are"];
    words.iter().filter(|word| COMMON.contains(&word.as_str())).count() * 12 >= words.len().max(1)
}

fn says_when(text: &str) -> bool {
    const ALONE: [&str; 10] = [
        "when",
        "whenever",
        "if",
        "trigger",
        "triggers",
        "before",
        "after",
        "during",
        "while",
        "proactively",
    ];
    const BEFORE_FOR: [&str; 11] = [
        "perfect",
        "ideal",
        "suitable",
        "suited",
        "intended",
        "meant",
        "preferred",
        "recommended",
        "best",
        "needed",
        "required",
    ];
    let words = words(text);
    let pairs = words.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
    let says = |pair: (&str, &str)| {
        pair.1 == "for" && BEFORE_FOR.contains(&pair.0)
            || matches!(
                pair,
                (
                    "use" | "used" | "useful" | "call" | "invoke" | "activate" | "run",
                    "for" | "to" | "this" | "it" | "on" | "in"
                ) | ("invoke", "with")
            )
    };
    words.iter().any(|word| ALONE.contains(&word.as_str())) || has_purpose(text) || { pairs }.any(says)
}

/// Returns true if a sentence or a clause begins with `for`, as in "For reviews." and "Filters tables, for reviews."
fn has_purpose(text: &str) -> bool {
    let clauses = text.split(['.', '!', '?', ',', ';', ':', '\u{2013}', '\u{2014}']);
    clauses.map(words).any(|words| match words.as_slice() {
        [first, second, ..] => first == "for" && !matches!(second.as_str(), "example" | "instance"),
        [] | [_] => false,
    })
}

/// Returns the first word in the first person, or a sentence start that addresses `you`; quoted words of users do not
/// count.
fn other_person(text: &str) -> Option<String> {
    const FIRST: [&str; 10] = ["I", "I'll", "I'm", "I've", "We", "we", "we'll", "My", "my", "Our"];
    const YOU: [&str; 4] = ["You", "You'll", "Your", "you'll"];
    let spoken = without_single_quotes(&without_quotes(text));
    let words = spoken.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '/');
    // In the middle of a sentence, a capital `You` is part of a name.
    let begins = |word: &str| {
        let before = spoken[..word.as_ptr() as usize - spoken.as_ptr() as usize].trim_end();
        before.is_empty() || before.ends_with(['.', '!', '?', ':', ';'])
    };
    let mut pairs = std::iter::once("").chain(words.clone()).zip(words);
    let is_one = |(before, word): &(&str, &str)| {
        !(*word == "I" && counts(before)) && (FIRST.contains(word) || YOU.contains(word) && begins(word))
    };
    pairs.find(is_one).map(|(_, word)| word.to_owned())
}

/// Returns true if numbers follow a word, such as the `I` of `Type I`.
fn counts(word: &str) -> bool {
    const KINDS: [&str; 13] = [
        "type", "phase", "class", "part", "level", "stage", "tier", "category", "grade", "volume", "chapter",
        "annex", "act",
    ];
    KINDS.contains(&word.to_lowercase().as_str())
}

/// Quotes are short phrases.
const LONGEST_QUOTE: usize = 200;

/// Removes text between single quotation marks; an apostrophe has a letter before it.
fn without_single_quotes(text: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\'') {
        let (before, quoted) = (&rest[..at], &rest[at + 1..]);
        let opens = !before.ends_with(char::is_alphanumeric);
        let ends = |(at, _): &(usize, &str)| !quoted[at + 1..].starts_with(char::is_alphanumeric);
        let near = quoted.match_indices('\'').take_while(|(at, _)| opens && *at < LONGEST_QUOTE);
        let end = { near }.find(ends);
        kept.push_str(before);
        rest = if let Some((end, _)) = end {
            &quoted[end + 1..]
        } else {
            kept.push('\'');
            quoted
        };
    }
    kept + rest
}

/// Removes text between two quotation marks of one kind, or in code.
fn without_quotes(text: &str) -> String {
    let straight = text.replace(['\u{201c}', '\u{201d}'], "\"").replace('\u{2019}', "'");
    let quoted = |mark| straight.matches(mark).count() % 2 == 0;
    let marks: Vec<char> = ['"', '`'].into_iter().filter(|mark| quoted(*mark)).collect();
    let mut open = None;
    straight
        .chars()
        .filter(|c| match open {
            None if marks.contains(c) => {
                open = Some(*c);
                false
            }
            Some(mark) => {
                open = open.filter(|_| mark != *c);
                false
            }
            None => true,
        })
        .collect()
}

/// Moves the last sentences of the description into the text below, until the rest is short enough.
///
/// A sentence that says when to use the skill, or when not, stays: agents read the text only after that decision. In an
/// unknown language, such sentences cannot be recognized, so none moves.
pub(super) fn trimmed(text: &str, front: &Front, body_at: usize) -> Option<String> {
    let description = front.text("description")?;
    let (kept, moved) = shortened(description)?;
    let field = front.field("description").filter(|field| !field.raw.starts_with(['&', '*', '!']))?;
    let value = serde_json::to_string(&kept).expect("a string has a JSON text");
    let (from, to) = (front.at + field.at, front.at + field.end);
    let key = &text[from..from + text[from..].find(':')?];
    let body = below_title(&text[body_at..]);
    let (title, rest) = text[body_at..].split_at(body);
    let end = if rest.trim().is_empty() { "\n" } else { "\n\n" };
    let lead = if title.is_empty() || title.ends_with("\n\n") { "" } else { "\n" };
    let made = [
        &text[..from],
        key,
        ": ",
        &value,
        &text[to..body_at],
        title,
        lead,
        &moved,
        end,
        rest.trim_start_matches('\n'),
    ]
    .concat();
    keeps_the_rest(front, &made, &kept).then_some(made)
}

/// Returns true if the front matter is unchanged except for the description.
fn keeps_the_rest(front: &Front, made: &str, kept: &str) -> bool {
    let (Ok(before), Ok(Ok(mut after))) = (&front.values, Front::read(made).map(|front| front.values)) else {
        return false;
    };
    let mut before = before.clone();
    before.remove("description");
    after.remove("description") == Some(Value::Text(kept.to_owned())) && before == after
}

/// Splits a description into the sentences that stay and those that move.
fn shortened(text: &str) -> Option<(String, String)> {
    let mut length = text.chars().count();
    if length <= LONGEST || !is_english(&words(text)) {
        return None;
    }
    let sentences = sentences(text);
    let mut moves = vec![false; sentences.len()];
    // The first sentence says what the skill does.
    for (at, sentence) in sentences.iter().enumerate().skip(1).rev() {
        if length > LONGEST && !decides(sentence) {
            moves[at] = true;
            length -= sentence.chars().count();
        }
    }
    let of = |moved: bool| {
        let those = sentences.iter().zip(&moves).filter(|(_, moves)| **moves == moved);
        those.map(|(sentence, _)| *sentence).collect::<String>().trim().to_owned()
    };
    (length <= LONGEST).then(|| (of(false), of(true)))
}

/// Splits a text into sentences, each with its trailing white space. Code and quotes are not split.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut start, mut open) = (0, None);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match (open, c) {
            (None, '`' | '"') if text[end..].contains(c) => open = Some(c),
            (Some(mark), c) if c == mark => open = None,
            (None, '.' | '!' | '?') if text[end..].starts_with(char::is_whitespace) => {
                let next =
                    text[end..].find(|c: char| !c.is_whitespace()).map_or(text.len(), |next| end + next);
                sentences.push(&text[start..next]);
                start = next;
            }
            (Some(_) | None, _) => {}
        }
    }
    sentences.push(&text[start..]);
    sentences
}

/// Returns true if an agent needs a sentence to decide whether to use the skill.
fn decides(sentence: &str) -> bool {
    const NOT: [&str; 12] = [
        "not", "never", "no", "don't", "doesn't", "isn't", "cannot", "can't", "without", "except", "unless",
        "instead",
    ];
    let words = words(&sentence.replace('\u{2019}', "'"));
    says_when(sentence) || words.iter().any(|word| NOT.contains(&word.as_str()))
}

/// Returns the start of the text under the title, if the body begins with one.
fn below_title(body: &str) -> usize {
    let blank = body.len() - body.trim_start_matches(['\n', '\r']).len();
    if !body[blank..].starts_with("# ") {
        return blank;
    }
    let end = body[blank..].find('\n').map_or(body.len(), |end| blank + end + 1);
    let after = &body[end..];
    end + (after.len() - after.trim_start_matches('\n').len()).min(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks_when(text: &str) -> bool {
        is_english(&words(text)) && !says_when(text)
    }

    #[test]
    fn an_english_description_must_say_when() {
        assert!(asks_when("Formats the tables of a report."));
        assert!(asks_when("A helper for PDF files and the like"));
        assert!(asks_when("Formats the tables of a report, for example of a review."));
        for good in [
            "Formats tables. Use when a report has one.",
            "Formats the tables of reports; used for reviews.",
            "Formats the tables of reports. Use PROACTIVELY for the reviews of them.",
            "Formats the tables of reports. Perfect for the authors of reviews.",
            "Formats the tables of reports. For reviews, and for the authors of them.",
            "For the authors of reviews: formats the tables of reports.",
            "Formats the tables of reports, for reviews of them.",
            "Wraps the tables of reports. Preferred for standard reviews.",
            "Asks the founder of a company about it. Invoke with /setup for the first talk.",
            "Formatiert Tabellen in Berichten.",
            "整理报告中的表格。",
        ] {
            assert!(!asks_when(good), "{good}");
        }
    }

    #[test]
    fn the_first_and_the_second_person_are_heard_but_not_in_quotes() {
        assert_eq!(other_person("I can help with tables.").as_deref(), Some("I"));
        assert_eq!(other_person("Formats tables. You can use it for reports.").as_deref(), Some("You"));
        assert_eq!(other_person("Formats tables in our house style").as_deref(), None);
        assert_eq!(
            other_person("Use when the user says \"format my table\" or “I need a table”, or `my`."),
            None
        );
        assert_eq!(other_person("Use for I/O and CI."), None);
        assert_eq!(other_person("Use to tell SOC 2 Type I from Type II, and class I devices."), None);
        assert_eq!(other_person("Whatever type you need I make.").as_deref(), Some("I"));
        assert_eq!(other_person("Triggers on 'fix my table', 'I need a table'. The users' tables."), None);
        assert_eq!(other_person("Explains the For You page of the house's site."), None);
        assert_eq!(other_person("Don't use it when I write, or it's 'late'.").as_deref(), Some("I"));
    }

    fn page(description: &str, body: &str) -> String {
        format!("---\nname: a\ndescription: {description}\n# kept\nlicense: MIT\n---\n{body}")
    }

    fn made_of(text: &str) -> Option<String> {
        trimmed(text, &Front::read(text).unwrap(), crate::skills::lint::reading::body_at(text, true))
    }

    #[test]
    fn a_description_is_cut_at_a_sentence_and_the_rest_moves_below_the_title() {
        let long = "A sentence of words. ".repeat(60);
        let text = page(long.trim_end(), "\n# Title\n\nText.\n");
        let made = made_of(&text).unwrap();
        let kept = "A sentence of words. ".repeat(48);
        let moved = "A sentence of words. ".repeat(12);
        let want = page(
            &format!("\"{}\"", kept.trim_end()),
            &format!("\n# Title\n\n{}\n\nText.\n", moved.trim_end()),
        );
        assert_eq!(made, want);
        assert_eq!(made_of(&made), None);
    }

    #[test]
    fn a_folded_description_is_cut_too_and_one_sentence_or_another_language_is_not() {
        let folded = format!(">-\n  {}", "This is a line, and the next one.\n  ".repeat(60));
        let made = made_of(&page(&folded, "Text.\n")).unwrap();
        let front = Front::read(&made).unwrap();
        assert!(front.text("description").unwrap().chars().count() <= LONGEST);
        assert_eq!(front.text("license"), Some("MIT"));
        assert_eq!(made.matches("This is a line").count(), 60);
        assert_eq!(made_of(&page(&"word of the ".repeat(300), "")), None);
        assert_eq!(made_of(&page(&"Eine Zeile, dann noch eine. ".repeat(60), "")), None);
    }

    #[test]
    fn what_says_when_the_skill_is_meant_and_when_not_stays() {
        let filler = "It knows the tables of a report. ".repeat(40);
        let deciding = "Use when a report has tables. Do not use it for the charts of a report.";
        let made = made_of(&page(&format!("Formats the tables. {filler}{deciding}"), "Text.\n")).unwrap();
        let front = Front::read(&made).unwrap();
        let description = front.text("description").unwrap();
        assert!(
            description.starts_with("Formats the tables. ") && description.ends_with(deciding),
            "{description}"
        );
        let never = "Not meant for the charts. ".repeat(60);
        assert_eq!(made_of(&page(&format!("Formats the tables. {never}"), "")), None, "all of it decides");
    }

    #[test]
    fn code_and_quotes_are_not_cut() {
        assert_eq!(
            sentences("Reads `a. b` first. Says \"Go. Now.\" to it. Costs 5\" of it."),
            ["Reads `a. b` first. ", "Says \"Go. Now.\" to it. ", "Costs 5\" of it."]
        );
    }
}
