//! The command line: flags, their defaults and their help.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use cairn_engine::NamespaceConfig;
use cairn_server::config;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

/// Namespaces of a server that is not told which: one to play with, and those of the documents'
/// samples.
const NAMESPACES_DEFAULT: [&str; 3] = ["test", "app", "iot"];

/// What `cairn serve` was asked for.
#[derive(Debug)]
pub struct Serve {
    /// Address of the client protocol.
    pub listen: SocketAddr,
    /// Address of HTTP.
    pub http: SocketAddr,
    /// Namespaces with their settings.
    pub namespaces: Vec<NamespaceConfig>,
    /// File to write once the server accepts.
    pub ready_file: Option<PathBuf>,
}

/// The whole command line.
pub fn command() -> Command {
    Command::new("cairn")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A record store that speaks the Aerospike client protocol")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(serve_command())
        .subcommand(crate::model::command())
}

fn serve_command() -> Command {
    Command::new("serve")
        .about("Serves records to clients")
        .after_help(keys_help())
        .arg(
            Arg::new("memory")
                .long("memory")
                .action(ArgAction::SetTrue)
                .conflicts_with("data")
                .help("Keep records in memory; they are gone when the server ends [default]"),
        )
        .arg(
            Arg::new("data")
                .long("data")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Keep records in files in this directory (not available yet)"),
        )
        .arg(address("listen", "127.0.0.1:3000", "Address for clients; port 0 takes a free one"))
        .arg(address("http", "127.0.0.1:8081", "Address for HTTP; port 0 takes a free one"))
        .arg(
            Arg::new("namespace")
                .long("namespace")
                .value_name("NAME")
                .action(ArgAction::Append)
                .help("A namespace to serve, once for each [default: test, app, iot]"),
        )
        .arg(
            Arg::new("option")
                .short('o')
                .value_name("KEY=VALUE")
                .action(ArgAction::Append)
                .help("A setting, see below"),
        )
        .arg(
            Arg::new("ready-file")
                .long("ready-file")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Write process id and addresses here, as JSON, once the server accepts"),
        )
}

fn address(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("HOST:PORT")
        .default_value(default)
        .value_parser(value_parser!(String))
        .help(help)
}

/// The table of settings as text.
fn keys_help() -> String {
    let mut text = String::from("Settings, each as -o namespace.NAME.KEY=VALUE:\n");
    for key in config::KEYS {
        text.push_str(&format!(
            "  {:<26} {} ({}) [default: {}]\n",
            key.name,
            key.doc,
            key.kind.describe(),
            key.default
        ));
    }
    text
}

/// Reads what `cairn serve` was asked for.
pub fn serve(matches: &ArgMatches) -> Result<Serve, String> {
    if let Some(dir) = matches.get_one::<PathBuf>("data") {
        return Err(format!(
            "--data {}: file storage is not available yet; use --memory, which keeps records until \
             the server ends",
            dir.display()
        ));
    }
    Ok(Serve {
        listen: resolve(matches, "listen")?,
        http: resolve(matches, "http")?,
        namespaces: namespaces(matches)?,
        ready_file: matches.get_one::<PathBuf>("ready-file").cloned(),
    })
}

fn namespaces(matches: &ArgMatches) -> Result<Vec<NamespaceConfig>, String> {
    let mut namespaces: Vec<NamespaceConfig> = match matches.get_many::<String>("namespace") {
        Some(names) => names.map(NamespaceConfig::new).collect(),
        None => NAMESPACES_DEFAULT.into_iter().map(NamespaceConfig::new).collect(),
    };
    for setting in matches.get_many::<String>("option").into_iter().flatten() {
        config::apply(setting, &mut namespaces).map_err(|error| format!("-o {}", error.message))?;
    }
    Ok(namespaces)
}

fn resolve(matches: &ArgMatches, name: &str) -> Result<SocketAddr, String> {
    let text = matches.get_one::<String>(name).map_or("", String::as_str);
    let refusal =
        |why: &str| format!("--{name} {text}: {why}; give HOST:PORT, as in 127.0.0.1:3000");
    let mut addresses = text.to_socket_addrs().map_err(|error| refusal(&error.to_string()))?;
    addresses.next().ok_or_else(|| refusal("no address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Serve, String> {
        let all = ["cairn", "serve"].iter().chain(arguments);
        let matches = command().try_get_matches_from(all).map_err(|error| error.to_string())?;
        serve(matches.subcommand_matches("serve").unwrap())
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn defaults() {
        let serve = parse(&[]).unwrap();
        assert_eq!(serve.listen, "127.0.0.1:3000".parse().unwrap());
        assert_eq!(serve.http, "127.0.0.1:8081".parse().unwrap());
        let names: Vec<_> = serve.namespaces.iter().map(|config| config.name.as_str()).collect();
        assert_eq!(names, ["test", "app", "iot"]);
        let sweeps = serve.namespaces.iter().map(|c| (c.nsup_period_s, c.default_ttl_s));
        assert!(sweeps.eq([(120, 0); 3]));
        assert_eq!(serve.ready_file, None);
    }

    #[test]
    fn flags_and_settings() {
        let serve = parse(&[
            "--memory",
            "--listen",
            "127.0.0.1:0",
            "--namespace",
            "a",
            "--namespace",
            "b",
            "-o",
            "namespace.b.default-ttl=1h",
        ])
        .unwrap();
        assert_eq!(serve.listen.port(), 0);
        let ttls = serve.namespaces.iter().map(|c| (c.name.as_str(), c.default_ttl_s));
        assert!(ttls.eq([("a", 0), ("b", 3600)]));
    }

    #[test]
    fn refusals_say_what_to_do() {
        assert!(parse(&["--data", "d"]).unwrap_err().contains("--memory"));
        assert!(parse(&["--data", "d", "--memory"]).is_err());
        assert!(parse(&["--listen", "nowhere"]).unwrap_err().contains("HOST:PORT"));
        let error = parse(&["-o", "namespace.test.default-tll=1"]).unwrap_err();
        assert!(error.contains("did you mean `default-ttl`"), "{error}");
    }

    #[test]
    fn the_help_lists_every_setting() {
        let help = keys_help();
        assert!(config::KEYS.iter().all(|key| help.contains(key.name)));
    }
}
