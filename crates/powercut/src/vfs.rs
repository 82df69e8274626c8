//! A file system under SQLite that passes every call on, notes what changes files, and has calls fail.
//!
//! It becomes the default of the process, so that the store is tested as it is shipped: no connection is opened in another
//! way for it. Files outside of a watched directory only pass through.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Once};

use rusqlite::ffi::{
    SQLITE_ERROR, SQLITE_IOERR_NOMEM, SQLITE_OK, SQLITE_OPEN_CREATE, SQLITE_OPEN_MAIN_JOURNAL,
    SQLITE_OPEN_WAL, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find,
    sqlite3_vfs_register,
};

use crate::fault::{Call, Failure};
use crate::recording::Watch;
use crate::tape::Change;

/// An open file: SQLite's view of it, and behind it the memory of the real file.
#[repr(C)]
struct ShimFile {
    base: sqlite3_file,
    real: *mut sqlite3_file,
    /// None for files that nobody watches. From `Box::into_raw`.
    watched: *mut Watched,
}

struct Watched {
    watch: Arc<Watch>,
    /// In the watched directory.
    path: PathBuf,
    /// Whether the first sync has to sync the folder too, as SQLite does for a new log.
    is_name_new: bool,
}

/// Makes this the file system of every connection that is opened from now on.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: a null name asks for the default, which lives as long as the process; so do the copy and its name,
        // which are leaked. The fields that are not replaced are functions of the original that work on the copy, because
        // all they read of it are fields that were copied.
        unsafe {
            let real = sqlite3_vfs_find(ptr::null());
            assert!(!real.is_null(), "SQLite has no default file system");
            let ours = Box::leak(Box::new(*real));
            ours.szOsFile = size_of::<ShimFile>() as c_int + (*real).szOsFile;
            ours.zName = c"powercut".as_ptr();
            ours.pNext = ptr::null_mut();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            REAL.store(real, std::sync::atomic::Ordering::SeqCst);
            assert_eq!(sqlite3_vfs_register(ours, 1), SQLITE_OK, "the file system can be registered");
        }
    });
}

static REAL: std::sync::atomic::AtomicPtr<sqlite3_vfs> = std::sync::atomic::AtomicPtr::new(ptr::null_mut());

fn real_vfs() -> *mut sqlite3_vfs {
    REAL.load(std::sync::atomic::Ordering::SeqCst)
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // Without the third version, which would let SQLite read by a mapping of the file.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// The path that SQLite names, in a watched directory.
///
/// # Safety
///
/// `name` is null or a C string.
unsafe fn watched(name: *const c_char) -> Option<(Arc<Watch>, PathBuf)> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller has it that this is a C string.
    let name = unsafe { CStr::from_ptr(name) };
    Watch::of(Path::new(OsStr::from_bytes(name.to_bytes())))
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let shim = file.cast::<ShimFile>();
    // SAFETY: SQLite gives `szOsFile` bytes, aligned for any type: the shim, and behind it what the real file needs. The
    // name is null or a C string that lives as long as the file.
    unsafe {
        (*shim).base.pMethods = ptr::null();
        (*shim).real = shim.add(1).cast();
        (*shim).watched = ptr::null_mut();
        let Some(real_open) = (*real_vfs()).xOpen else { return SQLITE_ERROR };
        let code = real_open(real_vfs(), name, (*shim).real, flags, out_flags);
        if code != SQLITE_OK {
            return code;
        }
        (*shim).base.pMethods = &raw const METHODS;
        if let Some((watch, path)) = watched(name) {
            let is_log = flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0;
            let is_made = flags & SQLITE_OPEN_CREATE != 0;
            if is_made {
                watch.note(Change::Write { path: path.clone(), offset: 0, bytes: Vec::new() });
            }
            let watched = Watched { watch, path, is_name_new: is_log && is_made };
            (*shim).watched = Box::into_raw(Box::new(watched));
        }
    }
    SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: SQLite gives a C string.
    unsafe {
        let found = watched(name);
        if let Some((watch, path)) = &found
            && let Some(failure) = watch.strikes(Call::Remove, path)
        {
            return failure.as_sqlite_code(Call::Remove);
        }
        let Some(real_delete) = (*real_vfs()).xDelete else { return SQLITE_ERROR };
        let code = real_delete(real_vfs(), name, sync_folder);
        if let (SQLITE_OK, Some((watch, path))) = (code, found) {
            let folder = path.parent().map(Path::to_owned);
            watch.note(Change::Remove(path));
            if let (Some(folder), true) = (folder, sync_folder != 0) {
                watch.note(Change::SyncFolder(folder));
            }
        }
        code
    }
}

/// What is watched of an open file.
///
/// # Safety
///
/// `file` was opened by [`open`] and is not closed. SQLite uses a file from one thread at a time.
unsafe fn watched_file<'f>(file: *mut sqlite3_file) -> Option<&'f mut Watched> {
    // SAFETY: the caller has it that this is our file, so the pointer is null or from `Box::into_raw`.
    unsafe { (*file.cast::<ShimFile>()).watched.as_mut() }
}

/// Whether a call fails.
///
/// # Safety
///
/// As for [`watched_file`].
unsafe fn strikes(file: *mut sqlite3_file, call: Call) -> Option<Failure> {
    // SAFETY: the same is asked of the caller.
    let watched = unsafe { watched_file(file)? };
    watched.watch.strikes(call, &watched.path)
}

/// Calls a method of the real file.
macro_rules! pass_on {
    ($file:ident . $method:ident ( $($argument:expr),* )) => {{
        // SAFETY: `open` gave this file its methods only after the real one was open, so the real one has its own; what
        // SQLite passed is passed on as it is.
        unsafe {
            let real = (*$file.cast::<ShimFile>()).real;
            match (*(*real).pMethods).$method {
                Some(method) => method(real $(, $argument)*),
                None => SQLITE_ERROR,
            }
        }
    }};
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let code = pass_on!(file.xClose());
    // SAFETY: this is our file, closed once: what it watches was not taken back before.
    unsafe {
        let watched = (*file.cast::<ShimFile>()).watched;
        if !watched.is_null() {
            (*file.cast::<ShimFile>()).watched = ptr::null_mut();
            drop(Box::from_raw(watched));
        }
    }
    code
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    to: *mut c_void,
    bytes: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite calls this with an open file of ours.
    if let Some(failure) = unsafe { strikes(file, Call::Read) } {
        return failure.as_sqlite_code(Call::Read);
    }
    pass_on!(file.xRead(to, bytes, at))
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    bytes: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite calls this with an open file of ours.
    let failure = unsafe { strikes(file, Call::Write) };
    let written = match failure {
        Some(Failure::Io) => return Failure::Io.as_sqlite_code(Call::Write),
        Some(Failure::Full) => bytes / 2,
        None => bytes,
    };
    let code = pass_on!(file.xWrite(from, written, at));
    // SAFETY: the same file; SQLite gives as many bytes as it says.
    unsafe {
        if let (SQLITE_OK, Some(watched)) = (code, watched_file(file)) {
            let (Ok(length), Ok(offset)) = (usize::try_from(written), u64::try_from(at)) else {
                return SQLITE_IOERR_NOMEM;
            };
            let bytes = std::slice::from_raw_parts(from.cast::<u8>(), length).to_vec();
            watched.watch.note(Change::Write { path: watched.path.clone(), offset, bytes });
        }
    }
    failure.map_or(code, |failure| failure.as_sqlite_code(Call::Write))
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, bytes: sqlite3_int64) -> c_int {
    // SAFETY: SQLite calls this with an open file of ours.
    if let Some(failure) = unsafe { strikes(file, Call::Truncate) } {
        return failure.as_sqlite_code(Call::Truncate);
    }
    let code = pass_on!(file.xTruncate(bytes));
    // SAFETY: the same file.
    if let (SQLITE_OK, Some(watched)) = (code, unsafe { watched_file(file) }) {
        let bytes = u64::try_from(bytes).unwrap_or_default();
        watched.watch.note(Change::Truncate { path: watched.path.clone(), bytes });
    }
    code
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: SQLite calls this with an open file of ours.
    let watched = unsafe { watched_file(file) };
    let Some(watched) = watched else { return pass_on!(file.xSync(flags)) };
    if let Some(failure) = watched.watch.strikes(Call::Sync, &watched.path) {
        watched.watch.note(Change::SyncFailed(watched.path.clone()));
        return failure.as_sqlite_code(Call::Sync);
    }
    // The real sync is left out: what is lost without it is in the tape, and thousands of them are what tests would wait for.
    watched.watch.note(Change::SyncFile(watched.path.clone()));
    if std::mem::take(&mut watched.is_name_new)
        && let Some(folder) = watched.path.parent()
    {
        watched.watch.note(Change::SyncFolder(folder.to_owned()));
    }
    SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    pass_on!(file.xFileSize(size))
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass_on!(file.xLock(level))
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass_on!(file.xUnlock(level))
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, is_held: *mut c_int) -> c_int {
    pass_on!(file.xCheckReservedLock(is_held))
}

unsafe extern "C" fn file_control(file: *mut sqlite3_file, operation: c_int, argument: *mut c_void) -> c_int {
    pass_on!(file.xFileControl(operation, argument))
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    pass_on!(file.xSectorSize())
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    pass_on!(file.xDeviceCharacteristics())
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    bytes: c_int,
    extend: c_int,
    to: *mut *mut c_void,
) -> c_int {
    pass_on!(file.xShmMap(page, bytes, extend, to))
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    pass_on!(file.xShmLock(offset, count, flags))
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: as for every other method that is passed on.
    unsafe {
        let real = (*file.cast::<ShimFile>()).real;
        if let Some(barrier) = (*(*real).pMethods).xShmBarrier {
            barrier(real);
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, is_deleted: c_int) -> c_int {
    pass_on!(file.xShmUnmap(is_deleted))
}
