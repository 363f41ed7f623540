#define _GNU_SOURCE
#include "requests.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int epoll;

void watch(int descriptor, void *context) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = context};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)) die("epoll_ctl");
}

int requests_listen(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1024)) die("listening");
    if (getsockname(listener, (struct sockaddr *)&address, &length)) die("getsockname");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    printf("ready %d\n", ntohs(address.sin_port));
    return listener;
}

void requests_accept(int listener) {
    for (int socket; (socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        struct request *it = calloc(1, sizeof *it);
        if (!it) die("calloc");
        it->socket = socket;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        watch(socket, it);
    }
}

bool request_read(struct request *it) {
    ssize_t count = read(it->socket, it->bytes + it->length, REQUEST_LIMIT - it->length);
    if (count <= 0) {
        close(it->socket);
        free(it);
        return false;
    }
    it->length += (size_t)count;
    char *blank = memmem(it->bytes, it->length, "\r\n\r\n", 4);
    if (!blank) return false;
    it->head = (struct text){it->bytes, (size_t)(blank + 4 - it->bytes)};
    struct text length = between(it->head, "Content-Length: ", "\r\n");
    it->body = (struct text){blank + 4, length.start ? strtoul(length.start, NULL, 10) : 0};
    if (it->length < it->head.length + it->body.length) return false;
    it->length = 0;
    return true;
}

void request_answer(const struct request *it, const char *status, const char *fields, struct text body) {
    static char bytes[4096];
    size_t head = (size_t)snprintf(
        bytes, sizeof bytes, "HTTP/1.1 %s\r\nContent-Type: application/atom+xml\r\nContent-Length: %zu\r\n%s\r\n",
        status, body.length, fields);
    if (head + body.length > sizeof bytes) die("finding room for an answer");
    memcpy(bytes + head, body.start, body.length);
    if (write(it->socket, bytes, head + body.length) < 0) return; // Who has gone is seen with the next read.
}
