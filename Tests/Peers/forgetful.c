// Remembers how to undo every change below one directory since it was last synced, so that after a SIGKILL the
// directory can be put back to what a power loss would have left (forgetful.py does that).
//
//   LD_PRELOAD=forgetful.so FORGETFUL_ROOT=/data FORGETFUL_JOURNAL=/elsewhere-on-the-same-filesystem program …
//
// What counts as durable, as ext4 and XFS keep it:
//   contents and length of a file   after fsync, fdatasync, or msync(MS_SYNC) of a whole mapping of it
//   the name of a new file          after a sync of the file or of its directory
//   rename and unlink               after a sync of the directory
//   directories, modes, owners      at once (not followed)
// Files ending in "-shm" are not followed: SQLite builds them anew. A call that would change a followed file in a way
// not known here ends the program, so that nothing escapes unseen.
//
// The journal directory holds, per inode: N.undo (records to apply backwards), N.created (a name not yet durable); per
// directory inode: N.names (renames and unlinks); and S.kept (hard links that keep the replaced and unlinked files).
// A record is always written before the change it undoes, and undoing a change that did not happen is harmless.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

struct file {
    dev_t device;
    ino_t inode;
    int journal;            // N.undo, for appending
    int reader;             // the file itself; held open so that its inode number is not given to another file
    ino_t created_in;       // the directory whose sync would keep its name, or 0
    int is_unlinked;        // its last name is gone; a kept link holds the inode
    pthread_mutex_t lock;   // held over every change and every sync of the file
    struct file *next;
};

struct mapping {
    char *address;
    size_t length;
    off_t offset;
    struct file *file;
    struct mapping *next;
};

struct record {
    uint64_t offset, length, old_size;  // `length` old bytes follow
};

enum { BUCKETS = 1024, CHUNK = 1 << 16 };

static char root[PATH_MAX], journal[PATH_MAX - 64];
static size_t root_length;  // 0 while nothing is followed
static struct file *files[BUCKETS];
static struct mapping *mappings;
static unsigned long sequence;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;   // files, mappings
static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;   // everything that changes names; taken before the others

static void fail(const char *what) {
    dprintf(2, "forgetful: %s: %s\n", what, strerror(errno));
    abort();
}

__attribute__((constructor)) static void start(void) {
    const char *where = getenv("FORGETFUL_ROOT"), *aside = getenv("FORGETFUL_JOURNAL");
    if (!where || !aside) return;
    if (!realpath(where, root) || strlen(aside) >= sizeof journal) fail("FORGETFUL_ROOT and FORGETFUL_JOURNAL");
    strcpy(journal, aside);
    root_length = strlen(root);
}

// Paths

static int is_inside(const char *path) {
    return root_length && strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || !path[root_length]);
}

// Whether `path`, seen from `directory`, lies below the root; if so `full` is its absolute form.
static int resolve(int directory, const char *path, char full[PATH_MAX]) {
    if (!root_length) return 0;
    char base[PATH_MAX] = "";
    if (path[0] != '/') {
        char link[64];
        snprintf(link, sizeof link, directory == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", directory);
        ssize_t length = readlink(link, base, sizeof base - 2);
        if (length < 0) return 0;
        base[length] = '/';
        base[length + 1] = 0;
    }
    if (snprintf(full, PATH_MAX, "%s%s", base, path) >= PATH_MAX) return 0;
    return is_inside(full);
}

static int followed_name(const char *path) {
    size_t length = strlen(path);
    return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static ino_t directory_inode(const char *path) {
    char directory[PATH_MAX];
    struct stat status;
    strcpy(directory, path);
    *strrchr(directory, '/') = 0;
    return stat(directory, &status) ? 0 : status.st_ino;
}

static int open_aside(const char *format, unsigned long number, int flags) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/", journal);
    snprintf(path + strlen(path), sizeof path - strlen(path), format, number);
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
    if (fd < 0) fail(path);
    return fd;
}

static void remove_aside(const char *format, unsigned long number) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/", journal);
    snprintf(path + strlen(path), sizeof path - strlen(path), format, number);
    if (syscall(SYS_unlinkat, AT_FDCWD, path, 0) && errno != ENOENT) fail(path);
}

// Files

static struct file *find(const struct stat *status) {
    struct file *file = files[status->st_ino % BUCKETS];
    while (file && (file->inode != status->st_ino || file->device != status->st_dev)) file = file->next;
    return file;
}

// The followed file behind `fd`, or NULL.
static struct file *file_of(int fd) {
    struct stat status;
    if (!root_length || fstat(fd, &status) || !S_ISREG(status.st_mode)) return NULL;
    pthread_mutex_lock(&table);
    struct file *file = find(&status);
    pthread_mutex_unlock(&table);
    return file;
}

static struct file *follow(int fd, const struct stat *status) {
    pthread_mutex_lock(&table);
    struct file *file = find(status);
    if (!file) {
        char link[64];
        file = calloc(1, sizeof *file);
        if (!file) fail("memory");
        file->device = status->st_dev;
        file->inode = status->st_ino;
        file->journal = open_aside("%lu.undo", status->st_ino, O_WRONLY | O_CREAT | O_APPEND);
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        file->reader = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
        if (file->reader < 0) fail(link);
        pthread_mutex_init(&file->lock, NULL);
        file->next = files[file->inode % BUCKETS];
        files[file->inode % BUCKETS] = file;
    }
    pthread_mutex_unlock(&table);
    return file;
}

// Lets go of the descriptors of a file that has neither a name nor a mapping, of which a program may make thousands.
// The table's lock is held.
static void release_unlinked(struct file *file) {
    for (struct mapping *each = mappings; each; each = each->next)
        if (each->file == file) return;
    if (!file->is_unlinked || file->reader < 0) return;
    syscall(SYS_close, file->reader);
    syscall(SYS_close, file->journal);
    file->reader = file->journal = -1;
}

static off_t size_of(const struct file *file) {
    struct stat status;
    if (fstat(file->reader, &status)) fail("fstat");
    return status.st_size;
}

// Notes what stands in [offset, offset + length) now. The file's lock is held.
static void note(const struct file *file, off_t offset, size_t length) {
    off_t size = size_of(file);
    size_t existing = offset >= size ? 0 : (size_t)(size - offset);
    if (existing > length) existing = length;
    char *buffer = malloc(CHUNK + sizeof(struct record));
    if (!buffer) fail("memory");
    do {
        size_t part = existing < CHUNK ? existing : CHUNK;
        struct record record = {offset, part, size};
        memcpy(buffer, &record, sizeof record);
        if (syscall(SYS_pread64, file->reader, buffer + sizeof record, part, offset) != (ssize_t)part) fail("pread");
        ssize_t total = sizeof record + part;
        if (syscall(SYS_write, file->journal, buffer, total) != total) fail("journal");
        offset += part;
        existing -= part;
    } while (existing);
    free(buffer);
}

// All that was written to the file is durable. Its lock is held.
static void forget_undo(struct file *file) {
    if (syscall(SYS_ftruncate, file->journal, 0)) fail("journal");
    pthread_mutex_lock(&table);
    for (struct mapping *each = mappings; each; each = each->next)
        if (each->file == file) note(file, each->offset, each->length);  // stores into it cannot be seen later
    if (file->created_in) remove_aside("%lu.created", file->inode);
    file->created_in = 0;
    pthread_mutex_unlock(&table);
}

static int synced(int fd, long call) {
    struct file *file = file_of(fd);
    struct stat status;
    if (file) {
        pthread_mutex_lock(&file->lock);
        int result = syscall(call, fd);
        if (!result) forget_undo(file);
        pthread_mutex_unlock(&file->lock);
        return result;
    }
    if (!root_length || fstat(fd, &status) || !S_ISDIR(status.st_mode)) return syscall(call, fd);
    pthread_mutex_lock(&names);
    int result = syscall(call, fd);
    if (!result) {
        remove_aside("%lu.names", status.st_ino);
        pthread_mutex_lock(&table);
        for (int bucket = 0; bucket < BUCKETS; bucket++)
            for (struct file *each = files[bucket]; each; each = each->next)
                if (each->created_in == status.st_ino) {
                    each->created_in = 0;
                    remove_aside("%lu.created", each->inode);
                }
        pthread_mutex_unlock(&table);
    }
    pthread_mutex_unlock(&names);
    return result;
}

// Names

// Keeps the file now at `path`, if any, and notes `line` about it in the journal of its directory.
static void note_name(const char *path, const char *verb, unsigned long inode, const char *other) {
    char kept[PATH_MAX], line[3 * PATH_MAX];
    unsigned long number = ++sequence;
    snprintf(kept, sizeof kept, "%s/%d-%lu.kept", journal, getpid(), number);
    if (link(path, kept)) {
        if (errno != ENOENT) fail(kept);
        strcpy(kept, "-");
    }
    int length = snprintf(line, sizeof line, "%lu\t%s\t%lu\t%s\t%s\t%s\n", number, verb, inode, kept, path, other);
    int fd = open_aside("%lu.names", directory_inode(path), O_WRONLY | O_CREAT | O_APPEND);
    if (syscall(SYS_write, fd, line, length) != length) fail("names");
    syscall(SYS_close, fd);
}

static int renamed(int old_directory, const char *old, int new_directory, const char *new) {
    char from[PATH_MAX], to[PATH_MAX];
    struct stat status;
    int inside = resolve(old_directory, old, from) + resolve(new_directory, new, to);
    if (!inside) return syscall(SYS_renameat2, old_directory, old, new_directory, new, 0);
    errno = EXDEV;
    if (inside != 2) fail("a rename across the border of the followed directory");
    pthread_mutex_lock(&names);
    if (!stat(from, &status)) {
        if (S_ISDIR(status.st_mode)) fail("a renamed directory");
        note_name(to, "renamed", status.st_ino, from);
    }
    int result = syscall(SYS_renameat2, old_directory, old, new_directory, new, 0);
    pthread_mutex_unlock(&names);
    return result;
}

static int unlinked(int directory, const char *path, int flags) {
    char full[PATH_MAX];
    struct stat status;
    if ((flags & AT_REMOVEDIR) || !resolve(directory, path, full) || !followed_name(full))
        return syscall(SYS_unlinkat, directory, path, flags);
    pthread_mutex_lock(&names);
    int is_file = !stat(full, &status) && S_ISREG(status.st_mode);
    if (is_file) note_name(full, "unlinked", status.st_ino, "-");
    int result = syscall(SYS_unlinkat, directory, path, flags);
    pthread_mutex_lock(&table);
    struct file *file = !result && is_file && status.st_nlink == 1 ? find(&status) : NULL;
    if (file) {
        file->is_unlinked = 1;
        release_unlinked(file);
    }
    pthread_mutex_unlock(&table);
    pthread_mutex_unlock(&names);
    return result;
}

static int opened(int directory, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    struct stat status;
    if ((flags & O_ACCMODE) == O_RDONLY || !resolve(directory, path, full) || !followed_name(full))
        return syscall(SYS_openat, directory, path, flags, mode);
    pthread_mutex_lock(&names);
    int existed = !stat(full, &status);
    int fd = syscall(SYS_openat, directory, path, flags & ~O_TRUNC, mode);
    if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode)) {
        struct file *file = follow(fd, &status);
        pthread_mutex_lock(&file->lock);
        if (!existed) {
            syscall(SYS_close, open_aside("%lu.created", file->inode, O_WRONLY | O_CREAT));
            file->created_in = directory_inode(full);
        } else if (flags & O_TRUNC) {
            note(file, 0, size_of(file));
            if (syscall(SYS_ftruncate, fd, 0)) fail("O_TRUNC");
        }
        pthread_mutex_unlock(&file->lock);
    }
    int error = errno;
    pthread_mutex_unlock(&names);
    errno = error;
    return fd;
}

// What the program calls

#define EXPORT __attribute__((visibility("default")))
#define MODE(flags) ({                                             \
    mode_t mode = 0;                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                         \
        va_list more;                                              \
        va_start(more, flags);                                     \
        mode = va_arg(more, mode_t);                               \
        va_end(more);                                              \
    }                                                              \
    mode;                                                          \
})

EXPORT int open(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
EXPORT int open64(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
EXPORT int openat(int at, const char *path, int flags, ...) { return opened(at, path, flags, MODE(flags)); }
EXPORT int openat64(int at, const char *path, int flags, ...) { return opened(at, path, flags, MODE(flags)); }
EXPORT int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
EXPORT int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
EXPORT int creat(const char *path, mode_t mode) {
    return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EXPORT int rename(const char *old, const char *new) { return renamed(AT_FDCWD, old, AT_FDCWD, new); }
EXPORT int renameat(int from, const char *old, int to, const char *new) { return renamed(from, old, to, new); }
EXPORT int unlink(const char *path) { return unlinked(AT_FDCWD, path, 0); }
EXPORT int unlinkat(int at, const char *path, int flags) { return unlinked(at, path, flags); }

EXPORT int fsync(int fd) { return synced(fd, SYS_fsync); }
EXPORT int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    struct file *file = file_of(fd);
    if (!file) return syscall(SYS_pwrite64, fd, bytes, length, offset);
    pthread_mutex_lock(&file->lock);
    note(file, offset, length);
    ssize_t result = syscall(SYS_pwrite64, fd, bytes, length, offset);
    pthread_mutex_unlock(&file->lock);
    return result;
}
EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) {
    return pwrite(fd, bytes, length, offset);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t length) {
    struct file *file = file_of(fd);
    if (!file) return syscall(SYS_write, fd, bytes, length);
    pthread_mutex_lock(&file->lock);
    note(file, fcntl(fd, F_GETFL) & O_APPEND ? size_of(file) : lseek(fd, 0, SEEK_CUR), length);
    ssize_t result = syscall(SYS_write, fd, bytes, length);
    pthread_mutex_unlock(&file->lock);
    return result;
}

EXPORT int ftruncate(int fd, off_t length) {
    struct file *file = file_of(fd);
    if (!file) return syscall(SYS_ftruncate, fd, length);
    pthread_mutex_lock(&file->lock);
    off_t size = size_of(file);
    note(file, length, length < size ? (size_t)(size - length) : 0);
    int result = syscall(SYS_ftruncate, fd, length);
    pthread_mutex_unlock(&file->lock);
    return result;
}
EXPORT int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

// Makes a file longer, perhaps, and changes nothing that it holds.
EXPORT int posix_fallocate(int fd, off_t offset, off_t length) {
    struct file *file = file_of(fd);
    if (!file) return syscall(SYS_fallocate, fd, 0, offset, length) ? errno : 0;
    pthread_mutex_lock(&file->lock);
    note(file, size_of(file), 0);
    int error = syscall(SYS_fallocate, fd, 0, offset, length) ? errno : 0;
    pthread_mutex_unlock(&file->lock);
    return error;
}
EXPORT int posix_fallocate64(int fd, off_t offset, off_t length) { return posix_fallocate(fd, offset, length); }

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    struct file *file = (flags & MAP_SHARED) && fd >= 0 ? file_of(fd) : NULL;
    if (!file || !(protection & PROT_WRITE))
        return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
    pthread_mutex_lock(&file->lock);
    note(file, offset, length);
    void *result = (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
    if (result != MAP_FAILED) {
        struct mapping *mapping = malloc(sizeof *mapping);
        if (!mapping) fail("memory");
        pthread_mutex_lock(&table);
        *mapping = (struct mapping){result, length, offset, file, mappings};
        mappings = mapping;
        pthread_mutex_unlock(&table);
    }
    pthread_mutex_unlock(&file->lock);
    return result;
}
EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    return mmap(address, length, protection, flags, fd, offset);
}

EXPORT int munmap(void *address, size_t length) {
    pthread_mutex_lock(&table);
    for (struct mapping **each = &mappings; *each; each = &(*each)->next)
        if ((*each)->address == address) {
            struct mapping *gone = *each;
            *each = gone->next;
            release_unlinked(gone->file);
            free(gone);
            break;
        }
    int result = syscall(SYS_munmap, address, length);
    pthread_mutex_unlock(&table);
    return result;
}

EXPORT int msync(void *address, size_t length, int flags) {
    struct file *file = NULL;
    pthread_mutex_lock(&table);
    for (struct mapping *each = mappings; each && !file; each = each->next)
        if (each->address == address && each->length <= length) file = each->file;
    pthread_mutex_unlock(&table);
    if (!file || !(flags & MS_SYNC)) return syscall(SYS_msync, address, length, flags);
    pthread_mutex_lock(&file->lock);
    int result = syscall(SYS_msync, address, length, flags);
    if (!result) forget_undo(file);
    pthread_mutex_unlock(&file->lock);
    return result;
}

// Changes that are not followed: refused on followed files, passed on for others.

#define REFUSE(fd) if (file_of(fd)) { errno = ENOSYS; fail(__func__); }

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
    REFUSE(fd)
    return syscall(SYS_writev, fd, parts, count);
}
EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    REFUSE(fd)
    return syscall(SYS_pwritev, fd, parts, count, offset, 0);
}
EXPORT int fallocate(int fd, int mode, off_t offset, off_t length) {
    REFUSE(fd)
    return syscall(SYS_fallocate, fd, mode, offset, length);
}
EXPORT ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
    REFUSE(out)
    return syscall(SYS_copy_file_range, in, from, out, to, length, flags);
}
EXPORT ssize_t sendfile(int out, int in, off_t *offset, size_t count) {
    REFUSE(out)
    return syscall(SYS_sendfile, out, in, offset, count);
}
