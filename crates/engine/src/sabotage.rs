//! Ways to break the engine on purpose, so that tests can show that the simulator notices.
//!
//! Without the feature `sabotage` nothing here can be armed, and the compiler removes it.

#[cfg(feature = "sabotage")]
mod armed {
    use std::cell::Cell;

    /// What the engine does wrong.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sabotage {
        /// Flushes report success without the sync.
        SkipSync,
        /// The body of an entry is not checked when it is read.
        SkipBodyCheck,
        /// A deletion leaves no tombstone.
        ForgetTombstone,
    }

    thread_local! {
        static ARMED: Cell<Option<Sabotage>> = const { Cell::new(None) };
    }

    /// Breaks the engine on this thread, or repairs it.
    pub fn arm(sabotage: Option<Sabotage>) {
        ARMED.set(sabotage);
    }

    pub(super) fn is_armed(sabotage: Sabotage) -> bool {
        ARMED.get() == Some(sabotage)
    }
}

#[cfg(feature = "sabotage")]
pub use armed::{Sabotage, arm};

macro_rules! sabotages {
    ($($function:ident, $kind:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $function() -> bool {
            #[cfg(feature = "sabotage")]
            return armed::is_armed(Sabotage::$kind);
            #[cfg(not(feature = "sabotage"))]
            false
        }
    )*};
}

sabotages! {
    skips_sync, SkipSync;
    skips_body_check, SkipBodyCheck;
    forgets_tombstones, ForgetTombstone;
}
