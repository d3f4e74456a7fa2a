//! A document as blocks, written as Markdown or HTML.

use std::fmt::Write;

use crate::html::escape;

/// A piece of a document. Text may hold `code` in backticks.
#[derive(Clone, Debug)]
pub enum Block {
    /// A heading of level 2 or 3.
    Heading(u8, String),
    /// A paragraph.
    Text(String),
    /// Points.
    List(Vec<String>),
    /// A table.
    Table(Vec<&'static str>, Vec<Vec<String>>),
    /// Code in a language.
    Code(&'static str, String),
    /// A drawing: as code for Markdown (mermaid), as SVG for HTML.
    Drawing {
        /// Mermaid.
        mermaid: String,
        /// SVG.
        svg: String,
    },
}

/// As Markdown.
pub fn markdown(title: &str, blocks: &[Block]) -> String {
    let mut out = format!("# {title}\n");
    for block in blocks {
        out.push('\n');
        match block {
            Block::Heading(level, text) => {
                let _ = writeln!(out, "{} {text}", "#".repeat(usize::from(*level)));
            }
            Block::Text(text) => {
                let _ = writeln!(out, "{text}");
            }
            Block::List(items) => items.iter().for_each(|item| {
                let _ = writeln!(out, "- {item}");
            }),
            Block::Table(head, rows) => {
                let _ = writeln!(out, "| {} |\n|{}", head.join(" | "), " --- |".repeat(head.len()));
                for row in rows {
                    let cells: Vec<String> =
                        row.iter().map(|cell| cell.replace('|', "\\|")).collect();
                    let _ = writeln!(out, "| {} |", cells.join(" | "));
                }
            }
            Block::Code(language, text) => {
                let _ = writeln!(out, "```{language}\n{}\n```", text.trim_end());
            }
            Block::Drawing { mermaid, .. } => {
                let _ = writeln!(out, "```mermaid\n{}\n```", mermaid.trim_end());
            }
        }
    }
    out
}

/// As one HTML page.
pub fn html(title: &str, blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Heading(level, text) => {
                let _ = writeln!(out, "<h{level}>{}</h{level}>", inline(text));
            }
            Block::Text(text) => {
                let _ = writeln!(out, "<p>{}</p>", inline(text));
            }
            Block::List(items) => {
                let items: String =
                    items.iter().map(|item| format!("<li>{}</li>", inline(item))).collect();
                let _ = writeln!(out, "<ul>{items}</ul>");
            }
            Block::Table(head, rows) => {
                let head: String =
                    head.iter().map(|cell| format!("<th>{}</th>", inline(cell))).collect();
                let _ = write!(out, "<table><tr>{head}</tr>");
                for row in rows {
                    let cells: String = row.iter().map(|cell| cell_html(cell)).collect();
                    let _ = write!(out, "<tr>{cells}</tr>");
                }
                out.push_str("</table>\n");
            }
            Block::Code(_, text) => {
                let _ = writeln!(out, "<pre>{}</pre>", escape(text.trim_end()));
            }
            Block::Drawing { svg, .. } => {
                let _ = writeln!(out, "{svg}");
            }
        }
    }
    crate::html::page(title, &out)
}

/// Numbers stand at the right of their cell.
fn cell_html(cell: &str) -> String {
    let number = cell.starts_with(|c: char| c.is_ascii_digit()) && !cell.contains('`');
    format!("<td{}>{}</td>", if number { " class=n" } else { "" }, inline(cell))
}

/// Text with code between backticks.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (at, piece) in text.split('`').enumerate() {
        match at % 2 {
            0 => out.push_str(&escape(piece)),
            _ => {
                let _ = write!(out, "<code>{}</code>", escape(piece));
            }
        }
    }
    out
}
