// A library to preload: it keeps a journal of what the process changed in the folder OVERSELL_DATA and did not sync, as
// OVERSELL_UNSYNCED/journal. Where there is no journal when the process starts, every call passes unchanged.
// It makes system calls itself and allocates nothing, because allocators open files before any library is set up.
#include "journal.h"
#include <dlfcn.h>
#include <stdarg.h>

// Before a change of a file: enters and saves. `at` is -1 for the place of the descriptor.
static int before_change(int fd, off_t at, size_t length, size_t written) {
    struct stat file;
    if (journal < 0) return 0;
    enter();
    if (!is_watched(fd, &file)) {
        leave();
        return 0;
    }
    int appends = fcntl(fd, F_GETFL) & O_APPEND;
    if (at < 0) at = appends ? file.st_size : lseek(fd, 0, SEEK_CUR);
    save(fd, &file, at, at + (off_t)length, written);
    return 1;
}

static ssize_t after_change(int fd, ssize_t written) {
    if (written >= 0 && fcntl(fd, F_GETFL) & O_DSYNC) note_sync(known[fd], end_of_journal());
    leave();
    return written;
}

#define CHANGE_FILE(fd, at, length, written, call) \
    if (!before_change(fd, at, length, written)) return call; \
    return after_change(fd, call)
#define WRITE(fd, at, length, call) CHANGE_FILE(fd, at, length, length, call)

static size_t sum(const struct iovec *parts, int count) {
    size_t length = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    return length;
}

ssize_t write(int fd, const void *from, size_t length) {
    WRITE(fd, -1, length, syscall(SYS_write, fd, from, length));
}
ssize_t pwrite64(int fd, const void *from, size_t length, off64_t at) {
    WRITE(fd, at, length, syscall(SYS_pwrite64, fd, from, length, at));
}
ssize_t pwrite(int fd, const void *from, size_t length, off_t at) { return pwrite64(fd, from, length, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
    WRITE(fd, -1, sum(parts, count), syscall(SYS_writev, fd, parts, count));
}
// The kernel takes the place in two halves; the first one is whole on machines of 64 bits.
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
    WRITE(fd, at, sum(parts, count), syscall(SYS_pwritev, fd, parts, count, at, 0));
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return pwritev64(fd, parts, count, at); }
int fallocate64(int fd, int mode, off64_t at, off64_t length) {
    CHANGE_FILE(fd, at, length, 0, syscall(SYS_fallocate, fd, mode, at, length));
}
int fallocate(int fd, int mode, off_t at, off_t length) { return fallocate64(fd, mode, at, length); }
int posix_fallocate64(int fd, off64_t at, off64_t length) { return fallocate64(fd, 0, at, length) ? errno : 0; }
int posix_fallocate(int fd, off_t at, off_t length) { return posix_fallocate64(fd, at, length); }
int ftruncate64(int fd, off64_t size) {
    CHANGE_FILE(fd, size, LONG_MAX - size, 0, syscall(SYS_ftruncate, fd, size));
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int truncate64(const char *path, off64_t size) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int failed = fd < 0 || ftruncate64(fd, size);
    if (fd >= 0) close(fd);
    return -failed;
}
int truncate(const char *path, off_t size) { return truncate64(path, size); }

// Others may write meanwhile. What they wrote before the end counts as synced: a loss may spare it.
static int sync_file(int fd, long call) {
    int failed = syscall(call, fd);
    struct stat file;
    char path[PATH_MAX];
    if (journal < 0 || failed || fstat(fd, &file) || !read_link(fd, path)) return failed;
    if (!is_inside(path) && strcmp(path, data)) return 0;
    enter();
    note_sync(file.st_ino, end_of_journal());
    leave();
    return 0;
}
int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

static int open_file(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    int writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
    if (!writes || !resolve(folder, name, path)) return syscall(SYS_openat, folder, name, flags, mode);
    enter();
    struct stat file;
    int is_new = flags & O_CREAT && fstatat(folder, name, &file, 0) && errno == ENOENT;
    int fd = syscall(SYS_openat, folder, name, flags & ~O_TRUNC, mode);
    if (fd >= 0 && is_new) note_path(CREATE, path);
    // Saved before it is emptied.
    if (fd >= 0 && flags & O_TRUNC && is_watched(fd, &file) && file.st_size) {
        save(fd, &file, 0, file.st_size, 0);
        syscall(SYS_ftruncate, fd, 0);
    }
    leave();
    return fd;
}

static mode_t mode_of(int flags, va_list more) { return flags & O_CREAT ? va_arg(more, int) : 0; }

#define OPEN(name, ...) \
    int name { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = mode_of(flags, more); \
        va_end(more); \
        return open_file(__VA_ARGS__, flags, mode); \
    }
OPEN(open(const char *path, int flags, ...), AT_FDCWD, path)
OPEN(open64(const char *path, int flags, ...), AT_FDCWD, path)
OPEN(openat(int folder, const char *path, int flags, ...), folder, path)
OPEN(openat64(int folder, const char *path, int flags, ...), folder, path)

// Keeps a file that loses its name under another one; returns that, or nothing where there is no such file.
static const char *keep(const char *path, char *kept) {
    static unsigned count;
    snprintf(kept, PATH_MAX, "%.3000s/%ld-%u", gone, syscall(SYS_getpid), count++);
    return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, kept, 0) ? "" : kept;
}

// Enters, and leaves with a note of the names if the call changed them.
static int leave_with(uint64_t kind, int failed, const char *first, const char *second, const char *third) {
    char names[3 * PATH_MAX];
    int length = snprintf(names, sizeof names, "%s%c%s%c%s", first, 0, second, 0, third) + 1;
    if (!failed) note((struct record){.kind = kind, .length = length}, names);
    leave();
    return failed;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char first[PATH_MAX], second[PATH_MAX], kept[PATH_MAX];
    int inside = resolve(from_folder, from, first) | resolve(to_folder, to, second);
    if (!inside) return syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    enter();
    const char *replaced = keep(second, kept);
    int failed = syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    return leave_with(RENAME, failed, first, second, replaced);
}
int renameat(int a, const char *from, int b, const char *to) { return renameat2(a, from, b, to, 0); }
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char path[PATH_MAX];
    if (!resolve(to_folder, to, path)) return syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    enter();
    return leave_with(CREATE, syscall(SYS_linkat, from_folder, from, to_folder, to, flags), path, "", "");
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX], kept[PATH_MAX];
    if (!resolve(folder, name, path)) return syscall(SYS_unlinkat, folder, name, flags);
    int is_folder = flags & AT_REMOVEDIR;
    enter();
    const char *lost = is_folder ? "" : keep(path, kept);
    int failed = syscall(SYS_unlinkat, folder, name, flags);
    return leave_with(is_folder ? REMOVE_FOLDER : UNLINK, failed, path, lost, "");
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *name, mode_t mode) {
    char path[PATH_MAX];
    if (!resolve(AT_FDCWD, name, path)) return syscall(SYS_mkdirat, AT_FDCWD, name, mode);
    enter();
    return leave_with(MAKE_FOLDER, syscall(SYS_mkdirat, AT_FDCWD, name, mode), path, "", "");
}

// What follows would write in a way that is not seen here. A map is noted, and so is a stream that keeps what was in its file;
// without the rings of the kernel a program writes by the calls above.

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
    struct stat file;
    char path[PATH_MAX];
    void *mapped = (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
    int is_shared = journal >= 0 && fd >= 0 && protection & PROT_WRITE && (flags & MAP_TYPE) != MAP_PRIVATE;
    // MariaDB tries to map its log, which only memory that keeps its content without power allows.
    if (is_shared && mapped != MAP_FAILED && is_watched(fd, &file) && read_link(fd, path)) note_path(UNSEEN, path);
    return mapped;
}
void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
    return mmap64(at, length, protection, flags, fd, offset);
}

// Empties the file. That is undone with all that the stream writes later, whether it is seen or not.
static FILE *open_emptied(const char *name, const char *mode) {
    struct stat file;
    int access = strchr(mode, '+') ? O_RDWR : O_WRONLY, closes = strchr(mode, 'e') ? O_CLOEXEC : 0;
    int fd = open_file(AT_FDCWD, name, access | O_CREAT | O_TRUNC | closes, 0666);
    if (fd < 0) return NULL;
    enter();
    if (is_watched(fd, &file)) save(fd, &file, 0, 0, 0);
    leave();
    return fdopen(fd, mode);
}

FILE *fopen64(const char *name, const char *mode) {
    char path[PATH_MAX];
    // With an x it must not be there.
    if (mode[0] == 'w' && !strchr(mode, 'x') && resolve(AT_FDCWD, name, path)) return open_emptied(name, mode);
    FILE *stream = NEXT(fopen64)(name, mode);
    // MariaDB tries to open files that are not there: what could not be opened is not written.
    if (stream && strpbrk(mode, "wa+") && resolve(AT_FDCWD, name, path)) note_path(UNSEEN, path);
    return stream;
}
FILE *fopen(const char *name, const char *mode) { return fopen64(name, mode); }

int io_uring_queue_init(unsigned entries, void *ring, unsigned flags) {
    return journal < 0 ? NEXT(io_uring_queue_init)(entries, ring, flags) : -ENOSYS;
}
int io_setup(int events, void *context) { return journal < 0 ? NEXT(io_setup)(events, context) : -ENOSYS; }
