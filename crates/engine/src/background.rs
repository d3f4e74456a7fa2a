//! The thread that calls [`Engine::step`].

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::engine::Engine;
use crate::namespace::{Budget, Progress};

/// How long the thread sleeps when there is nothing to do.
const IDLE: Duration = Duration::from_millis(100);
/// How long it lets others work between two steps.
const BREATH: Duration = Duration::from_micros(200);

/// Runs background work on a thread until it is dropped.
#[derive(Debug)]
pub struct Background {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts the thread.
    pub fn start(engine: Arc<Engine>) -> std::io::Result<Background> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = stop.clone();
        let thread =
            std::thread::Builder::new().name("cairn-background".into()).spawn(move || {
                let (flag, wake) = &*stopped;
                loop {
                    let pause = match engine.step(Budget::default()) {
                        Progress::More => BREATH,
                        Progress::Idle => IDLE,
                    };
                    let mut stop = flag.lock();
                    if !*stop {
                        wake.wait_for(&mut stop, pause);
                    }
                    if *stop {
                        return;
                    }
                }
            })?;
        Ok(Background { stop, thread: Some(thread) })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        *self.stop.0.lock() = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}
