//! What the measurements ask the operating system.

use std::fs;
use std::io::{Error, Result};

/// Bytes of this process that are in physical memory.
pub fn resident_bytes() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").map_err(|error| {
        Error::other(format!("resident memory is measured on Linux only: {error}"))
    })?;
    let kibibytes = status.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    Ok(kibibytes.ok_or_else(|| Error::other("/proc/self/status has no line VmRSS"))? * 1024)
}

/// The load average of the last minute; not known on every system.
pub fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// A line for people about the load average.
pub fn print_load(average: Option<f64>) {
    match average {
        Some(average) => println!("load average               {average:>14.2}"),
        None => println!("load average               {:>14}", "not known"),
    }
}
