//! The thirty-two rules, eight for each template.
//!
//! Each can be decided from the text alone, with the same result by different judges. Changing a word here makes new
//! criteria: no verdict under the old wording is ever reused.

use super::Severity::{Fail, Warn};
use super::{Level, Rule, RuleId, Severity, Template, Weights};

/// A rule before it is weighed. Its id contains its level.
pub(super) struct Text {
    id: &'static str,
    severity: Severity,
    description: &'static str,
    check: &'static str,
}

impl Text {
    pub(super) fn rule(&self, weights: Weights) -> Rule {
        Rule {
            id: RuleId::new(self.id),
            description: self.description.into(),
            severity: self.severity,
            weight: weights.of(self.severity),
            level: if self.id.starts_with("a.") { Level::A } else { Level::B },
            check: self.check.into(),
            command: None,
        }
    }
}

impl Template {
    pub(super) fn rules(self) -> &'static [Text] {
        match self {
            Self::Api => &API,
            Self::Code => &CODE,
            Self::Docs => &DOCS,
            Self::Config => &CONFIG,
            Self::Other => &[],
        }
    }
}

const fn rule(id: &'static str, severity: Severity, description: &'static str, check: &'static str) -> Text {
    Text { id, severity, description, check }
}

const API: [Text; 8] = [
    rule(
        "a.correctness.endpoints",
        Fail,
        "Every operation that the task asks for is there, with its method, its path and what it does.",
        "List the operations that the task names or cannot do without, and find each by method and path. The rule is \
         broken by one that is missing, stands under another method, or does something else than asked.",
    ),
    rule(
        "a.correctness.schemas",
        Fail,
        "Every body that is sent or returned has a schema: each field with its type and whether it must be there.",
        "Go through the operations with a body. The rule is broken by a body without a schema, a field without a type, \
         or one field that is told in two ways in different places.",
    ),
    rule(
        "a.completeness.examples",
        Fail,
        "Every operation has an example of a request and of its answer, and both fit the schemas.",
        "Hold each example against its schema, field by field. The rule is broken by an operation without one, or by an \
         example with an unknown field, a missing one or a value of another type.",
    ),
    rule(
        "a.completeness.errors",
        Warn,
        "Every operation names the errors it can give: the status, when it comes, and what the body then holds.",
        "Look at each operation for what can go wrong with its input, its rights and the thing it is about. The rule is \
         broken where only success is told.",
    ),
    rule(
        "b.style.naming",
        Warn,
        "Paths, parameters and fields are named by one convention: the same case, number and word for the same thing.",
        "Collect the names of each kind. The rule is broken by two cases side by side, a collection in the singular \
         beside one in the plural, or two words for one thing.",
    ),
    rule(
        "b.completeness.pagination",
        Warn,
        "Every operation that returns a list which can grow says how it is paged: parameters, default, greatest size, end.",
        "Find the operations that return lists. The rule is broken by one that tells no paging, or not how a caller sees \
         the last page. It is met when no list can grow.",
    ),
    rule(
        "b.completeness.auth",
        Fail,
        "It is told how callers prove who they are, and for each operation whether they must and with which right.",
        "Find the scheme and where the proof goes. The rule is broken when it is absent, or when an operation leaves open \
         whether it is public.",
    ),
    rule(
        "b.quality.descriptions",
        Warn,
        "Every operation, parameter and field is described by what its name does not say: meaning, unit, limits, effect.",
        "Read the descriptions without the names. The rule is broken by those that are absent or only repeat the name.",
    ),
];

const CODE: [Text; 8] = [
    rule(
        "a.correctness.compiles",
        Fail,
        "The code is whole and would be accepted by its compiler or interpreter as it stands.",
        "Read it as a compiler would: every name is defined or imported, blocks and brackets close, types agree. The \
         rule is broken by an ellipsis or a remark in the place of code.",
    ),
    rule(
        "a.correctness.logic",
        Fail,
        "The code does what the task asks, in the ordinary case and at the edges that the task names or implies.",
        "Follow one ordinary input and the edges (nothing, one, many, the limits) through the code. The rule is broken \
         by a result other than the one asked for.",
    ),
    rule(
        "a.completeness.functions",
        Fail,
        "Every function, type and entry point that the task asks for is there, with a body that does its work.",
        "List what the task names, and find each. The rule is broken by one that is missing, under another name, or a \
         stub.",
    ),
    rule(
        "a.completeness.types",
        Warn,
        "Every public parameter, result and field has a type as exact as the language allows.",
        "Go through what others call. The rule is broken by a type left out where it could stand, or by a catch-all type \
         where an exact one is known.",
    ),
    rule(
        "b.quality.error-handling",
        Warn,
        "Every call that can fail is met with a decision: handled, passed on with what was tried, or ended on purpose.",
        "Find the calls that can fail. The rule is broken by a failure that is swallowed, turned into a normal value, or \
         passed on without saying what was being done.",
    ),
    rule(
        "b.quality.logging",
        Warn,
        "What whoever runs the code needs to know, failures first, is reported in one way and without secrets.",
        "Look for what is reported on failures and on steps that are skipped or tried again. The rule is broken by \
         silence there, by leftover debugging, or by a secret in a message. It is met by pure code that returns its errors.",
    ),
    rule(
        "b.style.conventions",
        Warn,
        "The code follows the conventions of its language and of the project: names, layout, idioms, one way for one thing.",
        "Compare it with the context that was given, and else with the language's own style guide. The rule is broken by \
         mixed styles, names that mislead, or code that is commented out.",
    ),
    rule(
        "b.security.input-validation",
        Fail,
        "Whatever comes from outside is checked before it is used: form, range, length, and where it may point to.",
        "Follow each outside value to where it is used. The rule is broken when one reaches a query, a command, a path, \
         an index or a size unchecked. It is met when nothing comes from outside.",
    ),
];

const DOCS: [Text; 8] = [
    rule(
        "a.correctness.accuracy",
        Fail,
        "What the text states is right: commands, names, paths, numbers and behaviour agree with the task, the context \
         and one another.",
        "Take each statement that can be checked against the task or the context, and each that is made twice. The rule \
         is broken by a contradiction or by a detail that was made up.",
    ),
    rule(
        "a.completeness.sections",
        Fail,
        "Every topic that the task asks for is covered, under a heading by which it is found.",
        "List the topics of the task, and find each by the headings alone. The rule is broken by a topic that is missing, \
         or whose section only announces it.",
    ),
    rule(
        "a.completeness.examples",
        Warn,
        "Everything that a reader is to do or write is shown once as a whole example with its result.",
        "Find the instructions. The rule is broken by one without an example, or by an example that cannot be used as it \
         stands.",
    ),
    rule(
        "a.quality.clarity",
        Warn,
        "Each instruction can be followed in one way only, and each term is explained where it first comes.",
        "Read it as somebody new. The rule is broken by an unexplained term, an open `appropriate` or `if needed`, or a \
         step that leaves out who does what.",
    ),
    rule(
        "b.quality.structure",
        Warn,
        "Sections come in the order in which a reader needs them, headings nest without gaps, and each section has one \
         subject.",
        "Read the headings alone. The rule is broken by a jump in their levels, a section that needs a later one, or two \
         subjects under one heading.",
    ),
    rule(
        "b.completeness.cross-refs",
        Warn,
        "What is told elsewhere is referred to where it is needed, and every reference leads to something that is there.",
        "Follow each link and each `see`. The rule is broken by one that leads nowhere, or by a part that relies on \
         another without naming it.",
    ),
    rule(
        "b.style.consistency",
        Warn,
        "One thing has one name, and address, tense, spelling, lists and code are set in one way throughout.",
        "Collect how the main things are named and how commands and notes are set. The rule is broken by two ways for \
         the same.",
    ),
    rule(
        "b.quality.audience",
        Warn,
        "The text is written for the readers that the task names: it assumes what they know, and explains what they do not.",
        "Say who the readers are. The rule is broken where they are taught what they must know, or needed knowledge is \
         taken for granted.",
    ),
];

const CONFIG: [Text; 8] = [
    rule(
        "a.correctness.syntax",
        Fail,
        "The configuration is well-formed in its format as it stands.",
        "Read it as its parser would: indentation, quotes, brackets, commas, no key twice. The rule is broken by \
         anything that would be refused, or read as another value than meant.",
    ),
    rule(
        "a.correctness.required",
        Fail,
        "Every setting that the task or the configured program requires is there, with a value of the right type.",
        "List what is required, and find each key in its place. The rule is broken by one that is missing, misspelt, in \
         another section or of another type.",
    ),
    rule(
        "a.completeness.env-vars",
        Warn,
        "What differs from place to place comes from variables, and each variable is listed: meaning, form, default or \
         required.",
        "Collect the hosts, ports, paths and credentials. The rule is broken by one that is fixed though it differs, or \
         by a variable that is used and not listed.",
    ),
    rule(
        "a.security.no-secrets",
        Fail,
        "No password, key, token or other secret stands in it, not even in a comment or an example that could work.",
        "Look at every value that gives access. The rule is broken by anything but a reference, a variable or a \
         placeholder that plainly is one.",
    ),
    rule(
        "b.quality.defaults",
        Warn,
        "Every optional setting has a default that is safe and works unchanged in the ordinary case.",
        "Ask of each value what happens to somebody who leaves it as it is. The rule is broken by open access, debugging \
         switched on, or no limit where one is needed.",
    ),
    rule(
        "b.completeness.comments",
        Warn,
        "Every setting whose meaning, unit or limits its name does not say has a comment that says it.",
        "Go through the settings. The rule is broken by a bare number without a unit, or by a choice that gives no reason.",
    ),
    rule(
        "b.quality.portability",
        Warn,
        "It works on another machine, for another user and in another folder: nothing in it belongs to one place only.",
        "Look for absolute paths, user names, addresses, and tools of one system. The rule is broken by one that the task \
         does not call for.",
    ),
    rule(
        "b.security.permissions",
        Warn,
        "Everything runs and is reachable with the least that it needs: users, rights, file modes, ports, scopes.",
        "Find every right that is given. The rule is broken by root, by access for all, or by a wildcard, where less \
         would do.",
    ),
];
