//! A temporary file of which two pages are held in memory: what is read and written in nearly ascending order takes one
//! system call for each page and not for each entry.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::{SpooledTempFile, spooled_tempfile_in};

/// Bytes of a page.
const PAGE_SIZE: usize = 32 << 10;
/// A file of up to so many bytes stays in memory.
const MAX_IN_MEMORY: usize = 256 << 10;

/// A file without a name, gone when dropped. What was never written is zeros.
#[derive(Debug)]
pub struct PagedFile {
    file: SpooledTempFile,
    /// Bytes in the file itself.
    length: u64,
    /// The page used last, and the one before it: entries around a boundary between pages go to both in turn.
    pages: [Page; 2],
}

#[derive(Debug)]
struct Page {
    number: u64,
    /// Empty until the page is used.
    bytes: Vec<u8>,
    is_changed: bool,
}

impl PagedFile {
    /// An empty file; where it becomes long, it is created in `directory`.
    pub fn new(directory: &Path) -> Self {
        let unused = |number| Page { number, bytes: Vec::new(), is_changed: false };
        // Two numbers, so that no page is held twice.
        let pages = [unused(0), unused(1)];
        Self { file: spooled_tempfile_in(MAX_IN_MEMORY, directory), length: 0, pages }
    }

    /// The entry at a multiple of its own size, which divides the size of a page.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn read<const SIZE: usize>(&mut self, offset: u64) -> io::Result<[u8; SIZE]> {
        let entry = self.entry::<SIZE>(offset)?;
        Ok(*entry)
    }

    /// Writes an entry, placed as in [`Self::read`].
    ///
    /// # Errors
    /// Whatever the system says: what was written before may be lost.
    pub fn write<const SIZE: usize>(&mut self, offset: u64, entry: [u8; SIZE]) -> io::Result<()> {
        *self.entry::<SIZE>(offset)? = entry;
        self.pages[0].is_changed = true;
        Ok(())
    }

    fn entry<const SIZE: usize>(&mut self, offset: u64) -> io::Result<&mut [u8; SIZE]> {
        let page_size = PAGE_SIZE as u64;
        let within = usize::try_from(offset % page_size).unwrap_or_default();
        let page = self.page(offset / page_size)?;
        page.bytes[within..].first_chunk_mut().ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    fn page(&mut self, number: u64) -> io::Result<&mut Page> {
        if self.pages[0].number != number {
            self.pages.swap(0, 1);
        }
        if self.pages[0].number != number || self.pages[0].bytes.is_empty() {
            self.save()?;
            self.load(number)?;
        }
        Ok(&mut self.pages[0])
    }

    fn save(&mut self) -> io::Result<()> {
        let page = &mut self.pages[0];
        if page.is_changed {
            let start = page.number * PAGE_SIZE as u64;
            self.file.seek(SeekFrom::Start(start))?;
            self.file.write_all(&page.bytes)?;
            self.length = self.length.max(start + PAGE_SIZE as u64);
            page.is_changed = false;
        }
        Ok(())
    }

    fn load(&mut self, number: u64) -> io::Result<()> {
        let page = &mut self.pages[0];
        let start = number * PAGE_SIZE as u64;
        page.number = number;
        page.bytes.clear();
        page.bytes.resize(PAGE_SIZE, 0);
        // Pages are written whole.
        if start < self.length {
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(&mut page.bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGE_SIZE, PagedFile};

    #[test]
    fn entries_of_many_pages_are_kept_in_any_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = PagedFile::new(directory.path());
        let pages: u64 = 20;
        let offset = |page: u64, entry: u64| page * PAGE_SIZE as u64 + entry * 8;
        let written = |page: u64| [page.to_le_bytes()[0] + 1; 8];
        for page in (0..pages).rev().step_by(2).chain((0..pages).step_by(2)) {
            file.write(offset(page, page), written(page)).unwrap();
            file.write(offset(page.saturating_sub(1), 100), [0xff; 8]).unwrap();
        }
        for page in 0..pages {
            assert_eq!(file.read(offset(page, page)).unwrap(), written(page), "{page}");
            assert_eq!(file.read(offset(page, 99)).unwrap(), [0; 8], "{page}");
        }
        assert_eq!(file.read(offset(pages + 7, 0)).unwrap(), [0; 8], "beyond the end");
    }
}
