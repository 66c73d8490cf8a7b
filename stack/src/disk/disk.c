// A library to preload: while the disk is full, no file in the folder OVERSELL_DATA becomes longer. A call that would make one longer
// fails with ENOSPC and writes nothing; bytes that a file has already can be overwritten. The file that OVERSELL_DISK names holds two
// numbers of 64 bits: whether the disk is full, and how many calls failed. The disk is full unless the first one is 0; a number above 1
// is a thread whose calls fail without being counted.
// The library allocates nothing, because allocators write before any library is set up.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct { volatile int64_t is_full; volatile uint64_t failed; } *disk;
// The folder with a slash at its end.
static char data[PATH_MAX];

__attribute__((constructor)) static void set_up(void) {
    const char *path = getenv("OVERSELL_DISK"), *folder = getenv("OVERSELL_DATA");
    char real[PATH_MAX];
    int opened = path && folder && realpath(folder, real) ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (opened < 0) return;
    snprintf(data, sizeof data, "%.4000s/", real);
    void *mapped = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    close(opened);
    if (mapped != MAP_FAILED) disk = mapped;
}

// Whether the file ends before that place and lies in the folder. `at` is -1 for the place of the descriptor.
static int is_longer(int fd, off_t at, off_t length) {
    struct stat file;
    char link[32], path[PATH_MAX];
    if (fstat(fd, &file) || !S_ISREG(file.st_mode)) return 0;
    if (at < 0) at = fcntl(fd, F_GETFL) & O_APPEND ? file.st_size : lseek(fd, 0, SEEK_CUR);
    if (at + length <= file.st_size) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t end = readlink(link, path, sizeof path);
    size_t inside = strlen(data);
    return end > (ssize_t)inside && !memcmp(path, data, inside);
}

// Whether there is no room for these bytes.
static int is_refused(int fd, off_t at, off_t length) {
    if (!disk || !disk->is_full) return 0;
    int earlier = errno, is_refused = is_longer(fd, at, length);
    errno = is_refused ? ENOSPC : earlier;
    if (is_refused && disk->is_full != syscall(SYS_gettid)) __atomic_add_fetch(&disk->failed, 1, __ATOMIC_RELAXED);
    return is_refused;
}

static off_t sum(const struct iovec *parts, int count) {
    off_t length = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    return length;
}

// The next library may be the one that keeps a journal.
#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define WRITE(type, name, arguments, at, length, ...) \
    type name arguments { \
        static typeof(&name) next; \
        if (!next) next = NEXT(name); \
        return is_refused(fd, at, length) ? -1 : next(fd, __VA_ARGS__); \
    }

WRITE(ssize_t, write, (int fd, const void *from, size_t size), -1, size, from, size)
WRITE(ssize_t, writev, (int fd, const struct iovec *parts, int count), -1, sum(parts, count), parts, count)
WRITE(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), at, size, from, size, at)
WRITE(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), at, size, from, size, at)
WRITE(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), at, sum(parts, count), parts, count, at)
WRITE(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), at, sum(parts, count), parts, count, at)
WRITE(int, fallocate, (int fd, int mode, off_t at, off_t size), at, size, mode, at, size)
WRITE(int, fallocate64, (int fd, int mode, off64_t at, off64_t size), at, size, mode, at, size)

// These return the number of the error.
int posix_fallocate64(int fd, off64_t at, off64_t size) {
    return is_refused(fd, at, size) ? ENOSPC : NEXT(posix_fallocate64)(fd, at, size);
}
int posix_fallocate(int fd, off_t at, off_t size) { return posix_fallocate64(fd, at, size); }
