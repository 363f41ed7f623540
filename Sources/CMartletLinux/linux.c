#define _GNU_SOURCE
#include "CMartletLinux.h"

#include <pthread.h>

int martlet_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int64_t martlet_peer_user(int socket) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    return (int64_t)credentials.uid;
}

void martlet_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

// Volatile, so that the compiler does not assume that the text stays empty: Scripts/stamp-build writes it into the program.
static volatile const char build_stamp[96] = "martlet-build-stamp:";

const char *martlet_build_stamp(void) {
    return (const char *)build_stamp + sizeof "martlet-build-stamp:" - 1;
}
