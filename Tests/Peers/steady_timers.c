/* Put before libfaketime, which moves timers of the monotonic clock along with the clock on the wall, also if it is told
   not to fake that clock: set forward, they fire at once, again and again; set back by a day, they fire a day late, so that
   a server stands still until a request comes. Here they are the kernel's own. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

__attribute__((visibility("default")))
int timerfd_settime(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old) {
    return (int)syscall(SYS_timerfd_settime, descriptor, flags, value, old);
}

__attribute__((visibility("default")))
int timerfd_gettime(int descriptor, struct itimerspec *value) {
    return (int)syscall(SYS_timerfd_gettime, descriptor, value);
}
