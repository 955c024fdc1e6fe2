//! One value for each role that settings and flags name.

use skilltune_phases::base::role::Role;
use skilltune_phases::loops::tune::{Improver, Seat};

/// One value for each role that settings and flags name.
#[derive(Clone, Debug, PartialEq)]
pub struct PerRole<T> {
    pub executor: T,
    pub evaluator: T,
    pub improver: T,
}

impl<T> PerRole<T> {
    /// Returns the value of a role. All judges use the evaluator's, all improvers use the improver's, and any other
    /// role without its own value uses the executor's.
    pub fn of(&self, role: &Role) -> &T {
        let is_judge = Seat::ALL.iter().any(|seat| seat.role() == *role);
        let is_improver = Improver::ALL.iter().any(|by| by.role() == *role);
        let role = match (is_judge, is_improver) {
            (true, _) => &Role::EVALUATOR,
            (_, true) => &Role::IMPROVER,
            (false, false) => role,
        };
        let [executor, others @ ..] = self.named();
        others.into_iter().find(|(name, _)| *name == role.as_str()).unwrap_or(executor).1
    }

    pub fn named(&self) -> [(&'static str, &T); 3] {
        [("executor", &self.executor), ("evaluator", &self.evaluator), ("improver", &self.improver)]
    }

    pub fn all(&self) -> [&T; 3] {
        [&self.executor, &self.evaluator, &self.improver]
    }
}
