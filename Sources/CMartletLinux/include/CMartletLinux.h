#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>

/// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC: it needs _GNU_SOURCE, which Swift's importer does not set.
int martlet_accept(int listener, struct sockaddr *address, socklen_t *length);

/// The user id of the process at the other end of a Unix socket, or -1 with errno set.
int64_t martlet_peer_user(int socket);

/// Names the calling thread, at most 15 bytes (a longer name is ignored).
void martlet_name_thread(const char *name);

/// What Scripts/stamp-build wrote into this program: commit, date and compiler, such as "a600f71, 2026-11-24; Swift 6.3.1".
/// Empty if the program was built without `make build`.
const char *martlet_build_stamp(void);
