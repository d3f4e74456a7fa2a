//! Tables of text with aligned columns.

/// Rows under a head; the first column is aligned left, numbers right.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this head.
    pub fn new<const N: usize>(head: [&str; N]) -> Table {
        Table { rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The rows, columns aligned, with a line under the head.
    pub fn render(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
        };
        let widths: Vec<usize> = (0..columns).filter_map(width).collect();
        let numeric: Vec<bool> = (0..columns).map(|column| self.is_numeric(column)).collect();
        let mut out = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for ((cell, width), numeric) in row.iter().zip(&widths).zip(&numeric) {
                let pad = " ".repeat(width - cell.chars().count().min(*width));
                let cell = if *numeric { format!("{pad}{cell}") } else { format!("{cell}{pad}") };
                line.push_str(&cell);
                line.push_str("  ");
            }
            out.push_str(line.trim_end());
            out.push('\n');
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                out.push_str(rules.join("──").trim_end());
                out.push('\n');
            }
        }
        out
    }

    fn is_numeric(&self, column: usize) -> bool {
        let cells = self.rows.iter().skip(1).filter_map(|row| row.get(column));
        column > 0
            && cells.clone().count() > 0
            && cells.clone().all(|cell| {
                cell.chars()
                    .next()
                    .is_none_or(|c| c.is_ascii_digit() || matches!(c, '-' | 'x' | '?'))
            })
    }
}
