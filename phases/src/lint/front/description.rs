//! The description: its length, what it says, and in whose voice.

use super::value::Value;
use super::{Found, Front};
use crate::lint::{Finding, Rule};
use crate::skill::strict::LONGEST_DESCRIPTION as LONGEST;

pub(super) fn check(found: &Found, out: &mut Vec<Finding>) {
    let mut say = |rule, message: String| out.push(found.say(rule, "description", message));
    let value = found.front.values.as_ref().ok().and_then(|values| values.get("description"));
    if value == Some(&Value::Many) {
        return say(Rule::Description, "the description is not a text".into());
    }
    let Some(text) = found.front.text("description") else {
        return if value != Some(&Value::Scalar) {
            say(Rule::Description, "there is no description".into());
        };
    };
    let length = text.chars().count();
    if length > LONGEST {
        say(Rule::DescriptionLong, format!("the description has {length} characters, {LONGEST} are allowed"));
    }
    if let Some(bracket) = text.chars().find(|c| matches!(c, '<' | '>')) {
        say(Rule::DescriptionMarkup, format!("the description has `{bracket}` in it"));
    }
    let words = words(text);
    if is_english(&words) && found.front.text("when_to_use").is_none() && !says_when(&words) {
        say(Rule::DescriptionWhen, "the description does not say when to use the skill".into());
    }
    if let Some(word) = other_person(text) {
        say(Rule::DescriptionPerson, format!("the description says `{word}`"));
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// What other languages say instead is not known here, and so not asked for.
fn is_english(words: &[String]) -> bool {
    const COMMON: [&str; 9] = ["the", "and", "to", "of", "with", "from", "for", "is", "are"];
    words.iter().filter(|word| COMMON.contains(&word.as_str())).count() * 12 >= words.len().max(1)
}

fn says_when(words: &[String]) -> bool {
    const ALONE: [&str; 9] =
        ["when", "whenever", "if", "trigger", "triggers", "before", "after", "during", "while"];
    let pairs = words.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
    words.iter().any(|word| ALONE.contains(&word.as_str())) || { pairs }.any(|pair| {
        matches!(
            pair,
            (
                "use" | "used" | "useful" | "call" | "invoke" | "activate" | "run",
                "for" | "to" | "this" | "it" | "on" | "in"
            )
        )
    })
}

/// The first word in the first person, or a sentence that talks to a `you`; what people are quoted with is theirs.
fn other_person(text: &str) -> Option<String> {
    const FIRST: [&str; 10] = ["I", "I'll", "I'm", "I've", "We", "we", "we'll", "My", "my", "Our"];
    const YOU: [&str; 4] = ["You", "You'll", "Your", "you'll"];
    let spoken = without_quotes(text);
    let words: Vec<&str> = spoken.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '/').collect();
    let at = words.iter().position(|word| FIRST.contains(word) || YOU.contains(word))?;
    Some(words[at].to_owned())
}

/// Without what stands between two quotation marks of one kind, or in code.
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

/// The file with as many whole sentences of the description as are allowed, the others in the text below.
pub(super) fn trimmed(text: &str, front: &Front, body_at: usize) -> Option<String> {
    let description = front.text("description")?;
    let (kept, moved) = at_a_sentence(description)?;
    let field = front.field("description").filter(|field| !field.raw.starts_with(['&', '*', '!']))?;
    let value = serde_json::to_string(kept).expect("a string has a JSON text");
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
        moved,
        end,
        rest.trim_start_matches('\n'),
    ]
    .concat();
    keeps_the_rest(front, &made, kept).then_some(made)
}

/// Whether the front matter says what it said before, but for the description.
fn keeps_the_rest(front: &Front, made: &str, kept: &str) -> bool {
    let (Ok(before), Ok(Ok(mut after))) = (&front.values, Front::read(made).map(|front| front.values)) else {
        return false;
    };
    let mut before = before.clone();
    before.remove("description");
    after.remove("description") == Some(Value::Text(kept.to_owned())) && before == after
}

/// What fits of a text in whole sentences, and the others.
fn at_a_sentence(text: &str) -> Option<(&str, &str)> {
    let most = text.char_indices().nth(LONGEST).map(|(at, _)| at)?;
    let mut ends = text[..most].char_indices().filter_map(|(at, c)| {
        let end = at + c.len_utf8();
        let is_end = match c {
            '.' | '!' | '?' => text[end..].starts_with(char::is_whitespace),
            '。' | '！' | '？' | '\n' => true,
            _ => false,
        };
        is_end.then_some(end)
    });
    let end = ends.next_back()?;
    Some((text[..end].trim_end(), text[end..].trim()))
}

/// Where the text under the title begins, in a body that begins with one.
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
        let words = words(text);
        is_english(&words) && !says_when(&words)
    }

    #[test]
    fn an_english_description_must_say_when() {
        assert!(asks_when("Formats the tables of a report."));
        assert!(asks_when("A helper for PDF files and the like"));
        for good in [
            "Formats tables. Use when a report has one.",
            "Formats the tables of reports; used for reviews.",
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
    }

    fn page(description: &str, body: &str) -> String {
        format!("---\nname: a\ndescription: {description}\n# kept\nlicense: MIT\n---\n{body}")
    }

    fn shortened(text: &str) -> Option<String> {
        trimmed(text, &Front::read(text).unwrap(), crate::lint::front::body_at(text, true))
    }

    #[test]
    fn a_description_is_cut_at_a_sentence_and_the_rest_moves_below_the_title() {
        let long = "A sentence of words. ".repeat(60);
        let text = page(long.trim_end(), "\n# Title\n\nText.\n");
        let made = shortened(&text).unwrap();
        let kept = "A sentence of words. ".repeat(48);
        let moved = "A sentence of words. ".repeat(12);
        let want = page(
            &format!("\"{}\"", kept.trim_end()),
            &format!("\n# Title\n\n{}\n\nText.\n", moved.trim_end()),
        );
        assert_eq!(made, want);
        assert_eq!(shortened(&made), None);
    }

    #[test]
    fn a_folded_description_is_cut_too_and_one_sentence_is_not() {
        let folded = format!(">-\n  {}", "Eine Zeile, dann noch eine.\n  ".repeat(60));
        let made = shortened(&page(&folded, "Text.\n")).unwrap();
        let front = Front::read(&made).unwrap();
        assert!(front.text("description").unwrap().chars().count() <= LONGEST);
        assert_eq!(front.text("license"), Some("MIT"));
        assert_eq!(made.matches("Eine Zeile").count(), 60);
        assert_eq!(shortened(&page(&"word ".repeat(300), "")), None);
    }
}
