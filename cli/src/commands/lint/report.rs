//! The diagnostics of all skills, before formatting.

use skilltune_phases::skills::lint::{Diagnostic, Fix, Listing, Offer, Repair, Severity};

#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Whether the possible safe fixes are already applied.
    pub is_fixed: bool,
    pub skills: Vec<Linted>,
    pub shelves: Vec<Shelf>,
}

/// One skill and its diagnostics, or a folder that should be one.
#[derive(Clone, Debug)]
pub struct Linted {
    pub name: String,
    /// The folder's path as shown to the user.
    pub shown: String,
    pub is_skill: bool,
    pub diagnostics: Vec<Diagnostic>,
    pub done: Vec<Repair>,
    /// The fixes that can be applied now.
    pub offers: Vec<Offer>,
}

/// A folder that holds skills.
#[derive(Clone, Debug)]
pub struct Shelf {
    pub shown: String,
    pub listing: Listing,
    pub diagnostic: Option<Diagnostic>,
    /// Whether the user named it. Others are shown to people only if they have a diagnostic.
    pub is_named: bool,
}

impl Shelf {
    pub fn new(shown: String, listing: Listing) -> Self {
        let diagnostic = listing.diagnostic(&shown);
        Self { shown, listing, diagnostic, is_named: false }
    }
}

impl Linted {
    /// The path of a file as shown to the user.
    pub fn path(&self, below: &str) -> String {
        if self.shown == "." { below.to_owned() } else { format!("{}/{below}", self.shown) }
    }

    /// Returns how a diagnostic can be fixed.
    pub fn fix(&self, diagnostic: &Diagnostic) -> Fix {
        let is_here =
            |lines: &[usize]| lines.is_empty() || diagnostic.line.is_some_and(|line| lines.contains(&line));
        let is_meant = |messages: &[String]| messages.is_empty() || messages.contains(&diagnostic.message);
        let is_for = |offer: &&Offer| {
            (offer.rule, &offer.path) == (diagnostic.rule, &diagnostic.path)
                && is_here(&offer.lines)
                && is_meant(&offer.messages)
        };
        match self.offers.iter().find(is_for) {
            Some(offer) if offer.is_safe => Fix::Safe,
            Some(_) => Fix::Suggested,
            None => Fix::ByHand,
        }
    }
}

impl Report {
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let own = self.skills.iter().flat_map(|skill| &skill.diagnostics);
        own.chain(self.shelves.iter().filter_map(|shelf| shelf.diagnostic.as_ref()))
    }

    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics().filter(|diagnostic| diagnostic.rule.severity() == severity).count()
    }

    /// Returns the number of diagnostics that are safe to fix and not fixed yet.
    pub fn fixable(&self) -> usize {
        if self.is_fixed { 0 } else { self.offered(Fix::Safe) }
    }

    /// Returns the number of diagnostics with a fix that a person must decide on.
    pub fn suggestions(&self) -> usize {
        self.offered(Fix::Suggested)
    }

    fn offered(&self, fix: Fix) -> usize {
        let of = |skill: &Linted| {
            skill.diagnostics.iter().filter(|diagnostic| skill.fix(diagnostic) == fix).count()
        };
        self.skills.iter().map(of).sum()
    }

    /// Returns whether no diagnostic is a failure.
    pub fn is_clean(&self) -> bool {
        self.count(Severity::Error) == 0
    }
}
