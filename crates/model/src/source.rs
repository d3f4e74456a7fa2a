//! The files of a contract and places in them.

/// Largest file that is read: a contract is written by people.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A place in one of the files, for diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Which of the [`Sources`].
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Characters that belong to it, on that line.
    pub len: u32,
}

/// One file with its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name as it was given, for people.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// All files of a contract.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a file; its number goes into spans.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.0.push(Source { name: name.into(), text: text.into() });
        self.0.len() as u32 - 1
    }

    /// The files in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Source)> {
        (0..).zip(&self.0)
    }

    /// Name of the file that a span lies in.
    pub fn name(&self, span: Span) -> &str {
        self.0.get(span.file as usize).map_or("", |source| &source.name)
    }

    /// The line that a span lies in.
    pub fn line(&self, span: Span) -> Option<&str> {
        let source = self.0.get(span.file as usize)?;
        source.text.lines().nth((span.line as usize).checked_sub(1)?)
    }
}
