//! The file that tells a script where the server is.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

/// Where a server runs.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// Process id.
    pub pid: u32,
    /// Address of the client protocol.
    pub aerospike: SocketAddr,
    /// Address of HTTP.
    pub http: Option<SocketAddr>,
}

impl Running {
    /// As JSON. Numbers and addresses need no escapes.
    pub fn to_json(self) -> String {
        let http = self.http.map_or("null".into(), |addr| format!("\"{addr}\""));
        format!(
            "{{\"pid\": {}, \"aerospike\": \"{}\", \"http\": {http}}}\n",
            self.pid, self.aerospike
        )
    }

    /// Writes the file in one step: whoever sees it sees all of it.
    pub fn write(self, file: &Path) -> io::Result<()> {
        let mut name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        name.push(format!(".{}.tmp", self.pid));
        let temporary = file.with_file_name(name);
        fs::write(&temporary, self.to_json())?;
        fs::rename(&temporary, file).inspect_err(|_| {
            // The rename failed, nobody will take the temporary file.
            let _ = fs::remove_file(&temporary);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_the_addresses() {
        let running = Running {
            pid: 7,
            aerospike: "127.0.0.1:3000".parse().unwrap(),
            http: Some("127.0.0.1:8081".parse().unwrap()),
        };
        let dir = std::env::temp_dir().join(format!("cairn-ready-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        running.write(&dir.join("ready.json")).unwrap();
        let text = fs::read_to_string(dir.join("ready.json")).unwrap();
        assert_eq!(
            text,
            "{\"pid\": 7, \"aerospike\": \"127.0.0.1:3000\", \"http\": \"127.0.0.1:8081\"}\n"
        );
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing temporary stays");
        fs::remove_dir_all(&dir).unwrap();
    }
}
