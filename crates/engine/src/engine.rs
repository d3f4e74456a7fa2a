//! The engine: several namespaces and their background work.

use std::sync::Arc;

use cairn_value::{Error, ResultCode};

use crate::clock::Clock;
use crate::config::NamespaceConfig;
use crate::namespace::{Budget, Namespace, Progress};
use crate::seams::Seams;

/// Most namespaces that one engine serves.
pub const NAMESPACES_MAX: usize = 32;

/// Records in named namespaces. It can be shared between threads.
#[derive(Debug)]
pub struct Engine {
    namespaces: Vec<Namespace>,
}

impl Engine {
    /// An engine on the machine's clock.
    ///
    /// ```
    /// use cairn_engine::{Engine, NamespaceConfig};
    /// let engine = Engine::in_memory([NamespaceConfig::new("test")])?;
    /// assert!(engine.namespace(b"test").is_some());
    /// # Ok::<(), cairn_value::Error>(())
    /// ```
    pub fn in_memory(
        namespaces: impl IntoIterator<Item = NamespaceConfig>,
    ) -> Result<Engine, Error> {
        Engine::open(namespaces, Seams::default())
    }

    /// An engine on a clock of the caller's.
    pub fn new(
        namespaces: impl IntoIterator<Item = NamespaceConfig>,
        clock: Arc<dyn Clock>,
    ) -> Result<Engine, Error> {
        Engine::open(namespaces, Seams { clock, ..Seams::default() })
    }

    /// An engine with its surroundings supplied by the caller. Namespaces in files are opened, or
    /// made when they are new; after a crash that takes as long as reading them.
    pub fn open(
        namespaces: impl IntoIterator<Item = NamespaceConfig>,
        seams: Seams,
    ) -> Result<Engine, Error> {
        let mut engine = Engine { namespaces: Vec::new() };
        for config in namespaces {
            if engine.namespace(config.name.as_bytes()).is_some() {
                let text = format!("namespace `{}` is declared twice", config.name);
                return Err(Error::new(ResultCode::Parameter, text));
            }
            engine.namespaces.push(Namespace::open(config, &seams)?);
        }
        if !(1..=NAMESPACES_MAX).contains(&engine.namespaces.len()) {
            let text = format!(
                "{} namespaces are declared; there may be 1 to {NAMESPACES_MAX}",
                engine.namespaces.len()
            );
            return Err(Error::new(ResultCode::Parameter, text));
        }
        Ok(engine)
    }

    /// The namespace of this name.
    pub fn namespace(&self, name: &[u8]) -> Option<&Namespace> {
        self.namespaces.iter().find(|namespace| namespace.name().as_bytes() == name)
    }

    /// All namespaces, in the order they were declared.
    pub fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }

    /// Stops cleanly: everything is made durable, and what the next start needs is written down.
    /// Writes are refused from then on. Namespaces in memory stay as they are.
    pub fn close(&self) -> Result<(), Error> {
        self.namespaces.iter().try_for_each(Namespace::close)
    }

    /// Does some background work in every namespace.
    pub fn step(&self, budget: Budget) -> Progress {
        let steps = self.namespaces.iter().map(|namespace| namespace.step(budget));
        steps.fold(Progress::Idle, |all, one| if one == Progress::More { one } else { all })
    }
}
