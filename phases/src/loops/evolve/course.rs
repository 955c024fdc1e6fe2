//! The order of decisions: what follows from the evaluations of a run and from what was tried between them.
//!
//! ```text
//! red     fixes left?                        fix (flow A)
//!         else                               pivot: hard cap, from the last green tree
//! judged  done?                              done
//!         score or tree goes back and forth? pivot: oscillation
//!         two small gains in a row?          pivot: diminishing returns, or no drift
//!         patches left?                      patch (flow B)
//!         else                               pivot: hard cap
//! ```
//!
//! A pivot (flow C) uses a persona that was not used before. When all are used, a person is asked. Nothing is counted
//! in a state: every number is read from the entries.

use serde::{Deserialize, Serialize};

use crate::base::id::TreeId;

/// What has happened in a run so far, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry {
    /// The structural stage of an evaluation failed.
    Red,
    /// The structural stage was green, and the criteria were judged.
    Judged {
        /// The score over the original criteria, from 0 to 1.
        score: f64,
        tree: TreeId,
        /// The number of approved amendments of original criteria and of new evaluators. Scores of two series are never
        /// compared.
        series: u32,
        is_done: bool,
    },
    /// The fix tasks of flow A have ended, also if they failed.
    Fixed,
    /// A patch of flow B. It has not run if it was refused or if it impacts no task.
    Patched { has_run: bool },
    /// A patch of flow C. It has not run if it was refused or if it impacts no task.
    Pivoted { persona: Persona, has_run: bool },
    /// A person answered a hold with guidance. It gives one patch of flow B that counts to no cap.
    Guided,
}

/// Who looks for another way in flow C. Each is used once in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Persona {
    /// Looks from another angle.
    Multistability,
    /// Reduces. A reduction of what the specification asks for is an amendment.
    Simplicity,
    /// Copies what worked.
    Invariance,
    /// Adds the missing pieces.
    Reification,
}

/// Why patches of flow B do not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// The fixes or the patches are used up.
    HardCap,
    /// The score reverses again and again, or an earlier tree is back.
    Oscillation,
    /// The gains are small and shrink.
    DiminishingReturns,
    /// The gains are small in any other way.
    NoDrift,
}

/// The next action of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAction {
    Evaluate,
    Done,
    /// Flow A.
    Fix,
    /// Flow B.
    Patch {
        /// Whether the newest evaluation was red, and fixes did not help. The run then goes back to the last green
        /// tree, or to the base, and the tasks merged since are impacted.
        falls_back: bool,
    },
    /// Flow C.
    Pivot {
        persona: Persona,
        pattern: Pattern,
        falls_back: bool,
    },
    /// All personas are used, and a person is asked.
    Hold,
}

/// The settings of the order of decisions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Caps {
    /// Fixes in a row, without a green structural stage between them.
    pub fixes: u32,
    /// Patches of flow B in a run.
    pub patches: u32,
    /// A gain below this is small.
    pub gain: f64,
    /// Gains shrink only if the earlier one changed the score by more than this.
    pub shrinking: f64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { fixes: 3, patches: 3, gain: 0.05, shrinking: 0.001 }
    }
}

impl Persona {
    /// The order in which they are used when the one that fits a pattern has been used.
    pub const ALL: [Self; 4] = [Self::Multistability, Self::Simplicity, Self::Invariance, Self::Reification];

    /// Returns what a model is asked to do as this persona.
    pub fn page(self) -> &'static str {
        match self {
            Self::Multistability => {
                "The same work was tried again and again. Look at the problem from another angle: which of its parts \
                 could be seen as something else, which order could be turned around, what would make the obstacle \
                 go away instead of being overcome?"
            }
            Self::Simplicity => {
                "The work goes back and forth. Reduce: what is the smallest thing that meets the goal, and which parts \
                 get in each other's way? A criterion that asks for less is a change that a person has to approve."
            }
            Self::Invariance => {
                "Each step gains less than the one before. Look at what worked, in this run and in the project: which \
                 of it can be done in the same way for what is still missing?"
            }
            Self::Reification => {
                "Nothing moves. Something that everybody takes for granted may be missing: name the pieces that the \
                 criteria assume and that do not exist, and ask for them."
            }
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Multistability => "multistability",
            Self::Simplicity => "simplicity",
            Self::Reification => "reification",
            Self::Invariance => "invariance",
        }
    }
}

impl Pattern {
    pub fn word(self) -> &'static str {
        match self {
            Self::HardCap => "hard_cap",
            Self::Oscillation => "oscillation",
            Self::DiminishingReturns => "diminishing_returns",
            Self::NoDrift => "no_drift",
        }
    }

    /// Returns the persona that fits this pattern.
    pub fn persona(self) -> Persona {
        match self {
            Self::HardCap => Persona::Multistability,
            Self::Oscillation => Persona::Simplicity,
            Self::DiminishingReturns => Persona::Invariance,
            Self::NoDrift => Persona::Reification,
        }
    }
}

impl Course {
    pub fn follow(&self, caps: &Caps) -> NextAction {
        let Some(newest) = self.entries.last() else { return NextAction::Evaluate };
        match newest {
            Entry::Fixed | Entry::Patched { has_run: true } | Entry::Pivoted { has_run: true, .. } => {
                NextAction::Evaluate
            }
            Entry::Judged { is_done: true, .. } => NextAction::Done,
            Entry::Guided => NextAction::Patch { falls_back: self.is_red() },
            Entry::Red if self.fixes_in_a_row() < caps.fixes as usize => NextAction::Fix,
            Entry::Judged { .. } if self.trend(caps).is_none() && self.patches() < caps.patches as usize => {
                NextAction::Patch { falls_back: false }
            }
            // A patch that has not run shows nothing new, so the newest evaluation decides the pattern once more.
            Entry::Red
            | Entry::Judged { .. }
            | Entry::Patched { has_run: false }
            | Entry::Pivoted { has_run: false, .. } => self.pivot(caps),
        }
    }

    fn pivot(&self, caps: &Caps) -> NextAction {
        let falls_back = self.is_red();
        // Where the scores show no trend, flow B has nothing more to offer: its patches are used up, or the newest one
        // was refused or impacts nothing.
        let trend = if falls_back { None } else { self.trend(caps) };
        let pattern = trend.unwrap_or(Pattern::HardCap);
        let is_used = |one: Persona| {
            self.entries
                .iter()
                .any(|entry| matches!(entry, Entry::Pivoted { persona, .. } if *persona == one))
        };
        let mut personas = std::iter::once(pattern.persona()).chain(Persona::ALL);
        match personas.find(|persona| !is_used(*persona)) {
            Some(persona) => NextAction::Pivot { persona, pattern, falls_back },
            None => NextAction::Hold,
        }
    }

    /// Returns what the newest scores and trees of the series show, if it is a reason for a pivot.
    fn trend(&self, caps: &Caps) -> Option<Pattern> {
        let rounds = self.series();
        let is_back = match rounds.as_slice() {
            [(_, tree), (_, last), earlier @ ..] => {
                tree != last && earlier.iter().any(|(_, old)| old == tree)
            }
            _ => false,
        };
        let gains: Vec<f64> = rounds.windows(2).map(|two| gain(two[1].0, two[0].0)).collect();
        let reverses = gains.len() > 2 && gains[..3].windows(2).all(|two| two[0] * two[1] < 0.0);
        match gains[..] {
            _ if is_back || reverses => Some(Pattern::Oscillation),
            [last, previous, ..] if last < caps.gain && previous < caps.gain => {
                let shrinks = last.abs() < previous.abs() && previous.abs() > caps.shrinking;
                Some(if shrinks { Pattern::DiminishingReturns } else { Pattern::NoDrift })
            }
            _ => None,
        }
    }

    /// Returns the scores and trees of the newest series, the newest first.
    fn series(&self) -> Vec<(f64, TreeId)> {
        let judged = self.entries.iter().rev().filter_map(|entry| match *entry {
            Entry::Judged { score, tree, series, .. } => Some((series, (score, tree))),
            Entry::Red | Entry::Fixed | Entry::Patched { .. } | Entry::Pivoted { .. } | Entry::Guided => None,
        });
        let mut judged = judged.peekable();
        let newest = judged.peek().map(|(series, _)| *series);
        judged.take_while(|(series, _)| Some(*series) == newest).map(|(_, round)| round).collect()
    }

    /// Whether the newest evaluation was red.
    fn is_red(&self) -> bool {
        let is_evaluation = |entry: &&Entry| matches!(entry, Entry::Red | Entry::Judged { .. });
        self.entries.iter().rev().find(is_evaluation) == Some(&Entry::Red)
    }

    /// Returns the number of fixes since the last green structural stage.
    fn fixes_in_a_row(&self) -> usize {
        let since_green =
            self.entries.iter().rev().take_while(|entry| !matches!(entry, Entry::Judged { .. }));
        since_green.filter(|entry| **entry == Entry::Fixed).count()
    }

    /// Returns the number of patches of flow B, also of those that have not run, without those that a person guided. An
    /// evaluation comes before the first.
    fn patches(&self) -> usize {
        let is_counted = |two: &&[Entry]| two[0] != Entry::Guided && matches!(two[1], Entry::Patched { .. });
        self.entries.windows(2).filter(is_counted).count()
    }
}

/// Returns the gain without the error of floating point numbers: from 0.65 to 0.70 it is 0.05, not less.
fn gain(before: f64, after: f64) -> f64 {
    ((after - before) * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests;
