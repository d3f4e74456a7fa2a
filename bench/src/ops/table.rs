//! The report for people.

use super::{Report, Row};
use crate::machine;

pub fn print(report: &Report) {
    let timed = report.rows.iter().any(|row| row.times.is_some());
    if timed {
        println!(
            "{:<20}{:<17}{:>8}{:>13}{:>13}{:>13}{:>9}",
            "subject", "action", "size", "cairn ns", "+ value ns", "naive ns", "ratio"
        );
    } else {
        println!(
            "{:<20}{:<17}{:>8}{:>13}{:>13}{:>13}{:>9}",
            "subject", "action", "size", "decoded", "compared", "entries", "moved"
        );
    }
    let mut subject = "";
    for row in &report.rows {
        if !subject.is_empty() && subject != row.spec.subject {
            println!();
        }
        subject = row.spec.subject;
        print_row(row);
    }
    machine::print_load(report.load_average);
}

fn print_row(row: &Row) {
    print!("{:<20}{:<17}{:>8}", row.spec.subject, row.spec.action, row.spec.size);
    if let Some(times) = &row.times {
        let whole = times.whole_ns.map_or("-".to_owned(), |ns| format!("{ns:.0}"));
        println!("{:>13.0}{whole:>13}{:>13.0}{:>9.1}", times.cairn_ns, times.naive_ns, times.ratio);
    }
    if let Some(work) = &row.work {
        println!("{:>13}{:>13}{:>13}{:>9}", work.decoded, work.compared, work.entries, work.moved);
    }
}
