//! The one screen that a starting server prints.

use std::io::Write;

use crate::ready::Running;

/// Says what runs, where, and what to try first.
pub fn print(running: &Running, namespaces: &[String]) {
    // A closed standard output must not end the server.
    let _ = std::io::stdout().write_all(text(running, namespaces).as_bytes());
}

fn text(running: &Running, namespaces: &[String]) -> String {
    let (host, port) = (running.aerospike.ip(), running.aerospike.port());
    let first = namespaces.first().map_or("test", String::as_str);
    let http = match running.http {
        Some(addr) => format!("http://{addr}/healthz"),
        None => "off".into(),
    };
    format!(
        "Cairn {version} is serving, process {pid}\n\
         \n\
         \x20 clients     {aerospike}\n\
         \x20 http        {http}\n\
         \x20 namespaces  {names} (in memory, gone when the server ends)\n\
         \n\
         Try first, with pip install aerospike:\n\
         \n\
         \x20 import aerospike\n\
         \x20 client = aerospike.client({{\"hosts\": [(\"{host}\", {port})]}}).connect()\n\
         \x20 client.put((\"{first}\", \"demo\", \"hello\"), {{\"greeting\": \"world\"}})\n\
         \x20 print(client.get((\"{first}\", \"demo\", \"hello\")))\n\
         \n\
         Stop with Ctrl-C.\n",
        version = env!("CARGO_PKG_VERSION"),
        pid = running.pid,
        aerospike = running.aerospike,
        names = namespaces.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_names_addresses_and_namespaces_and_is_short() {
        let running = Running {
            pid: 1,
            aerospike: "127.0.0.1:3456".parse().unwrap(),
            http: Some("127.0.0.1:8081".parse().unwrap()),
        };
        let text = text(&running, &["test".into(), "app".into()]);
        for part in ["127.0.0.1:3456", "3456)", "http://127.0.0.1:8081/healthz", "test, app"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(text.lines().count() <= 20);
    }
}
