// The journal: before a file or a name in a folder is changed, how to undo that is written there, and after each sync that it
// was done. `journal.rs` reads it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// No server here has more open files.
#define FILES 65536

// The kinds of a record. UNSEEN is a file that is written in a way that is not seen here.
enum { CHANGE, SYNC, CREATE, RENAME, UNLINK, MAKE_FOLDER, REMOVE_FOLDER, UNSEEN };

// `inode`, `at`, `size` and `written` are those of a change: the bytes from `at` as they were are the payload, and `size` is the
// size as it was. A sync has `inode`, and in `at` the end of the journal when it ended. The payload of the others are paths that
// end with a zero.
struct record {
    uint64_t kind, length, inode, at, size, written;
};

static int journal = -1;
static char data[PATH_MAX], gone[PATH_MAX];
// By descriptor: the file in the folder that it was at the last write.
static ino_t known[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }

// Sets the path of a descriptor, as the kernel knows it.
static int read_link(int fd, char *path) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int is_inside(const char *path) {
    size_t length = strlen(data);
    return !strncmp(path, data, length) && path[length] == '/';
}

// Makes a name absolute; returns whether it is in the folder. No server here names a file with `..`.
static int resolve(int folder, const char *name, char *path) {
    if (journal < 0) return 0;
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
    } else {
        int is_known = folder == AT_FDCWD ? syscall(SYS_getcwd, path, PATH_MAX) > 0 : read_link(folder, path);
        if (!is_known) return 0;
        size_t length = strlen(path);
        snprintf(path + length, PATH_MAX - length, "/%s", name);
    }
    return is_inside(path);
}

__attribute__((constructor)) static void set_up(void) {
    const char *root = getenv("OVERSELL_UNSYNCED"), *folder = getenv("OVERSELL_DATA");
    if (!root || !folder) return;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/journal", root);
    // After a failover the folder is a link. The kernel names files by the folder that it leads to.
    int opened = syscall(SYS_openat, AT_FDCWD, folder, O_PATH | O_CLOEXEC, 0);
    int is_known = opened >= 0 && read_link(opened, data);
    if (opened >= 0) syscall(SYS_close, opened);
    if (!is_known) return;
    snprintf(gone, sizeof gone, "%s/gone", root);
    journal = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    // A child that is forked while another thread holds the lock would wait for it forever.
    if (journal >= 0) pthread_atfork(enter, leave, leave);
}

// Appends a record. A process that cannot say what it changes must not change anything.
static void note(struct record record, const void *payload) {
    int before = errno;
    struct iovec parts[] = {{&record, sizeof record}, {(void *)payload, record.length}};
    if (syscall(SYS_writev, journal, parts, 2) != (ssize_t)(sizeof record + record.length)) abort();
    errno = before;
}

static void note_path(uint64_t kind, const char *path) {
    note((struct record){.kind = kind, .length = strlen(path) + 1}, path);
}

// Returns whether the descriptor is a file in the folder.
static int is_watched(int fd, struct stat *file) {
    char path[PATH_MAX];
    if (journal < 0 || fd < 0 || fd >= FILES || fstat(fd, file) || !S_ISREG(file->st_mode)) return 0;
    if (known[fd] != file->st_ino && read_link(fd, path) && is_inside(path)) known[fd] = file->st_ino;
    return known[fd] == file->st_ino;
}

// Notes the bytes of the file from `from` up to `to`, which are about to be changed, and its size.
static void save(int fd, const struct stat *file, off_t from, off_t to, uint64_t written) {
    struct record record = {CHANGE, 0, file->st_ino, from, file->st_size, written};
    off_t end = to < file->st_size ? to : file->st_size;
    if (from >= end) return note(record, NULL);
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    // Through a descriptor of its own: that of the process may not be readable, or only in aligned blocks.
    int reader = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
    record.length = end - from;
    void *bytes = mmap(NULL, record.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reader < 0 || bytes == MAP_FAILED) abort();
    for (uint64_t read = 0; read < record.length;) {
        long more = syscall(SYS_pread64, reader, (char *)bytes + read, record.length - read, from + read);
        if (more <= 0) abort();
        read += more;
    }
    note(record, bytes);
    munmap(bytes, record.length);
    close(reader);
}

static off_t end_of_journal(void) {
    struct stat file;
    if (fstat(journal, &file)) abort();
    return file.st_size;
}

static void note_sync(ino_t inode, off_t upto) { note((struct record){SYNC, 0, inode, upto, 0, 0}, NULL); }
