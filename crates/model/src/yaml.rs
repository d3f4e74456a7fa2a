//! YAML as a tree that knows where each node stands.
//!
//! Scalars stay text: what a text means depends on the field that it stands in, so `records: 1e3`
//! and `set: 1e3` never confuse each other. Anchors and aliases are refused: a contract of a few
//! lines must not unfold into gigabytes.

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::source::Span;

/// Deepest nesting of a contract.
pub const DEPTH_MAX: usize = 48;

/// Most nodes of one file. A contract of hundreds of entities has some thousands.
pub const NODES_MAX: usize = 100_000;

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it starts.
    pub span: Span,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Text, as written; `quoted` text is never null.
    Scalar {
        /// The text without its quotes.
        text: String,
        /// Whether it was quoted.
        quoted: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(Node, Node)>),
}

/// The file is not readable YAML.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// What is wrong.
    pub text: String,
    /// Where.
    pub span: Span,
}

impl Node {
    /// The text of a scalar; nothing for an empty value and `null`.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, quoted }
                if *quoted || !matches!(text.as_str(), "" | "~" | "null") =>
            {
                Some(text)
            }
            _ => None,
        }
    }

    fn has_children(&self) -> bool {
        match &self.kind {
            Kind::Scalar { .. } => false,
            Kind::List(items) => !items.is_empty(),
            Kind::Map(pairs) => !pairs.is_empty(),
        }
    }

    /// True for an empty value.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Scalar { .. }) && self.text().is_none()
    }

    /// The pairs of a mapping.
    pub fn pairs(&self) -> &[(Node, Node)] {
        match &self.kind {
            Kind::Map(pairs) => pairs,
            _ => &[],
        }
    }

    /// The elements of a list.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The value of a mapping's field.
    pub fn get(&self, field: &str) -> Option<&Node> {
        let pair = self.pairs().iter().find(|(key, _)| key.text() == Some(field))?;
        Some(&pair.1)
    }

    /// The value of a mapping's field, to be changed.
    pub fn get_mut(&mut self, field: &str) -> Option<&mut Node> {
        match &mut self.kind {
            Kind::Map(pairs) => {
                let pair = pairs.iter_mut().find(|(key, _)| key.text() == Some(field))?;
                Some(&mut pair.1)
            }
            _ => None,
        }
    }

    /// Adds a field to a mapping, unless it is there.
    pub fn insert(&mut self, field: &str, value: Node) {
        if self.get(field).is_none()
            && let Kind::Map(pairs) = &mut self.kind
        {
            let key = Kind::Scalar { text: field.to_owned(), quoted: false };
            pairs.push((Node { kind: key, span: value.span }, value));
        }
    }

    /// What it is, in a word.
    pub fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Scalar { .. } if self.is_null() => "nothing",
            Kind::Scalar { .. } => "a text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }
}

/// A collection whose end has not come yet.
struct Open {
    span: Span,
    is_map: bool,
    nodes: Vec<Node>,
}

/// Reads one document. An empty file is an empty mapping.
pub fn parse(file: u32, text: &str) -> Result<Node, Unreadable> {
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut nodes = 0;
    for event in Parser::new_from_str(text) {
        let (event, at) = event.map_err(|error| Unreadable {
            text: error.info().to_owned(),
            span: span_of(file, &saphyr_parser::Span::empty(*error.marker())),
        })?;
        let span = span_of(file, &at);
        let refuse = |text: &str| Unreadable { text: text.to_owned(), span };
        nodes += 1;
        if nodes > NODES_MAX {
            return Err(refuse("the file has more than 100,000 values; split it"));
        }
        let done = match event {
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(anchor, _)
            | Event::MappingStart(anchor, _)
                if anchor != 0 =>
            {
                return Err(refuse("anchors are not supported; write the value out"));
            }
            Event::Alias(_) => {
                return Err(refuse("aliases are not supported; write the value out"));
            }
            Event::DocumentStart(_) if root.is_some() => {
                return Err(refuse("one file holds one document; give several files instead"));
            }
            Event::Scalar(text, style, ..) => Some(Node {
                kind: Kind::Scalar { text: text.into_owned(), quoted: style != ScalarStyle::Plain },
                span,
            }),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= DEPTH_MAX {
                    return Err(refuse("nested too deep; 48 levels are the limit"));
                }
                let is_map = matches!(event, Event::MappingStart(..));
                open.push(Open { span, is_map, nodes: Vec::new() });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(close),
            _ => None,
        };
        match (done, open.last_mut()) {
            (Some(node), Some(parent)) => parent.nodes.push(node),
            (Some(node), None) => root = Some(node),
            (None, _) => {}
        }
    }
    let empty =
        || Node { kind: Kind::Map(Vec::new()), span: Span { file, line: 1, column: 1, len: 1 } };
    Ok(match root {
        Some(node) if !node.is_null() => node,
        _ => empty(),
    })
}

fn close(open: Open) -> Node {
    let kind = if open.is_map {
        let mut pairs = Vec::with_capacity(open.nodes.len() / 2);
        let mut nodes = open.nodes.into_iter();
        while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
            pairs.push((key, value));
        }
        Kind::Map(pairs)
    } else {
        Kind::List(open.nodes)
    };
    Node { kind, span: open.span }
}

fn span_of(file: u32, at: &saphyr_parser::Span) -> Span {
    let one_line = at.start.line() == at.end.line();
    let len = if one_line { at.end.col().saturating_sub(at.start.col()) } else { 1 };
    Span {
        file,
        line: at.start.line() as u32,
        column: at.start.col() as u32 + 1,
        len: len.max(1) as u32,
    }
}

/// Small nodes stand on one line.
const FLOW_CHARS: usize = 96;

/// The tree as YAML.
pub fn emit(node: &Node) -> String {
    let mut out = String::new();
    block(node, 0, &mut out);
    out
}

fn block(node: &Node, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match &node.kind {
        Kind::Map(pairs) if !pairs.is_empty() => {
            for (key, value) in pairs {
                let line = flow(value);
                let name = flow(key);
                let short = indent + name.len() + line.len() + 2 <= FLOW_CHARS;
                if !value.has_children() || (indent > 0 && short) {
                    out.push_str(&format!("{pad}{name}: {line}\n"));
                } else {
                    out.push_str(&format!("{pad}{name}:\n"));
                    block(value, indent + 2, out);
                }
            }
        }
        Kind::List(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&format!("{pad}- {}\n", flow(item)));
            }
        }
        _ => out.push_str(&format!("{pad}{}\n", flow(node))),
    }
}

/// A node on one line.
fn flow(node: &Node) -> String {
    match &node.kind {
        Kind::Scalar { text, quoted } if *quoted || needs_quotes(text) => {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
        }
        Kind::Scalar { text, .. } => text.clone(),
        Kind::List(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Kind::Map(pairs) => {
            let pair = |(key, value): &(Node, Node)| format!("{}: {}", flow(key), flow(value));
            format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Whether a plain text would be read as something else.
fn needs_quotes(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-./ %+".contains(c);
    !text.chars().all(plain) || text.starts_with([' ', '-', '%']) || text.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_know_their_place() {
        let node = parse(0, "a: 1\nb:\n  - {c: \"x y\"}\n").unwrap();
        let c = node.get("b").unwrap().items()[0].get("c").unwrap();
        assert_eq!(c.text(), Some("x y"));
        assert_eq!((c.span.line, c.span.column, c.span.len), (3, 9, 5));
    }

    #[test]
    fn null_is_not_a_text_but_quoted_null_is() {
        let node = parse(0, "a:\nb: 'null'\n").unwrap();
        assert!(node.get("a").unwrap().is_null());
        assert_eq!(node.get("b").unwrap().text(), Some("null"));
    }

    #[test]
    fn what_is_emitted_reads_the_same() {
        let text =
            "a: {b: [1, \"x: y\", {c: 'q\\\"z'}]}\nd:\n  - {e: \"date:%Y\", f: ''}\ng: 10/s\n";
        let once = emit(&parse(0, text).unwrap());
        let twice = emit(&parse(0, &once).unwrap());
        assert_eq!(once, twice);
        assert!(once.contains("\"date:%Y\""), "{once}");
        let node = parse(0, &once).unwrap();
        assert_eq!(node.get("a").unwrap().get("b").unwrap().items()[1].text(), Some("x: y"));
    }

    #[test]
    fn hostile_files_are_refused() {
        assert!(parse(0, "a: &x 1\nb: *x\n").unwrap_err().text.contains("anchors"));
        assert!(parse(0, &"[".repeat(1000)).is_err());
        assert!(parse(0, "a: 1\n---\nb: 2\n").is_err());
        assert!(parse(0, "a: [1\n").is_err());
        assert!(parse(0, &"- 1\n".repeat(NODES_MAX + 1)).is_err());
        assert!(parse(0, "").unwrap().pairs().is_empty());
    }
}
