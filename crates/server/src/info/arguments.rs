//! Arguments of an info command.

/// What stands behind a command's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments<'a> {
    text: &'a str,
    /// Behind `/` they are a path, behind `:` a list of pairs.
    path: bool,
}

impl<'a> Arguments<'a> {
    /// Splits a line into a name and its arguments.
    pub fn split(line: &'a str) -> (&'a str, Arguments<'a>) {
        match line.find([':', '/']) {
            Some(at) => {
                let path = line[at..].starts_with('/');
                (&line[..at], Arguments { text: &line[at + 1..], path })
            }
            None => (line, Arguments { text: "", path: false }),
        }
    }

    /// The value of a key in `key=value;..`.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        if self.path {
            return None;
        }
        self.text.split(';').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
    }

    /// All pairs of `key=value;..`.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let text = if self.path { "" } else { self.text };
        text.split(';').filter_map(|pair| pair.split_once('='))
    }

    /// The first part of a path, up to the next `/`, and the rest behind it.
    pub fn path(&self) -> Option<(&'a str, Option<&'a str>)> {
        if !self.path {
            return None;
        }
        Some(match self.text.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (self.text, None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_paths() {
        let (name, arguments) = Arguments::split("get-config:context=namespace;namespace=test");
        assert_eq!(name, "get-config");
        assert_eq!(arguments.get("context"), Some("namespace"));
        assert_eq!(arguments.get("namespace"), Some("test"));
        assert_eq!(arguments.get("name"), None);
        assert!(arguments.pairs().eq([("context", "namespace"), ("namespace", "test")]));
        assert_eq!(arguments.path(), None);

        let (name, arguments) = Arguments::split("sets/test/a:b");
        assert_eq!(name, "sets");
        assert_eq!(arguments.path(), Some(("test", Some("a:b"))));
        assert_eq!(arguments.get("test"), None);

        let (name, arguments) = Arguments::split("build");
        assert_eq!((name, arguments.path(), arguments.get("x")), ("build", None, None));
        assert_eq!(Arguments::split("build:").0, "build");
    }
}
