// Preloaded into a server whose waits are to take longer: each call below returns later, by so many thousandths of the time
// that it took. How many is in a page that the tool writes and the server only reads, so that it can change at any moment.
//
// A wait that was cut short by a wake-up is none for a time: of pthread_cond_timedwait only what ran out of time counts.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

// As delays.rs writes it, in thousandths: of sleeping until a time, of holding the lock of a file, of writing a file to its disk.
struct page {
    _Atomic uint32_t sleep, lock, sync;
};

static const struct page none;
static const struct page *page = &none;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("PLIMSOLL_DELAYS");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof(struct page), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        page = mapped;
}

// The function of that name that is called without this one.
#define NEXT(name)                                                                                                             \
    static __typeof__(&name) next;                                                                                             \
    if (!next)                                                                                                                 \
        next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

typedef int sleeper(clockid_t, int, const struct timespec *, struct timespec *);

static sleeper *own_sleep(void) {
    static sleeper *next;
    if (!next)
        next = (sleeper *)dlsym(RTLD_NEXT, "clock_nanosleep");
    return next;
}

// Waits for so many thousandths of the time since `since`. The caller's errno stays.
static void lengthen(uint32_t thousandths, int64_t since) {
    if (!thousandths)
        return;
    int before = errno;
    int64_t more = (now() - since) / 1000 * thousandths;
    struct timespec time = {more / 1000000000, more % 1000000000};
    own_sleep()(CLOCK_MONOTONIC, 0, &time, NULL);
    errno = before;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    int64_t since = now();
    int result = own_sleep()(clock, flags, time, left);
    if (!result)
        lengthen(page->sleep, since);
    return result;
}

// A function that waits and returns 0 when it has done so to the end.
#define LENGTHENED(part, type, name, parameters, arguments)                                                                    \
    type name parameters {                                                                                                     \
        NEXT(name);                                                                                                            \
        int64_t since = now();                                                                                                 \
        type result = next arguments;                                                                                          \
        if (!result)                                                                                                           \
            lengthen(page->part, since);                                                                                       \
        return result;                                                                                                         \
    }

LENGTHENED(sleep, int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
LENGTHENED(sleep, int, usleep, (useconds_t time), (time))
LENGTHENED(sleep, unsigned, sleep, (unsigned time), (time))
LENGTHENED(sync, int, fsync, (int file), (file))
LENGTHENED(sync, int, fdatasync, (int file), (file))

// The first version of this function has another condition: dlsym would find it.
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    static __typeof__(&pthread_cond_timedwait) next;
    if (!next)
        next = (__typeof__(&pthread_cond_timedwait))dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    int64_t since = now();
    int result = next(condition, mutex, until);
    if (result == ETIMEDOUT && page->sleep) {
        // Who waits for the mutex doesn't wait longer for it.
        pthread_mutex_unlock(mutex);
        lengthen(page->sleep, since);
        pthread_mutex_lock(mutex);
    }
    return result;
}

// Since when this thread holds the lock of a file; of the few that it holds at once.
static __thread struct {
    int file;
    int64_t since;
} held[8];

static int64_t *holds(int file, int fresh) {
    for (unsigned index = 0; index < sizeof(held) / sizeof(held[0]); index++)
        if (held[index].since ? held[index].file == file : fresh) {
            held[index].file = file;
            return &held[index].since;
        }
    return NULL;
}

static void give_back(int file) {
    int64_t *since = holds(file, 0);
    if (since) {
        lengthen(page->lock, *since);
        *since = 0;
    }
}

int flock(int file, int operation) {
    NEXT(flock);
    if (operation & LOCK_UN)
        give_back(file);
    int result = next(file, operation);
    if (!result && operation & LOCK_EX) {
        int64_t *since = holds(file, 1);
        if (since)
            *since = now();
    }
    return result;
}

int close(int file) {
    NEXT(close);
    give_back(file);
    return next(file);
}
