//! Parses styles as far as a check needs them: each declaration with its selector, media and line, and the parts of its
//! value.

use csscolorparser::Color;
use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, ParseError, Parser, ParserState, QualifiedRuleParser,
    RuleBodyItemParser, RuleBodyParser, StyleSheetParser, Token,
};

/// More than any real site has.
const MOST_DECLARATIONS: usize = 50_000;
const LONGEST_COLOR: usize = 120;

/// One rule, or one style attribute.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    /// As written; empty for a style attribute.
    pub selector: Box<str>,
    /// The enclosing conditions.
    pub media: Box<str>,
    pub declarations: Vec<Declaration>,
}

#[derive(Clone, Debug)]
pub(super) struct Declaration {
    /// In lower case.
    pub name: Box<str>,
    pub value: Box<str>,
    /// Counted from one, within its text.
    pub line: u64,
}

/// A part of a value that a check looks at.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Color {
        color: Color,
        text: Box<str>,
    },
    Length {
        value: f32,
        unit: Box<str>,
    },
    Word(Box<str>),
    Text(Box<str>),
    Comma,
    /// The name of a custom property.
    Variable(Box<str>),
}

impl Rule {
    /// Returns the last declaration of a property, which is the one that counts.
    pub(super) fn last(&self, name: &str) -> Option<&Declaration> {
        self.declarations.iter().rev().find(|one| *one.name == *name)
    }
}

/// Returns the rules of a style sheet. The selector of a nested rule is only its own part.
pub(super) fn rules(text: &str) -> Vec<Rule> {
    let mut reader = Reader::default();
    let mut parser = Parser::new(text);
    for _ in StyleSheetParser::new(&mut parser, &mut reader) {}
    reader.rules
}

/// Returns the declarations of a style attribute.
pub(super) fn declarations(text: &str) -> Rule {
    let mut reader = Reader { open: vec![Rule::default()], ..Reader::default() };
    let mut parser = Parser::new(text);
    for _ in RuleBodyParser::new(&mut parser, &mut reader) {}
    reader.open.pop().unwrap_or_default()
}

/// Returns the parts of a value, including those within functions.
pub(super) fn parts(value: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    take_parts(&mut Parser::new(value), &mut parts);
    parts
}

/// Returns the parts of a value that are not in a function, including custom properties.
pub(super) fn outer_parts(value: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut parser = Parser::new(value);
    loop {
        let start = parser.position();
        match parser.next().cloned() {
            Err(_) => return parts,
            Ok(Token::Function(name)) if name.eq_ignore_ascii_case("var") => {
                let _ = parser.parse_nested_block(|inner| {
                    if let Ok(name) = inner.expect_ident() {
                        parts.push(Part::Variable((&**name).into()));
                    }
                    Ok::<(), ParseError<()>>(())
                });
            }
            Ok(Token::Function(_) | Token::ParenthesisBlock) => {}
            Ok(_) => take_parts(&mut Parser::new(parser.slice_from(start)), &mut parts),
        }
    }
}

pub(super) fn color(text: &str) -> Option<Color> {
    let text = text.trim();
    // The parser also takes hex digits alone, which CSS does not.
    let is_color = text.starts_with('#') || text.contains('(') || text.parse::<f32>().is_err();
    let is_digits = !text.starts_with('#') && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_keyword = ["transparent", "currentcolor"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_read = is_color && !is_digits && !is_keyword && text.len() <= LONGEST_COLOR;
    is_read.then(|| csscolorparser::parse(text).ok()).flatten()
}

fn take_parts(parser: &mut Parser<'_>, out: &mut Vec<Part>) {
    loop {
        parser.skip_whitespace();
        let start = parser.position();
        let Ok(token) = parser.next().cloned() else { return };
        match token {
            Token::Hash(_) | Token::IDHash(_) | Token::Ident(_) => {
                let text = parser.slice_from(start);
                out.push(match color(text) {
                    Some(color) => Part::Color { color, text: text.into() },
                    None => Part::Word(text.into()),
                });
            }
            Token::QuotedString(text) => out.push(Part::Text((&*text).into())),
            Token::Comma => out.push(Part::Comma),
            Token::Number { value, .. } => out.push(Part::Length { value, unit: "".into() }),
            Token::Percentage { unit_value, .. } => {
                out.push(Part::Length { value: 100.0 * unit_value, unit: "%".into() });
            }
            Token::Dimension { value, unit, .. } => {
                out.push(Part::Length { value, unit: unit.to_ascii_lowercase().into() });
            }
            Token::Function(name) if name.eq_ignore_ascii_case("var") => {
                let _ = parser.parse_nested_block(|inner| {
                    if let Ok(name) = inner.expect_ident() {
                        out.push(Part::Variable((&**name).into()));
                    }
                    take_parts(inner, out);
                    Ok::<(), ParseError<()>>(())
                });
            }
            Token::Function(_) => {
                let from = out.len();
                let _ = parser.parse_nested_block(|inner| {
                    take_parts(inner, out);
                    Ok::<(), ParseError<()>>(())
                });
                let text = parser.slice_from(start);
                if let Some(color) = color(text) {
                    out.truncate(from);
                    out.push(Part::Color { color, text: text.into() });
                }
            }
            Token::ParenthesisBlock | Token::CurlyBracketBlock | Token::SquareBracketBlock => {
                let _ = parser.parse_nested_block(|inner| {
                    take_parts(inner, out);
                    Ok::<(), ParseError<()>>(())
                });
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Reader {
    rules: Vec<Rule>,
    /// The rules that enclose the current position.
    open: Vec<Rule>,
    media: Vec<String>,
    count: usize,
}

impl Reader {
    fn body(&mut self, parser: &mut Parser<'_>) {
        for _ in RuleBodyParser::new(parser, self) {}
    }
}

fn rest<'i>(parser: &mut Parser<'i>) -> &'i str {
    let start = parser.position();
    while parser.next_including_whitespace().is_ok() {}
    parser.slice_from(start).trim()
}

impl<'i> QualifiedRuleParser<'i> for Reader {
    type Prelude = Box<str>;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, parser: &mut Parser<'i>) -> Result<Box<str>, ParseError<()>> {
        Ok(rest(parser).into())
    }

    fn parse_block(
        &mut self,
        selector: Box<str>,
        _: &ParserState,
        parser: &mut Parser<'i>,
    ) -> Result<(), ParseError<()>> {
        self.open.push(Rule { selector, media: self.media.join(" ").into(), declarations: Vec::new() });
        self.body(parser);
        self.rules.extend(self.open.pop());
        Ok(())
    }
}

impl<'i> AtRuleParser<'i> for Reader {
    type Prelude = String;
    type AtRule = ();
    type Error = ();

    fn parse_prelude(
        &mut self,
        name: CowRcStr<'i>,
        parser: &mut Parser<'i>,
    ) -> Result<String, ParseError<()>> {
        Ok(format!("@{} {}", name.to_ascii_lowercase(), rest(parser)))
    }

    /// Keeps an `@import` as a rule, so that it can be seen. The imported styles are not read.
    fn rule_without_block(&mut self, prelude: String, _: &ParserState) -> Result<(), ()> {
        self.rules.push(Rule { selector: prelude.into(), ..Rule::default() });
        Ok(())
    }

    fn parse_block(
        &mut self,
        prelude: String,
        _: &ParserState,
        parser: &mut Parser<'i>,
    ) -> Result<(), ParseError<()>> {
        self.media.push(prelude);
        let selector = self.open.last().map_or("".into(), |rule| rule.selector.clone());
        self.open.push(Rule { selector, media: self.media.join(" ").into(), declarations: Vec::new() });
        self.body(parser);
        self.rules.extend(self.open.pop().filter(|rule| !rule.declarations.is_empty()));
        self.media.pop();
        Ok(())
    }
}

impl<'i> DeclarationParser<'i> for Reader {
    type Declaration = ();
    type Error = ();

    fn parse_value(
        &mut self,
        name: CowRcStr<'i>,
        parser: &mut Parser<'i>,
        start: &ParserState,
    ) -> Result<(), ParseError<()>> {
        let line = u64::from(start.source_location().line) + 1;
        let value = rest(parser);
        let value = value.strip_suffix("!important").unwrap_or(value).trim();
        let name = if name.starts_with("--") { name.to_string() } else { name.to_ascii_lowercase() };
        self.count += 1;
        if let Some(rule) = self.open.last_mut().filter(|_| self.count <= MOST_DECLARATIONS) {
            rule.declarations.push(Declaration { name: name.into(), value: value.into(), line });
        }
        Ok(())
    }
}

impl RuleBodyItemParser<'_, (), ()> for Reader {
    fn parse_declarations(&self) -> bool {
        true
    }

    fn parse_qualified(&self) -> bool {
        true
    }
}
