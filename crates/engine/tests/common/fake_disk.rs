//! Files in memory, so that tests of behaviour do not wait for a disk.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cairn_engine::disk::{Disk, DiskFile, Disks};
use parking_lot::{Mutex, RwLock};

/// The files of all namespaces; clones share them, so a namespace can be opened again.
#[derive(Clone, Debug, Default)]
pub struct FakeDisks {
    files: Files,
}

type Files = Arc<Mutex<BTreeMap<String, FakeFile>>>;

#[derive(Clone, Debug, Default)]
struct FakeFile(Arc<RwLock<Vec<u8>>>);

impl Disks for FakeDisks {
    fn open(&self, _: &Path, namespace: &str) -> io::Result<Arc<dyn Disk>> {
        Ok(Arc::new(FakeDisk { files: self.files.clone(), prefix: format!("{namespace}/") }))
    }
}

impl FakeDisks {
    /// Changes the bytes of a file.
    pub fn edit(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.files.lock()[name].0.write());
    }

    /// The names of all files.
    pub fn names(&self) -> Vec<String> {
        self.files.lock().keys().cloned().collect()
    }
}

struct FakeDisk {
    files: Files,
    prefix: String,
}

impl FakeDisk {
    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl Disk for FakeDisk {
    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn DiskFile>> {
        let mut files = self.files.lock();
        let path = self.path(name);
        if create {
            files.entry(path.clone()).or_default();
        }
        let file = files.get(&path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(file.clone()))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.files.lock();
        let file = files.remove(&self.path(from)).ok_or(io::ErrorKind::NotFound)?;
        files.insert(self.path(to), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files.lock().remove(&self.path(name));
        Ok(())
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        Ok(self.files.lock().contains_key(&self.path(name)))
    }
}

impl DiskFile for FakeFile {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let file = self.0.read();
        let range = offset as usize..offset as usize + bytes.len();
        bytes.copy_from_slice(file.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.allocate(offset, bytes.len() as u64)?;
        let range = offset as usize..offset as usize + bytes.len();
        self.0.write()[range].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.read().len() as u64)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let end = (offset + len) as usize;
        let mut file = self.0.write();
        if file.len() < end {
            file.resize(end, 0);
        }
        Ok(())
    }
}
