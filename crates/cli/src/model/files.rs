//! Contracts from files, directories and git revisions.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use cairn_model::source::FILE_BYTES_MAX;
use cairn_model::{Contract, Unusable};

/// Why there is no contract.
#[derive(Debug)]
pub enum Error {
    /// The command cannot be done as asked.
    Asked(String),
    /// The files are no contract.
    Unusable(Box<Unusable>),
}

impl From<String> for Error {
    fn from(text: String) -> Self {
        Error::Asked(text)
    }
}

/// Reads a contract from files and directories.
pub fn contract<'a>(paths: impl IntoIterator<Item = &'a String>) -> Result<Contract, Error> {
    let mut files = Vec::new();
    for path in paths {
        for file in expand(Path::new(path))? {
            files.push((file.display().to_string(), read(&file)?));
        }
    }
    parse(files)
}

fn parse(files: Vec<(String, String)>) -> Result<Contract, Error> {
    Contract::parse(files).map_err(|unusable| Error::Unusable(Box::new(unusable)))
}

/// A directory stands for its YAML files, by name.
fn expand(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let is_yaml = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_yaml).collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: no .yaml or .yml file in this directory", path.display()));
    }
    Ok(files)
}

fn read(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    // One byte more than is allowed tells too large a file.
    let limit = FILE_BYTES_MAX as u64 + 1;
    fs::File::open(path).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8 text", path.display()))
}

/// Reads one side of a comparison: a path, `REVISION:PATH`, or a revision of `other`'s path.
pub fn side(asked: &str, other: &str) -> Result<Contract, Error> {
    if Path::new(asked).exists() {
        return contract([&asked.to_owned()]);
    }
    let object = match asked.split_once(':') {
        Some(_) => asked.to_owned(),
        None => format!("{asked}:./{}", other.rsplit_once(':').map_or(other, |(_, path)| path)),
    };
    let output = Command::new("git")
        .args(["show", "--end-of-options", &object])
        .output()
        .map_err(|error| format!("{asked}: no such file, and git does not run: {error}"))?;
    if !output.status.success() {
        return Err(format!("{asked}: no such file and no such git revision").into());
    }
    let text = String::from_utf8(output.stdout).map_err(|_| format!("{object}: not UTF-8 text"))?;
    parse(vec![(object, text)])
}
