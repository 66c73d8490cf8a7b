// A library to preload: the clock of the process is off by the nanoseconds in the file that OVERSELL_CLOCK names. A positive
// number is ahead of the real time, a negative one behind it. The file holds two numbers of 64 bits: this offset, and how
// often the time was told. A change of the offset while the process runs is a step of its clock, in either direction.
// The library allocates nothing, because allocators ask for the time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
// Later than any time since a machine was started, earlier than any date.
#define FIRST_DATE 1000000000LL

static struct { volatile int64_t offset_ns; volatile uint64_t told; } *file;
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void set_up(void) {
    real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("OVERSELL_CLOCK");
    int opened = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (opened < 0) return;
    void *mapped = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    close(opened);
    if (mapped != MAP_FAILED) file = mapped;
}

static void add(struct timespec *time, int64_t ns) {
    int64_t sum = time->tv_nsec + ns;
    int64_t seconds = sum / SECOND - (sum % SECOND < 0);
    time->tv_sec += seconds;
    time->tv_nsec = sum - seconds * SECOND;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = real_clock_gettime ? real_clock_gettime(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
    if (!failed && file && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        add(time, file->offset_ns);
        __atomic_add_fetch(&file->told, 1, __ATOMIC_RELAXED);
    }
    return failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    int failed = clock_gettime(CLOCK_REALTIME, &now);
    if (!failed) *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return failed;
}

time_t time(time_t *into) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    if (into) *into = now.tv_sec;
    return now.tv_sec;
}

// The program names a date of its own clock; the kernel compares it with the right clock.
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
    if (!real_timedwait) {
        // The oldest version of the symbol is for old binaries.
        void *found = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
        real_timedwait = found ? found : dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    }
    struct timespec due = *until;
    if (file && due.tv_sec >= FIRST_DATE) add(&due, -file->offset_ns);
    return real_timedwait(condition, mutex, &due);
}
