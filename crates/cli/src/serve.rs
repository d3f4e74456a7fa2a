//! `cairn serve`: starts a server and waits for the signal to stop.

use std::sync::Arc;

use cairn_engine::Engine;
use cairn_server::{Server, ServerConfig};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::arguments::Serve;
use crate::{banner, ready};

/// Serves until SIGTERM or SIGINT.
pub fn run(asked: Serve) -> Result<(), String> {
    // Registered first: a signal that comes during the start is not lost.
    let mut signals = Signals::new([SIGTERM, SIGINT])
        .map_err(|error| format!("signals cannot be received: {error}"))?;
    let names: Vec<String> = asked.namespaces.iter().map(|config| config.name.clone()).collect();
    let engine = Engine::in_memory(asked.namespaces).map_err(|error| error.message.into_owned())?;
    let config =
        ServerConfig { listen: asked.listen, http: Some(asked.http), ..ServerConfig::default() };
    let server = Server::start(config, Arc::new(engine)).map_err(|error| {
        format!(
            "cannot listen on {error}; give another address with --listen (clients) or --http, or \
             port 0 for a free one"
        )
    })?;
    let running = ready::Running {
        pid: std::process::id(),
        aerospike: server.addr(),
        http: server.http_addr(),
    };
    if let Some(file) = &asked.ready_file {
        running.write(file).map_err(|error| format!("--ready-file {}: {error}", file.display()))?;
    }
    banner::print(&running, &names);
    signals.forever().next();
    server.stop();
    Ok(())
}
