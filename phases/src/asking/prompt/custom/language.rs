//! The part of the template language that a page may use: it selects and repeats the given values, and makes no new
//! ones.
//!
//! The engine limits the steps of a page but not the size of a value, and computes constants while it compiles. So a
//! short page could fill the memory with nested texts. Here the page is only split into tokens.

use minijinja::machinery::{Token, Tokenizer};

use super::{Faulty, Page, faulty};
use crate::asking::prompt::syntax;

const STATEMENTS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];
const FILTERS: [&str; 6] = ["length", "first", "last", "lower", "upper", "trim"];

/// Rejects everything that could make a value larger than the given ones.
pub(super) fn check(page: Page, text: &str) -> Result<(), Faulty> {
    let mut tokens = Tokenizer::new(text, page.word(), false, syntax());
    let mut before = Before::Other;
    while let Some((token, span)) = tokens.next_token().map_err(|error| faulty(page, text, &error))? {
        let Some(next) = before.followed_by(&token) else {
            let (statements, filters) = (STATEMENTS.join(", "), FILTERS.join(", "));
            let what = format!(
                "cannot use {}; a prompt has variables, comparisons, {statements}, and the filters {filters}",
                shown(&token)
            );
            return Err(Faulty { page, line: Some(span.start_line.into()), what });
        };
        before = next;
    }
    Ok(())
}

/// The context that determines the meaning of the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// The start of a statement.
    Block,
    Pipe,
    Dot,
    /// The end of a value: a bracket after it selects a part, and a parenthesis calls.
    Value,
    Other,
}

impl Before {
    /// Returns the next context, or None if the token must not follow.
    fn followed_by(self, token: &Token<'_>) -> Option<Self> {
        match (self, token) {
            (Self::Block, Token::Ident(name)) => STATEMENTS.contains(name).then_some(Self::Other),
            (Self::Pipe, Token::Ident(name)) => FILTERS.contains(name).then_some(Self::Value),
            (Self::Block | Self::Pipe, _) => None,
            (Self::Dot, Token::Ident(_)) => Some(Self::Value),
            (Self::Value, Token::BracketOpen) | (Self::Other, Token::ParenOpen) => Some(Self::Other),
            (Self::Dot | Self::Value | Self::Other, token) => Self::after(token),
        }
    }

    /// Returns the context after a token that is allowed anywhere, or None for any other.
    fn after(token: &Token<'_>) -> Option<Self> {
        Some(match token {
            Token::BlockStart => Self::Block,
            Token::Pipe => Self::Pipe,
            Token::Dot => Self::Dot,
            // Operators between two values.
            Token::Ident("in" | "is" | "not" | "and" | "or" | "if" | "else")
            | Token::Eq
            | Token::Ne
            | Token::Gt
            | Token::Gte
            | Token::Lt
            | Token::Lte
            | Token::Colon
            | Token::TemplateData(_)
            | Token::VariableStart
            | Token::VariableEnd
            | Token::BlockEnd => Self::Other,
            Token::Ident(_)
            | Token::Str(_)
            | Token::String(_)
            | Token::Int(_)
            | Token::BracketClose
            | Token::ParenClose => Self::Value,
            _ => return None,
        })
    }
}

fn shown(token: &Token<'_>) -> String {
    match token {
        Token::Ident(name) => format!("`{name}`"),
        token => token.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        check(Page::Task, text).map_err(|faulty| faulty.what.split(';').next().unwrap().to_owned())
    }

    #[test]
    fn what_only_chooses_and_repeats_is_allowed() {
        for text in [
            "plain * text + with ~ signs [and] (all) that, {prose} | has",
            "{{ a }}{{- a.b[0].c['d'] -}}{# a comment ~ #}",
            "{% if a and not (b or c) %}{% elif a is defined %}{% else %}{% endif %}",
            "{% for one in many if one.is_good %}{{ loop.index }}: {{ one | trim | upper }}{% endfor %}",
            "{% if many | length > 1 and a == 'b' %}{{ a[1:3] }}{% endif %}",
            "{{ 'yes' if a in b else 'no' }}",
            "{% raw %}{{ a ~ a }}{% endraw %}",
        ] {
            assert_eq!(checked(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_makes_a_value_of_others_is_refused_and_named() {
        for (text, what) in [
            ("{{ a ~ a }}", "`~`"),
            ("{{ a + a }}", "`+`"),
            ("{{ 'x' * 100000000 }}", "`*`"),
            ("{{ 9 ** 9 }}", "`**`"),
            ("{{ '}}' ~ a }}", "`~`"),
            ("{% set b = a %}", "`set`"),
            ("{% set b %}{{ a }}{{ a }}{% endset %}", "`set`"),
            ("{%- macro m() %}{% endmacro %}", "`macro`"),
            ("{% filter upper %}{% endfilter %}", "`filter`"),
            ("{% include 'other.md' %}", "`include`"),
            ("{{ a | join(a) }}", "`join`"),
            ("{{ a | replace('', a) }}", "`replace`"),
            ("{{ a | upper(a) }}", "`(`"),
            ("{{ range(100000) }}", "`(`"),
            ("{{ a.replace('', a) }}", "`(`"),
            ("{{ a['b'](a) }}", "`(`"),
            ("{{ [a] }}", "`[`"),
            ("{{ {'a': a} }}", "`{`"),
            ("{{ (a, a) }}", "`,`"),
            ("{% for b in [a] %}{% endfor %}", "`[`"),
        ] {
            assert_eq!(checked(text), Err(format!("cannot use {what}")), "{text}");
        }
    }

    #[test]
    fn what_is_no_template_is_refused_with_its_line() {
        let faulty = check(Page::Task, "one\n{{ 'two }}").unwrap_err();
        assert_eq!(faulty.line, Some(2), "{faulty}");
    }
}
