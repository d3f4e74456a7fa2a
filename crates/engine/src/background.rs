//! The threads that do the background work of an [`Engine`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::config::Storage;
use crate::engine::Engine;
use crate::namespace::{Budget, Progress};

/// How long the thread sleeps when there is nothing to do.
const IDLE: Duration = Duration::from_millis(100);
/// How long it lets others work between two steps.
const BREATH: Duration = Duration::from_micros(200);

/// Runs background work until it is dropped: one thread calls [`Engine::step`], and each namespace
/// in files has one that flushes when somebody waits for it.
#[derive(Debug)]
pub struct Background {
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stop {
    stopped: AtomicBool,
    sleeping: Mutex<()>,
    wake: Condvar,
}

impl Background {
    /// Starts the threads.
    pub fn start(engine: Arc<Engine>) -> std::io::Result<Background> {
        let mut background = Background { stop: Arc::default(), threads: Vec::new() };
        let stop = background.stop.clone();
        let stepped = engine.clone();
        background.spawn("cairn-background", move || {
            while !stop.stopped.load(Ordering::SeqCst) {
                let pause = match stepped.step(Budget::default()) {
                    Progress::More => BREATH,
                    Progress::Idle => IDLE,
                };
                let mut sleeping = stop.sleeping.lock();
                if !stop.stopped.load(Ordering::SeqCst) {
                    stop.wake.wait_for(&mut sleeping, pause);
                }
            }
        })?;
        for (at, namespace) in engine.namespaces().iter().enumerate() {
            if matches!(namespace.config().storage, Storage::Memory) {
                continue;
            }
            let (engine, stop) = (engine.clone(), background.stop.clone());
            background.spawn("cairn-flush", move || {
                while !stop.stopped.load(Ordering::SeqCst) {
                    engine.namespaces()[at].flush_when_wanted(IDLE);
                }
            })?;
        }
        Ok(background)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        self.threads.push(std::thread::Builder::new().name(name.into()).spawn(work)?);
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.stopped.store(true, Ordering::SeqCst);
        let sleeping = self.stop.sleeping.lock();
        self.stop.wake.notify_all();
        drop(sleeping);
        for thread in self.threads.drain(..) {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}
