//! Files as a parameter, so that tests and the simulator supply a disk of their own.

mod real;

use std::io;
use std::path::Path;
use std::sync::Arc;

pub use real::RealDisks;

/// Gives each namespace its directory.
pub trait Disks: Send + Sync {
    /// Opens the directory of a namespace, which is created when it does not exist, and locks it
    /// until the answer is dropped. An error of kind [`io::ErrorKind::WouldBlock`] says that
    /// another process has it.
    fn open(&self, directory: &Path, namespace: &str) -> io::Result<Arc<dyn Disk>>;
}

/// A directory without subdirectories.
pub trait Disk: Send + Sync {
    /// Opens a file for reading and writing; without `create`, it must exist.
    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn DiskFile>>;

    /// Gives a file another name, in place of what has it, durably: after a crash at any time
    /// the name leads to the one or the other. The file's content has been synced before.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file. That it is missing is no error.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Whether a file of this name exists.
    fn exists(&self, name: &str) -> io::Result<bool>;
}

/// An open file.
pub trait DiskFile: Send + Sync {
    /// Fills `bytes` from this offset; fewer bytes are an error.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Writes all bytes at this offset. They may be lost or land in any order, sector by sector,
    /// until [`sync`](Self::sync) has returned.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything written so far durable.
    fn sync(&self) -> io::Result<()>;

    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// True for a file without bytes.
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Takes room for a range, which extends the file when it reaches over its end. New bytes read
    /// as zero. A full disk refuses here and not at a later write.
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()>;
}

/// Reads a small file whole.
pub(crate) fn read_all(disk: &dyn Disk, name: &str, limit: u64) -> io::Result<Vec<u8>> {
    let file = disk.open(name, false)?;
    let len = file.len()?;
    if len > limit {
        let text = format!("`{name}` has {len} bytes, more than the {limit} it may have");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let mut bytes = vec![0; len as usize];
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

/// Puts a small file in the place of another, or leaves the other.
pub(crate) fn replace(disk: &dyn Disk, name: &str, bytes: &[u8]) -> io::Result<()> {
    let new = format!("{name}.new");
    disk.remove(&new)?;
    let file = disk.open(&new, true)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    drop(file);
    disk.rename(&new, name)
}
