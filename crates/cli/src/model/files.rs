//! Contracts from files, directories and git revisions.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

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
