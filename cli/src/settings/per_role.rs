//! One of something for each role.

use skilltune_phases::role::Role;

/// One of something for each role.
#[derive(Clone, Debug, PartialEq)]
pub struct PerRole<T> {
    pub executor: T,
    pub evaluator: T,
    pub improver: T,
}

impl<T> PerRole<T> {
    pub fn of(&self, role: Role) -> &T {
        match role {
            Role::Executor => &self.executor,
            Role::Evaluator => &self.evaluator,
            Role::Improver => &self.improver,
        }
    }

    pub fn of_mut(&mut self, role: Role) -> &mut T {
        match role {
            Role::Executor => &mut self.executor,
            Role::Evaluator => &mut self.evaluator,
            Role::Improver => &mut self.improver,
        }
    }

    pub fn try_build<E>(mut make: impl FnMut(Role) -> Result<T, E>) -> Result<Self, E> {
        Ok(Self {
            executor: make(Role::Executor)?,
            evaluator: make(Role::Evaluator)?,
            improver: make(Role::Improver)?,
        })
    }

    pub fn all(&self) -> [&T; 3] {
        [&self.executor, &self.evaluator, &self.improver]
    }
}
