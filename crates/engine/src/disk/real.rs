//! The machine's file system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Disk, DiskFile, Disks};

/// Name of the file whose lock keeps a second process out.
const LOCK: &str = "lock";

/// Directories of the machine's file system: `DIRECTORY/NAMESPACE`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisks;

impl Disks for RealDisks {
    fn open(&self, directory: &Path, namespace: &str) -> io::Result<Arc<dyn Disk>> {
        let path = directory.join(namespace);
        std::fs::create_dir_all(&path)?;
        // A new directory must survive a crash as its files do.
        File::open(directory)?.sync_all()?;
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).open(path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Arc::new(RealDisk { path, _lock: lock })),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

struct RealDisk {
    path: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl RealDisk {
    fn sync_directory(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

impl Disk for RealDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn DiskFile>> {
        let path = self.path.join(name);
        let is_new = create && !path.try_exists()?;
        let file =
            OpenOptions::new().read(true).write(true).create(create).truncate(false).open(path)?;
        if is_new {
            self.sync_directory()?;
        }
        Ok(Box::new(RealFile(file)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))?;
        self.sync_directory()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match std::fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        self.path.join(name).try_exists()
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(bytes, offset)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    #[cfg(target_os = "linux")]
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        match fallocate(&self.0, FallocateFlags::empty(), offset, len) {
            // A file system that cannot reserve: the length is set, and a full disk is found out
            // when it is written to.
            Err(rustix::io::Errno::OPNOTSUPP) => self.extend(offset + len),
            done => Ok(done?),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.extend(offset + len)
    }
}

impl RealFile {
    fn extend(&self, end: u64) -> io::Result<()> {
        if self.len()? < end { self.0.set_len(end) } else { Ok(()) }
    }
}
